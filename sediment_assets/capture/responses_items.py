"""Items of the OpenAI Responses API as messages in the normal form of ``chat_messages.py``.

A model's reasoning, words and tool calls are items of their own there; those that stand together are one message of the
assistant. A call of a tool that is not a function carries its arguments as members of the item, which become the
arguments; a tool that the provider runs itself gives no call that anybody answers, and is left out.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sediment_assets.capture.chat_messages import ASSISTANT, TOOL, chat_messages, message, normal_assistant
from sediment_assets.capture.chat_parts import Parts, tool_arguments, tool_result
from sediment_assets.capture.record_fields import invalid
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message

_FRAME: Final = frozenset({"id", "type", "status", "call_id", "name", "created_by"})
"""Members of a call's item that are not its arguments."""
_REASONING: Final = "reasoning"
_BESIDE: Final = (_REASONING, "mcp_list_tools", "mcp_approval_request")
"""Items that stand among a model's words and calls; those of the provider's own tools have no words."""


def is_item(value: JsonValue) -> bool:
    """Whether a list's element is an item of the Responses API rather than a chat message."""
    return (
        isinstance(value, dict) and isinstance(value.get("type"), str) and ("role" not in value or _is_message(value))
    )


def item_groups(items: Sequence[JsonValue]) -> Iterator[tuple[int, list[JsonValue]]]:
    """Yield (first index, items) of what is one message each: runs of what the model said, everything else alone."""
    run: list[JsonValue] = []
    begun = 0
    for index, item in enumerate(items):
        if _is_said(item):
            # A second text of the assistant begins the next message: nobody spoke between them, yet they are two.
            if run and _is_message(item) and any(_is_message(other) for other in run):
                yield begun, run
                run = []
            begun = index if not run else begun
            run.append(item)
            continue
        if run:
            yield begun, run
            run = []
        yield index, [item]
    if run:
        yield begun, run


def group_messages(
    group: Sequence[JsonValue], where: str, index: int, left_out: list[str], finish_reason: JsonValue = None
) -> list[Message]:
    """Translate one group of ``item_groups``, whose first item is ``where[index]``.

    :raises RefusedError: an item that a Fact cannot hold.
    """
    if not _is_said(group[0]):
        return _heard(group[0], f"{where}[{index}]", left_out)
    parts = Parts()
    for offset, item in enumerate(group):
        assert isinstance(item, dict)  # so ``_is_said`` says
        _say(parts, item, f"{where}[{index + offset}]")
    left_out += parts.left_out
    return [message(ASSISTANT, normal_assistant(parts.parts), f"{where}[{index}]", finish_reason)]


def _heard(item: JsonValue, where: str, left_out: list[str]) -> list[Message]:
    if not isinstance(item, dict):
        raise invalid(where, "an object", item)
    kind = item.get("type")
    if isinstance(kind, str) and kind.endswith("_output"):
        parts = Parts()
        parts.response(item.get("call_id"), tool_result(item.get("output")), where, "call_id")
        return [message(TOOL, parts.parts, where)]
    if "role" in item:
        return chat_messages(item, where, left_out)
    parts = Parts()
    parts.leave_out(where, kind)
    left_out += parts.left_out
    return []


def _say(parts: Parts, item: JsonObject, where: str) -> None:
    kind = str(item.get("type", "message"))
    if kind == _REASONING:
        before = len(parts.parts)
        _reasoning(parts, item.get("content"), f"{where}.content")
        if len(parts.parts) == before:
            _reasoning(parts, item.get("summary"), f"{where}.summary")
    elif kind == "message":
        parts.content(item.get("content"), f"{where}.content")
    elif not isinstance(item.get("call_id"), str):
        parts.leave_out(where, kind)
    elif kind == "function_call":
        arguments = tool_arguments(item.get("arguments"), f"{where}.arguments")
        parts.call(item.get("call_id"), item.get("name"), arguments, where)
    else:
        name = item.get("name", kind.removesuffix("_call"))
        parts.call(item["call_id"], name, {key: value for key, value in item.items() if key not in _FRAME}, where)


def _reasoning(parts: Parts, value: JsonValue, where: str) -> None:
    """Add reasoning: blocks of the item's content, else of its summary; encrypted reasoning has neither."""
    before = len(parts.parts)
    parts.content(value, where)
    for part in parts.parts[before:]:
        if part["type"] == "text":
            part["type"] = _REASONING


def _is_message(item: JsonValue) -> bool:
    return isinstance(item, dict) and item.get("type", "message") == "message"


def _is_said(item: JsonValue) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    if kind is None or kind == "message":
        return item.get("role") == ASSISTANT
    return kind in _BESIDE or (isinstance(kind, str) and kind.endswith("_call"))
