"""Content of messages of any model API as parts (facts.md §3.1): blocks of text, reasoning, tool calls and results.

What a part cannot be without (a tool call's id, arguments that are an object) refuses the record. Content of other
kinds (pictures, sound, files) is left out of its message and named in ``Parts.left_out``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.record_fields import invalid
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

PlainPart = dict[str, Any]
"""A part as plain JSON."""


@dataclass(slots=True)
class Parts:
    """The parts of one message, in the order of its blocks, and where it held what no part can hold."""

    parts: list[PlainPart] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def text(self, value: JsonValue, where: str, kind: str = "text") -> None:
        """Add words; none, or empty ones, say nothing."""
        if value is None or value == "":
            return
        if not isinstance(value, str):
            raise invalid(where, "text", value)
        self.parts.append({"type": kind, "content": value})

    def call(self, call_id: JsonValue, name: JsonValue, arguments: JsonObject, where: str) -> None:
        """Add a tool call."""
        if not isinstance(name, str):
            raise invalid(f"{where}.name", "text", name)
        self.parts.append(
            {"type": "tool_call", "id": required_id(call_id, f"{where}.id"), "name": name, "arguments": arguments}
        )

    def response(self, call_id: JsonValue, result: JsonValue, where: str, key: str = "id") -> None:
        """Add a tool's answer."""
        answered = required_id(call_id, f"{where}.{key}")
        self.parts.append({"type": "tool_call_response", "id": answered, "result": result})

    def leave_out(self, where: str, kind: JsonValue) -> None:
        """Note content that no part can hold."""
        self.left_out.append(f"{where}: content of type {spelled_kind(kind)} is no part of a message")

    def content(self, value: JsonValue, where: str) -> None:
        """Add a message's content: text, a block, or blocks; null is none."""
        if isinstance(value, str):
            self.text(value, where)
        elif isinstance(value, list):
            for index, block in enumerate(value):
                self.block(block, f"{where}[{index}]")
        elif isinstance(value, dict):
            self.block(value, where)
        elif value is not None:
            raise invalid(where, "text or an array of blocks", value)

    def block(self, block: JsonValue, where: str) -> None:
        """Add one block."""
        if isinstance(block, str):
            self.text(block, where)
            return
        if not isinstance(block, dict):
            raise invalid(where, "an object", block)
        kind = block.get("type")
        if kind is None:  # Bedrock's and Google's blocks are named by their member
            kind = next((name for name in _NAMED_BY_MEMBER if name in block), None)
        reader = _BLOCKS.get(kind) if isinstance(kind, str) else None
        if reader is None:
            self.leave_out(where, kind)
        else:
            reader(self, block, where)


def is_block(value: JsonObject) -> bool:
    """Whether an object is a block of content: it names its type, or has the member that names Bedrock's."""
    return isinstance(value.get("type"), str) or any(name in value for name in _NAMED_BY_MEMBER)


def required_id(value: JsonValue, where: str) -> str:
    """Return a tool call's id; without one nothing can be joined, so the record is refused."""
    if not isinstance(value, str) or not value.strip():
        raise invalid(where, "a tool call's id", value)
    return value


def tool_arguments(value: JsonValue, where: str) -> JsonObject:
    """Return arguments as an object: as they are, or out of JSON text; nothing, ``""`` and ``null`` are none."""
    if isinstance(value, str):
        if not value.strip():
            return {}
        try:
            value = parse_json(value)
        except JsonError:
            raise invalid(where, "a JSON object in text", value) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise invalid(where, "a JSON object", value)
    return value


def tool_result(value: JsonValue) -> JsonValue:
    """Return a result: text as it is, a single block of text as its text, anything else as captured.

    Cache marks are taken off: they move from call to call, and the result does not change with them.
    """
    if not isinstance(value, list):
        return value
    if len(value) == 1 and isinstance(value[0], dict):
        text = value[0].get("text")
        if isinstance(text, str) and value[0].get("type") in _PLAIN_TEXT:
            return text
    return [
        {key: item for key, item in block.items() if key != "cache_control"} if isinstance(block, dict) else block
        for block in value
    ]


def spelled_kind(kind: JsonValue) -> str:
    """Spell a captured type for a message: only a plain word, for details never show content."""
    if (
        isinstance(kind, str)
        and len(kind) <= 40
        and kind.replace("_", "").replace("-", "").isalnum()
        and kind.isascii()
    ):
        return kind
    return "none" if kind is None else "an unreadable name"


def _text(parts: Parts, block: JsonObject, where: str) -> None:
    parts.text(block.get("text"), f"{where}.text")


def _refusal(parts: Parts, block: JsonObject, where: str) -> None:
    parts.text(block.get("refusal"), f"{where}.refusal")


