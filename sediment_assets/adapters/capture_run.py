"""A capture run's end: translated Facts into the store in one transaction, into files, or nowhere (design.md §4).

Whatever raises on the way, a broken file or a conflict, leaves store and destination as they were.
"""

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sediment_assets.adapters.capture_told import ToldFacts
from sediment_assets.adapters.fact_store.import_lines import LineError, PreparedLine
from sediment_assets.adapters.fact_store.prepared_facts import Prepared, PreparedFacts
from sediment_assets.adapters.fact_store.table_summary import TableSummary
from sediment_assets.capture.contract import Remainder, Translated, Untranslated
from sediment_assets.capture.tally import Tally
from sediment_assets.errors import ListingError
from sediment_assets.facts.model import Fact

if TYPE_CHECKING:
    from sqlalchemy import Engine

Outcomes = Iterable[Translated | Untranslated]
"""What a source yields."""
SHOWN_CONFLICTS: Final = 50
"""Conflicts an error lists before it only counts."""
_FIXED_BYTES: Final = 500
"""About the size of a row without its JSON."""


class CaptureConflictError(ListingError):
    """Facts that contradict stored ones; nothing was stored."""

    def __init__(self, conflicts: list[str], count: int) -> None:
        more = [f"… and {count - len(conflicts)} more"] if count > len(conflicts) else []
        what = "Fact contradicts a stored one" if count == 1 else "Facts contradict stored ones"
        super().__init__([f"{count} {what}, nothing was stored", *conflicts, *more])


class StrictCaptureError(ListingError):
    """Records that should have given Facts and did not, in a run that was told to accept none; nothing was stored."""

    def __init__(self, tally: Tally) -> None:
        count = tally.unexpected_count
        what = f"{count} {'record or part' if count == 1 else 'records or parts'} could not be translated"
        super().__init__([f"{what}, nothing was stored (--strict)", *tally.unexpected_lines()])


@dataclass(frozen=True, slots=True)
class CaptureSummary:
    """What a run did: where the Facts are now (None for a dry run), and counts by table."""

    destination: str | None
    tables: tuple[TableSummary, ...]


def store_capture(engine: "Engine", outcomes: Outcomes, tally: Tally, *, strict: bool = False) -> CaptureSummary:
    """Store translated Facts, all or none; what is stored already changes nothing. Counts the others in ``tally``.

    ``engine`` is a ``writing_engine``; a missing store is made.

    :raises FactStoreError: the store cannot be written.
    :raises CaptureConflictError: Facts contradict stored ones.
    :raises StrictCaptureError: ``strict``, and something unexpected gave no Fact.
    """
    # Only a store needs SQLAlchemy, which takes as long to import as 30 MB to translate.
    from sediment_assets.adapters.fact_store.engine import (
        create_store,
        filling_new_store,
        lock_for_import,
        write_transaction,
    )
    from sediment_assets.adapters.fact_store.fact_batches import FactBatches
    from sediment_assets.adapters.fact_store.import_rows import PlacedLine
    from sediment_assets.adapters.fact_store.location import label_of

    is_new = create_store(engine)
    with filling_new_store(engine) if is_new else nullcontext(), write_transaction(engine) as connection:
        lock_for_import(connection)
        batches = FactBatches(connection)
        conflicts: list[str] = []
        count = 0
        for fact, place, prepared, _ in _prepared(outcomes, tally):
            line = prepared.line()
            batches.summary(fact.TABLE).read += 1
            batches.add(fact.TABLE, PlacedLine(place, line), _size(line))
            count += len(batches.conflicts)
            conflicts += batches.conflicts[: SHOWN_CONFLICTS - len(conflicts)]
            batches.conflicts.clear()
        batches.flush()
        count += len(batches.conflicts)
        conflicts += batches.conflicts[: SHOWN_CONFLICTS - len(conflicts)]
        if conflicts:
            raise CaptureConflictError(conflicts, count)
        _refuse_if_strict(tally, strict)
    return CaptureSummary(label_of(engine.url), tuple(batches.summaries.values()))


def emit_capture(out: Path, outcomes: Outcomes, tally: Tally, *, strict: bool = False) -> CaptureSummary:
    """Write translated Facts, redacted, as canonical JSONL into a new directory: ``<table>.jsonl``, all or nothing.

    :raises DestinationError: the directory exists, or its parent does not.
    :raises PublishError: the operating system refused.
    :raises StrictCaptureError: ``strict``, and something unexpected gave no Fact.
    """
    from sediment_assets.adapters.capture_emit import staged_tables

    summaries: dict[str, TableSummary] = {}
    with staged_tables(out) as tables:
        for fact, _, prepared, is_new in _prepared(outcomes, tally):
            if is_new:
                tables.write(fact, prepared.line())
            _count(summaries, fact, prepared, is_new=is_new, is_stored=True)
        _refuse_if_strict(tally, strict)
        tables.publish()
    return CaptureSummary(str(out), tuple(summaries.values()))


def check_capture(outcomes: Outcomes, tally: Tally, *, strict: bool = False) -> CaptureSummary:
    """Do everything but keep the Facts.

    :raises StrictCaptureError: ``strict``, and something unexpected gave no Fact.
    """
    summaries: dict[str, TableSummary] = {}
    for fact, _, prepared, is_new in _prepared(outcomes, tally):
        _count(summaries, fact, prepared, is_new=is_new, is_stored=False)
    _refuse_if_strict(tally, strict)
    return CaptureSummary(None, tuple(summaries.values()))


def _prepared(outcomes: Outcomes, tally: Tally) -> Iterator[tuple[Fact, str, Prepared, bool]]:
    """Yield each Fact with its place, ready to be stored, and whether it is the first with its id.

    What is no Fact, beyond what can be stored, or another call than the first with its id, is counted.
    """
    facts, told = PreparedFacts(), ToldFacts()
    for outcome in outcomes:
        if isinstance(outcome, Untranslated):
            tally.add(outcome)
            continue
        try:
            prepared = facts.prepare(outcome.fact)
        except LineError as error:
            tally.add(Untranslated(outcome.place, Remainder.INVALID_VALUE, str(error)))
            continue
        is_new = told.is_new(outcome.fact, outcome.place, prepared)
        if isinstance(is_new, Untranslated):
            tally.add(is_new)
        else:
            yield outcome.fact, outcome.place, prepared, is_new


def _count(
    summaries: dict[str, TableSummary], fact: Fact, prepared: Prepared, *, is_new: bool, is_stored: bool
) -> None:
    summary = summaries.setdefault(fact.TABLE, TableSummary(fact.TABLE))
    summary.read += 1
    summary.present += not is_new
    summary.stored += is_new and is_stored
    if is_new and prepared.redactions:
        summary.redactions.update(prepared.redactions)


def _size(line: PreparedLine) -> int:
    return _FIXED_BYTES + sum(len(value) for value in line.row.values() if type(value) is str)


def _refuse_if_strict(tally: Tally, strict: bool) -> None:
    if strict and tally.unexpected_count:
        raise StrictCaptureError(tally)
