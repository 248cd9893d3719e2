"""What counts as JSON here and how large it may get: types, depth and digit limits, their error (facts.md §7)."""

import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown

JsonValue = None | bool | int | float | str | list[Any] | dict[str, Any]
"""Any JSON value in memory. Arrays are lists; tuples appear in model dumps only."""
JsonObject = dict[str, Any]
"""A JSON object in memory."""

MAX_DEPTH: Final = 1497
"""Most nested arrays and objects of one JSON text (facts.md §7)."""
MAX_INTEGER_DIGITS: Final = 4300
"""Most decimal digits of one integer (facts.md §7): Python's own limit."""
MAX_DERIVED_DEPTH: Final = MAX_DEPTH + 8
"""Most nesting of a derived record or row: what it wraps around captured JSON is shallow, and must never fail on it."""

# JSON of MAX_DEPTH nests more calls than Python allows by default (1000). The limit belongs to the interpreter, so it
# is raised once, here, where the need arises: up to three calls a level, and room for whoever calls us.
sys.setrecursionlimit(max(sys.getrecursionlimit(), 12_000))


class JsonError(SedimentError):
    """A value without an exact JSON form here, or a text that is not JSON. The message says what was expected."""


def too_deep(limit: int = MAX_DEPTH) -> JsonError:
    """Return the error for nesting beyond ``limit``."""
    return JsonError(f"expected JSON nested at most {limit} levels, got more")


def too_long() -> JsonError:
    """Return the error for an integer beyond MAX_INTEGER_DIGITS."""
    return JsonError(f"expected integers of at most {MAX_INTEGER_DIGITS} digits, got more")


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


def require_depth(value: Any, limit: int = MAX_DEPTH) -> None:
    """Raise JsonError when a decoded value nests deeper than ``limit``."""
    level = [value]
    for _ in range(limit):
        children: list[Any] = []
        for item in level:
            if type(item) is dict:
                children.extend(item.values())
            elif type(item) is list:
                children.extend(item)
        if not (level := children):
            return
    if any(isinstance(item, dict | list) for item in level):
        raise too_deep(limit)


def require_encodable(value: Any, limit: int = MAX_DEPTH) -> None:
    """Refuse what JSON encoders would let through or change: unknown types, keys that are no strings, deep nesting.

    Accepts JSON values, tuples, instants and StrEnums.
    """
    level, depth = [value], 0
    while level:
        nested = False
        children: list[Any] = []
        for item in level:
            kind = type(item)
            if kind in _SCALARS:
                continue
            if kind is dict:
                _require_string_keys(item)
                children.extend(item.values())
                nested = True
            elif kind is list or kind is tuple:
                children.extend(item)
                nested = True
            elif not isinstance(item, str | datetime):
                raise JsonError(f"expected a JSON value, got {shown(item)}")
        depth += nested
        level = children
    if depth > limit:
        raise too_deep(limit)


_SCALARS: Final = frozenset({str, int, float, bool, type(None)})


def _require_string_keys(value: dict[Any, Any]) -> None:
    for key in value:
        if type(key) is not str and not isinstance(key, str):
            raise JsonError(f"expected object keys that are strings, got {shown(key)}")