def _thinking(parts: Parts, block: JsonObject, where: str) -> None:
    thought = block.get("thinking")
    if not isinstance(thought, list):
        parts.text(thought, f"{where}.thinking", "reasoning")
        return
    told = Parts()  # Mistral tells thoughts in blocks of their own
    told.content(thought, f"{where}.thinking")
    for part in told.parts:
        parts.text(part.get("content"), f"{where}.thinking", "reasoning")
    parts.left_out += told.left_out


def _reasoning(parts: Parts, block: JsonObject, where: str) -> None:
    parts.text(block.get("text", block.get("content")), f"{where}.text", "reasoning")


def _nothing(_parts: Parts, _block: JsonObject, _where: str) -> None:
    """Encrypted reasoning shows no words."""


def _tool_use(parts: Parts, block: JsonObject, where: str) -> None:
    parts.call(block.get("id"), block.get("name"), tool_arguments(block.get("input"), f"{where}.input"), where)


def _tool_result(parts: Parts, block: JsonObject, where: str) -> None:
    result = tool_result(block.get("content"))
    if block.get("is_error") is True:
        result = {"is_error": True, "content": result}
    parts.response(block.get("tool_use_id"), result, where, "tool_use_id")


def _sdk_tool_call(parts: Parts, block: JsonObject, where: str) -> None:
    given = block.get("input", block.get("args"))
    parts.call(block.get("toolCallId"), block.get("toolName"), tool_arguments(given, f"{where}.input"), where)


def _sdk_tool_result(parts: Parts, block: JsonObject, where: str) -> None:
    output = block.get("output")
    if isinstance(output, dict) and output.get("type") in ("text", "json") and "value" in output:
        output = output["value"]
    parts.response(block.get("toolCallId"), output if "output" in block else block.get("result"), where, "toolCallId")


def _convention_text(parts: Parts, block: JsonObject, where: str) -> None:
    parts.text(block.get("content", block.get("text")), f"{where}.content")


def _convention_call(parts: Parts, block: JsonObject, where: str) -> None:
    parts.call(block.get("id"), block.get("name"), tool_arguments(block.get("arguments"), f"{where}.arguments"), where)


def _convention_response(parts: Parts, block: JsonObject, where: str) -> None:
    parts.response(block.get("id"), tool_result(block.get("response", block.get("result"))), where)


def _bedrock_call(parts: Parts, block: JsonObject, where: str) -> None:
    call = _inside(block, "toolUse", where)
    where = f"{where}.toolUse"
    parts.call(call.get("toolUseId"), call.get("name"), tool_arguments(call.get("input"), f"{where}.input"), where)


def _bedrock_result(parts: Parts, block: JsonObject, where: str) -> None:
    told = _inside(block, "toolResult", where)
    content = told.get("content")
    only = content[0] if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict) else {}
    result: JsonValue = only["text"] if set(only) == {"text"} else content
    if told.get("status") == "error":
        result = {"is_error": True, "content": result}
    parts.response(told.get("toolUseId"), result, f"{where}.toolResult", "toolUseId")


def _bedrock_reasoning(parts: Parts, block: JsonObject, where: str) -> None:
    told = _inside(_inside(block, "reasoningContent", where), "reasoningText", f"{where}.reasoningContent")
    parts.text(told.get("text"), f"{where}.reasoningContent.reasoningText.text", "reasoning")


def _inside(block: JsonObject, key: str, where: str) -> JsonObject:
    """Return an object in a block; an empty one when absent, as encrypted reasoning has no text."""
    held = block.get(key)
    if held is not None and not isinstance(held, dict):
        raise invalid(f"{where}.{key}", "an object", held)
    return held or {}


_NAMED_BY_MEMBER: Final = ("text", "toolUse", "toolResult", "reasoningContent", "cachePoint")
_PLAIN_TEXT: Final = ("text", "input_text", "output_text")
_BLOCKS: Final[Mapping[str, Callable[[Parts, JsonObject, str], None]]] = {
    "text": _convention_text,
    "input_text": _text,
    "output_text": _text,
    "summary_text": _reasoning,
    "reasoning_text": _reasoning,
    "reasoning": _reasoning,
    "thinking": _thinking,
    "redacted_thinking": _nothing,
    "refusal": _refusal,
    "tool_use": _tool_use,
    "tool_result": _tool_result,
    "tool-call": _sdk_tool_call,
    "tool-result": _sdk_tool_result,
    "tool_call": _convention_call,
    "tool_call_response": _convention_response,
    "toolUse": _bedrock_call,
    "toolResult": _bedrock_result,
    "reasoningContent": _bedrock_reasoning,
    "cachePoint": _nothing,
}
"""Anthropic Messages, OpenAI Chat and Responses, the AI SDK (hyphens), OpenTelemetry (``tool_call``), Bedrock."""
