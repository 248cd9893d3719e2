"""One line of canonical JSONL: strict UTF-8, one JSON object, a valid record, redacted, as a row of its table.

Everything a line needs to be stored is decided here without a database (facts.md §1–7, §9); what is stored already is
not (``import_rows``).
"""

from collections import Counter
from functools import cache
from typing import Final, NamedTuple

from pydantic import ValidationError

from sediment_assets.adapters.fact_store.import_fields import ordinary_row
from sediment_assets.adapters.fact_store.stored_rows import to_row
from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.expected import expected
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonError, JsonObject, decode
from sediment_assets.facts.model import Fact, FrozenModel, explain_errors
from sediment_assets.facts.redaction import RedactionReason, redact
from sediment_assets.facts.tables import JSONL_MODELS
from sediment_assets.words import quantity

_BOM = b"\xef\xbb\xbf"
NO_REDACTIONS: Final[Counter[RedactionReason]] = Counter()
"""Shared by all lines and messages in which nothing was redacted; never changed."""


class LineError(ValueError):
    """Why a line cannot be imported: ``field: expected …, got …``."""


class PreparedLine(NamedTuple):
    """One valid line: its row by column name, and what redaction replaced in it."""

    row: JsonObject
    aliases: tuple[str, ...] = ()
    redactions: Counter[RedactionReason] = NO_REDACTIONS


def parse_line(table: str, line: bytes) -> FrozenModel:
    """Read one line as a record of ``table``; unknown keys are dropped, of duplicate keys the last one wins.

    Raises LineError for the first thing that is wrong, saying how many more fields are.
    """
    return validate(table, read_object(line))


def validate(table: str, values: JsonObject) -> FrozenModel:
    """Take a decoded line as a record of ``table``; raises LineError as ``parse_line`` does."""
    model = JSONL_MODELS[table]
    for name in _generated_fields(model):
        # Only capture may invent these; here an invented id would be stored anew at each import.
        if name not in values:
            raise LineError(f"{name}: expected a value, got no such key")
    try:
        return model.model_validate(values)
    except ValidationError as error:
        (name, problem), *others = explain_errors(error)
        more = f" (and {quantity(len(others), 'more field')})" if others else ""
        raise LineError(f"{name}: {problem}{more}" if name else problem + more) from None


def prepare_line(table: str, line: bytes) -> PreparedLine:
    """Read, validate and redact one line of a table of Facts. Raises LineError."""
    row = ordinary_row(table, line)
    if row is not None:
        return PreparedLine(row)
    fact = parse_line(table, line)
    assert isinstance(fact, Fact)
    return prepare_fact(fact)


def prepare_fact(fact: Fact) -> PreparedLine:
    """Redact a Fact and spell its row as it is stored. Raises LineError for JSON beyond the contract's limits."""
    redacted = redact(fact)
    try:
        row = to_row(redacted.fact)
    except JsonError as error:
        raise LineError(str(error)) from None
    if not isinstance(redacted.fact, InferenceCall):
        return PreparedLine(row, redactions=redacted.reasons)
    aliases = tuple(sorted(redacted.fact.call_aliases))
    row["call_alias_count"] = len(aliases)
    return PreparedLine(row, aliases, redacted.reasons)


def read_object(line: bytes) -> JsonObject:
    """Decode one line as a JSON object; raises LineError."""
    if line.startswith(_BOM):
        raise LineError("expected a JSON object, got a byte order mark")
    if not line.strip():
        raise LineError("expected a JSON object, got a blank line")
    try:
        values = decode(line)
    except JsonError as error:
        raise LineError(str(error)) from None
    if not isinstance(values, dict):
        raise LineError(str(expected("a JSON object", values)))
    return values


@cache
def _generated_fields(model: type[FrozenModel]) -> tuple[str, ...]:
    return tuple(name for name, info in model.model_fields.items() if info.default_factory in (new_id, now))
