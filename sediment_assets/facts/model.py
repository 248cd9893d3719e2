"""What every captured record shares: frozen pydantic models over plain decoded JSON, and their readable errors.

Field order is the contract's key order; ``Field(description=…)`` is the documentation text. A record is built with
``Model.model_validate(plain)`` and read back with ``model_dump()``, which leaves instants as ``datetime`` objects;
bytes are the business of ``json_values.py``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

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


_KINDS: Final = {
    "missing": "expected a value, got no such key",
    "union_tag_not_found": "expected an object with a type key, got none",
}
_EXPECTED: Final = {
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "tuple_type": "an array",
    "list_type": "an array",
}


def explain_errors(error: ValidationError) -> list[tuple[str, str]]:
    """Turn every pydantic error into (field path, ``expected …, got …``); the path of the record itself is ``""``."""
    return [(_path(entry["loc"]), _message(entry)) for entry in error.errors(include_url=False)]


def _path(loc: Sequence[int | str]) -> str:
    path = ""
    previous: int | str = ""
    for step in loc:
        if isinstance(step, int):
            path += f"[{step}]"
        # Behind an index pydantic names the part's type before its field: input_messages[0].parts[1].text.content.
        elif not (isinstance(previous, int) and step in _PART_TAGS):
            path += f".{step}" if path else step
        previous = step
    return path


_PART_TAGS: Final = frozenset({"text", "reasoning", "tool_call", "tool_call_response"})


def _message(entry: ErrorDetails) -> str:
    kind, context = entry["type"], entry.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind in _KINDS:
        return _KINDS[kind]
    wanted = _EXPECTED.get(kind) or _wanted(entry["msg"], context)
    return f"expected {wanted}, got {shown(_got(entry, context))}"


def _wanted(message: str, context: dict[str, Any]) -> str:
    for key in ("expected", "expected_tags"):
        if key in context:
            return str(context[key])
    return message.removeprefix("Input should be ")


def _got(entry: ErrorDetails, context: dict[str, Any]) -> Any:
    return context.get("tag", entry["input"])
