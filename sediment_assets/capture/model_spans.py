"""Model calls that OpenTelemetry spans and log records tell, with their messages (GenAI conventions, AI SDK).

A span is read from OTLP/JSON, a console exporter's JSON, or bare attributes. Messages are attributes, or those of an
event of the span: JSON text or values. Older spellings are those of ``span_messages.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.otlp.values import any_value, read_attributes
from sediment_assets.capture.record_fields import RefusedError, invalid
from sediment_assets.capture.span_messages import INPUT, OUTPUT, is_message_event, with_messages
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

SYSTEM: Final = "gen_ai.system_instructions"
SDK_INPUT: Final = "ai.prompt.messages"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SDK_OUTER: Final = ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")
_MODEL_OPERATIONS: Final = frozenset({"chat", "text_completion", "generate_content"})
_OTHER_KINDS: Final = (
    ("openinference.span.kind", "LLM", ("LLM",)),
    ("llm.request.type", "chat", ("chat", "completion")),
)
"""Attributes that say what is told: what it is when they do not say so, and which words mean a model call."""
_OTLP: Final = (
    (("resourceSpans", "resource_spans"), ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"), ("spans",)),
    (("resourceLogs", "resource_logs"), ("scopeLogs", "scope_logs"), ("logRecords", "log_records")),
)


@dataclass(frozen=True, slots=True)
class Span:
    """One span or log record, its attributes as plain values, those of its events among them."""

    place: str
    name: str
    attributes: JsonObject
    start: datetime | None
    end: datetime | None

    def json(self, key: str) -> JsonValue:
        """Return an attribute that is JSON, as text or as a value; None when absent.

        :raises RefusedError: it is text, but no JSON.
        """
        value = self.attributes.get(key)
        if not isinstance(value, str):
            return value
        try:
            parsed: JsonValue = parse_json(value)
        except JsonError:
            raise invalid(key, "JSON in text", value) from None
        return parsed


def find_spans(place: str, value: JsonObject) -> Iterator[Span] | None:
    """Return the spans and log records of a record; None when it is nothing of OpenTelemetry's."""
    for resources, scopes, items in _OTLP:
        if any(key in value for key in resources):
            return _unnested(place, value, (resources, scopes, items))
    if isinstance(value.get("attributes"), dict | list) and (
        "name" in value or "body" in value or "eventName" in value
    ):
        return iter([_span(place, value)])
    if any(key.startswith(("gen_ai.", "llm.")) for key in value):
        return iter([Span(place, "", with_messages(value, ()), None, None)])
    return None


def require_call(span: Span) -> None:
    """Refuse what is no model call with messages; say why.

    :raises RefusedError: another operation, a span around one that is told itself, or messages that were not recorded.
    """
    operation = span.attributes.get("gen_ai.operation.name")
    if isinstance(operation, str) and operation not in _MODEL_OPERATIONS:
        raise RefusedError(Remainder.NO_EVIDENCE, "a span of an operation that is no model call")
    if any(span.attributes.get(key, word) not in words for key, word, words in _OTHER_KINDS):
        raise RefusedError(Remainder.NO_EVIDENCE, "a span of an operation that is no model call")
    if is_message_event(span.name):
        raise RefusedError(Remainder.NO_CONTENT, "an event with one message of a model call, without the others")
    if INPUT in span.attributes or OUTPUT in span.attributes or SDK_INPUT in span.attributes:
        return
    if span.name in _SDK_OUTER:
        raise RefusedError(Remainder.REPEATED, "a span around model calls that are spans of their own")
    if any(key.startswith("gen_ai.") or key in ("model", "llm.model_name") for key in span.attributes):
        raise RefusedError(Remainder.NO_CONTENT, "a span of a model call without messages")
    raise RefusedError(Remainder.NO_EVIDENCE, "a span that is no model call")


def _unnested(place: str, value: JsonValue, levels: tuple[tuple[str, ...], ...]) -> Iterator[Span]:
    if not levels:
        if isinstance(value, dict):
            yield _span(place, value)
        return
    held: dict[str, Any] = value if isinstance(value, dict) else {}
    name = next((key for key in levels[0] if isinstance(held.get(key), list)), None)
    for index, item in enumerate(held[name] if name else ()):
        yield from _unnested(f"{place}.{name}[{index}]", item, levels[1:])


def _span(place: str, value: JsonObject) -> Span:
    attributes = read_attributes(value.get("attributes"))
    listed = value.get("events")
    events = [event for event in listed if isinstance(event, dict)] if isinstance(listed, list) else []
    attributes = with_messages(attributes, events)
    for event in events:
        if not is_message_event(str(event.get("name"))):
            attributes = read_attributes(event.get("attributes")) | attributes
    body = any_value(value.get("body"))
    if isinstance(body, dict):
        attributes = body | attributes
    name = value.get("name", value.get("eventName"))
    start = _time(value, "startTimeUnixNano", "start_time_unix_nano", "startTime", "start_time")
    end = _time(value, "endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time", "timeUnixNano", "time_unix_nano")
    return Span(place, name if isinstance(name, str) else "", attributes, start, end)


def _time(value: JsonObject, *keys: str) -> datetime | None:
    """Read a time: nanoseconds since 1970, [seconds, nanoseconds], or any spelling of facts.md §7; else None."""
    told = next((value[key] for key in keys if value.get(key) is not None), None)
    try:
        if isinstance(told, list) and len(told) == 2 and all(type(part) is int for part in told):
            return _EPOCH + timedelta(seconds=told[0], microseconds=told[1] // 1000)
        number = int(told) if isinstance(told, str) and told.isdecimal() and told.isascii() and len(told) < 25 else told
        if type(number) is int and number > 10**15:
            return _EPOCH + timedelta(microseconds=number // 1000)
        return None if told is None or isinstance(told, bool) else parse_instant(told)
    except (ValueError, OverflowError):
        return None
