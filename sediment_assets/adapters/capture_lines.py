"""Lines that repeat what lines before them said: what was parsed there is not parsed again.

A gateway logs a Session's whole history with every call, and the same tools and prices. Where the messages of a line
begin with the very bytes of an earlier one's, or a member is one that was seen, the same Python values stand for them.
The rest is parsed piece by piece: that each piece is whole proves that the line was cut between its own members. The
value is the one that ``parse_json`` gives for the whole line, which is asked whenever anything is unusual.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from sediment_assets.adapters.capture_members import RepeatedMembers, UnusualLineError, parse_members
from sediment_assets.adapters.json_spans import value_end
from sediment_assets.capture.json_text import parse_json
from sediment_assets.facts.json_limits import JsonError

REMEMBERED_BYTES: Final = 16 * 2**20
"""Most bytes of lists that are kept; the conversations not seen for longest are forgotten first."""
_WORTH_SHARING: Final = 4096
"""Shorter lines are parsed as they are."""
_MEMBER: Final = re.compile(rb'"messages": ?\[')
_CONVERSATION: Final = re.compile(rb'"(?:trace_id|session_id)": ?"([^"\\]{1,200})"')
_OPENING: Final = re.compile(rb"[ \t]*,?[ \t]*[\[{]")
_AFTER: Final = re.compile(rb"[ \t]*([,\]])[ \t]*")
_CLOSING: Final = re.compile(rb'\](?:,[ \t]*"[^"\\]{1,100}"|[}\r\n]*\Z)')
"""A list's end, and what tells it from other brackets: the name of the next member, or the end of the line."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Elements that were new in one line: their bytes, what stands between them and those before them included."""

    source: bytes
    count: int

    def single(self) -> Iterator["_Run"]:
        """Yield them one by one, as far as they are objects or arrays."""
        position = 0
        while self.count > 1 and (opening := _OPENING.match(self.source, position)) is not None:
            end = value_end(self.source, opening.end() - 1)
            if end is None:
                return
            yield _Run(self.source[position:end], 1)
            position = end


@dataclass(slots=True)
class _List:
    """The list of one conversation as it was last: its bytes in runs, its values, and what its end looks like."""

    runs: list[_Run] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    closing: bytes = b""
    size: int = 0

    def read(self, line: bytes, start: int) -> int:
        """Become the list whose elements begin at ``start``, parsing what is new; return where it ends.

        :raises JsonError: it is no list.
        :raises UnusualLineError: neither.
        """
        position = begin = self._keep_shared(line, start)
        self.size = position - start
        if self.runs:
            after = _AFTER.match(line, position)
            if after is None:
                raise UnusualLineError
            if after[1] == b"]":
                return after.end(1)
            begin = after.end()
        new, end = self._parse_new(line, begin)
        if new:
            self.runs.append(_Run(line[position:end], len(new)))
            self.values += new
        elif self.runs:
            raise UnusualLineError
        self.size = end - start
        return end + 1

    def _keep_shared(self, line: bytes, start: int) -> int:
        """Forget the elements that the line does not begin with at ``start``; return where the others end."""
        for index, run in enumerate(self.runs):
            if not line.startswith(run.source, start):
                del self.runs[index:]
                for one in run.single():
                    if not line.startswith(one.source, start):
                        break
                    self.runs.append(one)
                    start += len(one.source)
                del self.values[sum(kept.count for kept in self.runs) :]
                break
            start += len(run.source)
        return start

    def _parse_new(self, line: bytes, start: int) -> tuple[list[Any], int]:
        """Parse the elements from ``start`` to the list's end; return them, and where that is."""
        if self.closing and (end := line.find(self.closing, start)) >= 0:
            with suppress(JsonError, UnusualLineError):
                return _parse_elements(line[start:end]), end
        end = _list_end(line, start)
        closing = _CLOSING.match(line, end)
        self.closing = closing[0] if closing else b""
        return _parse_elements(line[start:end]), end


def _parse_elements(text: bytes) -> list[Any]:
    """Parse what stands between the brackets of a list."""
    lists: list[list[Any]] = parse_json(b"[[%b]]" % text)
    if len(lists) != 1:  # the list ended before, and another value began
        raise UnusualLineError
    return lists[0]


def _list_end(line: bytes, start: int) -> int:
    """Follow a list's elements to the bracket behind them."""
    while line[start : start + 1] != b"]":
        end = value_end(line, start) if start < len(line) else None
        after = _AFTER.match(line, end) if end is not None else None
        if after is None:
            raise UnusualLineError
        start = after.start(1) if after[1] == b"]" else after.end()
    return start


class GrowingLines:
    """Parses the lines of one file."""

    def __init__(self) -> None:
        self._lists: OrderedDict[tuple[bytes, ...], _List] = OrderedDict()
        self._size = 0
        self._closing = b""
        self._members = RepeatedMembers()

    def parse(self, line: bytes) -> Any:
        """Decode one line. Raises JsonError as ``parse_json`` does."""
        member = _MEMBER.search(line) if len(line) >= _WORTH_SHARING else None
        conversation = tuple(_CONVERSATION.findall(line, 0, member.start())) if member else ()
        if member is None or not conversation:
            return parse_json(line)
        known = self._lists.pop(conversation, None) or _List(closing=self._closing)
        self._size -= known.size
        try:
            value = self._parse_apart(line, member.start(), member.end(), known)
        except (JsonError, UnusualLineError):
            return parse_json(line)
        self._closing = known.closing
        self._lists[conversation] = known
        self._size += known.size
        while self._size > REMEMBERED_BYTES:
            self._size -= self._lists.popitem(last=False)[1].size
        return value

    def _parse_apart(self, line: bytes, name: int, start: int, known: _List) -> dict[str, Any]:
        """Parse what stands before the list, what is new in it, and what stands behind it."""
        if line[:1] != b"{":
            raise UnusualLineError
        value = parse_members(b",%b" % line[1:name])
        end = known.read(line, start)
        value["messages"] = known.values.copy()
        value |= self._members.parse(line, end)
        return value
