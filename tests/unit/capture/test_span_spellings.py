"""Spans that tell their messages in older or other spellings, and Bedrock's blocks: one conversation in all of them."""

import json
from typing import Any

import pytest

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Remainder, Translated, Untranslated
from sediment_assets.capture.sources.exchanges import SOURCE
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import equal
from tests.builders import ORG, plain_message, tool_call, tool_response
from tests.gateway_payloads import Json, function_call

ARGUMENTS = '{"path": "a.py"}'
TOLD: Json = {"session.id": "s1", "gen_ai.system": "openai", "gen_ai.request.model": "gpt-x"}


def translate(value: Any) -> list[Translated | Untranslated]:
    return list(SOURCE.translate([Document("f", [Record("f:1", value)])], CaptureOptions(ORG)))


def call(value: Any) -> InferenceCall:
    (found,) = translate(value)
    assert isinstance(found, Translated), found
    assert isinstance(found.fact, InferenceCall)
    return found.fact


def refused(value: Any) -> tuple[Remainder, str]:
    (found,) = translate(value)
    assert isinstance(found, Untranslated), found
    return found.reason, found.detail


def span(attributes: Json, *events: Json, name: str = "chat") -> Json:
    return {"name": name, "attributes": attributes, "events": list(events), "end_time": "2026-03-02T09:00:00Z"}


def event(name: str, **content: Any) -> Json:
    return {"name": name, "attributes": {"gen_ai.event.content": json.dumps(content)}}


