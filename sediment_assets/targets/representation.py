"""The representation check: whether every value of a row has an exact JSON spelling (targets.md §8).

It judges values, never shape, and repairs nothing. It runs on the plain form of the complete row
(``row.model_dump()``), because only what reaches the row counts.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeVar

from sediment_assets.facts.json_values import JsonError, encode_row
from sediment_assets.facts.text import has_surrogate
from sediment_assets.targets.rows.shared import RowModel
from sediment_assets.targets.skips import RowSkip, Skipped

Row = TypeVar("Row", bound=RowModel)
Row_co = TypeVar("Row_co", bound=RowModel, covariant=True)


@dataclass(frozen=True, slots=True)
class Spelled(Generic[Row_co]):
    """A row that passed the check, with its line as it is published, without LF."""

    row: Row_co
    line: bytes


def spell(row: Row) -> Spelled[Row] | Skipped[RowSkip]:
    """Return the row with its spelling, or why it is withheld as a whole."""
    plain = row.model_dump()
    try:
        # What can be encoded is clean, and it has to be encoded anyway; only an offender is searched for its offence.
        return Spelled(row, encode_row(plain))
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
