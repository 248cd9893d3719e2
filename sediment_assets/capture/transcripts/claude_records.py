"""Records of Claude Code's transcripts: what holds them, which say nothing, what lines say beside words."""

from collections.abc import Iterator
from typing import Final

from sediment_assets.capture.contract import Record
from sediment_assets.capture.model_calls import content_digest
from sediment_assets.capture.transcripts.calls import Response
from sediment_assets.facts.json_values import JsonObject, JsonValue

SILENT: Final = frozenset(
    [
        "summary",
        "system",
        "progress",
        "attachment",
        "queue-operation",
        "content-replacement",
        "speculation-accept",
        "bridge-session",
        "file-history-snapshot",
        "file-history-delta",
        "attribution-snapshot",
        "saved_hook_context",
        "worktree-state",
        "relocated",
        "custom-title",
        "ai-title",
        "task-summary",
        "tag",
        "last-prompt",
        "pr-link",
        "agent-name",
        "agent-color",
        "agent-setting",
        "mode",
        "permission-mode",
        "result",
        "control_request",
        "control_response",
        "control_cancel_request",
        "stream_event",
        "keep_alive",
        "rate_limit_event",
        "tool_progress",
        "tool_use_summary",
        "auth_status",
        "streamlined_text",
    ]
)
"""Kinds of records that say nothing a Fact holds."""
UNNAMED: Final = "default"
"""What the SDK calls a Session that has no id yet."""
_TOOL_USES: Final = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def unwrapped(record: Record) -> Iterator[tuple[str, JsonValue]]:
    """Yield the records that a record of the web export, or a recording of the SDK, holds; others as they are."""
    value = record.value
    if isinstance(value, dict) and isinstance(value.get("loglines"), list):
        outer: JsonObject = {key: value[key] for key in ("sessionId", "session_id") if key in value}
        for index, line in enumerate(value["loglines"]):
            yield f"{record.place}.loglines[{index}]", {**outer, **line} if isinstance(line, dict) else line
    elif isinstance(value, dict) and "type" not in value and isinstance(value.get("messages"), list):
        entries = [entry.get("message") if isinstance(entry, dict) else entry for entry in value["messages"]]
        # The first message is sent before the Session has an id: its record says "default".
        named = (entry.get("session_id") for entry in entries if isinstance(entry, dict))
        session = next((name for name in named if isinstance(name, str) and name not in ("", UNNAMED)), None)
        for index, entry in enumerate(entries):
            if isinstance(entry, dict) and session is not None and entry.get("session_id") == UNNAMED:
                entry = {**entry, "session_id": session}
            yield f"{record.place}.messages[{index}]", entry
    else:
        yield record.place, value


def named_blocks(content: JsonValue, uuid: str | None, answered: str | None = None) -> JsonValue:
    """Name what some versions leave nameless: a tool call by its record and place there, an answer by the call."""
    if not isinstance(content, list):
        return content
    blocks: list[JsonValue] = []
    for index, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if isinstance(block, dict) and isinstance(kind, str):
            if kind in _TOOL_USES:
                named = block.get("id") or (uuid and f"{uuid}#{index}")
                block = {**block, "type": "tool_use", "id": named}
            elif kind.endswith("tool_result"):
                block = {**block, "type": "tool_result", "tool_use_id": block.get("tool_use_id") or answered}
        blocks.append(block)
    return blocks


def add_metadata(response: Response, value: JsonObject, told: JsonObject) -> None:
    """Keep the model, why it stopped and the usage: each as its last complete telling, nothing added up."""
    response.raw.setdefault("records", []).append(value)
    response.model = told.get("model") or response.model
    reason = told.get("stop_reason")
    response.finish_reason = reason if isinstance(reason, str) else response.finish_reason
    usage = told.get("usage")
    if isinstance(usage, dict) and isinstance(usage.get("output_tokens"), int):
        response.input_tokens = usage.get("input_tokens")
        response.output_tokens = usage["output_tokens"]


def digest(value: JsonObject) -> str:
    """Tell records apart whatever was added to them when they were copied.

    :raises RefusedError: the message has no exact spelling.
    """
    return content_digest([value.get("type"), value.get("message")])


def text(value: JsonValue) -> str | None:
    """Return text that is not blank; None for anything else."""
    return value if isinstance(value, str) and value.strip() else None
