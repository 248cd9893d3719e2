"""Importing canonical JSONL: files in, Facts in the store, all of them or none (design.md §4).

One import is one transaction. Lines are checked to the end even after a bad one, so that the error can list them all;
storing stops at the first, since nothing of it would stay.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sqlalchemy import Connection, Engine

from sediment_assets.adapters.fact_store.engine import (
    create_store,
    filling_new_store,
    lock_for_import,
    write_transaction,
)
from sediment_assets.adapters.fact_store.fact_batches import FactBatches
from sediment_assets.adapters.fact_store.import_calls import CallLines
from sediment_assets.adapters.fact_store.import_files import ImportFile, find_files
from sediment_assets.adapters.fact_store.import_lines import LineError, parse_line, prepare_line
from sediment_assets.adapters.fact_store.import_rows import PlacedLine
from sediment_assets.adapters.fact_store.location import FactStoreError, label_of
from sediment_assets.adapters.fact_store.quarantine_log import QuarantineConflictError, append_record
from sediment_assets.adapters.fact_store.schema import FACT_TABLES
from sediment_assets.adapters.fact_store.table_summary import TableSummary
from sediment_assets.errors import ListingError
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.words import quantity

READ_BYTES = 2**20
"""Read at once: lines are long, and the default of 8 KiB costs more than parsing what is new in them."""
SHOWN_PROBLEMS = 50
"""Bad lines an error lists before it only counts."""


class FactImportError(ListingError, FactStoreError):
    """Lines that cannot be imported; nothing was stored. ``problems`` are the first of them, ``count`` all."""

    def __init__(self, problems: Sequence[str], count: int) -> None:
        self.problems = tuple(problems)
        self.count = count
        more = count - len(self.problems)
        lines = [f"{quantity(count, 'bad line')}, nothing was imported", *self.problems]
        super().__init__(lines + ([f"… and {more} more"] if more else []))


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """What an import did. ``store`` names the Fact store without credentials; tables are in the order of import."""

    store: str
    tables: tuple[TableSummary, ...]


@dataclass(frozen=True, slots=True)
class ImportProgress:
    """How far an import is, in bytes of all its files."""

    path: Path
    bytes_read: int
    bytes_total: int


def import_paths(
    engine: Engine,
    paths: Sequence[str | Path],
    *,
    progress: Callable[[ImportProgress], None] | None = None,
) -> ImportSummary:
    """Import ``<table>.jsonl`` files, or directories of them, into the store of a ``writing_engine``.

    Makes the store when there is none. Importing the same lines again changes nothing. ``progress`` is called after
    every batch. Raises FactStoreError for unusable paths or store, FactImportError for bad or conflicting lines.
    """
    files = find_files(paths)
    is_new = create_store(engine)
    with filling_new_store(engine) if is_new else nullcontext(), write_transaction(engine) as connection:
        lock_for_import(connection)
        run = _Import(connection, sum(file.size for file in files), progress)
        for file in files:
            run.import_file(file)
        if run.problem_count:
            raise FactImportError(run.problems, run.problem_count)
    return ImportSummary(label_of(engine.url), tuple(run.batches.summaries.values()))


class _Import:
    """One running import: the open transaction, what was counted, what is wrong."""

    def __init__(
        self, connection: Connection, bytes_total: int, progress: Callable[[ImportProgress], None] | None
    ) -> None:
        self._connection = connection
        self.batches = FactBatches(connection)
        self._bytes_total = bytes_total
        self._bytes_read = 0
        self._progress = progress
        self._storing = True
        self._calls = CallLines()
        self.problems: list[str] = []
        self.problem_count = 0

    def import_file(self, file: ImportFile) -> None:
        """Read one file to its end."""
        summary = self.batches.summary(file.table)
        if file.table in FACT_TABLES:
            self._import_facts(file, FactTable(file.table), summary)
        else:
            self._import_quarantine(file, summary)
        self._report_progress(file)

    def _import_facts(self, file: ImportFile, table: FactTable, summary: TableSummary) -> None:
        prepare = self._calls.prepare if table is FactTable.INFERENCE_CALLS else partial(prepare_line, file.table)
        for place, line in self._lines(file, summary):
            try:
                prepared = prepare(line)
            except LineError as error:
                self._refuse(f"{place}: {error}")
                continue
            if self._storing and self.batches.add(table, PlacedLine(place, prepared), len(line)):
                self._note_conflicts()
                self._report_progress(file)
        if self._storing:
            self.batches.flush()
            self._note_conflicts()

    def _note_conflicts(self) -> None:
        for problem in self.batches.conflicts:
            self._note(problem)
        self.batches.conflicts.clear()

    def _import_quarantine(self, file: ImportFile, summary: TableSummary) -> None:
        for place, line in self._lines(file, summary):
            try:
                record = parse_line(file.table, line)
                assert isinstance(record, QuarantineRecord)
                if not self._storing:
                    continue
                is_new = append_record(self._connection, record)
            except LineError as error:
                self._refuse(f"{place}: {error}")
            except QuarantineConflictError as error:
                self._note(f"{place}: {error}")
            else:
                summary.stored += is_new
                summary.present += not is_new

    def _lines(self, file: ImportFile, summary: TableSummary) -> Iterator[tuple[str, bytes]]:
        path = str(file.path)
        try:
            with file.path.open("rb", buffering=READ_BYTES) as lines:
                for number, line in enumerate(lines, 1):
                    summary.read += 1
                    self._bytes_read += len(line)
                    yield f"{path}:{number}", line
        except OSError as error:
            raise FactStoreError(f"{file.path}: {error.strerror}") from None

    def _refuse(self, problem: str) -> None:
        """Note a line that is no valid record; from here on the rest is only checked."""
        self._storing = False
        self._note(problem)

    def _note(self, problem: str) -> None:
        self.problem_count += 1
        if len(self.problems) < SHOWN_PROBLEMS:
            self.problems.append(problem)

    def _report_progress(self, file: ImportFile) -> None:
        if self._progress is not None:
            self._progress(ImportProgress(file.path, self._bytes_read, self._bytes_total))
