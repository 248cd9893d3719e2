"""Where a JSON value ends in bytes, found by following its brackets and strings; nothing is decoded."""

import re
from typing import Final

_NO_BRACKETS: Final = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+', re.DOTALL)
"""Everything up to the next bracket that is in no string."""
_STRING: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR: Final = re.compile(rb'[^\s,\[\]{}"]*')


def value_end(data: bytes | bytearray, start: int) -> int | None:
    """Return where the value at ``start`` ends; None when the data ends first. Whether it is JSON is not judged."""
    first = data[start]
    if first == ord('"'):
        string = _STRING.match(data, start)
        return string.end() if string else None
    if first not in b"[{":
        end = match_end(_SCALAR, data, start)
        return None if end == len(data) else max(end, start + 1)
    depth, position = 0, start
    while (position := match_end(_NO_BRACKETS, data, position)) < len(data) and data[position] != ord('"'):
        depth += 1 if data[position] in b"[{" else -1
        position += 1
        if depth == 0:
            return position
    return None


def match_end(pattern: re.Pattern[bytes], data: bytes | bytearray, start: int) -> int:
    """Return where a pattern that may match nothing ends."""
    match = pattern.match(data, start)
    return start if match is None else match.end()
