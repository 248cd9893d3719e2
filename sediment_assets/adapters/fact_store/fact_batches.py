"""Storing prepared Facts of any tables as they come, a batch at a time, inside one open transaction.

What was stored, what was there already, and what contradicts it is counted here; whether a contradiction ends the run
is the caller's business.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, Table

from sediment_assets.adapters.fact_store.import_rows import PlacedLine, store_rows
from sediment_assets.adapters.fact_store.schema import FACT_TABLES, primary_key, pushes
from sediment_assets.adapters.fact_store.table_summary import TableSummary
from sediment_assets.facts.vocabulary import FactTable

BATCH_ROWS: Final = 500
"""Most rows stored at once."""
BATCH_BYTES: Final = 4 * 2**20
"""Rows are stored as soon as they are this large together, so memory is bounded by this and the largest row."""

_KEYS: Final = {name: primary_key(table).name for name, table in FACT_TABLES.items()}


@dataclass(slots=True)
class _Batch:
    rows: dict[str, PlacedLine] = field(default_factory=dict)
    size: int = 0


class FactBatches:
    """The rows that wait to be stored, by table."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._batches: defaultdict[FactTable, _Batch] = defaultdict(_Batch)
        self.summaries: dict[str, TableSummary] = {}
        """By table, in the order in which tables were first met."""
        self.conflicts: list[str] = []
        """Rows that contradict stored ones and were not said yet, as ``place: expected …, got …``; take them away."""

    def summary(self, table: str) -> TableSummary:
        """Return the counts of a table."""
        return self.summaries.setdefault(table, TableSummary(table))

    def add(self, table: FactTable, item: PlacedLine, size: int) -> bool:
        """Take a row of about ``size`` bytes. True when waiting rows were stored, this one then not among them."""
        batch = self._batches[table]
        fact_id = item.line.row[_KEYS[table]]
        is_full = len(batch.rows) >= BATCH_ROWS or batch.size >= BATCH_BYTES or fact_id in batch.rows
        if is_full:
            self.flush()
        batch.rows[fact_id] = item
        batch.size += size
        return is_full

    def flush(self) -> None:
        """Store all waiting rows: Pushes first, since observations name them."""
        for table in sorted(self._batches, key=lambda table: FACT_TABLES[table] is not pushes):
            batch = self._batches[table]
            if batch.rows:
                self._store(FACT_TABLES[table], list(batch.rows.values()), self.summary(table))
            batch.rows, batch.size = {}, 0

    def _store(self, table: Table, rows: list[PlacedLine], summary: TableSummary) -> None:
        result = store_rows(self._connection, table, rows)
        summary.stored += len(result.new)
        summary.present += result.present
        for item in result.new:
            if item.line.redactions:
                summary.redactions.update(item.line.redactions)
        self.conflicts += result.conflicts
