"""Reading the lines of complete calls: each repeats its Session's history, which is read once (bundle.md §2, §4.2).

When a line continues an earlier line of its Session byte for byte, only the rest of it is decoded and judged, by the
same functions as a whole line. Equal bytes are equal values; anything unusual, and anything wrong, is read whole.
"""

from dataclasses import dataclass
from typing import Any, Final

import orjson

from sediment_assets.bundle.encoding import CLOSING, OPENING, decode_line, escaped
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.messages import parse_messages
from sediment_assets.bundle.population_records import CarriedCall, carried_call, parse_call
from sediment_assets.facts.json_values import (
    InexactError,
    JsonError,
    JsonObject,
    decode_canonical,
    respelled,
)
from sediment_assets.recent import Recent

HISTORY_BYTES: Final = 16 * 2**20
"""Most memory for remembered histories; the least recently used Sessions are forgotten first."""

_INPUT: Final = b',\\"input_messages\\":['
_SESSION: Final = b',\\"session_id\\":\\"'


class _UnusualError(Exception):
    """A line to be read whole."""


@dataclass(frozen=True, slots=True)
class _History:
    """The input messages of a call: as their line spells them, and as the Fact store does; both without brackets."""

    source: bytes
    stored: str

    def size(self) -> int:
        """Memory it takes."""
        return len(self.source) + len(self.stored)


_NOTHING: Final = _History(b"", "")


class CallLines:
    """Reads the lines of one bundle's calls, in any order."""

    def __init__(self) -> None:
        self._histories = Recent[bytes, _History](HISTORY_BYTES, _History.size)

    def parse(self, line: bytes) -> CarriedCall:
        """Read one line, with its LF.

        :raises BundleError: as ``parse_call`` and ``decode_line`` do.
        """
        try:
            return self._parse_after_history(line)
        except (_UnusualError, InexactError, BundleError, JsonError, orjson.JSONDecodeError, orjson.JSONEncodeError):
            return parse_call(decode_line(line))

    def _parse_after_history(self, line: bytes) -> CarriedCall:
        field = line.find(_INPUT)
        if field < 0 or not line.startswith(OPENING) or not line.endswith(CLOSING):
            raise _UnusualError
        head = decode_canonical(_unescaped(line[len(OPENING) : field]) + "}")
        start = field + len(_INPUT)
        session = _session(line)
        known = self._histories.get(session) or _NOTHING
        after = start + len(known.source)
        if not line.startswith(known.source, start) or line[after : after + 1] not in (b",", b"]"):
            known, after = _NOTHING, start
        comma = b"," if known.source and line[after : after + 1] == b"," else b""
        after += len(comma)
        tail = line[after : -len(CLOSING)]
        messages, rest, text = _split(_unescaped(tail))
        source = escaped(text)
        values = head | rest
        if len(values) != len(head) + len(rest) or not tail.startswith(source):
            raise _UnusualError
        new = parse_messages(messages)
        stored = "".join((known.stored, comma.decode(), respelled(new, sort_keys=False)[1:-1]))
        carried = carried_call(values, f"[{stored}]")
        if new:
            self._histories.keep(session, _History(line[start : after + len(source)], stored))
        return carried


def _session(line: bytes) -> bytes:
    """Return the Session as the line spells it: only a hint where to look, all of the line is judged."""
    begin = line.rfind(_SESSION)
    if begin < 0:
        raise _UnusualError
    begin += len(_SESSION)
    return line[begin : line.find(b'\\"', begin)]


def _unescaped(body: bytes) -> str:
    """Take the envelope's escapes off a part of a line."""
    text: str = orjson.loads(b'"' + body + b'"')
    return text


def _split(rest: str) -> tuple[list[Any], JsonObject, str]:
    """Decode what follows the known messages: the new ones, the other fields, and the new messages' own text."""
    values = orjson.loads('{"input_messages":[' + rest)
    messages = values.pop("input_messages")
    if not isinstance(messages, list):
        raise _UnusualError
    text = respelled(messages)[1:-1]
    # Equal text proves that no key is there twice and that every number was read exactly.
    if f"{text}],{respelled(values)[1:]}" != rest:
        raise _UnusualError
    return messages, values, text
