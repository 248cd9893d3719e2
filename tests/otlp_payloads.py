"""OTLP/JSON log records of coding agents: an export request, and Claude Code's and Codex's events."""

from typing import Any


def attributes(values: dict[str, Any]) -> list[dict[str, Any]]:
    """OTLP's list of key and value; None leaves a key out."""
    kinds: dict[type, str] = {str: "stringValue", bool: "boolValue", float: "doubleValue"}
    return [
        {"key": key, "value": {"intValue": str(value)} if type(value) is int else {kinds[type(value)]: value}}
        for key, value in values.items()
        if value is not None
    ]


def tool_decision(
    agent: str = "claude_code", body: str | None = "claude_code.tool_decision", **values: Any
) -> dict[str, Any]:
    """A decision: accepted by a person at 2026-01-01T00:00:01.5Z; ``__`` in names stands for a dot."""
    session = {"session.id": "s-1", "user.id": "u-1"} if agent == "claude_code" else {"conversation.id": "c-1"}
    told = {
        **session,
        "event.name": "tool_decision" if agent == "claude_code" else f"{agent}.tool_decision",
        "event.timestamp": "2026-01-01T00:00:01.500Z",
        "decision": "accept",
        "source": "user_temporary",
        "tool_name": "Edit",
        **{key.replace("__", "."): value for key, value in values.items()},
    }
    return {
        "timeUnixNano": "1767225602000000000",
        "observedTimeUnixNano": "1767225602000001000",
        **({"body": {"stringValue": body}} if body else {}),
        "attributes": attributes(told),
    }


def request(*records: dict[str, Any], service: str = "claude-code", scope: str = "") -> dict[str, Any]:
    """An export request with one resource and one scope."""
    resource = {"attributes": attributes({"service.name": service})}
    return {
        "resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {"name": scope}, "logRecords": list(records)}]}]
    }
