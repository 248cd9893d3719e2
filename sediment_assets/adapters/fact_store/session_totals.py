"""The ``sessions`` aggregate: first and last sign of each Session, and whose it is (facts.md §5).

Derivations do not read it; it is kept for people and other tools. Only newly stored Facts count.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Table, case, null, or_
from sqlalchemy.dialects import sqlite

from sediment_assets.adapters.fact_store.location import Dialect
from sediment_assets.adapters.fact_store.schema import capture_instant, sessions


def touch_sessions(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Merge newly stored rows of ``table`` into their Sessions; a table without ``session_id`` touches none."""
    if "session_id" not in table.c:
        return
    instant = capture_instant(table).name
    instants: dict[tuple[str, str], list[datetime]] = {}
    users: dict[tuple[str, str], set[str | None]] = {}
    for row in rows:
        key = (row["org_id"], row["session_id"])
        instants.setdefault(key, []).append(row[instant])
        users.setdefault(key, {None}).add(row.get("user_id"))
    if not instants:
        return
    values = []
    for (org_id, session_id), known in users.items():
        named = known - {None}
        values.append(
            {
                "org_id": org_id,
                "session_id": session_id,
                "user_id": named.pop() if len(named) == 1 else None,
                "user_id_conflict": len(known) > 2,
                "first_observed_at": min(instants[org_id, session_id]),
                "last_observed_at": max(instants[org_id, session_id]),
            }
        )
    connection.execute(_merge_statement(connection.dialect.name), values)


@cache
def _merge_statement(dialect: str) -> Any:
    """Return the upsert that merges: earliest, latest; the one user, or nobody for good once two were seen."""
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
