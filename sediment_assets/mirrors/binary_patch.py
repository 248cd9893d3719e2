"""Payloads of git binary patches: base-85 lines around a deflated literal or delta.

For the patch proof (``patch_rebuild.py``), which applies them itself. Everything here refuses by ValueError.
"""

import zlib
from base64 import b85decode
from typing import Final, NamedTuple

MAX_PAYLOAD_LINES: Final = 2_000
"""Payloads beyond this many lines (about 100 KiB deflated) are better left to git: decoding here is slow."""

_LENGTHS: Final = {
    **{letter: number for number, letter in enumerate(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1)},
    **{letter: number for number, letter in enumerate(b"abcdefghijklmnopqrstuvwxyz", 27)},
}


class Payload(NamedTuple):
    """One half of a binary patch: the content itself, or a delta against the other side."""

    is_delta: bool
    data: bytes

    def content(self, other: bytes) -> bytes:
        """Return the content this half describes, given the other side's."""
        return apply_delta(other, self.data) if self.is_delta else self.data


def read_payload(lines: list[bytes], start: int) -> tuple[Payload, int]:
    """Read one half from its ``literal`` or ``delta`` line on; return it and the position behind its blank line."""
    kind, _, size = lines[start].partition(b" ")
    if kind not in (b"literal", b"delta") or not size.isdigit():
        raise ValueError("expected literal or delta and a size")
    end = lines.index(b"", start)
    if end - start > MAX_PAYLOAD_LINES:
        raise ValueError("expected a small payload")
    deflated = b"".join(map(_decoded_line, lines[start + 1 : end]))
    inflate = zlib.decompressobj()
    try:
        data = inflate.decompress(deflated, int(size) + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(data) != int(size) or not inflate.eof or inflate.unused_data:
        raise ValueError("expected a payload of the stated size")
    return Payload(kind == b"delta", data), end + 1


def _decoded_line(line: bytes) -> bytes:
    """Decode one line: a letter for the number of bytes, then groups of five characters for four bytes each."""
    length = _LENGTHS.get(line[0], 0)
    if len(line) - 1 != (length + 3) // 4 * 5:
        raise ValueError("expected as many characters as the first one says")
    return b85decode(line[1:])[:length]


def apply_delta(base: bytes, delta: bytes) -> bytes:
    """Apply a pack delta: two sizes, then copies out of ``base`` and insertions."""
    base_size, at = _size(delta, 0)
    result_size, at = _size(delta, at)
    parts: list[bytes] = []
    while at < len(delta):
        op = delta[at]
        at += 1
        if op & 0x80:
            offset, at = _sparse(delta, at, op, 4)
            size, at = _sparse(delta, at, op >> 4, 3)
            size = size or 0x10000
            if offset + size > len(base):
                raise ValueError("expected a copy from within the base")
            parts.append(base[offset : offset + size])
        elif op:
            parts.append(delta[at : at + op])
            at += op
        else:
            raise ValueError("expected a copy or an insertion")
    result = b"".join(parts)
    if base_size != len(base) or result_size != len(result) or at != len(delta):
        raise ValueError("expected the stated sizes")
    return result


def _size(delta: bytes, at: int) -> tuple[int, int]:
    """Read a number of seven bits a byte, lowest first."""
    value = shift = 0
    while True:
        if at >= len(delta):
            raise ValueError("expected a size")
        byte = delta[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at


def _sparse(delta: bytes, at: int, present: int, count: int) -> tuple[int, int]:
    """Read a little-endian number of which only the bytes flagged in ``present`` are stored."""
    value = 0
    for position in range(count):
        if present & (1 << position):
            if at >= len(delta):
                raise ValueError("expected a copy instruction")
            value |= delta[at] << (8 * position)
            at += 1
    return value, at
