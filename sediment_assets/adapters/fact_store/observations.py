"""Storing SessionCommitObservations that a mirror sync saw, by the rules of every import (facts.md §6)."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, select

from sediment_assets.adapters.fact_store.engine import lock_for_import, read_snapshot, write_transaction
from sediment_assets.adapters.fact_store.import_lines import prepare_fact
from sediment_assets.adapters.fact_store.import_rows import PlacedLine, store_rows
from sediment_assets.adapters.fact_store.rows import stream
from sediment_assets.adapters.fact_store.schema import session_commit_observations
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.repositories.keys import LegacyKey, RepositoryKey

_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class StoredObservations:
    """What became of some observations. The first sighting of an edge is kept."""

    stored: int = 0
    present: int = 0
    conflicts: tuple[str, ...] = ()
    """Observations that contradict stored Facts, one line each; they are not stored."""


def stored_edges(engine: Engine, key: RepositoryKey) -> set[tuple[str, str]]:
    """Return (commit, Session) of every stored observation of a repository, quarantined ones included.

    :raises FactStoreError: the store cannot be read.
    """
    table = session_commit_observations.c
    if isinstance(key, LegacyKey):
        mine = (table.repo == key.slug) & table.repository_id.is_(None)
    else:
        mine = (
            (table.repository_provider == key.provider.value)
            & (table.repository_host == key.host)
            & (table.repository_id == key.repository_id)
        )
    query = select(table.commit_sha, table.session_id).where(table.org_id == key.org_id, mine)
    with read_snapshot(engine) as connection:
        return {(row[0], row[1]) for row in stream(connection, query)}


def store_observations(
    engine: Engine, observations: Sequence[SessionCommitObservation], place: str
) -> StoredObservations:
    """Store what is new, in one transaction; ``place`` names the mirror in messages.

    :raises ForeignStoreError: the store belongs to a Sediment deployment, whose own server records them.
    :raises FactStoreError: the store cannot be written.
    """
    if not observations:
        return StoredObservations()
    lines = [PlacedLine(place, prepare_fact(observation)) for observation in observations]
    stored = present = 0
    conflicts: list[str] = []
    with write_transaction(engine) as connection:
        lock_for_import(connection)
        for start in range(0, len(lines), _AT_ONCE):
            batch = store_rows(connection, session_commit_observations, lines[start : start + _AT_ONCE])
            stored += len(batch.new)
            present += batch.present
            conflicts += batch.conflicts
    return StoredObservations(stored, present, tuple(conflicts))
