"""Repository evidence out of a snapshot: five tables, seven roles, one ordered stream (mirrors.md §8.2)."""

from collections.abc import Iterator

from sqlalchemy import Connection, Table, Text, literal, null, select, type_coerce, union_all

from sediment_assets.adapters.fact_store.rows import AnySelect, by_code_point, stream
from sediment_assets.adapters.fact_store.schema import (
    FACT_TABLES,
    primary_key,
    session_commit_observations,
)
from sediment_assets.adapters.fact_store.visibility import Visibility
from sediment_assets.facts.vocabulary import FactTable, ForgeProvider
from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, RepositoryEvidence

_WITH_HEAD = (EvidenceTable.PULL_REQUEST_MERGES, EvidenceTable.PULL_REQUEST_REVISIONS)


def stream_evidence(connection: Connection, visibility: Visibility, org_id: str) -> Iterator[RepositoryEvidence]:
    """Yield every evidence row of the organization's visible Facts, by (captured_at, table, id, role)."""
    parts = [_part(visibility, table, EvidenceRole.REPO) for table in EvidenceTable]
    parts += [_part(visibility, table, EvidenceRole.HEAD_REPO) for table in _WITH_HEAD]
    rows = union_all(*parts).subquery()
    query = select(rows).order_by(
        rows.c.captured_at, *(by_code_point(connection, rows.c[name]) for name in ("source", "id", "role"))
    )
    for source, fact_id, role, repo, provider, host, repository_id, captured_at, push_id in stream(connection, query):
        yield RepositoryEvidence(
            source_table=EvidenceTable(source),
            source_fact_id=fact_id,
            role=EvidenceRole(role),
            org_id=org_id,
            repo=repo,
            repository_provider=None if provider is None else ForgeProvider(provider),
            repository_host=host,
            repository_id=repository_id,
            captured_at=captured_at,
            source_push_id=push_id,
        )


def _part(visibility: Visibility, source: EvidenceTable, role: EvidenceRole) -> AnySelect:
    table: Table = FACT_TABLES[FactTable(source)]
    prefix = "" if role is EvidenceRole.REPO else "head_"
    is_observation = table is session_commit_observations
    return select(
        literal(source.value, Text).label("source"),
        primary_key(table).label("id"),
        literal(role.value, Text).label("role"),
        table.c[prefix + "repo"].label("repo"),
        table.c[prefix + "repository_provider"].label("provider"),
        table.c[prefix + "repository_host"].label("host"),
        table.c[prefix + "repository_id"].label("repository_id"),
        table.c.captured_at,
        (table.c.source_push_id if is_observation else type_coerce(null(), Text)).label("source_push_id"),
    ).where(visibility.of(table))
