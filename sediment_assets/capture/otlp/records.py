"""OTLP/JSON logs as flat records: ``resourceLogs`` → ``scopeLogs`` → ``logRecords``.

Both JSON spellings of the protocol are read (``timeUnixNano``, ``time_unix_nano``). Attributes become plain values.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.capture.otlp.values import any_value, read_attributes
from sediment_assets.capture.record_fields import MAX_LISTS
from sediment_assets.facts.json_values import JsonObject, JsonValue


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One log record with what its resource and scope say. Times that are not set are None."""

    place: str
    event: str
    attributes: JsonObject
    resource: JsonObject
    scope: str
    time: datetime | None
    observed_time: datetime | None
    raw: JsonObject

    def attribute(self, key: str) -> JsonValue:
        """Return an attribute of the record, else of its resource."""
        value = self.attributes.get(key)
        return value if value is not None else self.resource.get(key)


_SIGNALS: Final = {
    "resourceSpans": "spans, which tell no decisions",
    "resource_spans": "spans, which tell no decisions",
    "resourceMetrics": "metrics, which count decisions and name none",
    "resource_metrics": "metrics, which count decisions and name none",
}
_MAX_NAME: Final = 100
"""Longer bodies are messages, not names of events."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_NANOSECONDS: Final = 253_402_300_800 * 10**9


def read_records(place: str, value: JsonValue, depth: int = 0) -> Iterator[LogRecord | Untranslated]:
    """Yield every log record of an export request (or of several, in a list), or a record that stands alone."""
    if isinstance(value, list) and depth < MAX_LISTS:
        for index, item in enumerate(value):
            yield from read_records(f"{place}[{index}]", item, depth + 1)
        if not value:
            yield Untranslated(place, Remainder.NO_EVIDENCE, "an empty list")
        return
    if not isinstance(value, dict):
        yield _unknown(place)
        return
    told = False
    for key, detail in _SIGNALS.items():
        if key in value:
            told = True
            yield Untranslated(place, Remainder.NO_EVIDENCE, detail)
    if (name := _spelling(value, "resourceLogs", "resource_logs")) is not None:
        told = True
        yield from _resources(f"{place}.{name}", value[name])
    elif _is_log_record(value):
        told = True
        yield _record(place, value, {}, {})
    if not told:
        yield _unknown(place)


def _resources(place: str, value: JsonValue) -> Iterator[LogRecord | Untranslated]:
    for item_place, resource_logs in _elements(place, value):
        if isinstance(resource_logs, Untranslated):
            yield resource_logs
            continue
        resource = resource_logs.get("resource")
        held = resource if isinstance(resource, dict) else {}
        name = _spelling(resource_logs, "scopeLogs", "scope_logs", "instrumentationLibraryLogs") or "scopeLogs"
        for scope_place, scope_logs in _elements(f"{item_place}.{name}", resource_logs.get(name)):
            if isinstance(scope_logs, Untranslated):
                yield scope_logs
                continue
            scope = scope_logs.get("scope")
            yield from _scope(scope_place, scope_logs, held, scope if isinstance(scope, dict) else {})


def _scope(
    place: str, scope_logs: JsonObject, resource: JsonObject, scope: JsonObject
) -> Iterator[LogRecord | Untranslated]:
    name = _spelling(scope_logs, "logRecords", "log_records") or "logRecords"
    for record_place, record in _elements(f"{place}.{name}", scope_logs.get(name)):
        yield record if isinstance(record, Untranslated) else _record(record_place, record, resource, scope)


def _elements(place: str, value: JsonValue) -> Iterator[tuple[str, JsonObject | Untranslated]]:
    """Yield the objects of a list; what is none, and a list that holds nothing, are told."""
    if value is None or value == []:
        yield place, Untranslated(place, Remainder.NO_EVIDENCE, "no log records")
    elif not isinstance(value, list):
        yield place, _unknown(place)
    else:
        for index, item in enumerate(value):
            name = f"{place}[{index}]"
            yield name, item if isinstance(item, dict) else _unknown(name)


def _record(place: str, record: JsonObject, resource: JsonObject, scope: JsonObject) -> LogRecord:
    attributes = read_attributes(record.get("attributes"))
    raw = {"resource": resource, "scope": scope, "logRecord": record} if resource or scope else record
    name = scope.get("name")
    return LogRecord(
        place=place,
        event=_event(record, attributes),
        attributes=attributes,
        resource=read_attributes(resource.get("attributes")),
        scope=name if isinstance(name, str) else "",
        time=_instant(record, "timeUnixNano", "time_unix_nano"),
        observed_time=_instant(record, "observedTimeUnixNano", "observed_time_unix_nano"),
        raw=raw,
    )


def _event(record: JsonObject, attributes: JsonObject) -> str:
    """Return the event's name: of the record or its attributes, or the body where that says the agent before it."""
    told = (record.get("eventName"), record.get("event_name"), attributes.get("event.name"))
    name = next((word for word in told if isinstance(word, str) and word), "")
    body = any_value(record.get("body"))
    if isinstance(body, str) and len(body) < _MAX_NAME and body.endswith(f".{name}" if name else body):
        return body
    return name


def _instant(record: JsonObject, *keys: str) -> datetime | None:
    value = next((record[key] for key in keys if record.get(key) is not None), None)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 20:
        value = int(value)
    if type(value) is not int or not 0 < value < _MAX_NANOSECONDS:
        return None
    return _EPOCH + timedelta(microseconds=value // 1000)


def _is_log_record(value: JsonObject) -> bool:
    timed = _spelling(value, "timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano")
    return "attributes" in value and (timed is not None or "body" in value)


def _spelling(value: JsonObject, *names: str) -> str | None:
    return next((name for name in names if name in value), None)


def _unknown(place: str) -> Untranslated:
    return Untranslated(place, Remainder.UNKNOWN_SHAPE, "expected OTLP/JSON logs (resourceLogs)")
