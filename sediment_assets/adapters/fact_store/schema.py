"""The tables of the Fact store: facts.md §10, the same on SQLite and PostgreSQL.

A store of our own also gets the unique indexes of facts.md §6 (from ``natural_keys``) and the indexes our ordered reads
want; an existing Sediment 0.6 deployment has its own and is only read. Wide columns stand last, so that SQLite finds
the narrow ones without walking a row's overflow pages; order means nothing to a client that names its columns.
"""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Connection,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
    event,
    func,
    literal_column,
    text,
)
from sqlalchemy.sql.elements import ColumnElement

from sediment_assets.adapters.fact_store.column_types import PLAIN, StoredInstant, StringLiteral
from sediment_assets.adapters.fact_store.natural_keys import NATURAL_KEYS, NaturalKey
from sediment_assets.facts.vocabulary import FactTable

HEAD = "0011_inference_call_aliases"
"""The one schema revision this program reads and creates (facts.md §10.1)."""
CHAIN = (
    "0001_postgresql_baseline",
    "0002_retry_linkages",
    "0003_cursor_agent_harness",
    "0004_pull_request_merges",
    "0005_pull_request_revisions",
    "0006_ci_failure_lookup",
    "0007_session_dossier_lookup",
    "0008_session_commit_observations",
    "0009_descriptive_text_encoding",
    "0010_repository_identity",
    HEAD,
)
"""Every known revision, oldest first."""
OWN_STORE = "Fact store created by sediment facts import"
"""Comment on ``alembic_version`` in a PostgreSQL store of our own; a deployment without it is never written to."""

metadata = MetaData()


def _plain(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, PLAIN, nullable=null)


def _string(name: str, *, null: bool = False) -> Column[str]:
    return Column(name, StringLiteral(), nullable=null)


def _number(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null)


def _boolean(name: str) -> Column[bool]:
    return Column(name, Boolean, nullable=False)


def _instant(name: str, *, null: bool = False) -> Column[datetime]:
    return Column(name, StoredInstant(), nullable=null)


def _key(name: str) -> Column[str]:
    return Column(name, PLAIN, primary_key=True, nullable=False)


def _identity(prefix: str = "") -> tuple[Column[str], ...]:
    names = ("repository_provider", "repository_host", "repository_id")
    return tuple(_plain(prefix + name, null=True) for name in names)


alembic_version = Table("alembic_version", metadata, _key("version_num"), comment=OWN_STORE)

inference_calls = Table(
    "inference_calls",
    metadata,
    _number("schema_version"),
    _key("inference_call_id"),
    _plain("org_id"),
    _plain("session_id"),
    _plain("user_id", null=True),
    _plain("gateway_provider"),
    _plain("model_provider", null=True),
    _plain("model", null=True),
    _number("input_tokens", null=True),
    _number("output_tokens", null=True),
    _number("duration_ms", null=True),
    _plain("model_call_id", null=True),
    _number("call_alias_count"),
    _instant("observed_at"),
    _plain("output_messages"),
    _plain("input_messages"),
    _plain("raw"),
    # Ordered Sessions, first calls of Sessions.
    Index("ix_inference_calls_session", "org_id", "session_id", "observed_at", "inference_call_id"),
    # Partitions, candidate calls, identities.
    Index("ix_inference_calls_observed", "org_id", "observed_at", "inference_call_id", "session_id"),
)

inference_call_aliases = Table(
    "inference_call_aliases",
    metadata,
    Column("inference_call_id", PLAIN, ForeignKey("inference_calls.inference_call_id"), primary_key=True),
    Column("ordinal", BigInteger, primary_key=True, autoincrement=False),
    _plain("org_id"),
    _plain("call_id"),
)

developer_decisions = Table(
    "developer_decisions",
    metadata,
    _key("decision_id"),
    _plain("org_id"),
    _plain("session_id"),
    _plain("user_id", null=True),
    _plain("agent_harness"),
    _plain("file_path"),
    _boolean("accepted"),
    _boolean("explicit"),
    _plain("interaction_mode"),
    _plain("commit_sha", null=True),
    _plain("call_id", null=True),
    Column("edit_retention_score", Double, nullable=True),
    _number("observation_delay_ms", null=True),
    _instant("occurred_at"),
    _instant("captured_at"),
    _plain("raw"),
    Index("ix_developer_decisions_session", "org_id", "session_id", "occurred_at", "decision_id"),
    Index("ix_developer_decisions_captured", "org_id", "captured_at"),
)

ci_outcomes = Table(
    "ci_outcomes",
    metadata,
    *_identity(),
    _number("schema_version"),
    _key("outcome_id"),
    _plain("org_id"),
    _plain("provider"),
    _plain("run_id"),
    _number("run_attempt", null=True),
    _plain("repo"),
    _plain("commit_sha"),
    _plain("branch"),
    _plain("result"),
    _string("workflow_name"),
    _plain("workflow_id", null=True),
    _plain("workflow_path", null=True),
    _string("run_url", null=True),
    _string("provider_result", null=True),
    _string("error_type", null=True),
    _string("reason", null=True),
    _string("source_event_type", null=True),
    _string("source_spec_version", null=True),
    _plain("source_event_id", null=True),
    _number("pr_number", null=True),
    _instant("captured_at"),
    _plain("raw"),
    Index("ix_ci_outcomes_captured", "org_id", "captured_at", "outcome_id"),
)

