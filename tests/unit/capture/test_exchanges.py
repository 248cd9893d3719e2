"""Recorded exchanges and spans as model calls: every container, streams, failures, and why there is none."""

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sediment_assets.capture.contract import (
    BINARY,
    CaptureOptions,
    Remainder,
)
from sediment_assets.facts.json_values import equal
from tests.builders import ORG, plain_message, reasoning_part, tool_call, tool_response
from tests.gateway_payloads import Json, anthropic_response, chat_response, exchange, function_call
from tests.unit.capture.exchange_cases import (
    ANTHROPIC_EVENTS,
    ATTRIBUTES,
    GO,
    INPUT,
    OPTIONS,
    RESPONSES,
    calls,
    refused,
    said,
    span,
    sse,
)

DATE = "Mon, 02 Mar 2026 09:00:02 GMT"


def test_a_pair_becomes_a_call():
    (fact,) = calls(exchange(), options=OPTIONS)
    assert (fact.session_id, fact.gateway_provider, fact.model_provider) == ("s1", "unknown", None)
    assert (fact.model, fact.model_call_id) == ("gpt-x-2026", "chatcmpl-000000000001")
    assert (fact.input_tokens, fact.output_tokens, fact.duration_ms) == (10, 5, 2500)
    assert fact.observed_at == datetime(2026, 3, 2, 9, 0, 2, 500_000, tzinfo=UTC)
    assert equal(said(fact), plain_message("assistant", "Done.", finish_reason="stop"))
    assert set(fact.raw) == {"request", "response"}
    assert fact.raw["request"] == {"model": "gpt-x"}


def test_a_responses_exchange():
    request = {"model": "o-x", "instructions": "Be brief.", "input": [{"role": "user", "content": "Go."}]}
    (fact,) = calls(exchange(request, RESPONSES))
    assert [message.role for message in fact.input_messages] == ["system", "user"]
    expected = plain_message(
        "assistant", reasoning_part("Hm."), tool_call("t1", "edit", {"path": "a.py"}), finish_reason="completed"
    )
    assert equal(said(fact), expected)
    assert (fact.input_tokens, fact.output_tokens, fact.model) == (3, 4, "o-x")


def test_a_responses_request_that_goes_on_from_the_one_before():
    first = exchange({"model": "o-x", "instructions": "Be brief.", "input": "Go."}, RESPONSES)
    answer = [{"type": "function_call_output", "call_id": "t1", "output": "ok"}]
    second = exchange(
        {"model": "o-x", "instructions": "Be long.", "input": answer, "previous_response_id": "resp_1"},
        RESPONSES | {"id": "resp_2"},
    )
    before, after = calls(first, second)
    history = (
        *before.input_messages[1:],
        *(m.model_copy(update={"finish_reason": None}) for m in before.output_messages),
    )
    without_reasons = [m.model_copy(update={"finish_reason": None}) for m in after.input_messages]
    assert without_reasons[1:-1] == list(history)
    assert equal(after.input_messages[-1].model_dump(), plain_message("tool", tool_response("t1", "ok")))
    assert refused(second)[1:] == (
        Remainder.NO_CONTENT,
        "request.previous_response_id: that response is not before it in the input",
    )
    elsewhere = exchange({"input": "Go.", "conversation": "conv_1"}, RESPONSES)
    assert refused(elsewhere)[1] is Remainder.NO_CONTENT


def interaction(body: Any, response: Any, **changes: Any) -> Json:
    url = "https://api.example.test/v1/chat/completions"
    request = {"method": "POST", "uri": url, "headers": {"authorization": ["Bearer x"]}, "body": body}
    status = {"status": {"code": 200, "message": "OK"}, "headers": {"Date": [DATE]}}
    return {"request": request, "response": status | {"body": response}} | changes


TEXT = json.dumps(chat_response(created=None))
PACKED = base64.b64encode(gzip.compress(TEXT.encode())).decode()


@pytest.mark.parametrize(
    "response",
    [
        {"string": TEXT},
        TEXT,
        {"string": {BINARY: PACKED}},
        {"base64_string": PACKED},
        {"string": PACKED, "encoding": "base64"},
    ],
)
def test_a_cassette_whatever_its_bodies_are_kept_in(response: Any):
    cassette = {
        "version": 1,
        "interactions": [interaction(json.dumps(GO), response), interaction({"string": json.dumps(GO)}, response)],
    }
    first, second = calls(cassette)
    assert first.observed_at.isoformat() == "2026-03-02T09:00:02+00:00"
    assert second.observed_at.microsecond == 1
    assert first.raw["url"] == "https://api.example.test/v1/chat/completions"
    assert "Bearer" not in json.dumps(first.raw)


def test_a_cassette_with_parsed_bodies_or_of_another_recorder():
    parsed = interaction(None, None)
    parsed["request"]["parsed_body"], parsed["response"]["parsed_body"] = GO, chat_response()
    ruby = interaction(
        {"string": json.dumps(GO)},
        {"string": TEXT},
        recorded_at="2026-03-02T09:00:05Z",
    )
    assert len(calls({"interactions": [parsed]})) == 1
    assert calls({"http_interactions": [ruby]})[0].observed_at.second == 5


