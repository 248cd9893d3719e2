"""Spans and log records as model calls: OTLP/JSON, a console exporter's JSON, the AI SDK."""

import json
from typing import Any

import pytest

from sediment_assets.capture.contract import (
    Remainder,
)
from sediment_assets.facts.json_values import equal
from tests.builders import plain_message, tool_call
from tests.gateway_payloads import Json
from tests.unit.capture.exchange_cases import ATTRIBUTES, INPUT, OPTIONS, OUTPUT, calls, refused, said, span


def any_value(value: Any) -> Json:
    match value:
        case str():
            return {"stringValue": value}
        case int():
            return {"intValue": str(value)}
        case list():
            return {"arrayValue": {"values": [any_value(item) for item in value]}}
        case _:
            return {"kvlistValue": {"values": [{"key": key, "value": any_value(item)} for key, item in value.items()]}}


def otlp(attributes: Json) -> list[Json]:
    return [{"key": key, "value": any_value(value)} for key, value in attributes.items()]


HALF = 500_000_000
TIMES = {"startTimeUnixNano": "1772442000000000000", "endTimeUnixNano": "1772442001500000000"}
STRUCTURED = ATTRIBUTES | {"gen_ai.input.messages": INPUT, "gen_ai.output.messages": OUTPUT}
RECORD = {"timeUnixNano": "1772442001500000000", "eventName": "gen_ai.client.inference.operation.details"}


@pytest.mark.parametrize(
    ("value", "duration"),
    [
        (span(ATTRIBUTES), 1500),
        (span(STRUCTURED), 1500),
        (span({}, events=[{"name": "details", "attributes": ATTRIBUTES}]), 1500),
        (span(ATTRIBUTES, start_time=None, end_time=None, startTime=[1772442000, 0], endTime=[1772442001, HALF]), 1500),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [TIMES | {"attributes": otlp(ATTRIBUTES)}]}]}]}, 1500),
        ({"resourceSpans": [{"scopeSpans": [{"spans": [TIMES | {"attributes": otlp(STRUCTURED)}]}]}]}, 1500),
        ({"resourceLogs": [{"scopeLogs": [{"logRecords": [RECORD | {"attributes": otlp(ATTRIBUTES)}]}]}]}, None),
        (RECORD | {"attributes": {}, "body": any_value(ATTRIBUTES)}, None),
    ],
)  # fmt: skip
def test_a_span_or_log_record_with_messages_becomes_a_call(value: Any, duration: int | None):
    (fact,) = calls(value, options=OPTIONS)
    sent = [plain_message("system", "Be brief."), plain_message("user", "Go.")]
    assert equal([message.model_dump() for message in fact.input_messages], sent)
    assert equal(said(fact), plain_message("assistant", "Done.", finish_reason="stop"))
    assert (fact.session_id, fact.model_provider, fact.model, fact.input_tokens) == ("s1", "openai", "gpt-x-2026", 10)
    assert fact.observed_at.isoformat() == "2026-03-02T09:00:01.500000+00:00"
    assert fact.duration_ms == duration
    assert not any("messages" in key for key in fact.raw["attributes"])


def test_a_span_of_the_ai_sdk():
    attributes = {
        "ai.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "Go."}]}]),
        "ai.response.text": "On it.",
        "ai.response.toolCalls": json.dumps([{"toolCallId": "t1", "toolName": "edit", "input": '{"path":"a.py"}'}]),
        "ai.response.finishReason": "tool-calls",
        "gen_ai.response.id": "r1",
    }
    (fact,) = calls(span(attributes, name="ai.generateText.doGenerate"))
    assert equal(
        said(fact),
        plain_message("assistant", "On it.", tool_call("t1", "edit", {"path": "a.py"}), finish_reason="tool-calls"),
    )
    assert calls(span({"ai.prompt.messages": "[]"}, name="ai.streamText.doStream"))[0].output_messages == ()


def test_a_span_needs_a_session_and_a_time():
    lonely = {key: value for key, value in ATTRIBUTES.items() if key != "gen_ai.conversation.id"}
    assert refused(span(lonely), OPTIONS)[1] is Remainder.NO_SESSION
    assert refused(ATTRIBUTES, OPTIONS)[1:] == (Remainder.NO_INSTANT, "no time in the record; --instant states one")
    first, second = calls(ATTRIBUTES, ATTRIBUTES | {"gen_ai.response.id": "c2"})
    assert first.observed_at < second.observed_at
