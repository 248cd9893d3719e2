"""Storing prepared rows: the first writer wins, a redelivery must agree, a contradiction is a conflict (facts.md §6).

The unique indexes decide what is new; only rows they turn away are looked at. Nothing is ever updated but ``sessions``.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, Table, and_, literal, select, text
from sqlalchemy.dialects import sqlite

from sediment_assets.adapters.fact_store.import_lines import PreparedLine
from sediment_assets.adapters.fact_store.location import Dialect
from sediment_assets.adapters.fact_store.natural_keys import (
    COMPARED_FIELDS,
    COMPARED_WHEN_LEGACY,
    NATURAL_KEYS,
    NaturalKey,
    Row,
)
from sediment_assets.adapters.fact_store.rows import shown_column
from sediment_assets.adapters.fact_store.schema import (
    inference_call_aliases,
    key_columns,
    primary_key,
    pushes,
    session_commit_observations,
)
from sediment_assets.adapters.fact_store.session_totals import touch_sessions
from sediment_assets.adapters.fact_store.sqlite_rows import ManyRows
from sediment_assets.facts.expected import shown


class PlacedLine(NamedTuple):
    """A prepared line and where it stands: ``file:line``."""

    place: str
    line: PreparedLine


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """What became of a batch of lines."""

    new: Sequence[PlacedLine]
    present: int
    conflicts: list[str]


def store_rows(connection: Connection, table: Table, batch: Sequence[PlacedLine]) -> StoredBatch:
    """Store the rows that are new; report each conflict as ``file:line: expected …, got …``.

    No two rows of a batch may have the same primary key.
    """
    conflicts: list[str] = []
    if table is session_commit_observations:
        batch, conflicts = _require_source_push(connection, batch)
    new = _insert(connection, table, batch)
    stored = {id(item) for item in new}
    known = [item for item in batch if id(item) not in stored]
    for item in known:
        problem = _disagreement(connection, table, item.line.row)
        if problem is not None:
            conflicts.append(f"{item.place}: {problem}")
    _insert_aliases(connection, new)
    touch_sessions(connection, table, [item.line.row for item in new])
    return StoredBatch(new, len(known), conflicts)


def _insert(connection: Connection, table: Table, batch: Sequence[PlacedLine]) -> Sequence[PlacedLine]:
    """Insert what no unique index turns away; return those lines."""
    if not batch:
        return batch
    rows = [item.line.row for item in batch]
    key = primary_key(table)
    if connection.dialect.name == Dialect.SQLITE:
        # It takes rows twice as fast when it need not say which are new, and new ones have row ids above all others.
        newest = connection.exec_driver_sql(f"SELECT max(rowid) FROM {table.name}").scalar()
        if _many_rows(table).execute(connection, rows) == len(batch):
            return batch
        new = text(f"SELECT {key.name} FROM {table.name} WHERE rowid > :newest")
        stored = set(connection.scalars(new, {"newest": newest or 0}))
    else:
        from sqlalchemy.dialects import postgresql  # imports all drivers

        stored = set(connection.scalars(postgresql.insert(table).on_conflict_do_nothing().returning(key), rows))
    return [item for item in batch if item.line.row[key.name] in stored]


@cache
def _many_rows(table: Table) -> ManyRows:
    statement = sqlite.insert(table)
    return ManyRows(statement if table is inference_call_aliases else statement.on_conflict_do_nothing())


def _insert_aliases(connection: Connection, lines: Iterable[PlacedLine]) -> None:
    rows = [
        {
            "inference_call_id": item.line.row["inference_call_id"],
            "ordinal": ordinal,
            "org_id": item.line.row["org_id"],
            "call_id": alias,
        }
        for item in lines
        for ordinal, alias in enumerate(item.line.aliases)
    ]
    if connection.dialect.name == Dialect.SQLITE:
        _many_rows(inference_call_aliases).execute(connection, rows)
    elif rows:
        connection.execute(inference_call_aliases.insert(), rows)


def _disagreement(connection: Connection, table: Table, row: Row) -> str | None:
    """Say what contradicts the stored row that keeps ``row`` out; None when it is a plain redelivery."""
    compared = COMPARED_FIELDS.get(table.name)
    if compared is None:
        return None
    if "repository_id" in row and row["repository_id"] is None:
        compared += COMPARED_WHEN_LEGACY.get(table.name, ())
    key = primary_key(table)
    matches = _matching_rows(connection, table, row)
    if len(matches) > 1:
        ids = " and ".join(sorted(shown(match[key.name]) for match in matches))
        return f"{key.name}: expected at most one stored Fact to match, got {shown(row[key.name])} matching {ids}"
    differing = [name for name in compared if matches[0][name] != row[name]]
    if not differing:
        return None
    return (
        f"{differing[0]}: expected {shown_column(matches[0][differing[0]])} as in the stored "
        f"{shown(matches[0][key.name])}, got {shown_column(row[differing[0]])} in {shown(row[key.name])}"
    )


def _matching_rows(connection: Connection, table: Table, row: Row) -> list[Row]:
    """Return the stored rows with the row's primary key or its natural key, each once."""
    key = primary_key(table)
    narrow = [column for column in table.c if column.name not in ("input_messages", "output_messages", "raw")]
    conditions = [key == row[key.name]]
    conditions += [
        and_(text(natural.where), *_same_natural_key(natural, table, row))
        for natural in NATURAL_KEYS[table.name]
        if natural.applies(row)
    ]
    found = {}
    for condition in conditions:
        for match in connection.execute(select(*narrow).where(condition)):
            found[match._mapping[key.name]] = dict(match._mapping)
    return list(found.values())


def _same_natural_key(natural: NaturalKey, table: Table, row: Row) -> list[ColumnElement[bool]]:
    values = [
        natural.defaults[name] if row[name] is None and name in natural.defaults else row[name]
        for name in natural.columns
    ]
    return [
        column == literal(value, table.c[name].type)
        for column, name, value in zip(key_columns(natural, table), natural.columns, values, strict=True)
    ]


def _require_source_push(connection: Connection, batch: Sequence[PlacedLine]) -> tuple[list[PlacedLine], list[str]]:
    """Keep the observations whose source Push is stored with the same identity, quarantined or not; legacy ones all."""
    wanted = {item.line.row["source_push_id"] for item in batch if item.line.row["repository_id"] is not None}
    columns = [pushes.c[name] for name in _IDENTITY]
    stored = {
        push_id: identity
        for push_id, *identity in connection.execute(
            select(pushes.c.push_id, *columns).where(pushes.c.push_id.in_(wanted))
        )
    }
    kept, conflicts = [], []
    for item in batch:
        row = item.line.row
        identity = [row[name] for name in _IDENTITY]
        push_id = row["source_push_id"]
        if row["repository_id"] is None or stored.get(push_id) == identity:
            kept.append(item)
            continue
        got = "none" if push_id not in stored else "one of another organization or repository"
        conflicts.append(
            f"{item.place}: source_push_id: expected a stored Push {shown(push_id)} of the same repository for "
            f"{shown(row['observation_id'])}, got {got}"
        )
    return kept, conflicts


_IDENTITY = ("org_id", "repository_provider", "repository_host", "repository_id")
