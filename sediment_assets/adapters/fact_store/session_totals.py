"""The ``sessions`` aggregate: first and last sign of each Session, and whose it is (facts.md §5).

Derivations do not read it; it is kept for people and other tools. Only newly stored Facts count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, case, null, or_
from sqlalchemy.dialects import sqlite

from sediment_assets.adapters.fact_store.location import Dialect
from sediment_assets.adapters.fact_store.schema import capture_instant, sessions


@dataclass(frozen=True, slots=True)
class SessionTotal:
    """What some Facts say about one Session. Merging is commutative and associative, so order never matters."""

    user_id: str | None
    user_id_conflict: bool
    first_observed_at: datetime
    last_observed_at: datetime

    def merged(self, other: "SessionTotal") -> "SessionTotal":
        """Combine: earliest, latest; the one user, or nobody for good once two were seen."""
        users = {self.user_id, other.user_id} - {None}
        conflict = self.user_id_conflict or other.user_id_conflict or len(users) > 1
        return SessionTotal(
            None if conflict else next(iter(users), None),
            conflict,
            min(self.first_observed_at, other.first_observed_at),
            max(self.last_observed_at, other.last_observed_at),
        )


def touch_sessions(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Merge newly stored rows of ``table`` into their Sessions; a table without ``session_id`` touches none."""
    if "session_id" not in table.c:
        return
    instant = capture_instant(table).name
    totals: dict[tuple[str, str], SessionTotal] = {}
    for row in rows:
        key = (row["org_id"], row["session_id"])
        total = SessionTotal(row.get("user_id"), False, row[instant], row[instant])
        totals[key] = totals[key].merged(total) if key in totals else total
    if not totals:
        return
    values = [
        {
            "org_id": org_id,
            "session_id": session_id,
            "user_id": total.user_id,
            "user_id_conflict": total.user_id_conflict,
            "first_observed_at": total.first_observed_at,
            "last_observed_at": total.last_observed_at,
        }
        for (org_id, session_id), total in totals.items()
    ]
    connection.execute(_merge_statement(connection.dialect.name), values)


@cache
def _merge_statement(dialect: str) -> Any:
    """Return the upsert that merges in SQL as ``SessionTotal.merged`` does in memory."""
    statement: Any = sqlite.insert(sessions)
    if dialect == Dialect.POSTGRESQL:
        from sqlalchemy.dialects import postgresql  # imports all drivers

        statement = postgresql.insert(sessions)
    old, new = sessions.c, statement.excluded
    conflict = or_(old.user_id_conflict, new.user_id_conflict, old.user_id != new.user_id)
    return statement.on_conflict_do_update(
        index_elements=[old.org_id, old.session_id],
        set_={
            "user_id": case((conflict, null()), (old.user_id.is_(None), new.user_id), else_=old.user_id),
            "user_id_conflict": case((conflict, True), else_=False),
            "first_observed_at": case(
                (new.first_observed_at < old.first_observed_at, new.first_observed_at), else_=old.first_observed_at
            ),
            "last_observed_at": case(
                (new.last_observed_at > old.last_observed_at, new.last_observed_at), else_=old.last_observed_at
            ),
        },
    )
