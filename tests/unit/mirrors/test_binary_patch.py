"""Payloads of git binary patches."""

import zlib
from base64 import b85encode

import pytest

from sediment_assets.mirrors.binary_patch import Payload, apply_delta, read_payload


def payload(kind: bytes, data: bytes, size: int | None = None) -> list[bytes]:
    """Encode as git does: lines of at most 52 bytes, the first character saying how many."""
    deflated = zlib.compress(data)
    lines = [kind + b" %d" % (len(data) if size is None else size)]
    for start in range(0, len(deflated), 52):
        part = deflated[start : start + 52]
        letter = 64 + len(part) if len(part) <= 26 else 70 + len(part)
        lines.append(bytes([letter]) + b85encode(part + b"\0" * (-len(part) % 4)))
    return [*lines, b"", b"next"]


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)), b"\0" * 100_000, bytes(range(256)) * 40])
def test_literal_is_read(data):
    lines = payload(b"literal", data)
    assert read_payload(lines, 0) == (Payload(False, data), len(lines) - 1)


def test_payload_that_git_wrote_is_read():
    """One byte, a literal; and its way back, empty."""
    lines = [b"literal 1", b"IcmaC}008O$>Hq)$", b"", b"literal 0", b"HcmV?d00001", b"", b"end"]
    assert read_payload(lines, 0) == (Payload(False, b"\xe9"), 3)
    assert read_payload(lines, 3) == (Payload(False, b""), 6)


@pytest.mark.parametrize(
    "lines",
    [
        payload(b"literal", b"abc", 4),
        payload(b"literal", b"abc", 2),
        payload(b"verbatim", b"abc"),
        payload(b"literal", b"abc")[:-2],
        [b"literal 3", b"", b""],
        [b"literal x", b"", b""],
        [b"literal 3", b"*abc", b""],
        [b"literal 3", b"DcmV?d", b""],
        [b"literal 3", b"HcmV?d000", b""],
        [b"literal 3", b'H"""""', b""],
        [b"literal 1", *[b"IcmaC}008O$>Hq)$"] * 3000, b""],
    ],
)
def test_damaged_payload_is_refused(lines):
    with pytest.raises(ValueError, match=r"."):
        read_payload(lines, 0)


BASE = bytes(range(200))


@pytest.mark.parametrize(
    ("delta", "result"),
    [
        (b"\xc8\x01\x03\x03abc", b"abc"),
        (b"\xc8\x01\x05\x91\x0a\x05", BASE[10:15]),
        (b"\xc8\x01\xc8\x01\x90\xc8", BASE),
        (b"\xc8\x01\x06\x01x\x91\x64\x05", b"x" + BASE[100:105]),
    ],
)
def test_delta_copies_and_inserts(delta, result):
    assert apply_delta(BASE, delta) == result
    assert Payload(True, delta).content(BASE) == result


def test_copy_of_no_size_is_64_kib():
    base = bytes(70_000)
    assert apply_delta(base, b"\xf0\xa2\x04\x80\x80\x04\x80") == bytes(0x10000)


@pytest.mark.parametrize(
    "delta",
    [
        b"",
        b"\xc8",
        b"\xc7\x01\x03\x03abc",
        b"\xc8\x01\x04\x03abc",
        b"\xc8\x01\x03\x03ab",
        b"\xc8\x01\x00\x00",
        b"\xc8\x01\x05\x91\xc6\x05",
        b"\xc8\x01\x05\x91",
    ],
)
def test_damaged_delta_is_refused(delta):
    with pytest.raises(ValueError, match="expected"):
        apply_delta(BASE, delta)
