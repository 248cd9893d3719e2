"""Streams of recorded exchanges: put together as the API would have answered whole."""

from typing import Any

import pytest

from sediment_assets.capture.contract import (
    Remainder,
)
from sediment_assets.facts.json_values import equal
from tests.builders import plain_message, reasoning_part, tool_call
from tests.gateway_payloads import Json, exchange, function_call
from tests.unit.capture.exchange_cases import ANTHROPIC_EVENTS, RESPONSES, calls, refused, said, sse


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
