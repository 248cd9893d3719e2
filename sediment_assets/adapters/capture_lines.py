"""Lines that repeat a growing list: what was parsed in an earlier line is not parsed again.

A gateway logs a Session's whole history with every call. Where the messages of a line begin with the very bytes of an
earlier one's, the same Python values stand for them, and only what is new is parsed. The value is the one that
``parse_json`` gives for the whole line, which is asked whenever anything is unusual.
"""

import re
from bisect import bisect_left
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

from sediment_assets.adapters.json_spans import value_end
from sediment_assets.capture.json_text import parse_json
from sediment_assets.facts.json_limits import JsonError

REMEMBERED_BYTES: Final = 16 * 2**20
"""Most bytes of lists that are kept; the conversations not seen for longest are forgotten first."""
_WORTH_SHARING: Final = 4096
"""Shorter lines are parsed as they are."""
_MEMBER: Final = re.compile(rb'"messages": ?\[')
_NAME: Final = b'"messages"'
_CONVERSATION: Final = re.compile(rb'"(?:trace_id|session_id)": ?"([^"\\]{1,200})"')
_AFTER: Final = re.compile(rb"[ \t]*([,\]])[ \t]*")


@dataclass(slots=True)
class _List:
    """The elements of a list: their bytes without the brackets, where each ends in them, and their values."""

    source: bytes = b""
    ends: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def shared_with(self, line: bytes, start: int) -> int:
        """Return how many elements the line begins with at ``start``."""
        if line.startswith(self.source, start):
            return len(self.ends)
        return bisect_left(self.ends, True, key=lambda end: not line.startswith(self.source[:end], start))


class GrowingLines:
    """Parses the lines of one file."""

    def __init__(self) -> None:
        self._lists: OrderedDict[tuple[bytes, ...], _List] = OrderedDict()
        self._size = 0

    def parse(self, line: bytes) -> Any:
        """Decode one line. Raises JsonError as ``parse_json`` does."""
        member = _MEMBER.search(line) if len(line) >= _WORTH_SHARING else None
        conversation = tuple(_CONVERSATION.findall(line, 0, member.start())) if member else ()
        if member is None or not conversation:
            return parse_json(line)
        known = self._lists.get(conversation, _List())
        shared = known.shared_with(line, member.end())
        try:
            value = self._parse_rest(line, member.start(), member.end(), known, shared) if shared else None
        except JsonError:
            value = None  # the whole line says what is wrong
        if value is None:
            shared, value = 0, parse_json(line)
        # A name that occurs once is the list's own: no string holds it, for its quotes would be escaped there.
        is_own = shared > 0 or line.count(_NAME) == 1
        if is_own and type(value) is dict and type(value.get("messages")) is list:
            self._remember(conversation, line, member.end(), known, shared, value["messages"])
        return value

    def _parse_rest(self, line: bytes, name: int, start: int, known: _List, shared: int) -> Any:
        """Parse a line without the elements that are known, and put these back; None when the line is unusual."""
        end = start + known.ends[shared - 1]
        after = _AFTER.match(line, end)
        # That what stands before is an object proves that the list is the line's own member, not a deeper one.
        head = line[:name].rstrip()
        if after is None or line.find(_NAME, end) >= 0 or head[-1:] not in (b",", b"{"):
            return None
        if type(parse_json((head[:-1] if head[-1:] == b"," else head) + b"}")) is not dict:
            return None
        rest = line[after.end() :] if after[1] == b"," else line[after.start(1) :]
        if after[1] == b"," and rest[:1] == b"]":
            return None
        value = parse_json(line[:start] + rest)
        value["messages"] = known.values[:shared] + value["messages"]
        return value

    def _remember(
        self, conversation: tuple[bytes, ...], line: bytes, start: int, known: _List, shared: int, values: list[Any]
    ) -> None:
        """Keep the line's list, if its elements are found in it one after the other."""
        ends = known.ends[:shared]
        position = start + ends[-1] if ends else start
        while len(ends) < len(values):
            if ends:
                after = _AFTER.match(line, position)
                if after is None:
                    break
                position = after.end()
            end = value_end(line, position)
            if end is None:
                break
            ends.append(end - start)
            position = end
        forgotten = self._lists.pop(conversation, None)
        self._size -= len(forgotten.source) if forgotten else 0
        kept = self._lists[conversation] = _List(
            line[start : start + ends[-1]] if ends else b"", ends, values[: len(ends)]
        )
        self._size += len(kept.source)
        while self._size > REMEMBERED_BYTES:
            self._size -= len(self._lists.popitem(last=False)[1].source)
