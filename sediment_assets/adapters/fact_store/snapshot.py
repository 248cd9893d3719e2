"""The FactReader over a Fact store: one read-only snapshot of one organization (facts.md §11)."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from itertools import groupby, islice
from operator import attrgetter
from pathlib import Path

from sqlalchemy import Connection, Engine, Table, func, select, text

from sediment_assets.adapters.fact_store.engine import read_snapshot
from sediment_assets.adapters.fact_store.evidence import stream_evidence
from sediment_assets.adapters.fact_store.failures import readable_failures
from sediment_assets.adapters.fact_store.location import Dialect, label_of
from sediment_assets.adapters.fact_store.rows import WIDE, AnyRow, AnySelect, F, by_code_point, stream, to_fact
from sediment_assets.adapters.fact_store.schema import (
    FACT_TABLES,
    capture_instant,
    ci_outcomes,
    inference_call_aliases,
    inference_calls,
    primary_key,
    pushes,
    repository_renames,
    session_commit_observations,
)
from sediment_assets.adapters.fact_store.session_stream import (
    sessions_count_query,
    stream_session_facts,
    stream_sessions,
)
from sediment_assets.adapters.fact_store.visibility import Visibility
from sediment_assets.derive.fact_reader import (
    CallIdentity,
    CandidateCall,
    FullCall,
    SessionFacts,
    SessionWindow,
    StoredSession,
)
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.messages import call_aliases, decode_messages
from sediment_assets.facts.push import Push
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.scalars import normal_org_id
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.repositories.evidence import RepositoryEvidence
from sediment_assets.repositories.resolver import RepositoryResolver

_IDS_AT_ONCE = 500


@contextmanager
def open_facts(engine: Engine, org_id: str) -> Iterator["FactSnapshot"]:
    """Open a snapshot of an organization's Facts: ``with open_facts(reading_engine(url), "acme") as facts``.

    Raises FactStoreError when the store cannot be read, ValueError when ``org_id`` is no organization id.
    """
    with read_snapshot(engine) as connection:
        yield FactSnapshot(connection, normal_org_id(org_id))


class FactSnapshot:
    """The visible Facts of one organization in one transaction; implements ``derive.fact_reader.FactReader``.

    Every method streams: nothing is read before it is asked for, and no result but the resolver is held as a whole.
    """

    def __init__(self, connection: Connection, org_id: str) -> None:
        self._connection = connection
        self._org_id = org_id
        self._resolver: RepositoryResolver | None = None
        with readable_failures(connection.engine):
            self._visibility = Visibility(connection, org_id)

    @property
    def org_id(self) -> str:
        """The normalised organization."""
        return self._org_id

    def quarantine_revision(self) -> int:
        """Largest revision among the organization's quarantine records, 0 if none (facts.md §8)."""
        return self._visibility.revision

    def as_of(self) -> datetime | None:
        """Latest capture instant over all visible Facts, null without any (facts.md §11.5)."""
        with readable_failures(self._connection.engine):
            latest = [
                self._connection.scalar(select(func.max(capture_instant(table))).where(self._visibility.of(table)))
                for table in FACT_TABLES.values()
            ]
        return max((instant for instant in latest if instant is not None), default=None)

    def store_state(self) -> str:
        """Name the store and what becomes another when it is made anew: its file, or its table in the database."""
        with readable_failures(self._connection.engine):
            return f"{label_of(self._connection.engine.url)} {self._made()}"

    def _made(self) -> str:
        if self._connection.dialect.name == Dialect.SQLITE:
            pages = self._connection.scalar(text("PRAGMA page_count"))
            try:
                file = Path(self._connection.engine.url.database or "").stat()
            except FileNotFoundError:  # removed meanwhile: the snapshot is still whole
                return f"{pages} removed"
            return f"{pages} {file.st_ino} {file.st_mtime_ns}"
        made = "SELECT concat_ws(' ', d.oid, pg_relation_filenode('inference_calls')) FROM pg_database d"
        return str(self._connection.scalar(text(f"{made} WHERE d.datname = current_database()")))

    def visible_ids(self, table: FactTable) -> Iterator[str]:
        """Ids of a table's Facts by (capture instant, id): read from an index, where there is one."""
        source = FACT_TABLES[table]
        key = primary_key(source)
        ordered = (capture_instant(source), by_code_point(self._connection, key))
        for row in stream(self._connection, select(key).where(self._visibility.of(source)).order_by(*ordered)):
            yield row[0]

    def evidence(self) -> Iterator[RepositoryEvidence]:
        """Repository evidence of every repository-bearing Fact, by (captured_at, table, id, role)."""
        return stream_evidence(self._connection, self._visibility, self._org_id)

    def renames(self) -> Iterator[RepositoryRename]:
        """RepositoryRenames by (captured_at, rename_id)."""
        return self._captured(repository_renames, RepositoryRename, select(repository_renames))

    def resolver(self) -> RepositoryResolver:
        """Repository identity over the visible evidence and renames up to ``as_of``; the same object each time."""
        if self._resolver is None:
            self._resolver = RepositoryResolver.build(self._org_id, self.evidence(), self.renames(), self.as_of())
        return self._resolver

    def pushes(self) -> Iterator[Push]:
        """Pushes by (captured_at, push_id)."""
        return self._captured(pushes, Push, select(pushes))

    def observations(self) -> Iterator[SessionCommitObservation]:
        """SessionCommitObservations by (captured_at, observation_id)."""
        return self._captured(
            session_commit_observations, SessionCommitObservation, select(session_commit_observations)
        )

    def ci_outcomes(self) -> Iterator[CIOutcome]:
        """CI outcomes by (captured_at, outcome_id), with an empty ``raw``."""
        slim = [column for column in ci_outcomes.c if column.name != "raw"]
        return self._captured(ci_outcomes, CIOutcome, select(*slim))

    def full_ci_outcomes(self, outcome_ids: Collection[str]) -> Mapping[str, CIOutcome]:
        """The named CI outcomes with their ``raw``; ids without a visible outcome are left out."""
        found = {}
        ids = iter(outcome_ids)
        while some := list(islice(ids, _IDS_AT_ONCE)):
            query = select(ci_outcomes).where(self._visibility.named(ci_outcomes, some))
            for row in stream(self._connection, query, fetch=WIDE):
                outcome = to_fact(self._connection, CIOutcome, row)
                found[outcome.outcome_id] = outcome
        return found

    def count_sessions(self, window: SessionWindow) -> int:
        """How many Sessions begin in the window."""
        with readable_failures(self._connection.engine):
            return self._connection.scalar(sessions_count_query(self._visibility, window)) or 0

    def session_ids_with_calls(self) -> Iterator[str]:
        """Every session_id with a visible call, ascending by code point, whatever the window."""
        session_id = inference_calls.c.session_id
        query = (
            select(session_id)
            .where(self._visibility.of(inference_calls))
            # Not DISTINCT: PostgreSQL sorts a grouped query by an expression, a distinct one only by what it selects.
            .group_by(session_id)
            .order_by(by_code_point(self._connection, session_id))
        )
        for row in stream(self._connection, query):
            yield row[0]

    def first_calls(self) -> Iterator[tuple[str, datetime]]:
        """Every session_id with a visible call, and when its first one was observed; ascending by session_id."""
        session_id = inference_calls.c.session_id
        query = (
            select(session_id, func.min(inference_calls.c.observed_at))
            .where(self._visibility.of(inference_calls))
            .group_by(session_id)
            .order_by(by_code_point(self._connection, session_id))
        )
        for row in stream(self._connection, query):
            yield row[0], row[1]

    def sessions(self, window: SessionWindow | None = None) -> Iterator[StoredSession]:
        """Sessions with a visible call, ascending by session_id; one at a time in memory."""
        return stream_sessions(self._connection, self._visibility, window)

    def session_facts(self, window: SessionWindow | None = None) -> Iterator[SessionFacts]:
        """The same Sessions as ``sessions``, each as the ids of its Facts: read from indexes alone."""
        return stream_session_facts(self._connection, self._visibility, window)

    def candidate_calls(
        self, start: datetime, end: datetime, session_ids: Collection[str] | None = None
    ) -> Iterator[CandidateCall]:
        """Calls observed in ``[start, end]``, by (observed_at, inference_call_id); of these Sessions only, if given."""
        calls = inference_calls.c
        query = select(calls.inference_call_id, calls.session_id, calls.observed_at, calls.output_messages).where(
            calls.observed_at.between(start, end)
        )
        wanted = None if session_ids is None else frozenset(session_ids)
        # Databases limit how many values one query may name; beyond a few, passing over the other rows is as good.
        if wanted is not None and len(wanted) <= _IDS_AT_ONCE:
            query = query.where(calls.session_id.in_(sorted(wanted)))
        for row in stream(self._connection, self._observed(query), fetch=WIDE):
            if wanted is None or row.session_id in wanted:
                yield CandidateCall(*row)

    def call_identities(self) -> Iterator[CallIdentity]:
        """Every call's identity, by (observed_at, inference_call_id)."""
        calls, aliases = inference_calls.c, inference_call_aliases.c
        query = self._observed(
            select(
                calls.inference_call_id,
                calls.session_id,
                calls.observed_at,
                calls.call_alias_count,
                aliases.call_id,
            ).outerjoin_from(inference_calls, inference_call_aliases)
        )
        rows = stream(self._connection, query)
        for call_id, group in groupby(rows, key=attrgetter("inference_call_id")):
            first, *others = group
            aliases_found = sorted(row.call_id for row in (first, *others) if row.call_id is not None)
            if len(aliases_found) != first.call_alias_count:
                # The alias table is a copy that other programs keep; the output itself is the evidence.
                aliases_found = self._aliases_from_output(call_id)
            yield CallIdentity(call_id, self._org_id, first.session_id, first.observed_at, tuple(aliases_found))

    def call_sessions(self) -> Iterator[tuple[str, str]]:
        """Every call's id and its session_id, in the order of ``call_identities``: read from an index."""
        query = self._observed(select(inference_calls.c.inference_call_id, inference_calls.c.session_id))
        for row in stream(self._connection, query):
            yield row[0], row[1]

    def full_calls(self, inference_call_ids: Iterable[str]) -> Iterator[FullCall]:
        """The named calls, complete with ``raw``, in the order named; ids without a visible call are left out."""
        ids = iter(inference_call_ids)
        while some := list(islice(ids, WIDE)):
            query = select(inference_calls).where(self._visibility.named(inference_calls, some))
            found = {row.inference_call_id: row for row in stream(self._connection, query, fetch=WIDE)}
            for wanted in some:
                if wanted in found:
                    row = found.pop(wanted)
                    yield FullCall(row.session_id, row.input_messages, partial(self._call_with_input, row))

    def _call_with_input(self, row: AnyRow, input_text: str) -> InferenceCall:
        return to_fact(self._connection, InferenceCall, row, input_messages=input_text)

    def _observed(self, query: AnySelect) -> AnySelect:
        calls = inference_calls.c
        return query.where(self._visibility.of(inference_calls)).order_by(
            calls.observed_at, by_code_point(self._connection, calls.inference_call_id)
        )

    def _captured(self, table: Table, model: type[F], query: AnySelect) -> Iterator[F]:
        ordered = query.where(self._visibility.of(table)).order_by(
            table.c.captured_at, by_code_point(self._connection, primary_key(table))
        )
        for row in stream(self._connection, ordered):
            yield to_fact(self._connection, model, row)

    def _aliases_from_output(self, inference_call_id: str) -> list[str]:
        calls = inference_calls.c
        with readable_failures(self._connection.engine):
            output, model_call_id = self._connection.execute(
                select(calls.output_messages, calls.model_call_id).where(calls.inference_call_id == inference_call_id)
            ).one()
        return sorted(call_aliases(decode_messages(output), model_call_id))
