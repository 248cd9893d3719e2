"""The quarantine log: appending to it, and what it did between two revisions (facts.md §8)."""

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, select

from sediment_assets.adapters.fact_store.engine import read_snapshot, write_transaction
from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.adapters.fact_store.rows import shown_column, stream
from sediment_assets.adapters.fact_store.schema import fact_quarantine
from sediment_assets.facts.expected import shown
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.scalars import normal_org_id
from sediment_assets.facts.vocabulary import FactTable, QuarantineAction


class QuarantineConflictError(FactStoreError):
    """A record has the id of a stored one that says something else."""


@dataclass(frozen=True, slots=True)
class AppendedRecords:
    """How many quarantine records were appended, and how many were in the log already."""

    stored: int
    present: int


def append_quarantine(engine: Engine, records: Iterable[QuarantineRecord]) -> AppendedRecords:
    """Append records in the given order, all or none; ``engine`` is a ``writing_engine``.

    A record whose quarantine_id is stored with the same content changes nothing; with other content it raises
    QuarantineConflictError. Raises FactStoreError when the store cannot be written.
    """
    with write_transaction(engine) as connection:
        appended = [append_record(connection, record) for record in records]
    return AppendedRecords(sum(appended), len(appended) - sum(appended))


def quarantine_between(
    engine: Engine, org_id: str, after: int, through: int
) -> dict[tuple[FactTable, str], QuarantineAction]:
    """Return the last action on every Fact that an organization's log names between two revisions.

    ``after`` is exclusive, ``through`` inclusive. Raises FactStoreError when the store cannot be read.
    """
    log = fact_quarantine.c
    query = (
        select(log.fact_table, log.fact_id, log.action)
        .where(log.org_id == normal_org_id(org_id), log.quarantine_revision > after, log.quarantine_revision <= through)
        .order_by(log.quarantine_revision)
    )
    with read_snapshot(engine) as connection:
        return {
            (FactTable(table), fact_id): QuarantineAction(action)
            for table, fact_id, action in stream(connection, query)
        }


def append_record(connection: Connection, record: QuarantineRecord) -> bool:
    """Append one record inside a write transaction; False when it is in the log already."""
    values = record.model_dump()
    columns = [fact_quarantine.c[name] for name in values]
    stored = connection.execute(
        select(*columns).where(fact_quarantine.c.quarantine_id == record.quarantine_id)
    ).one_or_none()
    if stored is None:
        connection.execute(fact_quarantine.insert().values(values))
        return True
    differing = [name for name in values if stored._mapping[name] != values[name]]
    if differing:
        raise QuarantineConflictError(
            f"{differing[0]}: expected {shown_column(stored._mapping[differing[0]])} as in the stored record "
            f"{shown(record.quarantine_id)}, got {shown_column(values[differing[0]])}"
        )
    return False
