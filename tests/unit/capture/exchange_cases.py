"""Recorded exchanges and spans in tests, and what they become."""

import json
from datetime import UTC, datetime
from typing import Any

from sediment_assets.capture.contract import (
    CaptureOptions,
    Document,
    Record,
    Remainder,
    Translated,
    Untranslated,
)
from sediment_assets.capture.sources.exchanges import SOURCE
from sediment_assets.facts.inference_call import InferenceCall
from tests.builders import ORG
from tests.gateway_payloads import Json, anthropic_response

OPTIONS = CaptureOptions(ORG)
STATED = CaptureOptions(ORG, settings={"session": "s1"}, instant=datetime(2026, 1, 1, tzinfo=UTC))
GO = {"model": "gpt-x", "messages": [{"role": "user", "content": "Go."}]}


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


def span(attributes: Json, **changes: Any) -> Json:
    return {
        "name": "chat gpt-x",
        "attributes": attributes,
        "start_time": "2026-03-02T09:00:00Z",
        "end_time": "2026-03-02T09:00:01.5Z",
    } | changes


def sse(*events: Any, names: bool = False) -> str:
    lines = []
    for event in events:
        lines += [f"event: {event['type']}"] if names else []
        lines += [f"data: {event if isinstance(event, str) else json.dumps(event)}", ""]
    return "\n".join([*lines, ""])


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
