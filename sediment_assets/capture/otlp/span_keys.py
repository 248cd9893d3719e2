"""Which span a span is, and which one a log record belongs to: trace id and span id in every spelling that files have.

OTLP/JSON spells them in hex, protobuf's own JSON in base64, Python's console exporters as ``0x…``, some in ``context``.
"""

import base64
import binascii
import re
from typing import Final

from sediment_assets.facts.json_values import JsonObject, JsonValue

_HEX: Final = re.compile(r"[0-9a-f]+", re.ASCII)
_TRACE: Final = (("traceId", "trace_id"), 16)
_SPAN: Final = (("spanId", "span_id"), 8)
_CONTEXTS: Final = ("context", "spanContext")


def span_key(value: JsonObject) -> str | None:
    """Return ``TRACE/SPAN`` in hex of a span or log record; None when it names no span, or zeros."""
    holders = [value, *(value[name] for name in _CONTEXTS if isinstance(value.get(name), dict))]
    for holder in holders:
        trace, span = _id(holder, *_TRACE), _id(holder, *_SPAN)
        if trace and span:
            return f"{trace}/{span}"
    return None


def _id(holder: JsonObject, names: tuple[str, ...], length: int) -> str | None:
    told: JsonValue = next((holder[name] for name in names if holder.get(name)), None)
    if not isinstance(told, str):
        return None
    text = told.strip().lower().removeprefix("0x")
    if len(text) != 2 * length or not _HEX.fullmatch(text):
        try:
            data = base64.b64decode(told, validate=True)
        except (binascii.Error, ValueError):
            return None
        if len(data) != length:
            return None
        text = data.hex()
    return text if text.strip("0") else None
