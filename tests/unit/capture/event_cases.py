"""Log records of one message each, as instrumentations write them, and the spans they belong to."""

from typing import Any

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Remainder, Translated, Untranslated
from sediment_assets.capture.event_calls import EventCalls
from sediment_assets.capture.model_spans import BareSpanError, Span, find_spans
from sediment_assets.capture.sources.exchanges import SOURCE
from sediment_assets.capture.span_calls import SpanCalls
from sediment_assets.facts.inference_call import InferenceCall
from tests.builders import ORG
from tests.gateway_payloads import Json, function_call

STATED = CaptureOptions(ORG, settings={"session": "stated"})

TRACE = "055e114f35ced662e72fb70379cc879a"
BEGIN = 1_772_442_000_000_000_000
"""2026-03-02T09:00:00Z in nanoseconds."""
MILLISECOND = 1_000_000


def any_value(value: Any) -> Json:
    """Spell a value as OTLP/JSON does."""
    match value:
        case str():
            return {"stringValue": value}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case list():
            return {"arrayValue": {"values": [any_value(item) for item in value]}}
        case None:
            return {}
        case _:
            return {"kvlistValue": {"values": pairs(value)}}


def pairs(value: Json) -> list[Json]:
    return [{"key": key, "value": any_value(item)} for key, item in value.items()]


def ids(number: int) -> Json:
    """The ids of a call: its own span in the one trace."""
    return {"traceId": TRACE, "spanId": f"{number + 1:016x}"}


def event(name: str, body: Json | None, *, call: int = 0, at: int = 0, **changes: Any) -> Json:
    """An event of a call, ``at`` milliseconds after its beginning."""
    record = {
        "timeUnixNano": "0",
        "observedTimeUnixNano": str(BEGIN + (1000 * call + at) * MILLISECOND),
        "severityNumber": 9,
        "eventName": f"gen_ai.{name}",
        "attributes": pairs({"gen_ai.system": "openai"}),
        **ids(call),
    }
    return record | ({"body": any_value(body)} if body is not None else {}) | changes


def sent(*bodies: tuple[str, Json | None], call: int = 0) -> list[Json]:
    """Events of messages in their order."""
    return [event(f"{name}.message", body, call=call, at=at) for at, (name, body) in enumerate(bodies, 1)]


def choice(message: Json | None = None, *, call: int = 0, at: int = 500, **body: Any) -> Json:
    told = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Done."}}
    return event("choice", told | ({"message": message} if message is not None else {}) | body, call=call, at=at)


GO = [("system", {"content": "Be brief."}), ("user", {"content": "Go."})]
TOOLS: list[tuple[str, Json | None]] = [
    *GO,
    ("assistant", {"tool_calls": [function_call(), function_call("t2", "run", "{}")]}),
    ("tool", {"id": "t1", "content": "ok"}),
    ("tool", {"id": "t2"}),
]


def call_events(call: int = 0) -> list[Json]:
    """A call with an answer."""
    return [*sent(*GO, call=call), choice(call=call)]


def logs(*records: Json, resource: Json | None = None) -> Json:
    """One batch of log records, as a collector's file exporter writes a line."""
    return {
        "resourceLogs": [
            {
                "resource": {"attributes": pairs(resource or {"service.name": "agent"})},
                "scopeLogs": [{"scope": {"name": "opentelemetry.instrumentation"}, "logRecords": list(records)}],
            }
        ]
    }


def span(call: int = 0, *, session: str | None = "s1", **changes: Any) -> Json:
    """The span of a call, which tells no messages."""
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "gpt-x",
        "gen_ai.response.model": "gpt-x-2026",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.response.id": f"chatcmpl-{call:012}",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 5,
    } | ({"gen_ai.conversation.id": session} if session else {})
    return {
        "name": "chat gpt-x",
        "kind": 3,
        "startTimeUnixNano": str(BEGIN + 1000 * call * MILLISECOND),
        "endTimeUnixNano": str(BEGIN + (1000 * call + 600) * MILLISECOND),
        "attributes": pairs(attributes | changes.pop("attributes", {})),
        "status": {},
        **ids(call),
    } | changes


def failed_span(call: int = 0) -> Json:
    record = span(call, status={"code": 2, "message": "no"})
    record["attributes"] = pairs({"gen_ai.conversation.id": "s1", "gen_ai.request.model": "gpt-x", "error.type": "E"})
    return record


def traces(*spans: Json) -> Json:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def translate_within(limit: int, *values: Json) -> list[Translated | Untranslated]:
    """Translate values, holding no more than about ``limit`` bytes of calls."""
    calls = EventCalls(SpanCalls(STATED, "exchanges"), STATED, limit)
    outcomes: list[Translated | Untranslated] = []
    for number, value in enumerate(values):
        for item in find_spans(f"f{number}:1", value) or ():
            outcomes += calls.add_span(item, BareSpanError()) if isinstance(item, Span) else calls.add_event(item)
        assert calls.size <= limit
    outcomes += calls.finish()
    assert calls.size == 0
    return outcomes


def translate(*values: Any, options: CaptureOptions = STATED) -> list[Translated | Untranslated]:
    """Translate values as one file each."""
    documents = [Document(f"f{n}", [Record(f"f{n}:1", value)]) for n, value in enumerate(values)]
    return list(SOURCE.translate(documents, options))


def facts(outcomes: list[Translated | Untranslated]) -> list[InferenceCall]:
    return [o.fact for o in outcomes if isinstance(o, Translated) and isinstance(o.fact, InferenceCall)]


def refusals(outcomes: list[Translated | Untranslated]) -> list[tuple[Remainder, str]]:
    return [(o.reason, o.detail) for o in outcomes if isinstance(o, Untranslated)]


def only(*values: Any, options: CaptureOptions = STATED) -> InferenceCall:
    (found,) = translate(*values, options=options)
    assert isinstance(found, Translated), found
    assert isinstance(found.fact, InferenceCall)
    return found.fact


def refused(*values: Any) -> tuple[Remainder, str]:
    """Why every record of a call is refused, alike."""
    outcomes = translate(*values)
    assert all(isinstance(outcome, Untranslated) for outcome in outcomes), outcomes
    (reason,) = set(refusals(outcomes))
    return reason
