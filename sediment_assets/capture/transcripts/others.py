"""What a record is that no format here knows: named where it can be, else by its keys; never by its content."""

from collections.abc import Callable
from typing import Final

from sediment_assets.capture.chat_parts import spelled_kind
from sediment_assets.facts.json_values import JsonObject, JsonValue


def known_other(value: JsonValue) -> str | None:
    """Name the tool or file that a record is of; None when it could be of any."""
    if not isinstance(value, dict):
        return None
    return next((words for words, is_one in _OTHERS if is_one(value)), None)


def companion(value: JsonValue) -> str | None:
    """Name a file that an agent keeps beside its transcripts and that holds no messages; None for other records."""
    if not isinstance(value, dict):
        return None
    return next((words for words, is_one in _COMPANIONS if is_one(value)), None)


def described(value: JsonValue) -> str:
    """Say what a record is that is of no format here."""
    match value:
        case dict():
            return known_other(value) or f"an object with {_keys(value)}"
        case list():
            return "an array"
        case str():
            return "a string"
        case None | bool():
            return "null, true or false"
        case _:
            return "a number"


def _keys(value: JsonObject) -> str:
    if not value:
        return "no keys"
    names = [spelled_kind(key) for key in list(value)[:6]]
    return f"{'key' if len(value) == 1 else 'keys'} {', '.join(names)}{' …' if len(value) > 6 else ''}"


_COMPANIONS: Final[tuple[tuple[str, Callable[[JsonObject], bool]], ...]] = (
    (
        "an index of Claude Code's sessions",
        lambda value: {"version", "entries"} <= value.keys() and isinstance(value["entries"], list),
    ),
    ("a description of a sub-agent of Claude Code", lambda value: "agentType" in value and "type" not in value),
)
"""What stands in the directories of transcripts, too."""
_OTHERS: Final[tuple[tuple[str, Callable[[JsonObject], bool]], ...]] = (
    ("a prediction (model_patch)", lambda value: "model_patch" in value),
    (
        "predictions by instance",
        lambda value: bool(value) and all(isinstance(row, dict) and "model_patch" in row for row in value.values()),
    ),
    ("metadata of a checkpoint", lambda value: "checkpoint_id" in value),
    (
        "a recording of Codex's screen (ts, dir, kind): its sessions are in ~/.codex/sessions",
        lambda value: {"ts", "dir", "kind"} <= value.keys(),
    ),
    (
        "the events of codex exec --json: its sessions are in ~/.codex/sessions",
        lambda value: value.get("type") in ("thread.started", "turn.started", "item.started", "item.completed"),
    ),
    (
        "prompts that somebody typed, without answers: the sessions are in ~/.claude/projects or ~/.codex/sessions",
        lambda value: (
            {"display", "timestamp", "project"} <= value.keys() or value.keys() == {"session_id", "ts", "text"}
        ),
    ),
    ("an Amp thread", lambda value: {"v", "id", "messages"} <= value.keys()),
    ("a Copilot chat session", lambda value: "requests" in value and "version" in value),
    ("a Gemini CLI session", lambda value: "projectHash" in value and "messages" in value),
    ("a Cursor session", lambda value: {"role", "message"} <= value.keys()),
    ("a Factory Droid session", lambda value: value.get("type") == "session_start" and "id" in value),
    ("a Kimi CLI session", lambda value: value.get("type") == "metadata" and "protocol_version" in value),
    ("a Windsurf session", lambda value: "status" in value and value.get("type") in ("user_input", "planner_response")),
)
"""What teams may well have beside transcripts, or of agents that are not read yet."""
