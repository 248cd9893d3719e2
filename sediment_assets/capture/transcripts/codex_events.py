"""What the events of a Codex rollout tell: the same as its items, or nothing a Fact holds.

A message's event may stand before its item or behind it. One that no item tells is a message that is missing from the
history, and is said to be.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.capture.transcripts.sessions import plain_id
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message, ReasoningPart, TextPart, ToolCallPart

_MESSAGES: Final = {"user_message": "message", "agent_message": "message"}
_REASONING: Final = {"agent_reasoning": "text", "agent_reasoning_raw_content": "text"}
_MESSAGE_ITEMS: Final = ("UserMessage", "AgentMessage")


class Events:
    """The events of one thread, matched to its items."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._calls: set[str] = set()
        self._waiting: list[tuple[str, str, str]] = []

    def messages(self, messages: Sequence[Message]) -> Iterator[Untranslated]:
        """Note what an item tells; events that waited for it are its repetitions."""
        for part in (part for message in messages for part in message.parts):
            if isinstance(part, TextPart | ReasoningPart):
                self._texts.add(part.content.strip())
            elif isinstance(part, ToolCallPart):
                self._calls.add(part.id)
        waiting, self._waiting = self._waiting, []
        for place, kind, text in waiting:
            if text in self._texts:
                yield _repeated(place, kind)
            else:
                self._waiting.append((place, kind, text))

    def event(self, place: str, payload: JsonObject) -> Iterator[Untranslated]:
        """Account for one event."""
        kind = f"event_msg/{plain_id(payload.get('type'))}"
        text = _told_text(payload)
        if text is not None:
            if text.strip() in self._texts:
                yield _repeated(place, kind)
            else:
                self._waiting.append((place, kind, text.strip()))
        elif _call_id(payload) in self._calls:
            yield _repeated(place, kind)
        else:
            yield Untranslated(place, Remainder.NO_EVIDENCE, kind)

    def finish(self) -> Iterator[Untranslated]:
        """Say which messages only an event tells."""
        for place, kind, _ in self._waiting:
            if kind in ("event_msg/agent_reasoning", "event_msg/agent_reasoning_raw_content"):
                yield Untranslated(place, Remainder.NO_EVIDENCE, kind)
            else:
                yield Untranslated(place, Remainder.NO_CONTENT, f"{kind} that no response_item tells")
        self._waiting = []


def _repeated(place: str, kind: str) -> Untranslated:
    return Untranslated(place, Remainder.REPEATED, f"{kind}: told by a response_item")


def _told_text(payload: JsonObject) -> str | None:
    """Return the words of an event that tells a message; None for others, and for messages without words."""
    kind = payload.get("type")
    key = {**_MESSAGES, **_REASONING}.get(kind) if isinstance(kind, str) else None
    text = payload.get(key) if key is not None else None
    item = payload.get("item")
    if kind == "item_completed" and isinstance(item, dict) and item.get("type") in _MESSAGE_ITEMS:
        content = item.get("content")
        blocks = content if isinstance(content, list) else []
        words = [block["text"] for block in blocks if isinstance(block, dict) and isinstance(block.get("text"), str)]
        text = "".join(words)
    return text if isinstance(text, str) and text.strip() else None


def _call_id(payload: JsonObject) -> JsonValue:
    named = payload.get("call_id") or payload.get("callId")
    item = payload.get("item")
    if named is None and isinstance(item, dict):
        named = item.get("id")
    return named if isinstance(named, str) else None
