"""The three JSON spellings, each over the same plain values: stored Facts, bundle records, target rows.

Accepted everywhere: JSON values, tuples (as arrays), instants and StrEnums. Anything else is a JsonError: a spelling
that guesses is not exact.
"""

import codecs
import json
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import orjson

from sediment_assets.facts.expected import shown
from sediment_assets.facts.instants import format_offset, format_z
from sediment_assets.facts.json_limits import MAX_DEPTH, MAX_DERIVED_DEPTH, JsonError, require_encodable, too_long


def encode_stored(value: Any) -> str:
    """Spell a JSON value as Facts are stored (facts.md §7): ASCII, compact, key order kept, U+007F escaped."""
    return _ascii(value, sort_keys=False, max_depth=MAX_DEPTH)


def encode_canonical(value: Any) -> str:
    """Spell a derived value as in bundle records and digests (bundle.md §2.2): as stored, keys sorted, times +00:00."""
    return _ascii(value, sort_keys=True, max_depth=MAX_DERIVED_DEPTH)


def _ascii(value: Any, *, sort_keys: bool, max_depth: int) -> str:
    try:
        if is_spelled_alike(value):  # several times faster
            options = _ORJSON | orjson.OPT_SORT_KEYS if sort_keys else _ORJSON
            return _escaped(orjson.dumps(value, _offset_instant, options))
    except orjson.JSONEncodeError:  # as in encode_row
        pass
    require_encodable(value, max_depth)
    text = _dumps(value, json.JSONEncoder(separators=(",", ":"), sort_keys=sort_keys, default=_offset_instant))
    return text.replace("\x7f", "\\u007f")


def respelled(value: Any, *, sort_keys: bool = True) -> str:
    """Spell a value that orjson read, canonically but for some floats: to compare with the text it was read from.

    Where that text proved to be the same, ``sort_keys=False`` gives what ``encode_stored`` does.
    """
    return _escaped(orjson.dumps(value, None, orjson.OPT_SORT_KEYS if sort_keys else None))


def _escaped(data: bytes) -> str:
    """Escape what JSON may hold as it is: U+007F, and everything beyond ASCII, astral characters as two."""
    if not data.isascii():
        data = _escaped_beyond_ascii(data)
    if b"\x7f" in data:
        data = data.replace(b"\x7f", b"\\u007f")
    return data.decode("ascii")


def _escaped_beyond_ascii(data: bytes) -> bytes:
    # Texts have few different characters beyond ASCII, mostly those of the text before; finding costs more.
    for char in _latest_found:
        data = data.replace(*_escape(char))
    if data.isascii():
        return data
    found = set(data.translate(None, _ASCII).decode())
    if len(found) > _FEW:
        return data.decode().encode("ascii", _JSON_ESCAPE)
    for char in found:
        data = data.replace(*_escape(char))
    _latest_found[:] = islice(found, _LATEST)
    return data


_ASCII: Final = bytes(range(0x80))
_FEW: Final = 16
_LATEST: Final = 4
_latest_found: Final[list[str]] = []
"""Characters to look for first: a matter of time alone."""


@lru_cache(maxsize=1024)
def _escape(char: str) -> tuple[bytes, bytes]:
    """Return a character in UTF-8 and escaped."""
    return char.encode(), json.dumps(char)[1:-1].encode()


def _escape_run(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


_JSON_ESCAPE: Final = "sediment-json-escape"
codecs.register_error(_JSON_ESCAPE, _escape_run)


def encode_row(value: Any, *, exact: bool | None = None) -> bytes:
    """Spell a target row (design.md §7): compact UTF-8, keys in the given order, times ``Z``, no newline.

    The bytes hold no line separator of ``str.splitlines``. Floats have Python's spelling, integers any size.
    Raises JsonError also for a non-finite float and for a surrogate: neither has a form every consumer reads.
    ``exact`` says what ``is_spelled_alike(value)`` says, if that is known.
    """
    try:
        alike = is_spelled_alike(value) if exact is None else exact
        row = orjson.dumps(value, _z_instant, _ORJSON) if alike else _row_by_stdlib(value)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, nesting beyond 254, surrogates, keys that are no strings
        row = _row_by_stdlib(value)
    for separator, escape in _ROW_SEPARATORS:
        if all(byte in row for byte in separator):  # one byte is found many times faster than three
            row = row.replace(separator, escape)
    return row


_ORJSON: Final = orjson.OPT_PASSTHROUGH_DATETIME
_ROW_SEPARATORS: Final = tuple((char.encode(), b"\\u%04x" % ord(char)) for char in "\u0085\u2028\u2029")
"""Separators of ``str.splitlines`` beyond the control characters, which JSON escapes anyway."""
_SPELLED_ALIKE: Final = frozenset({str, int, bool, type(None)})


def is_spelled_alike(value: Any) -> bool:
    """Whether orjson writes ``value`` as Python does: known types only, floats finite and without an exponent.

    orjson would write NaN as null, and its exponents (1e-7, 0.00001) differ from Python's and between its releases.
    """
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind in _SPELLED_ALIKE:
            continue
        if kind is dict:
            stack.extend(item.values())
        elif kind is list or kind is tuple:
            stack.extend(item)
        elif kind is float:
            if not (item == 0 or 1e-4 <= abs(item) < 1e16):
                return False
        elif not isinstance(item, str | datetime):
            return False
    return True


def _row_by_stdlib(value: Any) -> bytes:
    require_encodable(value, MAX_DERIVED_DEPTH)
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_z_instant)
    try:
        return _dumps(value, encoder).encode("utf-8")
    except UnicodeEncodeError:
        raise JsonError("expected text that UTF-8 can spell, got a surrogate code point") from None


def _dumps(value: Any, encoder: json.JSONEncoder) -> str:
    try:
        try:
            return encoder.encode(value)
        except RecursionError:
            return "".join(_pieces(value, encoder))
    except ValueError as error:
        if str(error).startswith("Out of range float"):
            raise JsonError("expected finite numbers, got NaN or an infinity") from None
        raise too_long() from None


def _pieces(value: Any, encoder: json.JSONEncoder) -> Iterator[str]:
    """Yield the encoder's text piece by piece without recursion.

    Early releases of Python 3.12 allow C code 1500 nested calls whatever the recursion limit says, and the caller has
    already used some of them.
    """
    stack: list[Any] = [("value", value)]
    while stack:
        kind, item = stack.pop()
        if kind == "text":
            yield item
        elif isinstance(item, dict):
            keys = sorted(item) if encoder.sort_keys else list(item)
            members = [(encoder.encode(key) + ":", item[key]) for key in keys]
            stack.extend(reversed(_bracketed("{", members, "}")))
        elif isinstance(item, list | tuple):
            stack.extend(reversed(_bracketed("[", [("", element) for element in item], "]")))
        else:
            yield encoder.encode(item)


def _bracketed(opening: str, members: list[tuple[str, Any]], closing: str) -> list[Any]:
    tasks: list[Any] = []
    for prefix, value in members:
        tasks += [("text", ("," if tasks else opening) + prefix), ("value", value)]
    return [*(tasks or [("text", opening)]), ("text", closing)]


def _offset_instant(value: object) -> str:
    return _instant(value, format_offset)


def _z_instant(value: object) -> str:
    return _instant(value, format_z)


def _instant(value: object, spell: Callable[[datetime], str]) -> str:
    if not isinstance(value, datetime):
        raise JsonError(f"expected a JSON value, got {shown(value)}")
    try:
        return spell(value)
    except ValueError as error:
        raise JsonError(str(error)) from None
