"""Paths as git writes them in diffs: bare, or C-quoted (derivation.md §9.1 rule 3).

Quoting works on bytes: a name need not be UTF-8. Used by the attribution grammar and by the patch proof.
"""

import re

_ESCAPES = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
    b'"': b'"',
    b"\\": b"\\",
}
_ESCAPE = re.compile(rb'\\(?:([abtnvfr"\\])|([0-3][0-7][0-7]))')
_QUOTED = re.compile(rb'"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7][0-7]))*)"', re.DOTALL)
_BARE_FORBIDDEN = re.compile(rb'[\x00-\x1f\x7f"\\]')


def unquote_path(token: bytes) -> bytes | None:
    """Return the path a whole token spells; None when it is neither a legal bare nor a legal quoted path."""
    if not token.startswith(b'"'):
        return token if token and _BARE_FORBIDDEN.search(token) is None else None
    match = _QUOTED.fullmatch(token)
    if match is None or not match[1]:
        return None
    path = _ESCAPE.sub(_unescape, match[1])
    return None if b"\0" in path else path


def _unescape(match: re.Match[bytes]) -> bytes:
    letter, octal = match.groups()
    return _ESCAPES[letter] if letter is not None else bytes([int(octal, 8)])


_SPELLED = {value[0]: b"\\" + letter for letter, value in _ESCAPES.items()}


def quote_path(path: bytes) -> bytes:
    """Spell a path in double quotes as git reads it back; bytes above 0x7f stay as they are."""
    return b'"' + b"".join(_quoted_byte(byte) for byte in path) + b'"'


def _quoted_byte(byte: int) -> bytes:
    if byte in _SPELLED:
        return _SPELLED[byte]
    return b"\\%03o" % byte if byte < 0x20 or byte == 0x7F else bytes([byte])
