"""One message of a model call as a log record of its own: OpenTelemetry's ``gen_ai.user.message`` … ``gen_ai.choice``.

The event's name is the record's or an attribute, its body is the message, and its trace and span id say which call it
is of. ``event_calls.py`` puts the calls together.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sediment_assets.capture.chat_parts import is_block
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.otlp.span_keys import span_key
from sediment_assets.capture.otlp.values import any_value, read_attributes
from sediment_assets.capture.record_fields import invalid
from sediment_assets.capture.span_messages import EVENT_CONTENT, is_message_event, spelled_event, told_in_attributes
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NANOSECONDS: Final = ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano")
_SPELLED: Final = ("timestamp", "observed_timestamp")
"""Times of Python's console exporter."""
_EARLIEST: Final = 10**15
"""Nanoseconds before this one, of January 1970, are other units or no time."""
_LATEST: Final = 253_402_300_800 * 10**9
_ELIDED: Final = "<elided>"
"""What an instrumentation of Gemini writes where content is not captured."""
_TOLD_BY_THE_EVENT: Final = frozenset({"event.name", "event.domain", EVENT_CONTENT, "content", "role"})


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """One event: what it tells, which call it is of, and when it was told."""

    place: str
    name: str
    key: str | None
    """The trace and span it belongs to; None when it names none."""
    time: int
    """Nanoseconds since 1970; 0 when the record has no time."""
    body: JsonValue
    attributes: JsonObject
    resource: JsonObject

    def said(self) -> "Said":
        """Read the message.

        :raises RefusedError: the body is no message.
        """
        return _said(self.name, self.body, self.attributes)

    def rest(self) -> JsonObject:
        """Return the attributes that say something about the call."""
        return {key: value for key, value in self.attributes.items() if key not in _TOLD_BY_THE_EVENT}


@dataclass(frozen=True, slots=True)
class Said:
    """A message as a chat message; ``has_content`` when words, a result or arguments were recorded."""

    message: JsonObject
    is_answer: bool
    has_content: bool
    index: JsonValue = None
    """Which of several choices an answer is."""

    @property
    def role(self) -> JsonValue:
        """Who said it."""
        return self.message.get("role")

    def answers_one_of(self, ids: set[str]) -> bool:
        """Whether it is a tool's answer to one of these calls."""
        answered = self.message.get("tool_call_id")
        return isinstance(answered, str) and answered in ids


def event_name(value: JsonObject, attributes: JsonObject) -> str:
    """Return the name of the event that a log record is; ``""`` when it is none."""
    told = (value.get("eventName"), value.get("event_name"), attributes.get("event.name"), value.get("name"))
    return next((name for name in told if isinstance(name, str) and name), "")


def find_event(place: str, value: JsonObject, resource: JsonObject) -> MessageEvent | None:
    """Return the event with one message that a log record is; None when it is something else."""
    attributes = read_attributes(value.get("attributes"))
    name = event_name(value, attributes)
    if not is_message_event(name):
        return None
    body = any_value(value.get("body"))
    return MessageEvent(place, name, span_key(value), log_time(value), body, attributes, resource)


def log_time(value: JsonObject) -> int:
    """Return when a log record was made, else observed, in nanoseconds since 1970; 0 when it says neither."""
    for key in _NANOSECONDS:
        told = value.get(key)
        if isinstance(told, str) and told.isascii() and told.isdecimal() and len(told) < 25:
            told = int(told)
        if type(told) is int and _EARLIEST < told < _LATEST:
            return told
    for key in _SPELLED:
        told = value.get(key)
        if isinstance(told, str):
            try:
                return (parse_instant(told) - _EPOCH) // timedelta(microseconds=1) * 1000
            except ValueError:
                continue
    return 0


def instant_of(nanoseconds: int) -> datetime | None:
    """Return a time, to the microsecond; None for 0."""
    return _EPOCH + timedelta(microseconds=nanoseconds // 1000) if nanoseconds else None


def _said(name: str, body: JsonValue, attributes: JsonObject) -> Said:
    if isinstance(body, str):
        try:
            body = parse_json(body)
        except JsonError:
            raise invalid(f"{name}: body", "a message", body) from None
    if body is not None and not isinstance(body, dict):
        raise invalid(f"{name}: body", "a message", body)
    told = told_in_attributes(attributes) if body is None else body
    spelled = spelled_event(name, told)
    if spelled is None:
        raise invalid(f"{name}: name", "an event with a message", name)
    is_answer, message = spelled
    if message.get("role") == "None":
        raise invalid(f"{name}: name", "a role", None)
    if message.get("content") == _ELIDED:
        message = message | {"content": None}
    content = message.get("content")
    if isinstance(content, dict) and message.get("role") != "tool" and not is_block(content):
        # Gemini's calls, which have no ids; tool definitions in place of a message.
        raise invalid(f"{name}: content", "text or blocks", content)
    role = told.get("role")
    if message.get("role") in ("system", "user") and isinstance(role, str) and role:
        message = message | {"role": role}
    return Said(message, is_answer, _has_content(message), told.get("index"))


def _has_content(message: JsonObject) -> bool:
    if message.get("content") is not None:
        return True
    calls = message.get("tool_calls")
    return any(
        isinstance(call, dict)
        and isinstance(function := call.get("function"), dict)
        and function.get("arguments") is not None
        for call in (calls if isinstance(calls, list) else ())
    )
