"""Model calls that OpenTelemetry spans and log records tell, with their messages (GenAI conventions, AI SDK).

A span is read from OTLP/JSON, a console exporter's JSON, or bare attributes. Messages are attributes, or those of an
event of the span: JSON text or values. Older spellings are those of ``span_messages.py``. Log records with one message
each are those of ``message_events.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain
from typing import Any, Final

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.message_events import MessageEvent, event_name, find_event, instant_of, log_time
from sediment_assets.capture.otlp.span_keys import span_key
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
_ERRORS: Final = (2, "STATUS_CODE_ERROR", "ERROR")
"""The status of a span that failed, as OTLP/JSON and console exporters spell it."""
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
    key: str | None = None
    """Its trace and span id."""
    resource: JsonObject = field(default_factory=dict)
    """What is said about everything that its process tells."""
    has_failed: bool = False

    @property
    def has_messages(self) -> bool:
        """Whether it tells messages itself."""
        return INPUT in self.attributes or OUTPUT in self.attributes or SDK_INPUT in self.attributes

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


class BareSpanError(RefusedError):
    """A span of a model call that tells no messages; events of its own may tell them."""

    def __init__(self) -> None:
        super().__init__(Remainder.NO_CONTENT, "a span of a model call without messages")


def find_spans(place: str, value: JsonObject) -> Iterator[Span | MessageEvent] | None:
    """Return the spans and log records of a record; None when it is nothing of OpenTelemetry's."""
    exports = [_unnested(place, value, levels, {}) for levels in _OTLP if any(key in value for key in levels[0])]
    if exports:
        return chain.from_iterable(exports)
    attributes = value.get("attributes")
    if isinstance(attributes, dict | list) and (
        "name" in value or "body" in value or "eventName" in value or event_name(value, read_attributes(attributes))
    ):
        return iter([_told(place, value, _resource(value))])
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
    if span.has_messages:
        return
    if span.name in _SDK_OUTER:
        raise RefusedError(Remainder.REPEATED, "a span around model calls that are spans of their own")
    if any(key.startswith("gen_ai.") or key in ("model", "llm.model_name") for key in span.attributes):
        raise BareSpanError
    raise RefusedError(Remainder.NO_EVIDENCE, "a span that is no model call")


def _unnested(
    place: str, value: JsonValue, levels: tuple[tuple[str, ...], ...], resource: JsonObject
) -> Iterator[Span | MessageEvent]:
    held: dict[str, Any] = value if isinstance(value, dict) else {}
    if not levels:
        if isinstance(value, dict):
            yield _told(place, value, resource)
        return
    name = next((key for key in levels[0] if isinstance(held.get(key), list)), None)
    for index, item in enumerate(held[name] if name else ()):
        yield from _unnested(f"{place}.{name}[{index}]", item, levels[1:], resource or _resource(held))


def _resource(value: JsonObject) -> JsonObject:
    resource = value.get("resource")
    return read_attributes(resource.get("attributes")) if isinstance(resource, dict) else {}


def _told(place: str, value: JsonObject, resource: JsonObject) -> Span | MessageEvent:
    return find_event(place, value, resource) or _span(place, value, resource)


def _span(place: str, value: JsonObject, resource: JsonObject) -> Span:
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
    end = _time(value, "endTimeUnixNano", "end_time_unix_nano", "endTime", "end_time")
    return Span(
        place,
        name if isinstance(name, str) else "",
        attributes,
        start,
        end or instant_of(log_time(value)),
        span_key(value),
        resource,
        _has_failed(value, attributes),
    )


def _has_failed(value: JsonObject, attributes: JsonObject) -> bool:
    """Whether a span says that what it was about failed."""
    status = value.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else None
    return code in _ERRORS or attributes.get("error.type") is not None


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
