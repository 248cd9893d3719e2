"""What every captured record shares: frozen pydantic models over plain decoded JSON, and their readable errors.

Field order is the contract's key order; ``Field(description=…)`` is the documentation text. A record is built with
``Model.model_validate(plain)`` and read back with ``model_dump()``, which leaves instants as ``datetime`` objects;
bytes are the business of ``json_values.py``.
"""

from typing import TYPE_CHECKING, ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from sediment_assets.facts.expected import shown
from sediment_assets.facts.vocabulary import FactTable


class FrozenModel(BaseModel):
    """An immutable record. Unknown keys are dropped (facts.md §1), lists are tuples, free JSON is never changed."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Fact(FrozenModel):
    """One immutable captured record of one organization."""

    TABLE: ClassVar[FactTable]
    """The Fact's table, which also names its canonical JSONL file."""
    KEY: ClassVar[str]
    """The field that is the primary key."""

    if TYPE_CHECKING:  # declared by every Fact itself, because declaration order is key order
        org_id: str

    @property
    def fact_id(self) -> str:
        """The value of the primary key."""
        key: str = getattr(self, self.KEY)
        return key


def field_error(field: str, message: str) -> PydanticCustomError:
    """Return the error of a rule across fields, to be raised in a model validator and explained at ``field``."""
    return PydanticCustomError(_CROSS_FIELD, "{message}", {"field": field, "message": message})


_CROSS_FIELD: Final = "cross_field"
_WHOLE_MESSAGES: Final = {
    "missing": "expected a value, got no such key",
    "union_tag_not_found": "expected an object with a type key, got none",
}
_EXPECTED: Final = {
    "model_type": "an object",
    "model_attributes_type": "an object",
    "tuple_type": "an array",
    "string_unicode": "text without surrogates",
}


def explain_errors(error: ValidationError) -> list[tuple[str, str]]:
    """Turn every pydantic error into (field path, ``expected …, got …``); the path of the record itself is ``""``."""
    return [(_path(entry), _message(entry)) for entry in error.errors(include_url=False)]


def _path(entry: ErrorDetails) -> str:
    path = ""
    previous: int | str = ""
    for step in (*entry["loc"], *_cross_field(entry)):
        if isinstance(step, int):
            path += f"[{step}]"
        # Behind an index pydantic names the part's type before its field: input_messages[0].parts[1].text.content.
        elif not (isinstance(previous, int) and step in _PART_TYPES):
            path += f".{step}" if path else step
        previous = step
    return path


_PART_TYPES: Final = frozenset({"text", "reasoning", "tool_call", "tool_call_response"})


def _cross_field(entry: ErrorDetails) -> tuple[str, ...]:
    return (str(entry["ctx"]["field"]),) if entry["type"] == _CROSS_FIELD else ()


def _message(entry: ErrorDetails) -> str:
    kind, context = entry["type"], entry.get("ctx", {})
    if kind == _CROSS_FIELD:
        return str(context["message"])
    if kind == "value_error":
        return str(context["error"])
    if kind in _WHOLE_MESSAGES:
        return _WHOLE_MESSAGES[kind]
    got = entry["input"]
    if kind == "union_tag_invalid":
        return f"expected type {context['expected_tags']}, got {shown(got['type'])}"
    wanted = _EXPECTED.get(kind) or context.get("expected") or entry["msg"].removeprefix("Input should be ")
    return f"expected {wanted}, got {shown(got)}"
