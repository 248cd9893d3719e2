"""Bare and C-quoted paths (derivation.md §9.1 rule 3)."""

import pytest

from sediment_assets.mirrors.diff_paths import quote_path, unquote_path


@pytest.mark.parametrize(
    ("token", "path"),
    [
        (b"a/x y", b"a/x y"),
        (b"a/\xc3\xa9", b"a/\xc3\xa9"),
        (rb'"a/\a\b\t\n\v\f\r\"\\"', b'a/\a\b\t\n\v\f\r"\\'),
        (rb'"a/\303\251\377\001"', b"a/\xc3\xa9\xff\x01"),
        (b'"a/\xff"', b"a/\xff"),
        (b'"a/x y"', b"a/x y"),
        (b"'", b"'"),
    ],
)
def test_legal_token(token, path):
    assert unquote_path(token) == path


@pytest.mark.parametrize(
    "token",
    [
        *(b"", b'""', b'"', b'"a', b'a"', b'"a"b', b'"a"b"', b"a\\b", b"a\tb", b"a\nb", b"a\x7fb", b"a\0b"),
        *(rb'"\x41"', rb'"\400"', rb'"\08"', rb'"\12"', rb'"\e"', rb'"a\"', rb'"\000"', b'"a\0"'),
    ],
)
def test_illegal_token(token):
    assert unquote_path(token) is None


@pytest.mark.parametrize("path", [bytes(range(1, 256)), b"plain", b'a "b"', "é".encode()])
def test_quoting_is_read_back(path):
    assert unquote_path(quote_path(path)) == path
