"""Kinds of LiteLLM's calls: no conversations, requests that were passed through, answers that were removed."""

import json
from typing import Any

import pytest

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Remainder, Translated, Untranslated
from sediment_assets.capture.sources.litellm import SOURCE
from sediment_assets.facts.inference_call import InferenceCall
from tests.builders import ORG
from tests.gateway_payloads import Json, anthropic_response, chat_response, function_call, payload

CLAUDE_CODE = "0b1c2d3e-0000-4000-8000-000000000001"
BODY: Json = {
    "model": "claude-x",
    "system": "Be brief.",
    "messages": [{"role": "user", "content": [{"type": "text", "text": "Go."}]}],
    "metadata": {"user_id": f"user_{'a' * 64}_account__session_{CLAUDE_CODE}"},
}


def outcome(value: Any) -> Translated | Untranslated:
    (found,) = SOURCE.translate([Document("f", [Record("f:1", value)])], CaptureOptions(ORG))
    return found


def call(value: Any) -> InferenceCall:
    found = outcome(value)
    assert isinstance(found, Translated), found
    assert isinstance(found.fact, InferenceCall)
    return found.fact


def refused(value: Any) -> tuple[Remainder, str]:
    found = outcome(value)
    assert isinstance(found, Untranslated), found
    return found.reason, found.detail


def passed(body: Any, **changes: Any) -> Json:
    """A record of a route that hands requests on: the body is the text of one message."""
    messages = [{"role": "user", "content": json.dumps(body)}]
    return payload(call_type="pass_through_endpoint", model="unknown", messages=messages, **changes)


@pytest.mark.parametrize("kind", ["aembedding", "_arealtime", "avideo_generation", "call_mcp_tool", "acancel_batch"])
def test_a_kind_of_call_that_is_no_conversation_is_counted_by_its_name(kind: str):
    assert refused(payload(call_type=kind, messages=None)) == (Remainder.NO_EVIDENCE, f"call_type {kind}")


@pytest.mark.parametrize(
    "response", [chat_response(), anthropic_response(), {"response": json.dumps(anthropic_response())}]
)
def test_a_request_that_was_passed_through_is_taken_out_of_its_message(response: Json):
    fact = call(passed(BODY, response=response))
    assert [message.role for message in fact.input_messages] == ["system", "user"]
    assert fact.input_messages[1].parts[0].model_dump() == {"type": "text", "content": "Go."}
    assert fact.output_messages[0].parts[0].model_dump() == {"type": "text", "content": "Done."}
    assert (fact.session_id, fact.model) == (CLAUDE_CODE, response.get("model", "claude-x"))


def test_a_stream_that_was_passed_through_is_put_together():
    chunk = {"choices": [{"delta": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}]}
    fact = call(passed(BODY, response={"response": f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"}))
    assert fact.output_messages[0].parts[0].model_dump() == {"type": "text", "content": "Done."}


@pytest.mark.parametrize("body", [{"query": "x", "documents": []}, "WebSocket connection", [1]])
def test_another_request_that_was_passed_through_is_refused_by_name(body: Any):
    detail = "messages: a passed-through request of no API that is read"
    assert refused(passed(body, response={"response": "{}"})) == (Remainder.UNKNOWN_SHAPE, detail)


@pytest.mark.parametrize("kind", [None, 7, ["acompletion"], {"a": 1}])
def test_a_kind_that_is_no_word_says_nothing(kind: Any):
    assert call(payload(call_type=kind)).input_messages[0].role == "user"


def test_a_passed_through_request_without_a_body_is_no_evidence():
    detail = "a passed-through request without a body"
    assert refused(passed(None, response={"response": ""})) == (Remainder.NO_EVIDENCE, detail)
    assert refused(passed({}) | {"messages": []}) == (Remainder.NO_EVIDENCE, detail)


REMOVED = "redacted-by-litellm"
MESSAGE = "response.choices[0].message"
REMOVALS: list[tuple[Json, str]] = [
    (chat_response({"content": None, "reasoning_content": REMOVED}), f"{MESSAGE}.reasoning_content"),
    (
        chat_response({"content": None, "tool_calls": [function_call(arguments=REMOVED)]}),
        f"{MESSAGE}.tool_calls[0].function.arguments",
    ),
    ({"choices": [{"text": REMOVED}]}, "response.choices[0].text"),
    ({"output": [{"type": "message", "content": [{"text": REMOVED}]}]}, "response.output[0].content[0].text"),
    ({"text": REMOVED}, "response.text"),
]


@pytest.mark.parametrize(("response", "place"), REMOVALS)
def test_an_answer_of_which_a_text_was_removed_is_no_answer(response: Json, place: str):
    detail = f"{place}: messages were removed before the record was written"
    assert refused(payload(response=response)) == (Remainder.NO_CONTENT, detail)


def test_messages_that_were_removed_behind_a_system_prompt_are_missing():
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": REMOVED}]
    assert refused(payload(messages=messages))[0] is Remainder.NO_CONTENT


def test_an_id_that_says_so_marks_an_answer_from_a_cache():
    marked = payload(id="chatcmpl-000000000001_cache_hit1772442000.0", cache_hit=False, response=chat_response())
    assert call(marked).model_call_id is None


def row(**changes: Any) -> Json:
    """A row of the spend log whose columns are JSON, as a database gives them."""
    return {
        "request_id": "chatcmpl-000000000001",
        "spend": 0.1,
        "startTime": "2026-03-02T09:00:00Z",
        "session_id": "s1",
        "messages": {},
        "proxy_server_request": {"messages": [{"role": "user", "content": "Go."}]},
        "response": chat_response(),
    } | changes


CUT = "Go... (litellm_truncated skipped 9 chars) ..."


@pytest.mark.parametrize(
    "changes",
    [
        {"proxy_server_request": {"messages": [{"role": "user", "content": CUT}]}},
        {"response": chat_response({"content": CUT})},
        {
            "proxy_server_request": {"messages": [{"role": "user", "content": REMOVED}]},
            "status": "failure",
            "response": {},
        },
        {"proxy_server_request": {"input": REMOVED}, "status": "failure", "response": {}},
    ],
)
def test_a_row_whose_texts_were_cut_or_removed_has_no_content(changes: Json):
    assert refused(row(**changes))[0] is Remainder.NO_CONTENT


def test_a_page_of_rows_is_its_rows():
    page = {"data": [row(), row(request_id="chatcmpl-000000000002", response={})], "total": 2, "page": 1}
    first, second = SOURCE.translate([Document("f", [Record("f:1", page)])], CaptureOptions(ORG))
    assert isinstance(first, Translated)
    assert isinstance(second, Untranslated)
    assert (first.place, second.place) == ("f:1.data[0]", "f:1.data[1]")
