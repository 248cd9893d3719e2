"""Members of a line that is one JSON object: parsed a piece of the line at a time, large ones known from lines before.

A piece that is whole by itself proves that the line was cut between its own members, and not inside another value.
"""

from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Final

from sediment_assets.adapters.json_spans import value_end
from sediment_assets.capture.json_text import parse_json
from sediment_assets.facts.json_limits import JsonError

_KEYS: Final = ("model_parameters", "model_map_information")
"""Members that gateways repeat with every call: the tools and settings of a Session, the prices of a model."""
_SPELLINGS: Final = 8
"""Values of a member that are kept, the newest first."""
_WORTH_KEEPING: Final = 512
_LARGEST: Final = 256 * 2**10
_TRIES: Final = 16
"""How many more values of a member are new than known, before no new ones are taken: it changes with every call."""
_BLANKS: Final = b" \t\r\n"


class UnusualLineError(Exception):
    """A line to be parsed as a whole."""


def parse_members(text: bytes) -> dict[str, Any]:
    """Parse what stands between two members of an object: a comma, or members with one before and one behind them.

    :raises JsonError: it is no such thing.
    :raises UnusualLineError: neither.
    """
    text = text.strip(_BLANKS)
    if text == b",":
        return {}
    value: dict[str, Any] = parse_json(b"{%b}" % text[1:-1])  # anything but members leaves something behind a brace
    if not value or text[:1] != b"," or text[-1:] != b",":
        raise UnusualLineError
    return value


@dataclass(slots=True)
class _Repeated:
    """The values of one member that were seen last, by their bytes."""

    key: str
    name: bytes
    seen: list[tuple[bytes, Any]] = field(default_factory=list)
    tries: int = _TRIES

    def value_at(self, line: bytes, start: int) -> tuple[int, Any] | None:
        """Return where the value at ``start`` ends, and the value; None when it is not worth keeping."""
        for source, value in self.seen:
            if line.startswith(source, start):
                self.tries = min(self.tries + 1, _TRIES)
                return start + len(source), value
        end = value_end(line, start) if self.tries and line[start : start + 1] == b"{" else None
        if end is None or end - start < _WORTH_KEEPING:
            return None
        self.tries -= 1
        if end - start > _LARGEST:
            return None
        source = line[start:end]
        (value,) = parse_json(b"[%b]" % source)
        self.seen = [(source, value), *self.seen[: _SPELLINGS - 1]]
        return end, value


class RepeatedMembers:
    """Parses the members of one file's lines; those that are repeated have the very same values."""

    def __init__(self) -> None:
        self._repeated = [_Repeated(key, b'"%b":' % key.encode()) for key in _KEYS]

    def parse(self, line: bytes, start: int) -> dict[str, Any]:
        """Parse the members that follow a value of the object that a line is, up to the line's end.

        :raises JsonError: it is no such thing.
        :raises UnusualLineError: neither.
        """
        try:
            return self._parse(line, start)
        except (JsonError, UnusualLineError):  # a name may stand in another value, too
            return _parse_rest(line[start:])

    def _parse(self, line: bytes, start: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for at, one in sorted(((line.find(one.name, start), one) for one in self._repeated), key=itemgetter(0)):
            begin = at + len(one.name)
            found = one.value_at(line, begin + (line[begin : begin + 1] == b" ")) if at >= start else None
            if found is not None:
                members |= parse_members(line[start:at])
                start, members[one.key] = found
        return members | _parse_rest(line[start:])


def _parse_rest(text: bytes) -> dict[str, Any]:
    """Parse what stands between a member and the end of its object."""
    text = text.strip(_BLANKS)
    if text[-1:] != b"}":
        raise UnusualLineError
    return {} if text == b"}" else parse_members(text[:-1] + b",")