def test_a_har_file():
    answer = json.dumps(anthropic_response())
    entry = {
        "startedDateTime": "2026-03-02T09:00:00.000Z",
        "request": {"method": "POST", "url": "https://x.test", "headers": [], "postData": {"text": json.dumps(GO)}},
        "response": {"status": 200, "headers": [{"name": "date", "value": DATE}], "content": {"text": answer}},
    }
    (fact,) = calls({"log": {"version": "1.2", "entries": [entry]}})
    assert (fact.observed_at.hour, fact.model_call_id) == (9, "msg_000000000001")


@pytest.mark.parametrize(
    "response",
    [
        {"error": {"type": "overloaded_error", "message": "x"}},
        {"status": {"code": 404}, "headers": {}, "body": {"string": '{"error": {"code": "model_not_found"}}'}},
        {"status": 502, "headers": {"date": DATE}, "body": "<html>"},
        sse({"error": {"message": "x"}}),
    ],
)
def test_a_failed_exchange_is_a_call_without_an_answer(response: Any):
    (fact,) = calls(exchange(response=response))
    assert (fact.output_messages, fact.model, fact.model_call_id, fact.output_tokens) == ((), "gpt-x", None, None)


def test_failed_calls_are_told_apart_by_what_was_sent():
    error = {"error": {"message": "x"}}
    first, second = calls(
        exchange(response=error), exchange({"messages": [{"role": "user", "content": "Stop."}]}, error)
    )
    assert first.inference_call_id != second.inference_call_id


class TestSession:
    def test_it_is_named_by_the_record_the_request_or_claude_code(self):
        named = {"metadata": {"session_id": "m1"}}
        thread = "0f8fad5b-d9cb-469f-a165-70867728950e"
        claude = {"metadata": {"user_id": f"user_0a_account__session_{thread}"}}
        for value, session in (
            (exchange(), "s1"),
            (exchange(session_id=None) | named, "m1"),
            (exchange(GO | named, session_id=None), "m1"),
            (exchange(GO | claude, session_id=None), thread),
        ):
            assert calls(value, options=OPTIONS)[0].session_id == session

    def test_the_operators_keys_come_first(self):
        options = CaptureOptions(ORG, session_keys=("request.headers.x-session",))
        value = exchange({"headers": {"x-session": "h1"}, "body": GO})
        assert calls(value, options=options)[0].session_id == "h1"

    def test_without_any_the_exchange_is_refused(self):
        assert refused(exchange(session_id=None), OPTIONS)[1] is Remainder.NO_SESSION


EMBEDDING = {"url": "https://x.test/v1/embeddings", "body": {"input": "x"}}


@pytest.mark.parametrize(
    ("value", "place", "reason", "detail"),
    [
        (3, "f:1", Remainder.UNKNOWN_SHAPE, "no exchange (request and response), cassette, HAR file or GenAI span"),
        (chat_response(), "f:1", Remainder.NO_CONTENT, "a response without its request"),
        ({"error": {"code": 429}}, "f:1", Remainder.NO_CONTENT, "a response without its request"),
        (GO, "f:1", Remainder.NO_CONTENT, "a request without its response"),
        (ANTHROPIC_EVENTS[6], "f:1", Remainder.NO_CONTENT, "an event of a stream without its request"),
        (INPUT[0], "f:1", Remainder.UNKNOWN_SHAPE, "a message without its call"),
        ({"interactions": []}, "f:1", Remainder.UNKNOWN_SHAPE, "no exchange and no span in it"),
        ({"interactions": [7]}, "f:1.interactions[0]", Remainder.NO_EVIDENCE, "a request without a body"),
        (exchange(GO, {"data": []}), "f:1", Remainder.UNKNOWN_SHAPE, "response: no response of a known API"),
        (exchange(EMBEDDING), "f:1", Remainder.NO_EVIDENCE, "a request to embeddings"),
        (exchange({"contents": []}), "f:1", Remainder.UNKNOWN_SHAPE, "request: no body of a known API"),
        (exchange(response={"status": 200, "headers": {}}), "f:1", Remainder.NO_CONTENT, "response: no body"),
        (
            exchange(response={"status": 200, "headers": {"content-encoding": "br"}, "body": "�"}),
            "f:1",
            Remainder.INVALID_VALUE,
            "response.body: expected JSON or events, got text compressed as br",
        ),
        (
            exchange(response=chat_response({"tool_calls": [function_call("")]})),
            "f:1",
            Remainder.INVALID_VALUE,
            "response.choices[0].message.tool_calls[0].id: expected a tool call's id, got text",
        ),
        (
            span({"gen_ai.operation.name": "execute_tool"}),
            "f:1",
            Remainder.NO_EVIDENCE,
            "a span of an operation that is no model call",
        ),
        (span({"gen_ai.request.model": "x"}), "f:1", Remainder.NO_CONTENT, "a span of a model call without messages"),
        (span({"http.method": "POST"}), "f:1", Remainder.NO_EVIDENCE, "a span that is no model call"),
        (
            span({"ai.prompt": "{}"}, name="ai.streamText"),
            "f:1",
            Remainder.REPEATED,
            "a span around model calls that are spans of their own",
        ),
        (
            span(ATTRIBUTES | {"gen_ai.input.messages": "[{"}),
            "f:1",
            Remainder.INVALID_VALUE,
            "gen_ai.input.messages: expected JSON in text, got text",
        ),
        ({"resourceSpans": [{"scopeSpans": []}]}, "f:1", Remainder.UNKNOWN_SHAPE, "no exchange and no span in it"),
    ],
)  # fmt: skip
def test_each_refusal_says_why(value: Any, place: str, reason: Remainder, detail: str):
    assert refused(value) == (place, reason, detail)