NUMBERED: Json = {
    "gen_ai.prompt.0.role": "system",
    "gen_ai.prompt.0.content": "Be brief.",
    "gen_ai.prompt.1.role": "user",
    "gen_ai.prompt.1.content": json.dumps([{"type": "text", "text": "Go."}]),
    "gen_ai.prompt.2.role": "assistant",
    "gen_ai.prompt.2.tool_calls.0.id": "t1",
    "gen_ai.prompt.2.tool_calls.0.name": "edit",
    "gen_ai.prompt.2.tool_calls.0.arguments": ARGUMENTS,
    "gen_ai.prompt.10.role": "tool",
    "gen_ai.prompt.10.tool_call_id": "t1",
    "gen_ai.prompt.10.content": "ok",
    "gen_ai.completion.0.role": "assistant",
    "gen_ai.completion.0.content": "Done.",
    "gen_ai.completion.0.finish_reason": "stop",
    "gen_ai.usage.prompt_tokens": 10,
    "gen_ai.usage.completion_tokens": 5,
    "llm.request.type": "chat",
}
SENT = "llm.input_messages"
OPENINFERENCE: Json = {
    "openinference.span.kind": "LLM",
    "llm.model_name": "gpt-x",
    "llm.token_count.prompt": 10,
    "llm.token_count.completion": 5,
    f"{SENT}.0.message.role": "system",
    f"{SENT}.0.message.content": "Be brief.",
    f"{SENT}.1.message.role": "user",
    f"{SENT}.1.message.contents.0.message_content.type": "text",
    f"{SENT}.1.message.contents.0.message_content.text": "Go.",
    f"{SENT}.2.message.role": "assistant",
    f"{SENT}.2.message.tool_calls.0.tool_call.id": "t1",
    f"{SENT}.2.message.tool_calls.0.tool_call.function.name": "edit",
    f"{SENT}.2.message.tool_calls.0.tool_call.function.arguments": ARGUMENTS,
    f"{SENT}.3.message.role": "tool",
    f"{SENT}.3.message.tool_call_id": "t1",
    f"{SENT}.3.message.content": "ok",
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.content": "Done.",
}
EVENTS = [
    event("gen_ai.system.message", content="Be brief."),
    event("gen_ai.user.message", role="user", content="Go."),
    event("gen_ai.assistant.message", tool_calls=[function_call()]),
    event("gen_ai.tool.message", id="t1", content="ok"),
    event("gen_ai.choice", index=0, finish_reason="stop", message={"role": "assistant", "content": "Done."}),
]
BEDROCK = [
    {"name": "gen_ai.system.message", "attributes": {"content": "Be brief."}},
    {"name": "gen_ai.user.message", "attributes": {"content": json.dumps([{"text": "Go."}])}},
    {
        "name": "gen_ai.assistant.message",
        "attributes": {
            "content": json.dumps([{"toolUse": {"toolUseId": "t1", "name": "edit", "input": {"path": "a.py"}}}])
        },
    },
    {
        "name": "gen_ai.user.message",
        "attributes": {"content": json.dumps([{"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}])},
    },
    {"name": "gen_ai.choice", "attributes": {"finish_reason": "stop", "message": json.dumps([{"text": "Done."}])}},
]
CHAT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": None, "tool_calls": [function_call()]},
    {"role": "tool", "tool_call_id": "t1", "content": "ok"},
]
CALL: Json = {"role": "assistant", "parts": [], "tool_calls": [function_call()]}
GATEWAY: Json = {  # parts as the convention has them, calls and answers as the API has them
    "gen_ai.input.messages": json.dumps(
        [
            {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
            {"role": "user", "parts": [{"type": "text", "content": "Go."}]},
            CALL,
            {"role": "tool", "tool_call_id": "t1", "parts": [{"type": "text", "content": "ok"}]},
        ]
    ),
    "gen_ai.output.messages": json.dumps(
        [{"role": "assistant", "parts": [{"type": "text", "content": "Done."}], "finish_reason": "stop"}]
    ),
}
SPELLINGS: dict[str, Json] = {
    "numbered": span(TOLD | NUMBERED),
    "openinference": span(TOLD | OPENINFERENCE),
    "events": span(TOLD, *EVENTS),
    "events in one attribute": span(
        TOLD
        | {
            "events": json.dumps(
                [{"event.name": e["name"], **json.loads(e["attributes"]["gen_ai.event.content"])} for e in EVENTS]
            )
        }
    ),
    "events of Bedrock's blocks": span(TOLD, *BEDROCK),
    "whole": span(
        TOLD,
        {"name": "gen_ai.content.prompt", "attributes": {"gen_ai.prompt": json.dumps(CHAT)}},
        {
            "name": "gen_ai.content.completion",
            "attributes": {"gen_ai.completion": json.dumps([{"role": "assistant", "content": "Done."}])},
        },
    ),
    "a gateway's": span(TOLD | GATEWAY),
}


@pytest.mark.parametrize("value", SPELLINGS.values(), ids=SPELLINGS)
def test_each_spelling_tells_the_same_conversation(value: Json):
    fact = call(value)
    assert equal(
        [message.model_dump() for message in fact.input_messages],
        [
            plain_message("system", "Be brief."),
            plain_message("user", "Go."),
            plain_message("assistant", tool_call("t1", "edit", {"path": "a.py"})),
            plain_message("tool", tool_response("t1", "ok")),
        ],
    )
    (said,) = fact.output_messages
    assert [part.model_dump() for part in said.parts] == [{"type": "text", "content": "Done."}]
    assert fact.model == "gpt-x"
    assert "Done." not in json.dumps(fact.raw)


@pytest.mark.parametrize("attributes", [NUMBERED, OPENINFERENCE])
def test_counts_under_other_names_are_read(attributes: Json):
    fact = call(span(TOLD | attributes))
    assert (fact.input_tokens, fact.output_tokens) == (10, 5)


@pytest.mark.parametrize("attributes", [{"llm.request.type": "embedding"}, {"openinference.span.kind": "RETRIEVER"}])
def test_numbered_texts_of_another_operation_are_no_messages(attributes: Json):
    told = TOLD | {"gen_ai.prompt.0.content": "a text"} | attributes
    assert refused(span(told)) == (Remainder.NO_EVIDENCE, "a span of an operation that is no model call")


def test_text_that_is_no_list_of_messages_is_none():
    told = TOLD | {"gen_ai.prompt": "user: Go.", "gen_ai.completion": "Done."}
    assert refused(span(told)) == (Remainder.NO_CONTENT, "a span of a model call without messages")


def test_an_event_by_itself_is_one_message_of_a_call():
    alone = {"eventName": "gen_ai.user.message", "attributes": TOLD, "body": {"content": "Go."}}
    detail = "an event with one message of a model call, without the ids of the call's span"
    assert refused(alone) == (Remainder.NO_CONTENT, detail)


def test_an_exchange_with_bedrock():
    request = {"messages": [{"role": "user", "content": [{"text": "Go."}]}], "system": [{"text": "Be brief."}]}
    content = [
        {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
        {"text": "Look."},
        {"toolUse": {"toolUseId": "t1", "name": "edit", "input": {"path": "a.py"}}},
    ]
    response = {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 10, "outputTokens": 5},
    }
    fact = call({"session_id": "s1", "timestamp": "2026-03-02T09:00:00Z", "request": request, "response": response})
    assert [message.role for message in fact.input_messages] == ["system", "user"]
    (said,) = fact.output_messages
    assert [part.type for part in said.parts] == ["reasoning", "text", "tool_call"]
    assert (said.finish_reason, fact.input_tokens, fact.output_tokens) == ("tool_use", 10, 5)


def test_spans_that_differ_in_their_start_only_are_calls_of_their_own():
    told = span(TOLD | NUMBERED) | {"start_time": "2026-03-02T08:59:58Z"}
    again = told | {"start_time": "2026-03-02T08:59:59Z"}
    assert call(told).inference_call_id == call(dict(told)).inference_call_id
    assert call(told).inference_call_id != call(again).inference_call_id
