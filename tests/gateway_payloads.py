"""Invented records of gateways and model APIs, as small as their shape allows."""

from typing import Any

Json = dict[str, Any]


def payload(**changes: Any) -> Json:
    """A StandardLoggingPayload of one call of Session ``s1``, in OpenAI's shape."""
    record: Json = {
        "id": "chatcmpl-1",
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
        "id": "chatcmpl-1",
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
        "id": "msg_1",
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
