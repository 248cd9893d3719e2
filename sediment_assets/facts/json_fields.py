"""The pydantic types of captured free JSON (facts.md §7): checked to be JSON, then passed through untouched.

Pydantic's own JSON types would copy, recurse to a small depth, and refuse lone surrogates; captured values must survive
exactly, so validation and ``model_dump`` hand the very same object on.
"""

from typing import Annotated, Any, Final

from pydantic import GetCoreSchemaHandler, WithJsonSchema
from pydantic_core import CoreSchema, core_schema

from sediment_assets.facts.expected import expected, shown
from sediment_assets.facts.json_limits import walk


def check_json(value: object) -> Any:
    """Return the value itself when it is JSON throughout; ValueError otherwise (tuple, bytes, enum, key 1 …)."""
    for item in walk(value):
        if type(item) not in _JSON_TYPES:
            raise expected("a JSON value", item)
        if type(item) is dict:
            for key in item:
                if type(key) is not str:
                    raise ValueError(f"expected object keys that are strings, got {shown(key)}")
    return value


def check_json_object(value: object) -> dict[str, Any]:
    """Return the value itself when it is a JSON object; ValueError for null, text holding JSON, or anything else."""
    if type(value) is not dict:
        raise expected("an object", value)
    check_json(value)
    return value


_JSON_TYPES: Final = frozenset({dict, list, str, int, float, bool, type(None)})


class _Untouched:
    """Validate with a function; dump without looking inside."""

    def __init__(self, check: Any) -> None:
        self._check = check

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        # Of all serializers only this one returns a Python dump's value as it is, at any depth. In JSON mode it would
        # write text; model_dump_json is never used on captured data, the spellings are those of json_values.py.
        unchanged = core_schema.to_string_ser_schema(when_used="json")
        return core_schema.no_info_plain_validator_function(self._check, serialization=unchanged)


Json = Annotated[dict[str, Any], _Untouched(check_json_object), WithJsonSchema({"type": "object"})]
"""A captured JSON object, unchanged."""

AnyJson = Annotated[Any, _Untouched(check_json), WithJsonSchema({})]
"""Any captured JSON value, unchanged."""
