"""What is in a Fact store, in numbers: per organization and table, quarantined Facts included (facts.md §5, §8)."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, Table, func, select

from sediment_assets.adapters.fact_store.engine import database_version, read_snapshot
from sediment_assets.adapters.fact_store.failures import readable_failures
from sediment_assets.adapters.fact_store.location import label_of
from sediment_assets.adapters.fact_store.schema import (
    FACT_TABLES,
    HEAD,
    capture_instant,
    fact_quarantine,
    sessions,
)
from sediment_assets.adapters.fact_store.visibility import is_hidden


@dataclass(frozen=True, slots=True)
class TableCount:
    """Facts of one table: how many are stored, how many of them are hidden, and the span of their capture."""

    table: str
    facts: int
    quarantined: int
    first: datetime | None
    last: datetime | None


@dataclass(frozen=True, slots=True)
class OrganizationCount:
    """Everything stored of one organization. ``tables`` has an entry for every table, also for those without Facts."""

    org_id: str
    tables: tuple[TableCount, ...]
    sessions: int
    quarantine_records: int
    quarantine_revision: int


@dataclass(frozen=True, slots=True)
class StoreCount:
    """Everything stored. ``store`` names the Fact store without credentials; organizations are sorted."""

    store: str
    database: str
    revision: str
    organizations: tuple[OrganizationCount, ...]


def count_facts(engine: Engine) -> StoreCount:
    """Count a store's Facts in one snapshot. Raises FactStoreError when it cannot be read."""
    with read_snapshot(engine) as connection, readable_failures(engine):
        by_table = {table.name: _count_table(connection, table) for table in FACT_TABLES.values()}
        session_counts = _per_organization(connection, sessions)
        log = {
            org_id: (records, revision)
            for org_id, records, revision in connection.execute(
                select(
                    fact_quarantine.c.org_id, func.count(), func.max(fact_quarantine.c.quarantine_revision)
                ).group_by(fact_quarantine.c.org_id)
            )
        }
        version = database_version(connection)
    org_ids = set(session_counts) | set(log) | {org_id for counts in by_table.values() for org_id in counts}
    organizations = tuple(
        OrganizationCount(
            org_id,
            tuple(counts.get(org_id, TableCount(name, 0, 0, None, None)) for name, counts in by_table.items()),
            session_counts.get(org_id, 0),
            *log.get(org_id, (0, 0)),
        )
        for org_id in sorted(org_ids)
    )
    return StoreCount(label_of(engine.url), version, HEAD, organizations)


def _count_table(connection: Connection, table: Table) -> dict[str, TableCount]:
    instant = capture_instant(table)
    hidden = _per_organization(connection, table, is_hidden(table))
    query = select(table.c.org_id, func.count(), func.min(instant), func.max(instant)).group_by(table.c.org_id)
    return {
        org_id: TableCount(table.name, facts, hidden.get(org_id, 0), first, last)
        for org_id, facts, first, last in connection.execute(query)
    }


def _per_organization(connection: Connection, table: Table, *conditions: ColumnElement[bool]) -> dict[str, int]:
    query = select(table.c.org_id, func.count()).where(*conditions).group_by(table.c.org_id)
    return {row[0]: row[1] for row in connection.execute(query)}
