"""What a model answered, out of the body of a response: OpenAI Chat and Responses, Anthropic Messages, Bedrock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sediment_assets.capture.chat_messages import assistant_message
from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.lookup import identifier
from sediment_assets.capture.model_calls import tokens
from sediment_assets.capture.record_fields import RefusedError, invalid
from sediment_assets.capture.responses_items import group_messages, item_groups
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message

REMOVED = "redacted-by-litellm"
"""What LiteLLM writes instead of content that it was told not to log."""
_WORDS: Final = ("choices", "content", "output", "output_text", "completion")
"""Members of a response that tell what the model said."""
_GOING_ON: Final = ("queued", "in_progress")
"""States of a response that are no reason to finish."""


@dataclass(slots=True)
class ModelAnswer:
    """One response. Absent is None; an error has no messages."""

    messages: list[Message]
    response_id: str | None = None
    model: JsonValue = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    created: datetime | None = None
    """When it was made, to the second."""


def is_answer(body: JsonValue) -> bool:
    """Whether an object is the body of a response, an error included, whoever asked."""
    if not isinstance(body, dict):
        return False
    return (
        isinstance(body.get("choices"), list)
        or isinstance(body.get("output"), list)
        or _bedrock_message(body) is not None
        or (body.get("type") == "message" and isinstance(body.get("content"), list))
        or is_error(body)
    )


def is_error(body: JsonValue) -> bool:
    """Whether a response's body is an error and nothing else: no model answered, or not a word of it arrived."""
    if not isinstance(body, dict) or not isinstance(body.get("error"), dict):
        return False
    return not any(body.get(key) for key in ("choices", "content", "output"))


def read_answer(body: JsonValue, where: str, left_out: list[str]) -> ModelAnswer:
    """Translate the body of a response.

    :raises RefusedError: another shape, content that was removed, or a message that a Fact cannot hold.
    """
    if not isinstance(body, dict):
        raise invalid(where, "an object", body)
    if place := _place_of_removed({key: body[key] for key in (*_WORDS, "text") if key in body}, where):
        raise removed(place)
    if is_error(body):
        messages: list[Message] = []
    elif isinstance(body.get("choices"), list):
        messages = _choices(body["choices"], f"{where}.choices", left_out)
    elif isinstance(body.get("output"), list):
        messages = _items(body, f"{where}.output", left_out)
    elif body.get("type") == "completion" and isinstance(body.get("completion"), str):
        completed = {"content": body["completion"]}  # Anthropic's older API
        messages = [assistant_message(completed, where, left_out, body.get("stop_reason"))]
    elif (said := _bedrock_message(body)) is not None:
        messages = [assistant_message(said, f"{where}.output.message", left_out, body.get("stopReason"))]
    elif isinstance(body.get("content"), list):
        messages = [assistant_message(body, where, left_out, body.get("stop_reason"))]
    else:
        raise RefusedError(Remainder.UNKNOWN_SHAPE, f"{where}: no response of a known API")
    usage = body.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return ModelAnswer(
        messages,
        identifier(body.get("id")),
        body.get("model"),
        tokens(_first(counts, "prompt_tokens", "input_tokens", "inputTokens"), f"{where}.usage.input_tokens"),
        tokens(_first(counts, "completion_tokens", "output_tokens", "outputTokens"), f"{where}.usage.output_tokens"),
        _created(body),
    )


def _bedrock_message(body: JsonObject) -> JsonObject | None:
    """Return the message of an answer of Bedrock's Converse API; None for other bodies."""
    output = body.get("output")
    said = output.get("message") if isinstance(output, dict) else None
    return said if isinstance(said, dict) else None


def removed(where: str) -> RefusedError:
    """Return the refusal of content that was removed before the record was written."""
    return RefusedError(Remainder.NO_CONTENT, f"{where}: messages were removed before the record was written")


def _place_of_removed(value: JsonValue, where: str) -> str | None:
    """Return where a text was replaced, be it words, thoughts or the arguments of a tool call; None when none was."""
    stack = [(value, where)]
    while stack:
        held, place = stack.pop()
        if held == REMOVED:
            return place
        if isinstance(held, dict):
            stack += [(item, f"{place}.{key}") for key, item in held.items() if item]
        elif isinstance(held, list):
            stack += [(item, f"{place}[{index}]") for index, item in enumerate(held) if item]
    return None


def envelope(body: JsonValue) -> JsonValue:
    """Return what a response says beside its messages, for ``raw``."""
    if not isinstance(body, dict):
        return body
    return {key: value for key, value in body.items() if key not in _WORDS}


def _choices(choices: Sequence[JsonValue], where: str, left_out: list[str]) -> list[Message]:
    """Translate choices; several of them are alternatives, each a message."""
    messages = []
    for index, choice in enumerate(choices):
        place = f"{where}[{index}]"
        if not isinstance(choice, dict):
            raise invalid(place, "an object", choice)
        said = choice.get("message")
        if said is None and isinstance(choice.get("text"), str):
            said = {"role": "assistant", "content": choice["text"]}
        if not isinstance(said, dict):
            raise invalid(f"{place}.message", "an object", said)
        messages.append(assistant_message(said, f"{place}.message", left_out, choice.get("finish_reason")))
    return messages


def _items(body: JsonObject, where: str, left_out: list[str]) -> list[Message]:
    groups = list(item_groups(body["output"]))
    messages: list[Message] = []
    for number, (index, group) in enumerate(groups, 1):
        reason = body.get("status") if number == len(groups) and body.get("status") not in _GOING_ON else None
        messages += group_messages(group, where, index, left_out, reason)
    return messages


def _created(body: JsonObject) -> datetime | None:
    """Read when a response was made; OpenAI says it in Unix seconds. Anything else there is no time."""
    value = _first(body, "created", "created_at")
    if type(value) not in (int, float):
        return None
    try:
        return parse_instant(value)
    except ValueError:
        return None


def _first(value: JsonObject, *keys: str) -> JsonValue:
    return next((value[key] for key in keys if value.get(key) is not None), None)
