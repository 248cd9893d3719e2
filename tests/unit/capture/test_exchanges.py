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
    Document,
    Record,
    Remainder,
    Translated,
    Untranslated,
)
from sediment_assets.capture.sources.exchanges import SOURCE
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import equal
from tests.builders import ORG, plain_message, reasoning_part, tool_call, tool_response
from tests.gateway_payloads import Json, anthropic_response, chat_response, exchange, function_call

OPTIONS = CaptureOptions(ORG)
STATED = CaptureOptions(ORG, settings={"session": "s1"}, instant=datetime(2026, 1, 1, tzinfo=UTC))
GO = {"model": "gpt-x", "messages": [{"role": "user", "content": "Go."}]}
DATE = "Mon, 02 Mar 2026 09:00:02 GMT"


def translate(*values: Any, options: CaptureOptions = OPTIONS) -> list[Translated | Untranslated]:
    records = [Record(f"f:{number}", value) for number, value in enumerate(values, 1)]
    return list(SOURCE.translate([Document("f", records)], options))


def calls(*values: Any, options: CaptureOptions = STATED) -> list[InferenceCall]:
    outcomes = translate(*values, options=options)
    facts = [outcome.fact for outcome in outcomes if isinstance(outcome, Translated)]
    assert len(facts) == len(outcomes), outcomes
    return [fact for fact in facts if isinstance(fact, InferenceCall)]


def refused(value: Any, options: CaptureOptions = STATED) -> tuple[str, Remainder, str]:
    (outcome,) = translate(value, options=options)
    assert isinstance(outcome, Untranslated)
    return outcome.place, outcome.reason, outcome.detail


def said(fact: InferenceCall) -> Json:
    (message,) = fact.output_messages
    return message.model_dump()


def test_a_pair_becomes_a_call():
    (fact,) = calls(exchange(), options=OPTIONS)
    assert (fact.session_id, fact.gateway_provider, fact.model_provider) == ("s1", "unknown", None)
    assert (fact.model, fact.model_call_id) == ("gpt-x-2026", "chatcmpl-000000000001")
    assert (fact.input_tokens, fact.output_tokens, fact.duration_ms) == (10, 5, 2500)
    assert fact.observed_at == datetime(2026, 3, 2, 9, 0, 2, 500_000, tzinfo=UTC)
    assert equal(said(fact), plain_message("assistant", "Done.", finish_reason="stop"))
    assert set(fact.raw) == {"request", "response"}
    assert fact.raw["request"] == {"model": "gpt-x"}


RESPONSES = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1772442002,
    "status": "completed",
    "output": [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"type": "function_call", "call_id": "t1", "name": "edit", "arguments": '{"path": "a.py"}'},
    ],
    "usage": {"input_tokens": 3, "output_tokens": 4},
}


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


def sse(*events: Any, names: bool = False) -> str:
    lines = []
    for event in events:
        lines += [f"event: {event['type']}"] if names else []
        lines += [f"data: {event if isinstance(event, str) else json.dumps(event)}", ""]
    return "\n".join([*lines, ""])


