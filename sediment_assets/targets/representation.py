"""The representation check: whether every value of a row has an exact JSON spelling (targets.md §8).

It judges values, never shape, and repairs nothing. It runs on the plain form of the complete row
(``row.model_dump()``), because only what reaches the row counts.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

from sediment_assets.facts.json_values import JsonError, JsonObject, encode_row, is_spelled_alike
from sediment_assets.facts.text import has_surrogate
from sediment_assets.rollouts.models import Segment
from sediment_assets.targets.row_check import validate_line
from sediment_assets.targets.rows.shared import RowModel
from sediment_assets.targets.skips import RowSkip, Skipped
from sediment_assets.targets.turn_rows import captured_values, plain_turns

Row = TypeVar("Row", bound=RowModel)
Row_co = TypeVar("Row_co", bound=RowModel, covariant=True)


@dataclass(frozen=True, slots=True)
class Spelled(Generic[Row_co]):
    """A row that passed the check: its line as it is published, without LF."""

    row_model: type[Row_co]
    line: bytes
    built: Row_co | None = None
    """The row's model, if it was ever built as a whole."""

    @property
    def row(self) -> Row_co:
        """The row as its model; read back from the line when Turns were put into it without."""
        return validate_line(self.row_model, self.line) if self.built is None else self.built


def spell(row: Row) -> Spelled[Row] | Skipped[RowSkip]:
    """Return the row with its spelling, or why it is withheld as a whole."""
    return _spelled(type(row), row.model_dump(), row)


def spell_segment(
    frame: Row, segment: Segment, put_turns: Callable[[JsonObject, list[JsonObject]], None]
) -> Spelled[Row] | Skipped[RowSkip]:
    """Do as ``spell`` does for a row whose Turns are still missing: ``put_turns`` puts them into its plain form."""
    plain = frame.model_dump()
    # Turns are the bulk of a row and nearly all text, so only what is not is looked at.
    exact = is_spelled_alike(plain) and all(map(is_spelled_alike, captured_values(segment)))
    put_turns(plain, plain_turns(segment))
    return _spelled(type(frame), plain, None, exact=exact)


def _spelled(
    model: type[Row], plain: JsonObject, row: Row | None, *, exact: bool | None = None
) -> Spelled[Row] | Skipped[RowSkip]:
    try:
        # What can be encoded is clean, and it has to be encoded anyway; only an offender is searched for its offence.
        return Spelled(model, encode_row(plain, exact=exact), row)
    except JsonError:
        offence = find_offence(plain)
        if offence is None:
            raise  # beyond the limits of captured JSON, which no Fact is
        return Skipped(offence)


def find_offence(plain: Any) -> RowSkip | None:
    """Return the first offence in field order, depth first, each object key before its value; None when clean.

    Takes any JSON-like plain form: dicts, lists, tuples, scalars, instants, StrEnums. Walks with its own stack, so
    that depth is bounded by memory only; integers of any size and ``-0.0`` are fine.
    """
    stack: list[Iterator[Any]] = [iter((plain,))]
    while stack:
        for item in stack[-1]:
            if isinstance(item, str):
                if has_surrogate(item):
                    return RowSkip.UNREPRESENTABLE_UNICODE
            elif isinstance(item, dict):
                stack.append(chain.from_iterable(item.items()))
                break
            elif isinstance(item, list | tuple):
                stack.append(iter(item))
                break
            elif isinstance(item, float) and not math.isfinite(item):
                return RowSkip.NON_FINITE_NUMBER
        else:
            stack.pop()
    return None
