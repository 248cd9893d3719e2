"""Messages of every model API in one normal form, so that a request's history equals what was sent and answered before.

The same conversation is told in several ways: OpenAI keeps a tool's answer in a message of its own, Anthropic puts all
of them into one message of the user; a gateway logs an Anthropic answer in OpenAI's shape and the next request in
Anthropic's. The normal form of all of them (docs/capture.md):

* an ``assistant`` message: its reasoning as one part, its words as one part, its tool calls in order;
* a tool's answer: a message of role ``tool`` with one part;
* every other message: its blocks of text in order, one part each; empty texts are no parts.
"""

from collections.abc import Iterator
from typing import Any, Final

from pydantic import ValidationError

from sediment_assets.capture.chat_parts import Parts, PlainPart, tool_arguments, tool_result
from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.record_fields import RefusedError, invalid, invalid_fact
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message

ASSISTANT: Final = "assistant"
TOOL: Final = "tool"


def chat_messages(value: JsonValue, where: str, left_out: list[str]) -> list[Message]:
    """Translate one message of a history in OpenAI's or Anthropic's shape, or with ``parts``; usually into one Message.

    A message of tool results becomes one Message for each result, and one for each run of other blocks between them.

    :raises RefusedError: no message, or one that a Fact cannot hold; the error names the field.
    """
    if not isinstance(value, dict):
        raise invalid(where, "an object", value)
    role = value.get("role")
    if not isinstance(role, str):
        raise invalid(f"{where}.role", "text", role)
    parts = Parts()
    if role in (TOOL, "function") and not _holds_blocks_of_results(value):
        content = value.get("content", _as_blocks(value.get("parts")))
        parts.response(value.get("tool_call_id"), tool_result(content), where, "tool_call_id")
    elif role == ASSISTANT:
        _assistant(parts, value, where)
    else:
        _content(parts, value, where)
    left_out += parts.left_out
    return list(_messages(role, parts.parts, where))


def assistant_message(value: JsonObject, where: str, left_out: list[str], finish_reason: JsonValue = None) -> Message:
    """Translate what a model answered, whatever role it names, into one message.

    :raises RefusedError: as ``chat_messages`` does.
    """
    role = value.get("role")
    parts = Parts()
    _assistant(parts, value, where)
    left_out += parts.left_out
    return message(
        role if isinstance(role, str) and role else ASSISTANT, normal_assistant(parts.parts), where, finish_reason
    )


def system_messages(value: JsonValue, where: str, left_out: list[str], role: str = "system") -> list[Message]:
    """Translate a system prompt that stands beside the messages, text or blocks; none gives no message."""
    parts = Parts()
    parts.content(value, where)
    left_out += parts.left_out
    return [message(role, parts.parts, where)] if parts.parts else []


def message(role: str, parts: list[PlainPart], where: str, finish_reason: JsonValue = None) -> Message:
    """Make a message. A reason to finish that is no text is as absent as none.

    :raises RefusedError: ids that no Fact can hold.
    """
    reason = finish_reason if isinstance(finish_reason, str) and finish_reason else None
    try:
        return Message.model_validate({"role": role, "parts": parts, "finish_reason": reason})
    except ValidationError as error:
        raise RefusedError(Remainder.INVALID_VALUE, f"{where}: {invalid_fact(error).detail}") from None


def normal_assistant(parts: list[PlainPart]) -> list[PlainPart]:
    """Bring an assistant's parts into the normal form: reasoning, words, then everything else in order."""
    rest = [part for part in parts if part["type"] not in ("reasoning", "text")]
    joined: list[PlainPart] = []
    for kind in ("reasoning", "text"):
        words = [part["content"] for part in parts if part["type"] == kind]
        if words:
            joined.append({"type": kind, "content": "".join(words)})
    return joined + rest


def _assistant(parts: Parts, value: JsonObject, where: str) -> None:
    _content(parts, value, where)
    if not any(part["type"] == "reasoning" for part in parts.parts):
        _reasoning(parts, value, where)
    parts.text(value.get("refusal"), f"{where}.refusal")
    for index, call in enumerate(_list(value.get("tool_calls"), f"{where}.tool_calls")):
        _tool_call(parts, call, f"{where}.tool_calls[{index}]")
    if isinstance(value.get("function_call"), dict):
        raise invalid(f"{where}.function_call", "tool calls, which have ids", value["function_call"])
    for key in ("audio", "images"):
        if value.get(key):
            parts.leave_out(f"{where}.{key}", key)


def _content(parts: Parts, value: JsonObject, where: str) -> None:
    if "parts" in value:  # OpenTelemetry's convention
        parts.content(value["parts"], f"{where}.parts")
    else:
        parts.content(value.get("content"), f"{where}.content")


def _reasoning(parts: Parts, value: JsonObject, where: str) -> None:
    """Add reasoning told beside the content; it may be told twice, and one telling may be empty."""
    blocks = Parts()
    blocks.content(value.get("thinking_blocks"), f"{where}.thinking_blocks")
    if blocks.parts:
        parts.parts += blocks.parts
        return
    for key in ("reasoning_content", "reasoning"):
        told = value.get(key)
        if isinstance(told, str) and told:
            parts.text(told, f"{where}.{key}", "reasoning")
            return


def _tool_call(parts: Parts, call: JsonValue, where: str) -> None:
    if not isinstance(call, dict):
        raise invalid(where, "an object", call)
    custom = call.get("custom")
    if isinstance(custom, dict):  # a tool that takes text, not JSON: its own member is the argument
        parts.call(call.get("id"), custom.get("name"), {"input": custom.get("input")}, where)
        return
    function = call.get("function")
    if not isinstance(function, dict):
        raise invalid(f"{where}.function", "an object", function)
    arguments = tool_arguments(function.get("arguments"), f"{where}.function.arguments")
    parts.call(call.get("id"), function.get("name"), arguments, where)


def _messages(role: str, parts: list[PlainPart], where: str) -> Iterator[Message]:
    if role == ASSISTANT:
        yield message(role, normal_assistant(parts), where)
        return
    run: list[PlainPart] = []
    is_split = False
    for part in parts:
        if part["type"] == "tool_call_response":
            if run:
                yield message(role, run, where)
            yield message(TOOL, [part], where)
            run, is_split = [], True
        else:
            run.append(part)
    if run or not is_split:
        yield message(role, run, where)


def _holds_blocks_of_results(value: JsonObject) -> bool:
    """Whether a tool's message holds blocks that name their calls, as the AI SDK and OpenTelemetry tell it."""
    blocks = value.get("parts", value.get("content"))
    kinds = [block.get("type") for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    return "tool-result" in kinds or ("parts" in value and ("tool_call_response" in kinds or not _names_call(value)))


def _names_call(value: JsonObject) -> bool:
    return isinstance(value.get("tool_call_id"), str)


def _as_blocks(parts: JsonValue) -> JsonValue:
    """Spell the parts of a tool's answer as the blocks that other gateways have there."""
    return [
        {"type": "text", "text": part.get("content")} if isinstance(part, dict) and part.get("type") == "text" else part
        for part in (parts if isinstance(parts, list) else ())
    ]


def _list(value: JsonValue, where: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise invalid(where, "an array", value)
    return value
