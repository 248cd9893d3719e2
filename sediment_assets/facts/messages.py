"""Captured messages: as validated models on a Fact, and as plain JSON inside the derivation (facts.md §3.1).

A *part* is discriminated by its mandatory ``type``. Not here: comparing histories (derive) and cutting Segments.
"""

from collections.abc import Callable, Iterable
from typing import Annotated, Any, Final, Literal, TypedDict

import orjson
from pydantic import Field

from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_fields import AnyJson, Json
from sediment_assets.facts.json_values import (
    InexactError,
    JsonError,
    JsonObject,
    canonical_order,
    decode,
    exact_order,
)
from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.scalars import Id, Text
from sediment_assets.facts.text import is_scalar_text, strip


class TextPart(FrozenModel):
    """Words of a message."""

    type: Literal["text"] = Field(description="Always `text`.")
    content: Text = Field(description="The words, unchanged.")


class ReasoningPart(FrozenModel):
    """Reasoning a model showed."""

    type: Literal["reasoning"] = Field(description="Always `reasoning`.")
    content: Text = Field(description="The reasoning, unchanged.")


class ToolCallPart(FrozenModel):
    """A tool call; on the output side its id is an alias of the call."""

    type: Literal["tool_call"] = Field(description="Always `tool_call`.")
    id: Id = Field(description="The tool call's id, which its response names.")
    name: Text = Field(description="Name of the tool; may be empty.")
    arguments: Json = Field(default_factory=dict, description="The arguments as captured.")


class ToolCallResponsePart(FrozenModel):
    """What a tool answered."""

    type: Literal["tool_call_response"] = Field(description="Always `tool_call_response`.")
    id: Id = Field(description="The id of the answered tool call.")
    result: AnyJson = Field(description="The result as captured: any JSON value, null included.")


Part = Annotated[TextPart | ReasoningPart | ToolCallPart | ToolCallResponsePart, Field(discriminator="type")]
"""One part of a message."""


class Message(FrozenModel):
    """One message of a model call."""

    role: Text = Field(description="Who speaks; an open vocabulary, may be empty.")
    parts: tuple[Part, ...] = Field(description="The message's parts in order.")
    finish_reason: Text | None = Field(default=None, description="Why the model stopped, if it said so.")


class PlainTextPart(TypedDict):
    """A ``text`` part as plain JSON."""

    type: Literal["text"]
    content: str


class PlainReasoningPart(TypedDict):
    """A ``reasoning`` part as plain JSON."""

    type: Literal["reasoning"]
    content: str


class PlainToolCall(TypedDict):
    """A ``tool_call`` part as plain JSON."""

    type: Literal["tool_call"]
    id: str
    name: str
    arguments: JsonObject


class PlainToolResponse(TypedDict):
    """A ``tool_call_response`` part as plain JSON."""

    type: Literal["tool_call_response"]
    id: str
    result: Any


PlainPart = PlainTextPart | PlainReasoningPart | PlainToolCall | PlainToolResponse
"""One part as plain JSON: told apart by ``part["type"]``."""


class PlainMessage(TypedDict):
    """One message as plain JSON, keys in declared order."""

    role: str
    parts: list[PlainPart]
    finish_reason: str | None


def decode_messages(text: str) -> list[PlainMessage]:
    """Decode a stored message list into plain messages: declared key order, captured objects in code-point key order.

    Trusts the text to be what an InferenceCall was stored as (facts.md §7); raises JsonError when its shape is not.
    """
    try:
        # Several times faster; anything unusual is decided below.
        quick = orjson.loads(text)
        if type(quick) is list:
            return [_plain_message(message, exact_order) for message in quick]
    except (orjson.JSONDecodeError, InexactError, JsonError, KeyError, TypeError, AttributeError):
        pass
    messages = decode(text)
    if not isinstance(messages, list):
        raise JsonError(f"expected a list of messages, got {shown(messages)}")
    try:
        return [_plain_message(message, canonical_order) for message in messages]
    except (KeyError, TypeError, AttributeError):
        raise JsonError(f"expected a list of messages, got {shown(text)}") from None


def _plain_message(message: Any, ordered: Callable[[Any], Any]) -> PlainMessage:
    finish_reason = message.get("finish_reason")
    return {
        "role": _text(message["role"]),
        "parts": [_plain_part(part, ordered) for part in message["parts"]],
        "finish_reason": None if finish_reason is None else _text(finish_reason),
    }


def _plain_part(part: Any, ordered: Callable[[Any], Any]) -> PlainPart:
    match part["type"]:
        case "text":
            return {"type": "text", "content": _text(part["content"])}
        case "tool_call":
            arguments = ordered(part.get("arguments", {}))
            return {"type": "tool_call", "id": _text(part["id"]), "name": _text(part["name"]), "arguments": arguments}
        case "tool_call_response":
            return {"type": "tool_call_response", "id": _text(part["id"]), "result": ordered(part["result"])}
        case "reasoning":
            return {"type": "reasoning", "content": _text(part["content"])}
        case other:
            raise JsonError(f"expected a message part of type {_PART_TYPES}, got {shown(other)}")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError
    return value


_PART_TYPES: Final = "text, reasoning, tool_call or tool_call_response"


def is_stored_message(value: Any) -> bool:
    """Whether decoded JSON is what the ``Message`` model would dump, key for key: validating it would change nothing.

    False says nothing: the model then judges.
    """
    if type(value) is not dict or tuple(value) != _MESSAGE_KEYS or type(value["parts"]) is not list:
        return False
    reason = value["finish_reason"]
    return (
        type(value["role"]) is str
        and (reason is None or type(reason) is str)
        and all(map(_is_stored_part, value["parts"]))
    )


def _is_stored_part(part: Any) -> bool:
    if type(part) is not dict:
        return False
    keys, kind = tuple(part), part.get("type")
    if keys == _CONTENT_KEYS:
        return kind in ("text", "reasoning") and type(part["content"]) is str
    if keys == _TOOL_CALL_KEYS:
        typed = kind == "tool_call" and type(part["name"]) is str and type(part["arguments"]) is dict
    else:
        typed = keys == _TOOL_RESPONSE_KEYS and kind == "tool_call_response"
    return typed and is_stored_id(part["id"])


def is_stored_id(value: Any) -> bool:
    """Whether a value is an Id as it is stored: ``normal_id`` would return it unchanged."""
    return type(value) is str and bool(value) and value == strip(value) and is_scalar_text(value)


_MESSAGE_KEYS: Final = tuple(Message.model_fields)
_CONTENT_KEYS: Final = tuple(TextPart.model_fields)
_TOOL_CALL_KEYS: Final = tuple(ToolCallPart.model_fields)
_TOOL_RESPONSE_KEYS: Final = tuple(ToolCallResponsePart.model_fields)


def call_aliases(output_messages: Iterable[PlainMessage], model_call_id: str | None) -> frozenset[str]:
    """Return the call aliases: ids of output tool calls, and the model call id if present (facts.md §3.1)."""
    aliases = {part["id"] for message in output_messages for part in message["parts"] if part["type"] == "tool_call"}
    if model_call_id is not None:
        aliases.add(model_call_id)
    return frozenset(aliases)
