"""Captured JSON as exact Python values: decoding, key order, equality (facts.md §7, derivation.md §5).

Exact means: integers of any size up to 4300 digits, floats apart from integers, ``-0.0``, NaN and infinities, lone
surrogates and U+0000 in values and keys, key order. The only thing lost is a duplicate key (the last one wins).

This is the module to import from: it also offers the limits, the spellings and the field types of its neighbours.
"""

import json
import math
from collections import Counter
from json import scanner
from typing import Any, Final

import orjson

from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_encoding import encode_canonical, encode_row, encode_stored, is_spelled_alike, respelled
from sediment_assets.facts.json_fields import AnyJson, Json
from sediment_assets.facts.json_limits import (
    MAX_DEPTH,
    MAX_DERIVED_DEPTH,
    MAX_INTEGER_DIGITS,
    JsonError,
    JsonObject,
    JsonValue,
    require_depth,
    too_deep,
    too_long,
    walk,
)

__all__ = [
    "MAX_DEPTH",
    "MAX_DERIVED_DEPTH",
    "MAX_INTEGER_DIGITS",
    "AnyJson",
    "InexactError",
    "Json",
    "JsonError",
    "JsonObject",
    "JsonValue",
    "canonical_order",
    "decode",
    "decode_canonical",
    "decode_captured",
    "decode_strict",
    "encode_canonical",
    "encode_row",
    "encode_stored",
    "equal",
    "exact_order",
    "is_spelled_alike",
    "respelled",
    "walk",
]


def decode(text: str | bytes) -> Any:
    """Decode one JSON text exactly (facts.md §7); bytes must be UTF-8.

    ``NaN``, ``Infinity`` and ``-Infinity`` are read, ``1e400`` is infinity, the last of duplicate keys wins.
    Raises JsonError when it is not JSON, nests deeper than MAX_DEPTH, or holds an integer beyond MAX_INTEGER_DIGITS.
    """
    return _decode(text, _PLAIN, MAX_DEPTH)


def decode_strict(text: str | bytes, *, finite: bool = False) -> Any:
    """Decode a derived JSON text as ``decode`` does, to MAX_DERIVED_DEPTH, and refuse duplicate keys (bundle.md §2.3).

    ``finite`` refuses ``NaN`` and the infinities, too, also a number too large for a float.
    """
    return _decode(text, _FINITE if finite else _UNIQUE, MAX_DERIVED_DEPTH)


def _decode(text: str | bytes, decoder: json.JSONDecoder, max_depth: int) -> Any:
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = _loads(text, decoder)
    except RecursionError:
        raise too_deep(max_depth) from None
    except json.JSONDecodeError as error:
        raise JsonError(f"expected JSON, got {error.msg[0].lower()}{error.msg[1:]} at character {error.pos}") from None
    except UnicodeDecodeError as error:
        raise JsonError(f"expected JSON in UTF-8, got an invalid byte at position {error.start}") from None
    except ValueError:
        raise too_long() from None
    # A text with few brackets cannot nest deeply, and counting them is much cheaper than walking the value.
    if text.count("[") + text.count("{") > max_depth:
        require_depth(value, max_depth)
    return value


def _loads(text: str, decoder: json.JSONDecoder) -> Any:
    if text.startswith("\ufeff"):
        raise JsonError("expected JSON, got a byte-order mark")
    try:
        return decoder.decode(text)
    except RecursionError:
        return _PythonDecoder(decoder).decode(text)


class _PythonDecoder(json.JSONDecoder):
    """Another decoder with its scanner in Python.

    Early releases of Python 3.12 allow the C scanner 1500 nested calls whatever the recursion limit says, and the
    caller has already used some of them.
    """

    def __init__(self, decoder: json.JSONDecoder) -> None:
        super().__init__(
            object_pairs_hook=decoder.object_pairs_hook,
            parse_constant=decoder.parse_constant,
            parse_float=decoder.parse_float,
        )
        self.scan_once: Any = scanner.py_make_scanner(self)  # type: ignore[attr-defined]  # typeshed lists the C one only


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise JsonError(f"expected distinct keys, got {shown(twice)} more than once")
    return value


def _finite_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonError(f"expected finite numbers, got {shown(digits)}")
    return number


_PLAIN: Final = json.JSONDecoder()
_UNIQUE: Final = json.JSONDecoder(object_pairs_hook=_unique_keys)
_FINITE: Final = json.JSONDecoder(
    object_pairs_hook=_unique_keys, parse_constant=_finite_float, parse_float=_finite_float
)


def decode_captured(text: str | bytes) -> Any:
    """Decode a stored JSON text with the keys of every object in code-point order, as derived values carry them."""
    try:
        return exact_order(orjson.loads(text))
    except (orjson.JSONDecodeError, InexactError):
        return canonical_order(decode(text))


def decode_canonical(text: str) -> Any:
    """Decode a text that is its own canonical spelling (bundle.md §2.2).

    Equal spelling proves that no key is there twice and that every number was read exactly.
    Raises InexactError for any other text, though it may be JSON.
    """
    try:
        value = orjson.loads(text)
        if respelled(value) == text:
            return value
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    raise InexactError


def canonical_order(value: Any) -> Any:
    """Return a copy of a JSON value with the keys of every object, at every depth, in code-point order."""
    if type(value) is dict:
        return {key: canonical_order(value[key]) for key in sorted(value)}
    if type(value) is list:
        return [canonical_order(item) for item in value]
    return value


class InexactError(Exception):
    """A value from orjson that may not be what the text says."""


def exact_order(value: Any) -> Any:
    """Do what ``canonical_order`` does for a value that orjson decoded, and prove it exact.

    orjson reads what it accepts as ``decode`` does, with one exception: an integer beyond 64 bits becomes a float.
    Raises InexactError for any float that might be one; ``decode`` then knows.
    """
    kind = type(value)
    if kind is str:
        return value
    if kind is dict:
        return {key: exact_order(value[key]) for key in sorted(value)}
    if kind is list:
        return [exact_order(item) for item in value]
    if kind is float and not -_FIRST_INEXACT < value < _FIRST_INEXACT:
        raise InexactError
    return value


_FIRST_INEXACT: Final = 2.0**63


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
