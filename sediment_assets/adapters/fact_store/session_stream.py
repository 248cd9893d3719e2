"""Sessions out of a snapshot, one at a time: two ordered queries, merged (design.md §5, facts.md §11.2)."""

from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

from sqlalchemy import ColumnElement, Connection, Select, exists, func, literal, select, true

from sediment_assets.adapters.fact_store.rows import WIDE, AnySelect, by_code_point, stream, to_fact
from sediment_assets.adapters.fact_store.schema import developer_decisions, inference_calls
from sediment_assets.adapters.fact_store.visibility import Visibility
from sediment_assets.derive.fact_reader import SessionFacts, SessionWindow, StoredCall, StoredSession
from sediment_assets.facts.developer_decision import DeveloperDecision


def stream_sessions(
    connection: Connection, visibility: Visibility, window: SessionWindow | None
) -> Iterator[StoredSession]:
    """Yield the Sessions of a window, or all, ascending by session_id.

    At most one Session is in memory, plus the first rows of the next one.
    """
    calls = _calls_by_session(connection, visibility, window)
    decisions = _DecisionsBySession(connection, visibility, window)
    for session_id, session_calls in calls:
        yield StoredSession(session_id, session_calls, decisions.of(session_id))


def _calls_by_session(
    connection: Connection, visibility: Visibility, window: SessionWindow | None
) -> Iterator[tuple[str, tuple[StoredCall, ...]]]:
    session_id: str | None = None
    calls: list[StoredCall] = []
    for row in stream(connection, calls_query(connection, visibility, window), fetch=WIDE):
        call = StoredCall(*row)
        if call.session_id != session_id:
            if session_id is not None:
                yield session_id, tuple(calls)
            session_id, calls = call.session_id, []
        calls.append(call)
    if session_id is not None:
        yield session_id, tuple(calls)


class _DecisionsBySession:
    """The ordered decisions, asked for by ascending session_id; those of Sessions without calls are passed over."""

    def __init__(self, connection: Connection, visibility: Visibility, window: SessionWindow | None) -> None:
        self._connection = connection
        self._rows = stream(connection, decisions_query(connection, visibility, window))
        self._ahead = next(self._rows, None)

    def of(self, session_id: str) -> tuple[DeveloperDecision, ...]:
        """Return the Session's decisions by (occurred_at, decision_id)."""
        decisions = []
        while self._ahead is not None and self._ahead.session_id <= session_id:
            if self._ahead.session_id == session_id:
                decisions.append(to_fact(self._connection, DeveloperDecision, self._ahead))
            self._ahead = next(self._rows, None)
        return tuple(decisions)


def calls_query(connection: Connection, visibility: Visibility, window: SessionWindow | None) -> AnySelect:
    """Return the query of all calls of a window's Sessions, columns in the order of ``StoredCall``'s fields."""
    calls = inference_calls.c
    return (
        select(
            calls.inference_call_id,
            calls.session_id,
            calls.user_id,
            calls.model_call_id,
            calls.observed_at,
            calls.input_messages,
            calls.output_messages,
        )
        .where(visibility.of(inference_calls), _starts_in(visibility, window, calls.session_id))
        .order_by(
            by_code_point(connection, calls.session_id),
            calls.observed_at,
            by_code_point(connection, calls.inference_call_id),
        )
    )


def decisions_query(connection: Connection, visibility: Visibility, window: SessionWindow | None) -> AnySelect:
    """Return the query of all decisions of a window's Sessions, or of every Session."""
    decisions = developer_decisions.c
    return (
        select(developer_decisions)
        .where(visibility.of(developer_decisions), _starts_in(visibility, window, decisions.session_id))
        .order_by(
            by_code_point(connection, decisions.session_id),
            decisions.occurred_at,
            by_code_point(connection, decisions.decision_id),
        )
    )


def stream_session_facts(
    connection: Connection, visibility: Visibility, window: SessionWindow | None
) -> Iterator[SessionFacts]:
    """Yield the same Sessions as ``stream_sessions``, each as the ids of its Facts."""
    calls, decisions = inference_calls.c, developer_decisions.c
    call_rows = stream(
        connection,
        select(calls.session_id, calls.observed_at, calls.inference_call_id)
        .where(visibility.of(inference_calls), _starts_in(visibility, window, calls.session_id))
        .order_by(
            by_code_point(connection, calls.session_id),
            calls.observed_at,
            by_code_point(connection, calls.inference_call_id),
        ),
    )
    decision_rows = stream(
        connection,
        select(decisions.session_id, decisions.decision_id)
        .where(visibility.of(developer_decisions), _starts_in(visibility, window, decisions.session_id))
        .order_by(
            by_code_point(connection, decisions.session_id),
            decisions.occurred_at,
            by_code_point(connection, decisions.decision_id),
        ),
    )
    ahead = next(decision_rows, None)
    for session_id, rows in groupby(call_rows, key=attrgetter("session_id")):
        first, *others = rows
        decision_ids = []
        while ahead is not None and ahead.session_id <= session_id:
            if ahead.session_id == session_id:
                decision_ids.append(ahead.decision_id)
            ahead = next(decision_rows, None)
        call_ids = tuple(row.inference_call_id for row in (first, *others))
        yield SessionFacts(session_id, first.observed_at, call_ids, tuple(decision_ids))


def sessions_count_query(visibility: Visibility, window: SessionWindow) -> Select[int]:
    """Return the query of how many Sessions begin in a window."""
    session_id = inference_calls.c.session_id
    return select(func.count(session_id.distinct())).where(
        visibility.of(inference_calls), _starts_in(visibility, window, session_id)
    )


def _starts_in(
    visibility: Visibility, window: SessionWindow | None, session_id: ColumnElement[str]
) -> ColumnElement[bool]:
    """Whether a Session's first visible call is in the window: one call is, and none is earlier.

    Said this way the indexes give the answer in time proportional to the window, not to the whole organization.
    """
    if window is None:
        return true()
    inside, earlier = inference_calls.alias("inside"), inference_calls.alias("earlier")
    has_earlier = exists(
        select(literal(1)).where(
            visibility.of(inference_calls, earlier),
            earlier.c.session_id == inside.c.session_id,
            earlier.c.observed_at < window.start,
        )
    )
    return session_id.in_(
        select(inside.c.session_id).where(
            visibility.of(inference_calls, inside),
            inside.c.observed_at >= window.start,
            inside.c.observed_at < window.end,
            ~has_earlier,
        )
    )
