"""What OTLP/JSON attributes and bodies hold, as plain values, in both JSON spellings of the protocol."""

from typing import Final

from sediment_assets.facts.json_values import JsonObject, JsonValue

_SCALARS: Final = ("stringValue", "boolValue", "doubleValue")
_KINDS: Final = frozenset((*_SCALARS, "intValue", "arrayValue", "kvlistValue"))
_LONGEST_NUMBER: Final = 20
"""Characters of the longest whole number of 64 bits, with its sign."""


def read_attributes(value: JsonValue) -> JsonObject:
    """Return attributes by key: OTLP's list of key and value, or an object; the first of equal keys stays."""
    if isinstance(value, dict):
        return value
    attributes: JsonObject = {}
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict) and isinstance(key := item.get("key"), str) and key not in attributes:
            attributes[key] = any_value(item.get("value"))
    return attributes


def any_value(value: JsonValue) -> JsonValue:
    """Return what an OTLP AnyValue holds, at any depth; an empty one holds nothing, what is none passes as it is."""
    if not isinstance(value, dict):
        return value
    if not value:
        return None
    told = {kind: held for key, held in value.items() if (kind := key.replace("_v", "V")) in _KINDS}
    if not told:
        return value
    kind, held = next(((kind, held) for kind, held in told.items() if held is not None), ("", None))
    match kind:
        case "intValue":
            return _whole_number(held)
        case "arrayValue":
            values = held.get("values") if isinstance(held, dict) else None
            return [any_value(item) for item in values] if isinstance(values, list) else []
        case "kvlistValue":
            return read_attributes(held.get("values")) if isinstance(held, dict) else {}
    return held


def _whole_number(held: JsonValue) -> JsonValue:
    """Return the number of an ``intValue``, which JSON spells as text; text that is no number stays text."""
    if isinstance(held, str) and len(held) <= _LONGEST_NUMBER and held.isascii():
        return int(held) if held.removeprefix("-").isdecimal() else held
    return held
