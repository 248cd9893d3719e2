"""Decisions in agents' events: Claude Code's ``tool_decision`` and Codex's → DeveloperDecision (facts.md §3.2).

``explicit`` says that a person decided; settings, hooks and automatic reviewers decide nothing expressly. The events
tell the tool, and only newer versions the call or the file: what is not told stays absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from pydantic import ValidationError

from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.ids import fact_id
from sediment_assets.capture.otlp.records import LogRecord
from sediment_assets.capture.record_fields import RefusedError, invalid, invalid_fact, unknown_shape
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.expected import shown
from sediment_assets.facts.instants import format_z, parse_instant
from sediment_assets.facts.json_values import JsonError, JsonValue, decode
from sediment_assets.facts.vocabulary import AgentHarness, InteractionMode


@dataclass(frozen=True, slots=True)
class Agent:
    """A coding agent: how its events are named, and under which attributes they name Session and user."""

    harness: AgentHarness
    prefix: str
    services: tuple[str, ...]
    session_keys: tuple[str, ...]
    user_keys: tuple[str, ...]


AGENTS: Final = (
    Agent(
        AgentHarness.CLAUDE_CODE,
        "claude_code.",
        ("claude-code", "com.anthropic.claude_code"),
        ("session.id",),
        ("user.id", "user.account_uuid"),
    ),
    Agent(AgentHarness.CODEX, "codex.", ("codex",), ("conversation.id",), ("user.account_id", "user.id")),
)
EXPLICIT: Final[Mapping[str, bool]] = {
    "user_temporary": True,
    "user_permanent": True,
    "user_reject": True,
    "user_abort": True,
    "user": True,
    "config": False,
    "hook": False,
    "automated_reviewer": False,
}
"""Whether a person decided, by the event's ``source``."""
ACCEPTED: Final[Mapping[str, bool]] = {
    "accept": True,
    "reject": False,
    "approved": True,
    "approved_for_session": True,
    "approvedforsession": True,
    "approved_with_amendment": True,
    "approved_execpolicy_amendment": True,
    "approved_with_network_policy_allow": True,
    "denied": False,
    "denied_with_network_policy_deny": False,
    "abort": False,
    "timed_out": False,
}
"""What an event's ``decision`` means. ``timed_out``: nobody decided, so it is never explicit."""
_DECISION: Final = "tool_decision"
_CALL_KEYS: Final = ("tool_use_id", "call_id", "gen_ai.tool.call.id")
_FOREIGN: Final = ("gemini_cli.", "qwen-code.", "qwen_code.")
_KNOWN_PREFIXES: Final = (*(agent.prefix for agent in AGENTS), *_FOREIGN)


def read_decision(record: LogRecord, options: CaptureOptions) -> DeveloperDecision:
    """Translate one log record.

    :raises RefusedError: it is another event, of another agent, or does not say what a decision needs.
    """
    agent = _agent(record)
    if agent is None:
        raise _other_event(record)
    if record.event.removeprefix(agent.prefix) != _DECISION:
        raise RefusedError(Remainder.NO_EVIDENCE, f"event {_named(record.event)}")
    decision, source = _word(record, "decision"), _word(record, "source")
    if decision not in ACCEPTED:
        raise RefusedError(Remainder.INVALID_VALUE, f"decision: expected a known word, got {shown(decision)}")
    if source not in EXPLICIT:
        raise RefusedError(Remainder.INVALID_VALUE, f"source: expected a known word, got {shown(source)}")
    occurred_at = _occurred_at(record, options)
    values: dict[str, Any] = {
        "decision_id": "unknown",
        "org_id": options.org_id,
        "session_id": _session(record, agent, options),
        "user_id": _first(record, agent.user_keys),
        "agent_harness": agent.harness,
        "file_path": _file_path(record),
        "accepted": ACCEPTED[decision],
        "explicit": EXPLICIT[source] and decision != "timed_out",
        "interaction_mode": InteractionMode.AGENT,
        "call_id": _first(record, _CALL_KEYS),
        "occurred_at": occurred_at,
        "captured_at": record.observed_time or record.time or occurred_at,
        "raw": record.raw,
    }
    try:
        fact = DeveloperDecision.model_validate(values)
    except ValidationError as error:
        raise invalid_fact(error) from None
    return fact.model_copy(update={"decision_id": _id(fact)})


