"""Ordinary lines of canonical JSONL, judged field by field, by the functions that their models name.

A model costs ten times as much as these functions, and small Facts are little else. Whatever is not as it should be is
None here, and left to the model, which also says what is wrong (``import_lines``).
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache, lru_cache
from typing import Annotated, Any, Final, get_args, get_origin

import orjson
from pydantic import PlainValidator

from sediment_assets.adapters.fact_store.stored_rows import JSON_COLUMNS
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.json_values import JsonObject, is_spelled_alike, respelled
from sediment_assets.facts.model import Fact
from sediment_assets.facts.push import Push
from sediment_assets.facts.redaction_scans import may_hold_credential
from sediment_assets.facts.repository_fields import RepositoryFact, require_whole_identity
from sediment_assets.facts.session_commit_observation import SessionCommitObservation

_Reader = Callable[[Any], Any]
_MODELS: Final[dict[str, type[Fact]]] = {
    model.TABLE.value: model for model in (CIOutcome, DeveloperDecision, Push, SessionCommitObservation)
}
_REMEMBERED: Final = 128
"""Values of one field whose stored form is kept: most fields have few."""


def ordinary_row(table: str, line: bytes) -> JsonObject | None:
    """Read, validate and spell a Fact that is no InferenceCall and in which nothing is to be redacted."""
    model = _MODELS.get(table)
    if model is None or may_hold_credential(line):
        return None
    try:
        values = orjson.loads(line)
        row = read_fields(model, values)
        if row is not None and "raw" in model.model_fields:
            raw = values["raw"]
            # Of integers beyond 64 bits orjson makes floats, which are spelled otherwise.
            if type(raw) is not dict or not is_spelled_alike(raw):
                return None
            row["raw"] = respelled(raw, sort_keys=False)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError, KeyError):
        return None
    return row


def read_fields(model: type[Fact], values: JsonObject) -> JsonObject | None:
    """Take the fields that orjson decoded, all but captured JSON; none may be missing.

    No field takes a float of 2^63 or more, which is what orjson makes of larger integers.
    """
    try:
        row = {name: read(values[name]) for name, read in _readers(model)}
        if issubclass(model, RepositoryFact):
            identity = (row["repository_provider"], row["repository_host"], row["repository_id"])
            require_whole_identity(identity, row["schema_version"], row.get("provider"))
    except (KeyError, TypeError, ValueError):
        return None
    return row


@cache
def _readers(model: type[Fact]) -> tuple[tuple[str, _Reader], ...]:
    return tuple(
        (name, _reader(field.annotation, field.metadata, keeps=name != model.KEY))
        for name, field in model.model_fields.items()
        if name not in JSON_COLUMNS
    )


def _reader(annotation: Any, metadata: Sequence[Any], *, keeps: bool) -> _Reader:
    """Return what a field's type does to a value: it gives what is stored, or raises ValueError."""
    optional = type(None) in get_args(annotation)
    kind = get_args(annotation)[0] if optional else annotation
    if get_origin(kind) is Annotated:
        kind, *metadata = get_args(kind)
    validators = [item.func for item in metadata if isinstance(item, PlainValidator)]
    read: Any = validators[0] if validators else kind
    assert validators or issubclass(kind, StrEnum)
    # Numbers and instants are quickly read and seldom the same again; equal floats need not be (-0.0).
    keeps = keeps and kind not in (int, float, datetime)
    if optional:
        read = _or_none(read)
    return lru_cache(_REMEMBERED, typed=True)(read) if keeps else read


def _or_none(read: _Reader) -> _Reader:
    return lambda value: None if value is None else read(value)
