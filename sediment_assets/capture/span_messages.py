"""Messages of spans that are told in older or other spellings than OpenTelemetry's attributes of today.

Four are read: attributes numbered by message (``gen_ai.prompt.0.content`` of OpenLLMetry and LiteLLM,
``llm.input_messages.0.message.content`` of OpenInference), an event of the span for each message
(``gen_ai.user.message``, ``gen_ai.choice``), those events as a list in the attribute ``events``, and all messages in
``gen_ai.prompt`` and ``gen_ai.completion``. All become chat messages under the names of today, which win where a span
has both.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sediment_assets.capture.chat_parts import is_block
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.otlp.values import read_attributes
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

INPUT: Final = "gen_ai.input.messages"
OUTPUT: Final = "gen_ai.output.messages"
_NUMBERED: Final = (
    (INPUT, ("gen_ai.prompt.", "llm.input_messages.")),
    (OUTPUT, ("gen_ai.completion.", "llm.output_messages.")),
)
CHOICE: Final = "gen_ai.choice"
_MESSAGE_EVENT: Final = re.compile(r"gen_ai\.(\w{1,40})\.message", re.ASCII)
"""The role is in the name: system, developer, user, assistant, tool, or any that a client sent."""
EVENT_CONTENT: Final = "gen_ai.event.content"
_ALL_EVENTS: Final = "events"
_INFERENCE: Final = {
    "gen_ai.request.model": "llm.model_name",
    "gen_ai.provider.name": "llm.provider",
    "gen_ai.usage.input_tokens": "llm.token_count.prompt",
    "gen_ai.usage.output_tokens": "llm.token_count.completion",
}
_FORMER: Final = {
    "gen_ai.usage.input_tokens": "gen_ai.usage.prompt_tokens",
    "gen_ai.usage.output_tokens": "gen_ai.usage.completion_tokens",
}
"""Other names of what a span says beside its messages."""


def is_message_event(name: str) -> bool:
    """Whether an event tells one message of a call, or one of its answers."""
    return name == CHOICE or _MESSAGE_EVENT.fullmatch(name) is not None


def with_messages(attributes: JsonObject, events: Sequence[JsonObject]) -> JsonObject:
    """Return a span's attributes with its messages under the names of today, as values; without any they stay."""
    if INPUT in attributes or OUTPUT in attributes:
        return attributes
    told = _numbered(attributes) or _of_events(events) or _of_listed_events(attributes) or _whole(attributes, events)
    if not told:
        return attributes
    rest = {key: value for key, value in attributes.items() if not _is_numbered(key) and key != _ALL_EVENTS}
    for names in (_INFERENCE, _FORMER):
        told |= {name: rest[other] for name, other in names.items() if rest.get(name) is None and other in rest}
    return rest | told


# Attributes numbered by message


def _is_numbered(key: str) -> bool:
    return any(_rest_of(key, prefixes) is not None for _, prefixes in _NUMBERED)


def _rest_of(key: str, prefixes: tuple[str, ...]) -> str | None:
    """Return what follows a prefix in a key, if it begins with a number."""
    for prefix in prefixes:
        if key.startswith(prefix):
            rest = key[len(prefix) :]
            number = rest.partition(".")[0]
            return rest if number.isascii() and number.isdecimal() and len(number) < 10 else None
    return None


def _numbered(attributes: JsonObject) -> JsonObject:
    told: JsonObject = {}
    for name, prefixes in _NUMBERED:
        tree: dict[str, Any] = {}
        for key, value in attributes.items():
            rest = _rest_of(key, prefixes)
            if rest is not None:
                _put(tree, rest.split("."), value)
        if tree:
            told[name] = [_numbered_message(item) for item in _listed(tree)]
    return told


def _put(tree: dict[str, Any], path: list[str], value: JsonValue) -> None:
    *folders, last = path
    for folder in folders:
        inner = tree.setdefault(folder, {})
        if not isinstance(inner, dict):
            return
        tree = inner
    tree.setdefault(last, value)


def _listed(tree: JsonValue) -> list[Any]:
    """Return the members of an object whose keys are numbers, in their order."""
    members = tree if isinstance(tree, dict) else {}
    numbers = [key for key in members if key.isascii() and key.isdecimal()]
    return [members[key] for key in sorted(numbers, key=int)]


def _numbered_message(item: JsonValue) -> JsonValue:
    """Spell one message as a chat message; OpenInference wraps each of its parts once more."""
    told: JsonValue = item.get("message", item) if isinstance(item, dict) else {}
    if not isinstance(told, dict):
        return told
    spelled: JsonObject = {key: told[key] for key in ("role", "tool_call_id", "finish_reason") if key in told}
    blocks = [
        _block(block.get("message_content")) for block in _listed(told.get("contents")) if isinstance(block, dict)
    ]
    spelled["content"] = blocks or _content(told.get("content"))
    if calls := _listed(told.get("tool_calls")):
        spelled["tool_calls"] = [_call(call) for call in calls]
    for key in ("reasoning", "reasoning_content", "function_call"):
        if key in told:
            spelled[key] = told[key]
    return spelled