def _id(fact: DeveloperDecision) -> str:
    """Return the id, of the natural key (facts.md §6): the same event, exported again, is the same Fact."""
    is_keyed_by_call = fact.agent_harness is AgentHarness.CLAUDE_CODE and fact.call_id is not None
    return fact_id(
        fact.org_id,
        "otlp",
        "developer_decision",
        fact.agent_harness,
        fact.session_id,
        str(fact.accepted),
        str(fact.explicit),
        fact.interaction_mode,
        format_z(fact.occurred_at),
        fact.call_id or "",
        "" if is_keyed_by_call else fact.file_path,
    )


def _agent(record: LogRecord) -> Agent | None:
    """Return whose event it is: by its name, else by the service or scope that sent it."""
    for agent in AGENTS:
        if record.event.startswith(agent.prefix):
            return agent
    if record.event.startswith(_KNOWN_PREFIXES):
        return None
    service = record.resource.get("service.name")
    for agent in AGENTS:
        for name in (service, record.scope):
            if isinstance(name, str) and name.lower().replace("_", "-").startswith(_dashed(agent.services)):
                return agent
    return None


def _dashed(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.replace("_", "-") for name in names)


def _other_event(record: LogRecord) -> RefusedError:
    if record.event.startswith(_FOREIGN) and "decision" in record.attributes:
        detail = f"agent_harness: expected one that Facts can name, got the agent of {_named(record.event)}"
        return RefusedError(Remainder.INVALID_VALUE, detail)
    if record.event.startswith(_FOREIGN):
        return RefusedError(Remainder.NO_EVIDENCE, f"event {_named(record.event)}")
    return unknown_shape(f"expected an event of Claude Code or Codex, got {_named(record.event)}")


def _named(event: str) -> str:
    return shown(event) if event else "an event without a name"


def _word(record: LogRecord, key: str) -> str:
    value = record.attributes.get(key)
    if not isinstance(value, str):
        raise invalid(key, "a word", value)
    return value.lower()


def _first(record: LogRecord, keys: tuple[str, ...]) -> str | None:
    """Return the first attribute that holds text; numbers count, since some ids are numbers."""
    for key in keys:
        value = record.attribute(key)
        if isinstance(value, str) and value.strip():
            return value
        if type(value) is int:
            return str(value)
    return None


def _session(record: LogRecord, agent: Agent, options: CaptureOptions) -> str:
    session = _first(record, (*options.session_keys, *agent.session_keys))
    if session is None:
        raise RefusedError(Remainder.NO_SESSION, f"expected {' or '.join(agent.session_keys)}, got none")
    return session


def _occurred_at(record: LogRecord, options: CaptureOptions) -> datetime:
    """Return the client's time: ``event.timestamp`` where told, else the record's own."""
    told = record.attributes.get("event.timestamp")
    if told is not None:
        try:
            return parse_instant(told)
        except ValueError:
            raise invalid("event.timestamp", "a time with an offset", told) from None
    instant = record.time or record.observed_time or options.instant
    if instant is None:
        raise RefusedError(Remainder.NO_INSTANT, "expected event.timestamp or timeUnixNano, got none")
    return instant


def _file_path(record: LogRecord) -> str:
    """Return the file where the event names one, in itself or in the tool's parameters (JSON in text); else ``""``."""
    parameters: JsonValue = record.attributes.get("tool_parameters", record.attributes.get("tool_input"))
    if isinstance(parameters, str):
        try:
            parameters = decode(parameters)
        except JsonError:
            parameters = None
    held = parameters if isinstance(parameters, dict) else {}
    paths = (record.attributes.get("file_path"), held.get("file_path"), held.get("notebook_path"))
    return next((path for path in paths if isinstance(path, str)), "")
