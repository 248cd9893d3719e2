"""Where a record names its Session: dotted paths into its metadata, and the user id in which Claude Code hides it."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from sediment_assets.capture.contract import CaptureOptions
from sediment_assets.capture.json_text import parse_json
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

SESSION_SETTING: Final = "session"
"""``--set session=ID``: the Session of records that name none."""
_CLAUDE_CODE_USER: Final = re.compile(r"user_[0-9a-f]+_account_[0-9a-f-]*_session_([0-9a-f-]{36})")


def at_path(value: JsonValue, path: str) -> JsonValue:
    """Return what is at a dotted path; None when there is nothing. A key may hold dots itself, as attributes do."""
    if not isinstance(value, dict):
        return None
    member: JsonValue = value.get(path)
    if member is not None or "." not in path:
        return member
    key, dot, rest = path.partition(".")
    while dot:
        found = at_path(value.get(key), rest)
        if found is not None:
            return found
        more, dot, rest = rest.partition(".")
        key = f"{key}.{more}"
    return None


def identifier(value: JsonValue) -> str | None:
    """Return an id that is text or a whole number, stripped; None for anything else, blanks, and Python's ``None``."""
    if isinstance(value, str):
        stripped = value.strip()
        return stripped if stripped not in ("", "None") else None
    return str(value) if type(value) is int else None


def first_identifier(values: Iterable[JsonValue], paths: Sequence[str]) -> str | None:
    """Return the id at the first path that has one, in the first of the values that has it."""
    holders = [value for value in values if isinstance(value, dict)]
    for path in paths:
        for holder in holders:
            found = at_path(holder, path)
            if found is not None and (named := identifier(found)) is not None:
                return named
    return None


def first_known(holders: Sequence[JsonObject], paths: Sequence[Sequence[str]]) -> str | None:
    """Do the same for paths that are known beforehand, key by key: for records that are many and small."""
    for keys in paths:
        for holder in holders:
            found: JsonValue = holder
            for key in keys:
                found = found.get(key) if type(found) is dict else None
            if found is not None and (named := identifier(found)) is not None:
                return named
    return None


def claude_code_session(user_id: JsonValue) -> str | None:
    """Return the Session in the user id that Claude Code sends with every request; None when it has another form.

    Two forms are known: ``user_HASH_account_UUID_session_UUID``, and a JSON object with ``session_id`` in text.
    """
    if not isinstance(user_id, str):
        return None
    match = _CLAUDE_CODE_USER.fullmatch(user_id)
    if match:
        return match[1]
    if user_id.startswith("{"):
        try:
            return identifier(at_path(parse_json(user_id), "session_id"))
        except JsonError:
            return None
    return None


def stated_session(options: CaptureOptions) -> str | None:
    """Return the Session that the operator states for records that name none."""
    return identifier(options.settings.get(SESSION_SETTING))
