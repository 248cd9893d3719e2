"""Streams of events put together: tool calls and their numbers, blocks instead of words, streams that broke off."""

from typing import Any

import pytest

from sediment_assets.capture.event_streams import assemble
from sediment_assets.capture.model_responses import read_answer
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.messages import Message
from tests.gateway_payloads import Json


def answered(events: list[Json]) -> list[Message]:
    return read_answer(assemble(events, "response"), "response", []).messages


def told(events: list[Json]) -> list[tuple[str, Any]]:
    (message,) = answered(events)
    return [
        (part.type, part.name if part.type == "tool_call" else getattr(part, "content", "")) for part in message.parts
    ]


def chat(delta: Json, finish_reason: str | None = None) -> Json:
    return {"object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": finish_reason}]}


def piece(index: Any, call_id: str | None, name: str | None, arguments: str) -> Json:
    numbered = {} if index == "absent" else {"index": index}
    return {"tool_calls": [{**numbered, "id": call_id, "function": {"name": name, "arguments": arguments}}]}


@pytest.mark.parametrize("index", [0, None, "absent"])
def test_a_tool_call_with_an_id_of_its_own_is_another_call_however_it_is_numbered(index: Any):
    events = [
        chat({"role": "assistant", **piece(index, "call_a", "read", '{"path": ')}),
        chat(piece(index, "" if index is None else "call_a" if index == "absent" else None, None, '"a"}')),
        chat(piece(index, "call_b", "list", "{}")),
        chat({}, "tool_calls"),
    ]
    if index is None:  # without number and id a piece belongs to nobody
        events = [chat(piece(index, "call_a", "read", "{}")), *events[2:]]
    assert told(events) == [("tool_call", "read"), ("tool_call", "list")]


def test_thoughts_and_words_in_blocks_are_joined_with_words_behind_them():
    thought = [{"type": "thinking", "thinking": [{"type": "text", "text": "Let me "}]}]
    more = [{"type": "thinking", "thinking": [{"type": "text", "text": "see."}]}]
    events = [chat({"content": thought}), chat({"content": more}), chat({"content": "It "}), chat({"content": "is."})]
    assert told([*events, chat({"content": None}, "stop")]) == [("reasoning", "Let me see."), ("text", "It is.")]


RESPONSE: Json = {"id": "resp_0123456789abcdef", "object": "response", "status": "in_progress", "output": []}
BEGUN: list[Json] = [
    {"type": "response.created", "response": RESPONSE},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "summary": []}},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "Let me "},
    {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "see."},
]
SAYING: list[Json] = [
    {"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "role": "assistant"}},
    {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "It "},
    {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "is"},
]


def test_a_responses_stream_that_broke_off_gives_its_words_so_far_and_no_reason_to_finish():
    assert told([*BEGUN, *SAYING]) == [("reasoning", "Let me see."), ("text", "It is")]
    assert answered([*BEGUN, *SAYING])[0].finish_reason is None
    failed = {"type": "response.failed", "response": RESPONSE | {"status": "failed", "error": {"code": "x"}}}
    assert told([*BEGUN, *SAYING, failed]) == [("reasoning", "Let me see."), ("text", "It is")]


def test_an_anthropic_stream_that_failed_gives_its_words_so_far():
    events = [
        {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It is"}},
        {"type": "error", "error": {"type": "overloaded_error"}},
    ]
    assert told(events) == [("text", "It is")]
    assert answered([events[0], events[3]]) == []


FUNCTION: Json = {"type": "function_call", "call_id": "call_a", "name": "list", "arguments": ""}
TOOL: Json = {"type": "tool_use", "id": "toolu_1", "name": "list", "input": {}}
CUT: dict[str, list[Json]] = {
    "chat": [chat({"role": "assistant", **piece(0, "call_a", "list", "")})],
    "responses": [
        *BEGUN,
        {"type": "response.output_item.added", "output_index": 1, "item": FUNCTION},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"path"'},
    ],
    "anthropic": [
        {"type": "message_start", "message": {"id": "msg_1", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": TOOL},
    ],
}


@pytest.mark.parametrize("events", CUT.values(), ids=CUT)
def test_a_stream_that_broke_off_before_the_arguments_of_a_tool_call_is_refused(events: list[Json]):
    with pytest.raises(RefusedError, match="response: the stream broke off in the arguments of a tool call"):
        answered(events)


def test_a_tool_call_without_arguments_is_whole_where_its_stream_went_on():
    assert told([*CUT["anthropic"], {"type": "content_block_stop", "index": 0}]) == [("tool_call", "list")]
    assert told([*CUT["chat"], chat({}, "tool_calls")]) == [("tool_call", "list")]


def test_items_of_the_providers_own_tools_do_not_split_a_message():
    output = [
        {"type": "mcp_list_tools", "id": "mcpl_1", "tools": []},
        {"type": "mcp_call", "id": "mcp_1", "name": "search", "arguments": "{}", "output": "x"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]},
    ]
    left_out: list[str] = []
    answer = read_answer({"status": "completed", "output": output}, "response", left_out)
    assert [len(message.parts) for message in answer.messages] == [1]
    assert len(left_out) == 2


def test_a_stream_of_the_older_completions_api_is_put_together():
    events = [{"choices": [{"index": 0, "text": word, "finish_reason": None}]} for word in ("It ", "is.")]
    assert told([*events, {"choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}]) == [("text", "It is.")]


def test_an_answer_of_anthropics_older_api_is_its_words():
    body = {"type": "completion", "completion": " It is.", "stop_reason": "stop_sequence"}
    (message,) = read_answer(body, "response", []).messages
    assert (message.parts[0].model_dump()["content"], message.finish_reason) == (" It is.", "stop_sequence")
