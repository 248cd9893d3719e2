"""Decoding of git output (mirrors.md §5)."""

import pytest

from sediment_assets.mirrors.git_text import decode_git_text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (b"\xe9x", "\ufffdx"),
        (b"\xf0\x9f\x98x", "\ufffdx"),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"\xc0\xaf", "\ufffd\ufffd"),
        (b"\xef\xbb\xbfx", "\ufeffx"),
        (b"a\0b", "a\0b"),
        (b"a\r\nb\rc\r\r\nd", "a\nb\nc\n\nd"),
        (b"+TWO \xe9\n", "+TWO \ufffd\n"),
        ("\u2028\u0085\x0c".encode(), "\u2028\u0085\x0c"),
    ],
)
def test_bad_bytes_become_replacement_and_carriage_returns_line_feeds(output, text):
    assert decode_git_text(output) == text