def chunk(delta: Json | None = None, **changes: Any) -> Json:
    choices = (
        [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": changes.pop("finish_reason", None)}]
    )
    return {
        "id": "chatcmpl-000000000001",
        "object": "chat.completion.chunk",
        "model": "gpt-x-2026",
        "usage": None,
        "choices": choices,
    } | changes


CHUNKS = [
    chunk({"role": "assistant", "content": None}),
    chunk({"reasoning_content": "H"}),
    chunk({"reasoning_content": "m."}),
    chunk({"content": "On "}),
    chunk({"content": "it."}),
    chunk({"tool_calls": [{"index": 0} | function_call("t1", "edit", "")]}),
    chunk({"tool_calls": [{"index": 1} | function_call("t2", "run", '{"a"')]}),
    chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"path": '}}]}),
    chunk({"tool_calls": [{"index": i, "function": {"arguments": rest}} for i, rest in ((1, ":1}"), (0, '"a.py"}'))]}),
    chunk({}, finish_reason="tool_calls"),
    chunk(usage={"prompt_tokens": 7, "completion_tokens": 8}),
]  # fmt: skip


@pytest.mark.parametrize(
    "spell", [lambda text: text, lambda text: text.replace("\n", "\r\n"), lambda text: ": hello\n\n" + text]
)
def test_a_chat_stream_is_put_together(spell: Any):
    (fact,) = calls(exchange(response=spell(sse(*CHUNKS, "[DONE]"))))
    expected = plain_message(
        "assistant",
        reasoning_part("Hm."),
        "On it.",
        tool_call("t1", "edit", {"path": "a.py"}),
        tool_call("t2", "run", {"a": 1}),
        finish_reason="tool_calls",
    )
    assert equal(said(fact), expected)
    assert (fact.input_tokens, fact.output_tokens, fact.model_call_id) == (7, 8, "chatcmpl-000000000001")
    (listed,) = calls(exchange(response=CHUNKS))  # type: ignore[arg-type]  # events as a list
    assert listed == fact


def test_a_stream_that_broke_off_gives_what_had_arrived_and_no_reason():
    (fact,) = calls(exchange(response=sse(*CHUNKS[:5]) + 'data: {"id": "chatc'))
    assert equal(said(fact), plain_message("assistant", reasoning_part("Hm."), "On it."))
    _, reason, detail = refused(exchange(response=sse(*CHUNKS[:8])))
    assert (reason, detail) == (
        Remainder.INVALID_VALUE,
        "response.choices[0].message.tool_calls[0].function.arguments: expected a JSON object in text, got text",
    )


BEGUN = anthropic_response(content=[], stop_reason=None, usage={"input_tokens": 9, "output_tokens": 1})
USES = [
    {"type": "tool_use", "id": call_id, "name": name, "input": {}} for call_id, name in (("t1", "edit"), ("t2", "run"))
]
ANTHROPIC_EVENTS = [
    {"type": "message_start", "message": BEGUN},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "x"}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "On it."}},
    {"type": "content_block_start", "index": 2, "content_block": USES[0]},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '{"path": "a'}},
    {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": '.py"}'}},
    {"type": "content_block_start", "index": 3, "content_block": USES[1]},
    {"type": "content_block_delta", "index": 3, "delta": {"type": "input_json_delta", "partial_json": ""}},
    {"type": "content_block_stop", "index": 3},
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 12}},
    {"type": "message_stop"},
]  # fmt: skip


def test_an_anthropic_stream_is_put_together():
    (fact,) = calls(exchange(response=sse(*ANTHROPIC_EVENTS, names=True)))
    expected = plain_message(
        "assistant",
        reasoning_part("Hm."),
        "On it.",
        tool_call("t1", "edit", {"path": "a.py"}),
        tool_call("t2", "run"),
        finish_reason="tool_use",
    )
    assert equal(said(fact), expected)
    assert (fact.input_tokens, fact.output_tokens) == (9, 12)


def test_a_responses_stream_is_put_together():
    item = RESPONSES["output"][1]
    begun = {"type": "response.created", "response": RESPONSES | {"output": [], "status": "in_progress"}}
    done = {"type": "response.output_item.done", "item": item}
    request = {"model": "o-x", "input": "Go."}
    whole = {"type": "response.completed", "response": RESPONSES}
    (fact,) = calls(exchange(request, sse(begun, done, whole, names=True)))
    assert len(said(fact)["parts"]) == 2
    (cut,) = calls(exchange(request, sse(begun, done, names=True)))
    assert equal(said(cut), plain_message("assistant", tool_call("t1", "edit", {"path": "a.py"})))


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


def span(attributes: Json, **changes: Any) -> Json:
    return {
        "name": "chat gpt-x",
        "attributes": attributes,
        "start_time": "2026-03-02T09:00:00Z",
        "end_time": "2026-03-02T09:00:01.5Z",
    } | changes


INPUT = [{"role": "user", "parts": [{"type": "text", "content": "Go."}]}]
OUTPUT = [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}], "finish_reason": "stop"}]
ATTRIBUTES = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.conversation.id": "s1",
    "gen_ai.response.id": "chatcmpl-000000000001",
    "gen_ai.response.model": "gpt-x-2026",
    "gen_ai.usage.input_tokens": 10,
    "gen_ai.input.messages": json.dumps(INPUT),
    "gen_ai.output.messages": json.dumps(OUTPUT),
    "gen_ai.system_instructions": json.dumps([{"type": "text", "content": "Be brief."}]),
}


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


def test_a_span_needs_a_session_and_a_time():
    lonely = {key: value for key, value in ATTRIBUTES.items() if key != "gen_ai.conversation.id"}
    assert refused(span(lonely), OPTIONS)[1] is Remainder.NO_SESSION
    assert refused(ATTRIBUTES, OPTIONS)[1:] == (Remainder.NO_INSTANT, "no time in the record; --instant states one")
    first, second = calls(ATTRIBUTES, ATTRIBUTES | {"gen_ai.response.id": "c2"})
    assert first.observed_at < second.observed_at
