"""Answers that arrived as a stream of events, put together as the body of one response.

A stream that broke off gives what had arrived; only its missing reason to finish says so. One that broke off in the
arguments of a tool call is refused, for nobody knows what the model was about to ask.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.record_fields import RefusedError, invalid
from sediment_assets.capture.response_events import cut_off, responses_body
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

_DATA: Final = "data:"
_DONE: Final = "[DONE]"


def is_event_stream(text: str) -> bool:
    """Whether a body is a stream of server-sent events."""
    return text.lstrip("\r\n\ufeff").startswith((_DATA, "event:", ":", "id:", "retry:"))


def read_events(text: str, where: str) -> list[JsonObject]:
    """Read the events of a stream: the JSON objects of its data, in order.

    :raises RefusedError: data that is no JSON object; a last event that was cut off is left out.
    """
    blocks = [_data_of(block) for block in text.replace("\r\n", "\n").replace("\r", "\n").split("\n\n")]
    datas = [data for data in blocks if data not in ("", _DONE)]
    events: list[JsonObject] = []
    for number, data in enumerate(datas, 1):
        try:
            event = parse_json(data)
        except JsonError:
            if number == len(datas) and not text.endswith("\n\n"):
                break
            raise invalid(f"{where}: event {number}", "JSON", data) from None
        if not isinstance(event, dict):
            raise invalid(f"{where}: event {number}", "an object", event)
        events.append(event)
    return events


def _data_of(block: str) -> str:
    lines = (line[len(_DATA) :].removeprefix(" ") for line in block.split("\n") if line.startswith(_DATA))
    return "\n".join(lines).strip()


def is_event(value: JsonValue) -> bool:
    """Whether a record is one event of an answer's stream."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    if isinstance(kind, str) and (kind in _ANTHROPIC or kind.startswith("response.") or kind == "error"):
        return True
    return value.get("object") == "chat.completion.chunk"


def assemble(events: Sequence[JsonObject], where: str) -> JsonObject:
    """Put the events of one answer together as the body of a response.

    :raises RefusedError: events of no known API, or none.
    """
    kinds = {event.get("type") for event in events if isinstance(event.get("type"), str)}
    if "message_start" in kinds:
        return _anthropic(events, where)
    if any(isinstance(kind, str) and kind.startswith("response.") for kind in kinds):
        return responses_body(events, where)
    if any(isinstance(event.get("choices"), list) for event in events):
        return _chat(events, where)
    error = next((event["error"] for event in events if isinstance(event.get("error"), dict)), None)
    if error is not None:
        return {"error": error}
    raise RefusedError(Remainder.UNKNOWN_SHAPE, f"{where}: no events of a known API")


