"""Which rows a reader sees: those of its organization that are not quarantined (facts.md §8, §11.1)."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, Connection, Table, exists, func, literal, select
from sqlalchemy.sql.expression import FromClause

from sediment_assets.adapters.fact_store.schema import fact_quarantine, primary_key
from sediment_assets.facts.vocabulary import QuarantineAction


class Visibility:
    """The quarantine state of one organization in one snapshot, as SQL conditions.

    Most organizations hide nothing, so a table without a hidden Fact gets no condition beyond the organization.
    """

    def __init__(self, connection: Connection, org_id: str) -> None:
        log = fact_quarantine
        mine = log.c.org_id == org_id
        self._org_id = org_id
        self._tables_with_hidden = frozenset(
            connection.scalars(select(log.c.fact_table).where(mine, _hides(log)).distinct())
        )
        self.revision: int = connection.scalar(select(func.max(log.c.quarantine_revision)).where(mine)) or 0
        """Largest revision among the organization's records, 0 if none (facts.md §8)."""

    def of(self, table: Table, rows: FromClause | None = None) -> ColumnElement[bool]:
        """Return the condition under which a row of ``table`` is seen; ``rows`` is the alias the query uses, if any."""
        source = table if rows is None else rows
        return self._visible(table, source, source.c.org_id == self._org_id)

    def named(self, table: Table, fact_ids: Collection[str]) -> ColumnElement[bool]:
        """Return the condition under which a row of ``table`` is seen and has one of these primary keys."""
        # No index serves this comparison. Without statistics SQLite prefers one that begins with org_id to the primary
        # key, and would walk the whole organization for a handful of ids.
        mine: ColumnElement[bool] = table.c.org_id.concat("") == self._org_id
        return primary_key(table).in_(fact_ids) & self._visible(table, table, mine)

    def _visible(self, table: Table, source: FromClause, mine: ColumnElement[bool]) -> ColumnElement[bool]:
        return mine & ~is_hidden(table, source) if table.name in self._tables_with_hidden else mine


def is_hidden(table: Table, rows: FromClause | None = None) -> ColumnElement[bool]:
    """Return the condition under which a row of ``table`` is quarantined, whatever its organization.

    A correlated EXISTS, not NOT IN: PostgreSQL makes it an anti-join of any size, SQLite one index lookup per row.
    """
    source = table if rows is None else rows
    log = fact_quarantine.alias()
    return exists(
        select(literal(1)).where(
            log.c.org_id == source.c.org_id,
            log.c.fact_table == table.name,
            log.c.fact_id == source.c[primary_key(table).name],
            _hides(log),
        )
    )


def _hides(log: FromClause) -> ColumnElement[bool]:
    """Whether a record hides its Fact: it says so, and no record of the same Fact has a higher revision."""
    later = fact_quarantine.alias()
    superseded = exists(
        select(literal(1)).where(
            later.c.org_id == log.c.org_id,
            later.c.fact_table == log.c.fact_table,
            later.c.fact_id == log.c.fact_id,
            later.c.quarantine_revision > log.c.quarantine_revision,
        )
    )
    hides: ColumnElement[bool] = log.c.action == QuarantineAction.QUARANTINE.value
    return hides & ~superseded