pushes = Table(
    "pushes",
    metadata,
    _number("schema_version"),
    *_identity(),
    _key("push_id"),
    _plain("org_id"),
    _plain("provider"),
    _plain("repo"),
    _string("clone_url"),
    _plain("ref"),
    _plain("before_sha"),
    _plain("after_sha"),
    _boolean("forced"),
    _instant("captured_at"),
    Index("ix_pushes_captured", "org_id", "captured_at", "push_id"),
)

session_commit_observations = Table(
    "session_commit_observations",
    metadata,
    *_identity(),
    _number("schema_version"),
    _key("observation_id"),
    _plain("org_id"),
    _plain("repo"),
    _plain("commit_sha"),
    _plain("session_id"),
    _plain("source_push_id"),
    _instant("captured_at"),
    Index("ix_session_commit_observations_captured", "org_id", "captured_at", "observation_id"),
)

repository_renames = Table(
    "repository_renames",
    metadata,
    _number("schema_version"),
    _key("rename_id"),
    _plain("org_id"),
    _plain("repository_provider"),
    _plain("repository_host"),
    _plain("repository_id"),
    _plain("old_repo"),
    _plain("new_repo"),
    _plain("source_event_id", null=True),
    _instant("occurred_at", null=True),
    _instant("captured_at"),
    Index("ix_repository_renames_captured", "org_id", "captured_at", "rename_id"),
)

# The three tables below are read for as_of, counts and repository evidence only, so only those columns are named here
# (facts.md §10.7); an import never fills them.
edit_observations = Table(
    "edit_observations",
    metadata,
    _key("observation_id"),
    _plain("org_id"),
    _instant("occurred_at"),
    _instant("captured_at"),
)

pull_request_merges = Table(
    "pull_request_merges",
    metadata,
    _key("merge_id"),
    _plain("org_id"),
    _plain("repo"),
    *_identity(),
    _plain("head_repo"),
    *_identity("head_"),
    _instant("captured_at"),
)

pull_request_revisions = Table(
    "pull_request_revisions",
    metadata,
    _key("revision_id"),
    _plain("org_id"),
    _plain("repo"),
    *_identity(),
    _plain("head_repo"),
    *_identity("head_"),
    _instant("captured_at"),
)

fact_quarantine = Table(
    "fact_quarantine",
    metadata,
    Column(
        "quarantine_revision",
        BigInteger().with_variant(Integer(), "sqlite"),
        Identity(always=True),
        primary_key=True,
    ),
    _plain("quarantine_id"),
    _plain("org_id"),
    _plain("fact_table"),
    _plain("fact_id"),
    _plain("action"),
    _string("reason"),
    _instant("recorded_at"),
    UniqueConstraint("quarantine_id"),
    CheckConstraint("action IN ('quarantine', 'release')", name="ck_fact_quarantine_action"),
    Index("ix_fact_quarantine_fact", "org_id", "fact_table", "fact_id", "quarantine_revision"),
    sqlite_autoincrement=True,
)

sessions = Table(
    "sessions",
    metadata,
    _key("org_id"),
    _key("session_id"),
    _plain("user_id", null=True),
    _boolean("user_id_conflict"),
    _instant("first_observed_at"),
    _instant("last_observed_at"),
)

FACT_TABLES: dict[FactTable, Table] = {
    FactTable(table.name): table
    for table in (
        inference_calls,
        developer_decisions,
        ci_outcomes,
        pushes,
        pull_request_merges,
        pull_request_revisions,
        edit_observations,
        session_commit_observations,
        repository_renames,
    )
}
"""The tables of Facts that are read here, each subject to quarantine."""


def primary_key(table: Table) -> Column[str]:
    """Return the one column that is the primary key of a table of Facts."""
    (column,) = table.primary_key.columns
    return column


def capture_instant(table: Table) -> Column[datetime]:
    """Return the column that counts for ``as_of``: ``observed_at`` of InferenceCalls, else ``captured_at``."""
    return table.c.observed_at if table is inference_calls else table.c.captured_at


def key_columns(key: NaturalKey, table: Table) -> list[ColumnElement[object]]:
    """Return the expressions a natural key is unique over: its columns, with defaults in place of null."""
    return [
        func.coalesce(table.c[name], _inline(key.defaults[name])) if name in key.defaults else table.c[name]
        for name in key.columns
    ]


def _inline(value: str | int) -> ColumnElement[object]:
    # Indexed expressions cannot hold bound values, and a query must spell them alike to use the index.
    return literal_column(f"'{value}'" if isinstance(value, str) else str(value))


_NATURAL_INDEXES = [
    (Index(key.name, *key_columns(key, metadata.tables[table]), unique=True), text(key.where))
    for table, keys in NATURAL_KEYS.items()
    for key in keys
]


@event.listens_for(metadata, "before_create")
def _limit_natural_keys(target: MetaData, connection: Connection, **_: Any) -> None:
    """Say which rows natural keys are about, to one database only: asked for both, SQLAlchemy imports all drivers."""
    for index, where in _NATURAL_INDEXES:
        index.kwargs[f"{connection.dialect.name}_where"] = where
