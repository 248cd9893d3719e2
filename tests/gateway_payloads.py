"""Invented records of gateways and model APIs, as small as their shape allows."""

import json
from typing import Any

Json = dict[str, Any]


def payload(**changes: Any) -> Json:
    """A StandardLoggingPayload of one call of Session ``s1``, in OpenAI's shape."""
    record: Json = {
        "id": "chatcmpl-000000000001",
        "trace_id": "s1",
        "call_type": "acompletion",
        "status": "success",
        "custom_llm_provider": "openai",
        "startTime": 1772442000.0,
        "endTime": 1772442002.5,
        "model": "gpt-x",
        "metadata": {"user_api_key_user_id": "dev-1"},
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "messages": [{"role": "user", "content": "Go."}],
        "response": chat_response(),
        "model_parameters": {"stream": True},
    } | changes
    if "response" not in changes:
        record["response"]["id"] = record["id"]
    return record


def chat_response(message: Json | None = None, **changes: Any) -> Json:
    """The body of a Chat Completions response."""
    return {
        "id": "chatcmpl-000000000001",
        "object": "chat.completion",
        "created": 1772442002,
        "model": "gpt-x-2026",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": message or {"role": "assistant", "content": "Done."}}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    } | changes


def function_call(id: str = "t1", name: str = "edit", arguments: Any = '{"path": "a.py"}') -> Json:  # noqa: A002
    """A tool call in OpenAI's shape."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def anthropic_response(*content: Json, **changes: Any) -> Json:
    """The body of a Messages response."""
    return {
        "id": "msg_000000000001",
        "type": "message",
        "role": "assistant",
        "model": "claude-x",
        "content": list(content) or [{"type": "text", "text": "Done."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    } | changes


def exchange(request: Json | None = None, response: Json | None = None, **changes: Any) -> Json:
    """A recorded request and response of Session ``s1``."""
    return {
        "request": request or {"model": "gpt-x", "messages": [{"role": "user", "content": "Go."}]},
        "response": chat_response() if response is None else response,
        "session_id": "s1",
        "started_at": "2026-03-02T09:00:00Z",
        "ended_at": "2026-03-02T09:00:02.5Z",
    } | changes


MESSAGES: list[Json] = [
    {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]},
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": None, "reasoning_content": "Hm.", "tool_calls": [function_call()]},
    {"role": "tool", "tool_call_id": "t1", "content": "ok"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "tool_use", "id": "t2", "name": "edit", "input": {"path": "a.py", "n": 1}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t2", "content": "ok", "is_error": True}]},
]
ITEMS: list[Json] = [
    {"role": "user", "content": [{"type": "input_text", "text": "Go."}]},
    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "function_call", "call_id": "t1", "name": "edit", "arguments": "{}"},
    {"type": "shell_call", "call_id": "t2", "action": {"commands": ["ls"]}},
    {"type": "function_call_output", "call_id": "t1", "output": "ok"},
]
RESPONSE: Json = {"id": "resp_1", "object": "response", "status": "completed", "output": ITEMS[1:4], "usage": {}}
ROW: Json = {
    "request_id": "chatcmpl-000000000001",
    "session_id": "s1",
    "spend": 0.1,
    "startTime": "2026-03-02T09:00:00Z",
    "metadata": "{}",
    "messages": json.dumps(MESSAGES),
    "response": json.dumps(chat_response()),
    "proxy_server_request": {"input": "Go.", "previous_response_id": "resp_0"},
}
LITELLM: list[Any] = [
    payload(messages=MESSAGES),
    payload(messages=MESSAGES, response=anthropic_response(), end_user="user_0a_account__session_x"),
    payload(call_type="aresponses", messages=ITEMS, response=RESPONSE, model_parameters={"instructions": "Be brief."}),
    payload(status="failure", response={}, messages="Go."),
    {"standard_logging_object": payload(), "litellm_params": {"metadata": {"session_id": "s2"}}},
    ROW,
    {"messages": MESSAGES, "raw_messages": MESSAGES, "response": chat_response(), "timestamp": 1, "session_id": "s1"},
]
SPAN: Json = {
    "name": "chat",
    "attributes": {
        "gen_ai.conversation.id": "s1",
        "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Go."}]}],
        "gen_ai.output.messages": json.dumps([{"role": "assistant", "parts": [], "finish_reason": "stop"}]),
        "gen_ai.usage.input_tokens": 1,
    },
    "startTime": [1772442000, 0],
    "end_time": "2026-03-02T09:00:00Z",
    "events": [{"attributes": {"ai.prompt.messages": "[]"}}],
}
EVENTS: list[Json] = [
    {
        "timeUnixNano": str(1772442000 * 10**9 + number),
        "attributes": [{"key": "gen_ai.system", "value": {"stringValue": "openai"}}],
        "eventName": f"gen_ai.{name}",
        "body": {"kvlistValue": {"values": [{"key": key, "value": value} for key, value in body.items()]}},
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": "b7ad6b7169203331",
    }
    for number, (name, body) in enumerate(
        [
            ("user.message", {"content": {"stringValue": "Go."}}),
            ("tool.message", {"id": {"stringValue": "t1"}}),
            (
                "choice",
                {
                    "index": {"intValue": "0"},
                    "message": {"kvlistValue": {"values": [{"key": "content", "value": {"stringValue": "Done."}}]}},
                },
            ),
        ]
    )
]
BARE_SPAN: Json = {
    "name": "chat",
    "context": {"trace_id": "0x0af7651916cd43dd8448eb211c80319c", "span_id": "0xb7ad6b7169203331"},
    "start_time": "2026-03-02T09:00:00Z",
    "attributes": {"gen_ai.conversation.id": "s1", "gen_ai.response.id": "chatcmpl-000000000009"},
}
EXCHANGES: list[Any] = [
    exchange({"messages": MESSAGES, "system": "Be brief."}),
    exchange({"input": ITEMS, "instructions": "Be brief.", "previous_response_id": None}, RESPONSE),
    exchange(response=[{"type": "message_start", "message": anthropic_response()}, {"type": "message_stop"}]),  # type: ignore[arg-type]  # events
    exchange(response='data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\ndata: [DONE]\n\n'),  # type: ignore[arg-type]  # a stream
    {"interactions": [exchange({"uri": "https://x.test", "body": json.dumps({"prompt": "Go."})})]},
    {
        "log": {
            "entries": [exchange({"url": "https://x.test", "headers": [], "postData": {"text": '{"prompt": "Go."}'}})]
        }
    },
    SPAN,
    {"resourceSpans": [{"scopeSpans": [{"spans": [SPAN]}]}]},
    {"resourceLogs": [{"scopeLogs": [{"logRecords": [SPAN | {"body": {"stringValue": "x"}}]}]}]},
    {
        "resourceSpans": [{"scopeSpans": [{"spans": [BARE_SPAN]}]}],
        "resourceLogs": [{"scopeLogs": [{"logRecords": EVENTS}]}],
    },
]
"""Records of each source in every shape, for tests that damage them."""
