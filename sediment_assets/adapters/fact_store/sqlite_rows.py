"""Many rows at once for SQLite, past SQLAlchemy's preparation of each: that costs as much as small rows themselves.

The statements are SQLAlchemy's, compiled once; values go through the same processors of their columns' types.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, Insert
from sqlalchemy.dialects import sqlite

_DIALECT = sqlite.dialect()


class ManyRows:
    """An insert statement that takes rows by column name, values as in memory."""

    def __init__(self, statement: Insert) -> None:
        compiled = statement.compile(dialect=_DIALECT)
        self._statement = str(compiled)
        self._columns = [(name, _processor(compiled.binds[name].type)) for name in compiled.positiontup or ()]

    def execute(self, connection: Connection, rows: Iterable[Mapping[str, Any]]) -> int:
        """Execute it for each row; return how many rows were stored or changed."""
        columns = self._columns
        values = [
            tuple([row[name] if process is None else process(row[name]) for name, process in columns]) for row in rows
        ]
        return connection.exec_driver_sql(self._statement, values).rowcount if values else 0


def _processor(kind: Any) -> Callable[[Any], Any] | None:
    processor: Callable[[Any], Any] | None = kind.dialect_impl(_DIALECT).bind_processor(_DIALECT)
    return processor
