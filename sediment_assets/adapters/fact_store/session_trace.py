"""Everything stored that names a Session, hidden or not: what ``sediment explain`` says about one without a Rollout."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from sqlalchemy import Connection, Engine, Table, select

from sediment_assets.adapters.fact_store.engine import read_snapshot
from sediment_assets.adapters.fact_store.rows import AnySelect, by_code_point, stream
from sediment_assets.adapters.fact_store.schema import (
    capture_instant,
    ci_outcomes,
    developer_decisions,
    fact_quarantine,
    inference_calls,
    primary_key,
    session_commit_observations,
)
from sediment_assets.facts.scalars import normal_org_id
from sediment_assets.facts.vocabulary import QuarantineAction

_SESSION_TABLES = (inference_calls, developer_decisions, session_commit_observations)
_IDS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class HiddenBy:
    """The quarantine record that hides a Fact."""

    revision: int
    reason: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class StoredFact:
    """One stored Fact of a Session, or of one of its commits."""

    table: str
    fact_id: str
    captured_at: datetime
    """``observed_at`` of an InferenceCall."""
    hidden_by: HiddenBy | None


def trace_session(engine: Engine, org_id: str, session_id: str, shas: Collection[str] = ()) -> list[StoredFact]:
    """Return a Session's calls, decisions and observations, and the CI outcomes of these commits, hidden ones included.

    By table, capture and id. Raises FactStoreError when the store cannot be read.
    """
    with read_snapshot(engine) as connection:
        mine = normal_org_id(org_id)
        found = [
            row
            for table in _SESSION_TABLES
            for row in _rows(connection, mine, table, select_ids(table).where(table.c.session_id == session_id))
        ]
        for some in _batches(sorted(shas)):
            query = select_ids(ci_outcomes).where(ci_outcomes.c.commit_sha.in_(some))
            found += _rows(connection, mine, ci_outcomes, query)
        return found


def select_ids(table: Table) -> AnySelect:
    """Return the query of a table's ids and capture instants."""
    return select(primary_key(table), capture_instant(table))


def _rows(connection: Connection, org_id: str, table: Table, query: AnySelect) -> list[StoredFact]:
    ordered = query.where(table.c.org_id == org_id).order_by(
        capture_instant(table), by_code_point(connection, primary_key(table))
    )
    rows = [(str(row[0]), row[1]) for row in stream(connection, ordered)]
    hidden = _hidden(connection, org_id, table, [fact_id for fact_id, _ in rows])
    return [StoredFact(table.name, fact_id, instant, hidden.get(fact_id)) for fact_id, instant in rows]


def _hidden(connection: Connection, org_id: str, table: Table, fact_ids: Iterable[str]) -> dict[str, HiddenBy]:
    """Return the Facts whose latest record quarantines them (facts.md §8)."""
    log = fact_quarantine.c
    hidden: dict[str, HiddenBy] = {}
    for some in _batches(fact_ids):
        query = (
            select(log.fact_id, log.action, log.quarantine_revision, log.reason, log.recorded_at)
            .where(log.org_id == org_id, log.fact_table == table.name, log.fact_id.in_(some))
            .order_by(log.quarantine_revision)
        )
        for fact_id, action, revision, reason, recorded_at in stream(connection, query):
            hidden.pop(fact_id, None)
            if action == QuarantineAction.QUARANTINE.value:
                hidden[fact_id] = HiddenBy(revision, reason, recorded_at)
    return hidden


def _batches(values: Iterable[str]) -> Iterator[list[str]]:
    left = iter(values)
    while some := list(islice(left, _IDS_AT_ONCE)):
        yield some
