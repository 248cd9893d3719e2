"""Message lists that grow from call to call: what a list shares with the one before is translated once.

A gateway logs a Session's whole history with every call. The lists of each Session are compared from the beginning, and
the very same ``Message`` objects are handed on, which storing recognizes, too. Memory is bounded; what is forgotten is
translated again.
"""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Final

import orjson

from sediment_assets.capture.chat_messages import chat_messages, message
from sediment_assets.capture.record_fields import invalid
from sediment_assets.capture.responses_items import group_messages, is_item, item_groups
from sediment_assets.facts.json_values import JsonValue
from sediment_assets.facts.messages import Message

REMEMBERED: Final = 16 * 2**20
"""About the characters of captured messages that are kept; the Sessions not seen for longest are forgotten first."""
_UNSPELLED: Final = b""


@dataclass(slots=True)
class _Known:
    """A captured value that became messages; ``spelled`` when equality alone does not say that it is the same."""

    value: JsonValue
    messages: list[Message]
    spelled: bytes | None
    size: int

    def is_same(self, value: JsonValue) -> bool:
        if self.value is value:
            return True
        if self.spelled is None:
            return self.value == value
        return self.spelled != _UNSPELLED and self.spelled == _spelled(value)


@dataclass(slots=True)
class _History:
    """The list of one conversation, as far as it was translated last."""

    grouped: bool = False
    known: list[_Known] = field(default_factory=list)
    values: list[JsonValue] = field(default_factory=list)
    """What ``known`` holds, for a quick look."""
    size: int = 0

    def same_from(self, values: Sequence[JsonValue]) -> int:
        """Return how many values are those that are known."""
        if len(self.values) <= len(values) and all(map(is_, self.values, values)):
            return len(self.values)
        return next(
            (
                position
                for position, (known, value) in enumerate(zip(self.known, values, strict=False))
                if not known.is_same(value)
            ),
            min(len(self.known), len(values)),
        )


class Conversations:
    """Translates the message lists of one run."""

    def __init__(self) -> None:
        self._histories: OrderedDict[Hashable, _History] = OrderedDict()
        self._size = 0

    def read(
        self, key: Hashable, values: JsonValue, where: str, left_out: list[str], *, are_items: bool = False
    ) -> list[Message]:
        """Translate a request's messages: text (one of the user), chat messages or items of the Responses API.

        ``key`` names the conversation. What is left out of a message is added to ``left_out`` when the message is
        translated, so once for each conversation.

        :raises RefusedError: a message that a Fact cannot hold.
        """
        if isinstance(values, str):
            return [message("user", [{"type": "text", "content": values}] if values else [], where)]
        if not isinstance(values, list):
            raise invalid(where, "text or an array of messages", values)
        history = self._histories.setdefault(key, _History())
        self._histories.move_to_end(key)
        # None of the values that are known is an item, unless all are taken for items.
        same = 0 if history.grouped or are_items else history.same_from(values)
        grouped = are_items or any(is_item(value) for value in values[same:])
        indexes, groups = _grouped(values) if grouped else (range(len(values)), values)
        if grouped:
            same = history.same_from(groups) if history.grouped else 0
        self._forget_after(history, same)
        history.grouped = grouped
        for index, group in zip(indexes[same:], groups[same:], strict=True):
            new = _translate(group, grouped, where, index, left_out)
            self._remember(history, _Known(group, new, *_spelled_and_size(group)))
        self._shrink()
        return [message for known in history.known for message in known.messages]

    def _remember(self, history: _History, known: _Known) -> None:
        history.known.append(known)
        history.values.append(known.value)
        history.size += known.size
        self._size += known.size

    def _forget_after(self, history: _History, position: int) -> None:
        if position < len(history.known):
            forgotten = sum(known.size for known in history.known[position:])
            del history.known[position:]
            del history.values[position:]
            history.size -= forgotten
            self._size -= forgotten

    def _shrink(self) -> None:
        while self._size > REMEMBERED and len(self._histories) > 1:
            _, oldest = self._histories.popitem(last=False)
            self._size -= oldest.size


def _grouped(values: list[JsonValue]) -> tuple[list[int], list[JsonValue]]:
    """Return what is one message each, and the index of its first item."""
    groups = list(item_groups(values))
    return [index for index, _ in groups], [group for _, group in groups]


def _translate(group: JsonValue, grouped: bool, where: str, index: int, left_out: list[str]) -> list[Message]:
    """Translate a chat message, or a list of items that are one message."""
    if grouped and isinstance(group, list):
        return group_messages(group, where, index, left_out)
    return chat_messages(group, f"{where}[{index}]", left_out)


def _spelled_and_size(value: JsonValue) -> tuple[bytes | None, int]:
    """Return a value's spelling, if it holds anything but text (``1``, ``1.0`` and ``true`` are equal in Python), and
    about how many characters it keeps in memory.
    """
    stack = [value]
    size = 1000
    is_needed = False
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            # Objects inside blocks are arguments and results, whose order of keys is kept.
            is_needed = is_needed or any(type(member) is dict for member in item.values())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        elif type(item) is str:
            size += len(item) + 50
        else:
            is_needed = is_needed or item is not None
    if not is_needed:
        return None, size
    spelled = _spelled(value)
    return spelled, size + len(spelled)


def _spelled(value: JsonValue) -> bytes:
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):
        return _UNSPELLED
