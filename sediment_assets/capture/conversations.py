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
from sediment_assets.facts.json_values import JsonValue, walk
from sediment_assets.facts.messages import Message

REMEMBERED: Final = 16 * 2**20
"""About the characters of captured messages that are kept; the Sessions not seen for longest are forgotten first."""
_UNSPELLED: Final = b""
"""The spelling of a value that has none: it is the same as no other."""


@dataclass(slots=True)
class _History:
    """The list of one conversation, as far as it was translated last."""

    grouped: bool = False
    values: list[JsonValue] = field(default_factory=list)
    """The captured values, each one message or a group that is translated together."""
    messages: list[Message] = field(default_factory=list)
    """What they became."""
    counts: list[int] = field(default_factory=list)
    """How many messages each of them became."""
    sizes: list[int] = field(default_factory=list)

    def same_from(self, values: Sequence[JsonValue]) -> int:
        """Return how many values are those that are known."""
        if len(self.values) <= len(values) and all(map(is_, self.values, values)):
            return len(self.values)
        pairs = zip(self.values, values, strict=False)
        return next(
            (position for position, (known, value) in enumerate(pairs) if not is_same(known, value)),
            min(len(self.values), len(values)),
        )

    def add(self, value: JsonValue, messages: list[Message]) -> int:
        """Append a value and what it became; return about how many characters that keeps in memory."""
        self.values.append(value)
        self.messages += messages
        self.counts.append(len(messages))
        self.sizes.append(_size(value))
        return self.sizes[-1]

    def forget_after(self, position: int) -> int:
        """Forget the values from a position on; return about how many characters were kept of them."""
        forgotten = sum(self.sizes[position:])
        del self.messages[sum(self.counts[:position]) :]
        for each in (self.values, self.counts, self.sizes):
            del each[position:]
        return forgotten


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
        if same < len(history.values):
            self._size -= history.forget_after(same)
        history.grouped = grouped
        for index, group in zip(indexes[same:], groups[same:], strict=True):
            self._size += history.add(group, _translate(group, grouped, where, index, left_out))
        while self._size > REMEMBERED and len(self._histories) > 1:
            self._size -= self._histories.popitem(last=False)[1].forget_after(0)
        return history.messages.copy()


def _grouped(values: list[JsonValue]) -> tuple[list[int], list[JsonValue]]:
    """Return what is one message each, and the index of its first item."""
    groups = list(item_groups(values))
    return [index for index, _ in groups], [group for _, group in groups]


def _translate(group: JsonValue, grouped: bool, where: str, index: int, left_out: list[str]) -> list[Message]:
    """Translate a chat message, or a list of items that are one message."""
    if grouped and isinstance(group, list):
        return group_messages(group, where, index, left_out)
    return chat_messages(group, f"{where}[{index}]", left_out)


def is_same(known: JsonValue, value: JsonValue) -> bool:
    """Whether a captured value is another one, to the kind of each number and the order of keys.

    Equality does not say so: ``1``, ``1.0`` and ``true`` are equal. Nor does the spelling: NaN is spelled as null.
    """
    if known is value:
        return True
    spelled = _spelled(known)
    return spelled != _UNSPELLED and spelled == _spelled(value) and known == value


def _size(value: JsonValue) -> int:
    """Return about how many characters a value keeps in memory."""
    return 1000 + (len(_spelled(value)) or sum(len(item) + 50 for item in walk(value) if isinstance(item, str)))


def _spelled(value: JsonValue) -> bytes:
    try:
        return orjson.dumps(value)
    except (orjson.JSONEncodeError, RecursionError):
        return _UNSPELLED
