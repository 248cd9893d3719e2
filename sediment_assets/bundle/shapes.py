"""Reading records without repairing them (bundle.md §4): exact keys, exact types, values already in normal form.

The models of the Facts say what is valid and what the normal form is; here only the distance between a value and its
normal form is measured. Messages, which are most of a bundle, have their own checks in ``messages.py``.
"""

import re
from collections.abc import Callable, Mapping, Set
from datetime import datetime
from typing import Any, Final, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from sediment_assets.bundle.errors import BundleError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.model import explain_errors

T = TypeVar("T")

_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*(Z|[+-]\d\d:\d\d)", re.ASCII)
_TIME_FORM: Final = "a timestamp like 2026-01-02T03:04:05+00:00"


def parse_time(value: object) -> datetime:
    """Read a Time (bundle.md §3): any offset, digits beyond microseconds cut off; the result is in UTC."""
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise BundleError(f"expected {_TIME_FORM}, got {shown(value)}")
    try:
        return parse_instant("".join(match.groups()))
    except ValueError:
        raise BundleError(f"expected {_TIME_FORM}, got {shown(value)}") from None


def require_keys(value: object, keys: Set[str]) -> JsonObject:
    """Return the value when it is an object with exactly these keys."""
    if not isinstance(value, dict):
        raise BundleError(f"expected an object, got {shown(value)}")
    if value.keys() != keys:
        for key in sorted(keys - value.keys()):
            raise BundleError("expected a value, got no such key", path=key)
        unknown = min(value.keys() - keys)
        raise BundleError(f"expected no key besides {', '.join(sorted(keys))}, got {shown(unknown)}")
    return value


def parse_field(value: Mapping[str, Any], key: str, parse: Callable[[Any], T]) -> T:
    """Read one value of an object that has this key; an error says under which key."""
    try:
        return parse(value[key])
    except BundleError as error:
        raise error.under(key) from None


def parse_list(value: object, parse: Callable[[Any], T]) -> list[T]:
    """Read every element of an array; an error says at which position."""
    items: list[T] = []
    for position, item in enumerate(require_list(value)):
        try:
            items.append(parse(item))
        except BundleError as error:
            raise error.under(position) from None
    return items


def require_list(value: object) -> list[Any]:
    """Return the value when it is an array."""
    if not isinstance(value, list):
        raise BundleError(f"expected an array, got {shown(value)}")
    return value


def parse_normal(value: object, normalise: Callable[[object], T]) -> T:
    """Read one scalar with its function of ``facts/scalars.py``; the value must be what the function makes of it."""
    try:
        normal = normalise(value)
    except ValueError as error:
        raise BundleError(str(error)) from None
    _require_normal(normal, value)
    return normal


def parse_record(kind: type[T], value: object) -> T:
    """Read one record of a pydantic model or annotated dataclass whose every field is in the value, in normal form.

    Two leniencies (bundle.md §4.1): an integer for a float, and any offset in a Time.

    :raises BundleError: for the first value that is not; its path is relative to the record.
    """
    adapter = _ADAPTERS.get(kind) or _ADAPTERS.setdefault(kind, TypeAdapter(kind))
    require_keys(value, _fields(kind).keys())
    try:
        record: T = adapter.validate_python(value)
    except ValidationError as error:
        path, problem = explain_errors(error)[0]
        raise BundleError(problem, path=path) from None
    _require_normal(adapter.dump_python(record), value)
    return record


def _fields(kind: type[Any]) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = kind.model_fields if issubclass(kind, BaseModel) else kind.__dataclass_fields__
    return fields


_ADAPTERS: Final[dict[type[Any], TypeAdapter[Any]]] = {}
"""Validators by model, made at first use."""


def _require_normal(normal: Any, value: Any) -> None:
    """Refuse a value that validation had to change; ``normal`` is what it became."""
    if normal is value:  # captured JSON passes through validation untouched
        return
    if isinstance(normal, dict):
        for key, item in require_keys(value, normal.keys()).items():
            try:
                _require_normal(normal[key], item)
            except BundleError as error:
                raise error.under(key) from None
    elif isinstance(normal, list | tuple):
        for position, (part, item) in enumerate(zip(normal, require_list(value), strict=True)):
            try:
                _require_normal(part, item)
            except BundleError as error:
                raise error.under(position) from None
    elif isinstance(normal, datetime):
        parse_time(value)
    elif not (_same_type(normal, value) and normal == value):
        raise BundleError(f"expected {shown(normal)}, got {shown(value)}")


def _same_type(normal: Any, value: Any) -> bool:
    kind = type(value)
    if isinstance(normal, str):  # an enum member is spelled as its string
        return kind is str
    return kind is type(normal) or (type(normal) is float and kind is int)