_ANTHROPIC: Final = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    }
    | {"ping"}
)
_PIECES: Final = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Which member of a delta is a piece of its block."""


def _anthropic(events: Iterable[JsonObject], where: str) -> JsonObject:
    body: JsonObject = {}
    blocks: dict[Any, JsonObject] = {}
    pieces: dict[Any, list[str]] = {}
    is_open = False
    for event in events:
        kind, index = event.get("type"), event.get("index")
        if kind == "message_start" and isinstance(event.get("message"), dict):
            body = dict(event["message"])
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            blocks[_key(index, where)] = dict(event["content_block"])
            is_open = True
        elif kind == "content_block_delta" and isinstance(event.get("delta"), dict):
            piece = event["delta"].get(_PIECES.get(str(event["delta"].get("type")), ""))
            if isinstance(piece, str):
                pieces.setdefault(_key(index, where), []).append(piece)
        elif kind in ("content_block_stop", "message_delta"):
            is_open = False
            _merge(body, event)
        elif kind == "error" and isinstance(event.get("error"), dict):
            body["error"] = event["error"]
    last, begun = list(blocks.items())[-1] if blocks else (None, {})
    if is_open and "input" in begun and not "".join(pieces.get(last, [])).strip():
        raise cut_off(where)
    return body | {"type": "message", "content": [_block(block, pieces.get(key, [])) for key, block in blocks.items()]}


def _merge(body: JsonObject, event: JsonObject) -> None:
    """Take the end of a message: why it stopped, and the final counts."""
    if isinstance(event.get("delta"), dict):
        body.update(event["delta"])
    if isinstance(event.get("usage"), dict):
        before = body.get("usage")
        given = {key: value for key, value in event["usage"].items() if value is not None}
        body["usage"] = (before if isinstance(before, dict) else {}) | given


def _block(block: JsonObject, pieces: list[str]) -> JsonObject:
    text = "".join(pieces)
    if not text:
        return block
    key = {"text": "text", "thinking": "thinking"}.get(str(block.get("type")))
    if key is None:
        return block | {"input": text}
    begun = block.get(key)
    return block | {key: (begun if isinstance(begun, str) else "") + text}


def _chat(events: Iterable[JsonObject], where: str) -> JsonObject:
    body: JsonObject = {}
    choices: dict[Any, JsonObject] = {}
    for event in events:
        body.update({key: value for key, value in event.items() if value is not None and key != "choices"})
        pieces = event.get("choices")
        for choice in pieces if isinstance(pieces, list) else ():
            if isinstance(choice, dict):
                _add_choice(choices.setdefault(_key(choice.get("index", 0), where), {}), choice, where)
    for choice in choices.values():
        calls = choice.get("message", {}).get("tool_calls")
        if calls and "finish_reason" not in choice and not calls[-1]["function"]["arguments"].strip():
            raise cut_off(where)
    return body | {"choices": [choices[key] for key in sorted(choices)]}


def _add_choice(choice: JsonObject, piece: JsonObject, where: str) -> None:
    if piece.get("finish_reason") is not None:
        choice["finish_reason"] = piece["finish_reason"]
    if isinstance(piece.get("text"), str):  # a stream of the older completions API
        choice["text"] = choice.get("text", "") + piece["text"]
        return
    delta = piece.get("delta")
    message = choice.setdefault("message", {})
    for key, value in delta.items() if isinstance(delta, dict) else ():
        if key == "tool_calls":
            for call in value if isinstance(value, list) else ():
                _add_tool_call(message, call, where)
        elif key in ("content", "reasoning_content", "reasoning", "refusal"):
            message[key] = _joined(message.get(key), value)
        elif value is not None:
            message.setdefault(key, value)


def _joined(before: JsonValue, piece: JsonValue) -> JsonValue:
    """Put a piece of content behind what came before: words behind words, else blocks behind blocks."""
    if piece is None or before in (None, ""):
        return before if piece is None else piece
    if isinstance(before, str) and isinstance(piece, str):
        return before + piece
    return [*_blocks(before), *_blocks(piece)]


def _blocks(content: JsonValue) -> list[JsonValue]:
    return content if isinstance(content, list) else [content]


def _add_tool_call(message: JsonObject, piece: JsonValue, where: str) -> None:
    if not isinstance(piece, dict):
        return
    calls = message.setdefault("tool_calls", [])
    call = _begun_call(calls, piece, where)
    if call is None:
        index = piece.get("index")
        call = {"index": len(calls) if index is None else index, "id": None, "type": "function"}
        call["function"] = {"name": "", "arguments": ""}
        calls.append(call)
    call["id"] = piece.get("id") or call["id"]
    function = piece.get("function")
    for key in ("name", "arguments"):
        part = function.get(key) if isinstance(function, dict) else None
        if isinstance(part, str):
            call["function"][key] += part


def _begun_call(calls: list[JsonObject], piece: JsonObject, where: str) -> JsonObject | None:
    """Return the call that a piece goes on with; None when it begins one.

    Some servers number every call 0, or none: an id of its own begins a call, whatever its number.
    """
    index, named = piece.get("index"), piece.get("id")
    if index is None:
        begun = calls[-1] if calls and named else None
        return begun if begun is not None and begun["id"] == named else None
    number = _key(index, where)
    begun = next((call for call in reversed(calls) if call["index"] == number), None)
    return None if begun is not None and named and begun["id"] not in (None, named) else begun


def _key(index: JsonValue, where: str) -> int:
    if type(index) is not int:
        raise invalid(f"{where}: index of a part", "a whole number", index)
    return index
