"""Which Session a transcript belongs to: what it says itself, else what the operator says.

Documentation: docs/capture/transcripts.md.
"""

import re
from collections.abc import Sequence
from typing import Final

from sediment_assets.capture.contract import CaptureOptions
from sediment_assets.capture.lookup import SESSION_SETTING
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.text import strip

"""``--set session=ID``: the Session of records that name none."""
_OWN_KEYS: Final = ("sessionId", "session_id")
_PLAIN: Final = re.compile(r"[\w.:/<>-]{1,60}")


def named_session(value: JsonObject, options: CaptureOptions, own_keys: Sequence[str] = _OWN_KEYS) -> str | None:
    """Return the Session id that a record names: at the operator's paths, then at its own keys; else the setting's."""
    for path in (*options.session_keys, *own_keys):
        found = at_path(value, path)
        if isinstance(found, str) and strip(found):
            return strip(found)
    return strip(options.settings.get(SESSION_SETTING, "")) or None


def at_path(value: JsonValue, path: str) -> JsonValue:
    """Return what is at a dotted path; None when there is nothing."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def plain_id(value: JsonValue) -> str:
    """Spell a captured word for a message: only if it is a plain word, for details never show content."""
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else "unreadable"
