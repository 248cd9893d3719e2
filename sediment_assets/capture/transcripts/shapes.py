"""Which format a record is of, told by what it looks like: never by a file's name.

A record that could be of several formats says nothing; the next one of its document may.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from sediment_assets.capture.transcripts.claude_records import SILENT
from sediment_assets.capture.transcripts.openhands import HOLDERS, is_state
from sediment_assets.facts.json_values import JsonObject, JsonValue


class Format(StrEnum):
    """A transcript's format."""

    CLAUDE_CODE = "Claude Code"
    CODEX = "Codex"
    SWE_AGENT = "SWE-agent"
    MINI_SWE_AGENT = "mini-swe-agent"
    OPENHANDS = "OpenHands"


def recognized(value: JsonValue) -> Format | None:
    """Return the format of a record; None when it does not say."""
    if not isinstance(value, dict):
        return None
    return next((found for found, is_one in _RECOGNIZERS if is_one(value)), None)


def _is_claude_code(value: JsonObject) -> bool:
    if isinstance(value.get("loglines"), list):
        return True
    messages = value.get("messages")
    if isinstance(messages, list) and isinstance(_first(messages).get("direction"), str):
        return True
    kind = value.get("type")
    if kind in ("user", "assistant"):
        return "message" in value and _has(value, *_CLAUDE_KEYS, "isSidechain", "requestId")
    return isinstance(kind, str) and kind in SILENT and _has(value, *_CLAUDE_KEYS, "leafUuid", "messageId")


def _is_codex(value: JsonObject) -> bool:
    if _word(value.get("type")) in _CODEX_TYPES:
        return isinstance(value.get("payload"), dict)
    if isinstance(value.get("session"), dict) and isinstance(value.get("items"), list):
        return True
    # Older rollouts begin with the bare description of their session.
    return value.get("record_type") == "state" or (
        "type" not in value and _has(value, "id") and _has(value, "timestamp") and _has(value, "instructions", "git")
    )


def _is_swe_agent(value: JsonObject) -> bool:
    history, steps = value.get("history"), value.get("trajectory")
    if isinstance(history, list) and isinstance(_first(history).get("role"), str):
        return True
    attempts = value.get("attempts")
    if isinstance(attempts, list) and isinstance(_first(attempts).get("history"), list):
        return True
    step = _first(steps) if isinstance(steps, list) else {}
    return "observation" in step and _has(step, "response", "thought") and "source" not in step


def _is_mini_swe_agent(value: JsonObject) -> bool:
    messages = value.get("messages")
    if isinstance(messages, list):
        first = _first(messages)
        known = str(value.get("trajectory_format", "")).startswith("mini-swe-agent") or _has(value, *_MINI_KEYS)
        return known and (isinstance(first.get("role"), str) or not messages)
    return "type" not in value and _word(value.get("role")) in _CHAT_ROLES and "content" in value and "id" not in value


def _is_openhands(value: JsonObject) -> bool:
    if is_state(value):
        return True
    for key in HOLDERS:
        held = value.get(key)
        first = held[0] if isinstance(held, list) and held else None
        first = first[0] if isinstance(first, list) and first else first
        if isinstance(first, dict) and _is_event(first):
            return True
    return _is_event(value) or ("history" in value and _has(value, "instance_id") and _has(value, "test_result"))


def _is_event(value: JsonObject) -> bool:
    if not isinstance(value.get("source"), str) or not _has(value, "id", "timestamp"):
        return False
    kind = value.get("kind")
    return (
        isinstance(value.get("action"), str)
        or isinstance(value.get("observation"), str)
        or (isinstance(kind, str) and kind.endswith(("Event", "Condensation", "Observation")))
    )


def _word(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


def _first(values: list[Any]) -> JsonObject:
    return values[0] if values and isinstance(values[0], dict) else {}


def _has(value: JsonObject, *keys: str) -> bool:
    return any(key in value for key in keys)


_CLAUDE_KEYS: Final = ("uuid", "parentUuid", "sessionId", "session_id", "parent_tool_use_id")
_CODEX_TYPES: Final = frozenset(
    {"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"}
)
_MINI_KEYS: Final = ("info", "instance_id", "traj_id", "trajectory_id")
_CHAT_ROLES: Final = frozenset({"system", "user", "assistant", "tool", "exit"})
_RECOGNIZERS: Final[tuple[tuple[Format, Callable[[JsonObject], bool]], ...]] = (
    (Format.CLAUDE_CODE, _is_claude_code),
    (Format.CODEX, _is_codex),
    (Format.OPENHANDS, _is_openhands),
    (Format.SWE_AGENT, _is_swe_agent),
    (Format.MINI_SWE_AGENT, _is_mini_swe_agent),
)
