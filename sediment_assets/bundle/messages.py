"""Messages and parts inside bundle records (bundle.md §4.2): strict, and plain as the derivation holds them.

Hand-written, because a bundle is made of messages: a model per part would cost most of the time of reading one.
"""

from collections.abc import Mapping, Set
from functools import lru_cache
from typing import Any, Final

from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.shapes import parse_field, parse_list, parse_normal, require_keys
from sediment_assets.facts.expected import shown
from sediment_assets.facts.messages import PlainMessage, PlainPart, PlainToolCall
from sediment_assets.facts.scalars import normal_id


def parse_messages(value: object) -> list[PlainMessage]:
    """Read an array of messages: keys in declared order, captured objects as they are."""
    return parse_list(value, _message)


def _message(value: Any) -> PlainMessage:
    message = require_keys(value, _MESSAGE)
    parts = parse_field(message, "parts", lambda value: parse_list(value, _part))
    finish_reason = message["finish_reason"]
    return {
        "role": _text(message, "role"),
        "parts": parts,
        "finish_reason": None if finish_reason is None else _text(message, "finish_reason"),
    }


_MESSAGE: Final = frozenset({"role", "parts", "finish_reason"})


def _part(value: Any) -> PlainPart:
    kind = value.get("type") if isinstance(value, dict) else None
    keys = _PART_KEYS.get(kind) if isinstance(kind, str) else None
    if keys is None:
        _require_part_type(value)
        raise BundleError(f"expected one of {', '.join(_PART_KEYS)}, got {shown(kind)}", path="type")
    part = require_keys(value, keys)
    match kind:
        case "text":
            return {"type": "text", "content": _text(part, "content")}
        case "reasoning":
            return {"type": "reasoning", "content": _text(part, "content")}
        case "tool_call":
            return _tool_call(part)
    return {
        "type": "tool_call_response",
        "id": parse_field(part, "id", _id),
        "result": part["result"],
    }


_PART_KEYS: Final[Mapping[str, Set[str]]] = {
    "text": frozenset({"type", "content"}),
    "reasoning": frozenset({"type", "content"}),
    "tool_call": frozenset({"type", "id", "name", "arguments"}),
    "tool_call_response": frozenset({"type", "id", "result"}),
}


def _require_part_type(value: Any) -> None:
    if not isinstance(value, dict):
        raise BundleError(f"expected an object, got {shown(value)}")
    if "type" not in value:
        raise BundleError("expected a value, got no such key", path="type")


def parse_tool_calls(value: object) -> list[PlainToolCall]:
    """Read an array of ``tool_call`` parts."""
    return parse_list(value, _require_tool_call)


def _require_tool_call(value: Any) -> PlainToolCall:
    part = require_keys(value, _PART_KEYS["tool_call"])
    if part["type"] != "tool_call":
        raise BundleError(f"expected 'tool_call', got {shown(part['type'])}", path="type")
    return _tool_call(part)


def _tool_call(part: Mapping[str, Any]) -> PlainToolCall:
    arguments = part["arguments"]
    if not isinstance(arguments, dict):
        raise BundleError(f"expected an object, got {shown(arguments)}", path="arguments")
    return {
        "type": "tool_call",
        "id": parse_field(part, "id", _id),
        "name": _text(part, "name"),
        "arguments": arguments,
    }


def _text(value: Mapping[str, Any], key: str) -> str:
    text = value[key]
    if not isinstance(text, str):
        raise BundleError(f"expected a string, got {shown(text)}", path=key)
    return text


def _id(value: object) -> str:
    return _known_id(value) if isinstance(value, str) else parse_normal(value, normal_id)


@lru_cache(maxsize=4096)  # a call repeats its Session's history, so the same ids come again and again
def _known_id(text: str) -> str:
    return parse_normal(text, normal_id)
