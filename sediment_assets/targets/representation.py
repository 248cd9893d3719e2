"""The representation check: whether every value of a row has an exact JSON spelling (targets.md §8).

It judges values, never shape, and repairs nothing. It runs on the plain form of the complete row
(``row.model_dump()``), because only what reaches the row counts.
"""

import math
from collections.abc import Iterator
from itertools import chain
from typing import Any, TypeVar

from sediment_assets.facts.text import has_surrogate
from sediment_assets.targets.rows.shared import RowModel
from sediment_assets.targets.skips import RowSkip, Skipped

Row = TypeVar("Row", bound=RowModel)


def representable(row: Row) -> Row | Skipped[RowSkip]:
    """Return the row itself, or why it is withheld as a whole."""
    offence = find_offence(row.model_dump())
    return row if offence is None else Skipped(offence)


def find_offence(plain: Any) -> RowSkip | None:
    """Return the first offence in field order, depth first, each object key before its value; None when clean.

    Takes any JSON-like plain form: dicts, lists, tuples, scalars, instants, StrEnums. Walks with its own stack, so
    that depth is bounded by memory only; integers of any size and ``-0.0`` are fine.
    """
    # No cheaper exact test exists: JSON encoders find surrogates, but none that is faster than this loop reports NaN.
    stack: list[Iterator[Any]] = [iter((plain,))]
    while stack:
        for item in stack[-1]:
            kind = type(item)
            if kind is str:
                # isascii reads a flag of the string, so text without a surrogate is mostly not even looked at.
                if not item.isascii() and has_surrogate(item):
                    return RowSkip.UNREPRESENTABLE_UNICODE
            elif kind is dict:
                stack.append(chain.from_iterable(item.items()))
                break
            elif kind is list or kind is tuple:
                stack.append(iter(item))
                break
            elif kind is float and not math.isfinite(item):
                return RowSkip.NON_FINITE_NUMBER
        else:
            stack.pop()
    return None