def _block(block: JsonValue) -> JsonValue:
    return {"type": block.get("type"), "text": block.get("text")} if isinstance(block, dict) else block


def _content(text: JsonValue) -> JsonValue:
    """Read content that is a list of blocks, which attributes hold as JSON text; other text is itself."""
    if isinstance(text, dict) and isinstance(text.get("parts"), list):
        return _parts_of_text(text)
    if not isinstance(text, str) or not text.startswith("[{"):
        return text
    try:
        blocks = parse_json(text)
    except JsonError:
        return text
    return blocks if all(isinstance(block, dict) and is_block(block) for block in blocks) else text


def _parts_of_text(content: JsonObject) -> JsonValue:
    """Return Gemini's parts as blocks, without members that say nothing; content that is not only text stays."""
    parts = [part for part in content["parts"] if isinstance(part, dict)]
    blocks = [{key: value for key, value in part.items() if value} for part in parts]
    if len(parts) < len(content["parts"]) or any(block.keys() - {"text"} for block in blocks):
        return content
    return [block for block in blocks if block]


def _call(call: JsonValue) -> JsonValue:
    told = call.get("tool_call", call) if isinstance(call, dict) else call
    if not isinstance(told, dict):
        return told
    function = told.get("function", told)
    return {"id": told.get("id"), "type": "function", "function": function}


# An event for each message


def _of_events(events: Sequence[JsonObject]) -> JsonObject:
    return _said(_event_messages(events))


def _of_listed_events(attributes: JsonObject) -> JsonObject:
    listed = attributes.get(_ALL_EVENTS)
    try:
        values = parse_json(listed) if isinstance(listed, str) else listed
    except JsonError:
        return {}
    events = [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    return _said(spelled_event(str(event.get("event.name", "")), event) for event in events)


def _said(messages: Iterator[tuple[bool, JsonObject] | None]) -> JsonObject:
    told = [message for message in messages if message is not None]
    if not told:
        return {}
    return {
        INPUT: [message for is_answer, message in told if not is_answer],
        OUTPUT: [message for is_answer, message in told if is_answer],
    }


def _event_messages(events: Sequence[JsonObject]) -> Iterator[tuple[bool, JsonObject] | None]:
    for event in events:
        yield spelled_event(str(event.get("name", "")), told_in_attributes(read_attributes(event.get("attributes"))))


def told_in_attributes(attributes: JsonObject) -> JsonObject:
    """Return what an event tells where it has no body: its content as JSON in one attribute, or attributes each."""
    content = attributes.get(EVENT_CONTENT)
    if isinstance(content, str):
        try:
            content = parse_json(content)
        except JsonError:
            content = None
    return content if isinstance(content, dict) else attributes


def spelled_event(name: str, told: JsonObject) -> tuple[bool, JsonObject] | None:
    """Spell one event as (whether it is an answer, chat message); None for one that tells no message."""
    if name == CHOICE:
        said = _member(told.get("message", told.get("content")))
        said = said if isinstance(said, dict) and "parts" not in said else {"content": _content(said)}
        calls = {"tool_calls": told["tool_calls"]} if "tool_calls" in told else {}
        said = {"role": "assistant", **calls, **said, "finish_reason": told.get("finish_reason")}
        return True, _without_calls_told_twice(said)
    match = _MESSAGE_EVENT.fullmatch(name)
    if match is None:
        return None
    role = match[1]
    spelled: JsonObject = {"role": role, "content": _content(told.get("content"))}
    if "tool_calls" in told:
        spelled["tool_calls"] = _member(told["tool_calls"])
    if role == "tool":
        spelled["tool_call_id"] = told.get("id")
    return False, _without_calls_told_twice(spelled)


def _without_calls_told_twice(message: JsonObject) -> JsonObject:
    """Take tool calls once where the content, in Bedrock's or Anthropic's blocks, holds them as well."""
    content = message.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    if any("toolUse" in block or block.get("type") == "tool_use" for block in blocks):
        return {key: value for key, value in message.items() if key != "tool_calls"}
    return message


# All messages in one attribute


def _whole(attributes: JsonObject, events: Sequence[JsonObject]) -> JsonObject:
    held = dict(attributes)
    for event in events:
        held = read_attributes(event.get("attributes")) | held
    told = {name: _member(held.get(key)) for name, key in ((INPUT, "gen_ai.prompt"), (OUTPUT, "gen_ai.completion"))}
    are_messages = {
        name: value
        for name, value in told.items()
        if isinstance(value, list) and all(isinstance(message, dict) and "role" in message for message in value)
    }
    return are_messages if INPUT in are_messages else {}


def _member(value: JsonValue) -> JsonValue:
    """Read a member that some write as JSON text, since attributes hold no objects."""
    if not isinstance(value, str) or not value.startswith(("{", "[{")):
        return value
    try:
        parsed: JsonValue = parse_json(value)
    except JsonError:
        return value
    return parsed
