"""Reading a parsed record field by field: absent stays None, a value of the wrong kind is refused by its name.

``Fields`` is a view of one JSON object that remembers its path; ``RefusedError`` carries why a record gives no Fact.
Refusals name the field and what was expected, never the value (``Untranslated.detail``).
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from pydantic import ValidationError

from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.model import explain_errors
from sediment_assets.facts.scalars import MAX_NAT63
from sediment_assets.facts.text import strip


class RefusedError(SedimentError):
    """A record, or a part of one, that gives no Fact: the reason, and what was found."""

    def __init__(self, reason: Remainder, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(f"{reason}: {detail}")

    def at(self, place: str) -> Untranslated:
        """Return what a source yields for it."""
        return Untranslated(place, self.reason, self.detail)


def invalid(field: str, expected: str, value: object) -> RefusedError:
    """Return the refusal of a value of the wrong kind; the kind is told, the value is not."""
    return RefusedError(Remainder.INVALID_VALUE, f"{field}: expected {expected}, got {_kind(value)}")


def unknown_shape(detail: str) -> RefusedError:
    """Return the refusal of something that is no record of a source."""
    return RefusedError(Remainder.UNKNOWN_SHAPE, detail)


def invalid_fact(error: ValidationError) -> RefusedError:
    """Return the refusal of values that a Fact cannot hold, by the names of the Fact's fields."""
    problems = [f"{field}: {message.partition(', got ')[0]}" for field, message in explain_errors(error)]
    return RefusedError(Remainder.INVALID_VALUE, "; ".join(problems[:3]))


MAX_LISTS: Final = 4
"""Lists and pages inside each other that are taken apart; what lies deeper is no answer of any system."""


class Fields:
    """One JSON object of a record, with its path. A key with ``null`` is as absent as no key."""

    __slots__ = ("path", "value")

    def __init__(self, value: JsonObject, path: str = "") -> None:
        self.value = value
        self.path = path

    def __contains__(self, key: str) -> bool:
        return self.value.get(key) is not None

    def named(self, key: str) -> str:
        """Return the dotted path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def raw(self, key: str) -> JsonValue:
        """Return the value as it is; None when absent."""
        return self.value.get(key)

    def text(self, key: str) -> str | None:
        """Return a string, unchanged; None when absent."""
        value = self.value.get(key)
        if value is None or isinstance(value, str):
            return value
        raise invalid(self.named(key), "a string", value)

    def word(self, key: str) -> str | None:
        """Return a string, stripped; None when absent or blank."""
        text = self.text(key)
        return strip(text) or None if text is not None else None

    def integer(self, key: str) -> int | None:
        """Return an integer of 0 … 2⁶³−1; None when absent."""
        value = self.value.get(key)
        if value is None or (type(value) is int and 0 <= value <= MAX_NAT63):
            return value
        raise invalid(self.named(key), "an integer of 0 to 2^63-1", value)

    def identifier(self, key: str) -> str | None:
        """Return an id that a system writes as a number or as text; None when absent or blank."""
        value = self.value.get(key)
        return str(self.integer(key)) if type(value) is int else self.word(key)

    def truth(self, key: str) -> bool | None:
        """Return true or false; None when absent."""
        value = self.value.get(key)
        if value is None or isinstance(value, bool):
            return value
        raise invalid(self.named(key), "true or false", value)

    def instant(self, key: str) -> datetime | None:
        """Return an instant in any spelling of facts.md §7, or with a zone as GitLab writes it; None when absent."""
        value = self.value.get(key)
        if value is None or value == "" or value == _NEVER:
            return None
        try:
            return parse_instant(_with_offset(value))
        except ValueError:
            raise invalid(self.named(key), "a time with an offset", value) from None

    def fields(self, key: str) -> "Fields":
        """Return an object inside; an empty one when absent."""
        value = self.value.get(key)
        if value is None or isinstance(value, dict):
            return Fields(value or {}, self.named(key))
        raise invalid(self.named(key), "an object", value)

    def items(self, key: str) -> list[JsonValue]:
        """Return a list inside; an empty one when absent."""
        value = self.value.get(key)
        if value is None or isinstance(value, list):
            return value or []
        raise invalid(self.named(key), "an array", value)

    def objects(self, key: str) -> Iterable["Fields"]:
        """Return the objects of a list inside; other elements are passed over."""
        for index, item in enumerate(self.items(key)):
            if isinstance(item, dict):
                yield Fields(item, f"{self.named(key)}[{index}]")


_NEVER: Final = "0001-01-01T00:00:00Z"
"""How programs in Go write a time that is not set."""


def _with_offset(value: JsonValue) -> JsonValue:
    """Spell ``2016-08-12 15:26:29 UTC`` and ``… +0200`` as facts.md §7 accepts it."""
    if isinstance(value, str):
        return value.removesuffix(" UTC") + "Z" if value.endswith(" UTC") else value.replace(" +", "+")
    return value


def _kind(value: object) -> str:
    match value:
        case None | bool():
            return shown(value)
        case str():
            return "text"
        case int() | float():
            return "a number"
        case dict():
            return "an object"
        case _:
            return "an array"
