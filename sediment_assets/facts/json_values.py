"""Captured JSON as exact Python values: decoding, the three spellings, equality (facts.md §7, derivation.md §5).

Exact means: integers of any size up to 4300 digits, floats apart from integers, ``-0.0``, NaN and infinities, lone
surrogates and U+0000 in values and keys, key order. The only thing lost is a duplicate key (the last one wins).
"""

import json
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import orjson

from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.instants import format_offset, format_z

JsonValue = None | bool | int | float | str | list[Any] | dict[str, Any]
"""Any JSON value in memory. Arrays are lists; tuples appear in model dumps only."""
JsonObject = dict[str, Any]
"""A JSON object in memory."""

MAX_DEPTH: Final = 1497
"""Most nested arrays and objects of one JSON text (facts.md §7)."""
MAX_INTEGER_DIGITS: Final = 4300
"""Most decimal digits of one integer (facts.md §7): Python's own limit."""

# JSON of MAX_DEPTH nests more calls than Python allows by default (1000). The limit is the interpreter's, so it is
# raised once, here, where the need arises: two calls per level, and room for whoever calls us.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))


class JsonError(SedimentError):
    """A value that has no exact JSON form here, or a text that is not JSON; the message says which and where."""


def decode(text: str | bytes) -> Any:
    """Decode one JSON text exactly (facts.md §7); bytes must be UTF-8.

    ``NaN``, ``Infinity`` and ``-Infinity`` are read, ``1e400`` is infinity, the last of duplicate keys wins.
    Raises JsonError when it is not JSON, nests deeper than MAX_DEPTH, or holds an integer beyond MAX_INTEGER_DIGITS.
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = json.loads(text)
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise JsonError(f"expected JSON, got {error.msg} at character {error.pos + 1}") from None
    except UnicodeDecodeError as error:
        raise JsonError(
            f"expected JSON in UTF-8, got byte {error.object[error.start]:#04x} at {error.start}"
        ) from None
    except ValueError:
        raise _too_long() from None
    # A text with few brackets cannot nest deeply; counting them is much cheaper than walking the value.
    if text.count("[") + text.count("{") > MAX_DEPTH and depth_of(value) > MAX_DEPTH:
        raise _too_deep()
    return value


def decode_captured(text: str | bytes) -> Any:
    """Decode a stored JSON text with the keys of every object in code-point order, as derived values carry them."""
    return canonical_order(decode(text))


def canonical_order(value: Any) -> Any:
    """Return a copy of a JSON value with the keys of every object, at every depth, in code-point order."""
    if type(value) is dict:
        return {key: canonical_order(value[key]) for key in sorted(value)}
    if type(value) is list:
        return [canonical_order(item) for item in value]
    return value


def depth_of(value: Any) -> int:
    """Count the levels of nested arrays and objects: 0 for a scalar, 1 for ``[]``."""
    depth = 0
    level = [value]
    while level := [item for item in level if isinstance(item, dict | list | tuple)]:
        depth += 1
        level = [child for item in level for child in _children(item)]
    return depth


def _children(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value


def encode_stored(value: Any) -> str:
    """Spell a JSON value as Facts are stored (facts.md §7): ASCII, compact, key order kept, U+007F escaped."""
    return _ascii(value, sort_keys=False)


def encode_canonical(value: Any) -> str:
    """Spell a derived value as bundle records and digests are (bundle.md §2.2): ASCII, compact, keys sorted, times +00:00.

    Accepts JSON values, tuples, instants and StrEnums; raises JsonError for anything else.
    """
    return _ascii(value, sort_keys=True)


def _ascii(value: Any, *, sort_keys: bool) -> str:
    _require_encodable(value)
    try:
        text = json.dumps(value, separators=(",", ":"), sort_keys=sort_keys, default=_offset_instant)
    except ValueError:
        raise _too_long() from None
    except RecursionError:
        raise _too_deep() from None
    return text.replace("\x7f", "\\u007f")


def encode_row(value: Any) -> bytes:
    """Spell a target row (design.md §7): compact UTF-8, keys in the given order, times ``Z``, no newline.

    The bytes hold no line separator of ``str.splitlines``. Floats have Python's spelling, integers any size.
    Raises JsonError for a non-finite float, a surrogate, or anything that is no JSON value, tuple, instant or StrEnum.
    """
    try:
        row = orjson.dumps(value, _z_instant, _ROW_OPTIONS) if _orjson_is_exact(value) else _stdlib_row(value)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, nesting beyond 254, surrogates
        row = _stdlib_row(value)
    if not row.isascii():
        for separator, escape in _ROW_SEPARATORS:
            row = row.replace(separator, escape)
    return row


_ROW_OPTIONS: Final = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
_ROW_SEPARATORS: Final = tuple((char.encode(), b"\\u%04x" % ord(char)) for char in "\u0085\u2028\u2029")
"""Separators of ``str.splitlines`` beyond the control characters, which JSON escapes anyway."""
_PLAIN: Final = frozenset({str, int, bool, type(None)})


def _orjson_is_exact(value: Any) -> bool:
    """Whether orjson spells every float of ``value`` as Python does: finite and in the range without exponent."""
    stack = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind in _PLAIN:
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


def _stdlib_row(value: Any) -> bytes:
    _require_encodable(value)
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_z_instant
        )
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise JsonError("expected text that UTF-8 can spell, got a surrogate code point") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        if "Out of range" in str(error):
            raise JsonError("expected finite numbers, got NaN or an infinity") from None
        raise _too_long() from None


def _require_encodable(value: Any) -> None:
    """Refuse what JSON encoders would let through or change: unknown types, keys that are no strings, deep nesting."""
    for item in walk(value):
        if isinstance(item, dict):
            for key in item:
                if not isinstance(key, str):
                    raise JsonError(f"expected object keys that are strings, got {shown(key)}")
        elif not isinstance(item, _ENCODABLE):
            raise JsonError(f"expected a JSON value, got {shown(item)}")
    if depth_of(value) > MAX_DEPTH:
        raise _too_deep()


_ENCODABLE: Final = (str, int, float, list, tuple, type(None), datetime)


def walk(value: Any) -> Iterator[Any]:
    """Yield the value and every value inside it, in no particular order, without recursion."""
    stack = [value]
    while stack:
        item = stack.pop()
        yield item
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list | tuple):
            stack.extend(item)


def _offset_instant(value: object) -> str:
    return _instant(value, format_offset)


def _z_instant(value: object) -> str:
    return _instant(value, format_z)


def _instant(value: object, spell: Any) -> str:
    if not isinstance(value, datetime):
        raise JsonError(f"expected a JSON value, got {shown(value)}")
    try:
        return str(spell(value))
    except ValueError as error:
        raise JsonError(str(error)) from None


def _too_deep() -> JsonError:
    return JsonError(f"expected JSON nested at most {MAX_DEPTH} levels, got more")


def _too_long() -> JsonError:
    return JsonError(f"expected integers of at most {MAX_INTEGER_DIGITS} digits, got more")


def equal(left: Any, right: Any) -> bool:
    """Compare two JSON values as histories are compared (derivation.md §5).

    ``true`` is not ``1``; ``1`` is ``1.0`` and ``0.0`` is ``-0.0``; integers and floats compare as exact numbers; NaN
    equals NaN; key order is irrelevant; strings are equal by code points only.
    """
    stack = [(left, right)]
    while stack:
        a, b = stack.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            stack.extend((item, b[key]) for key, item in a.items())
        elif isinstance(a, list | tuple) and isinstance(b, list | tuple):
            if len(a) != len(b):
                return False
            stack.extend(zip(a, b, strict=True))
        elif not _equal_scalars(a, b):
            return False
    return True


def _equal_scalars(a: Any, b: Any) -> bool:
    # Python compares int and float exactly; a bool is an int there and must not be one here.
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    return bool(a == b) or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)
