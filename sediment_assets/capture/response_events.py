"""Events of the OpenAI Responses API, put together as the body of one response.

The last event that tells the response tells all of it, unless the stream broke off: then what had arrived of its items
counts, those that were not done included.
"""

from collections.abc import Sequence
from typing import Any, Final

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.json_values import JsonObject

_PIECES: Final = {
    "response.output_text.delta": ("content", "content_index", "output_text", "text"),
    "response.refusal.delta": ("content", "content_index", "refusal", "refusal"),
    "response.reasoning_text.delta": ("content", "content_index", "reasoning_text", "text"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index", "summary_text", "text"),
}
"""Pieces of words: the member of the item with the blocks, which of them, its type, and the member with the words."""


def responses_body(events: Sequence[JsonObject], where: str) -> JsonObject:
    """Return the response as its last event has it; items as far as they had arrived stand in where it has none.

    :raises RefusedError: the stream broke off in the arguments of a tool call.
    """
    bodies = [event["response"] for event in events if isinstance(event.get("response"), dict)]
    body: JsonObject = dict(bodies[-1]) if bodies else {}
    if not body.get("output"):
        body["output"] = _arrived(events, where)
    return body


def cut_off(where: str) -> RefusedError:
    """Return the refusal of a stream that ends within a tool call."""
    return RefusedError(Remainder.INVALID_VALUE, f"{where}: the stream broke off in the arguments of a tool call")


def _arrived(events: Sequence[JsonObject], where: str) -> list[JsonObject]:
    """Return the items that were done, and of one that was not its words so far."""
    items: dict[Any, JsonObject] = {}
    begun: dict[Any, dict[tuple[str, int], JsonObject]] = {}
    for event in events:
        kind, number, item = event.get("type"), event.get("output_index"), event.get("item")
        key = number if type(number) is int else len(items)
        if kind == "response.output_item.done" and isinstance(item, dict):
            items[key] = item
            begun.pop(key, None)
        elif kind == "response.output_item.added" and isinstance(item, dict):
            items[key], begun[key] = item, {}
        elif isinstance(kind, str) and kind in _PIECES and key in begun:
            _add_piece(begun[key], event, *_PIECES[kind])
    for key, blocks in begun.items():
        if "call_id" in items[key]:
            raise cut_off(where)
        for (member, _), block in sorted(blocks.items(), key=lambda entry: entry[0]):
            told = items[key].get(member)
            items[key] = {**items[key], member: [*(told if isinstance(told, list) else []), block]}
    return [items[key] for key in sorted(items)]


def _add_piece(
    blocks: dict[tuple[str, int], JsonObject], event: JsonObject, member: str, place: str, kind: str, words: str
) -> None:
    index, piece = event.get(place), event.get("delta")
    if isinstance(piece, str):
        block = blocks.setdefault((member, index if type(index) is int else 0), {"type": kind, words: ""})
        block[words] += piece
