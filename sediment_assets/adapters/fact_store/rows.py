"""Rows of the store: streamed in code-point order, and turned into Facts (facts.md §10, §11.2)."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeAlias, TypeVar

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Connection, Row, Select, collate

from sediment_assets.adapters.fact_store.failures import readable_failures
from sediment_assets.adapters.fact_store.location import Dialect, FactStoreError, label_of
from sediment_assets.adapters.fact_store.stored_rows import MESSAGE_COLUMNS
from sediment_assets.facts.expected import shown
from sediment_assets.facts.instants import format_z
from sediment_assets.facts.json_values import JsonError, JsonObject, decode_captured
from sediment_assets.facts.messages import decode_messages
from sediment_assets.facts.model import Fact, explain_errors

NARROW = 1000
"""Rows fetched at once from PostgreSQL when they are small."""
WIDE = 16
"""Rows fetched at once when each may hold a Session's whole history. SQLite always gives one at a time."""

AnyRow: TypeAlias = "Row[*tuple[Any, ...]]"
"""A row of any shape."""
AnySelect: TypeAlias = "Select[*tuple[Any, ...]]"
"""A query for rows of any shape."""
F = TypeVar("F", bound=Fact)


def stream(connection: Connection, query: AnySelect, *, fetch: int = NARROW) -> Iterator[AnyRow]:
    """Yield the rows of a query without ever holding all of them; database errors become FactStoreErrors."""
    with readable_failures(connection.engine):
        options = {"stream_results": True, "max_row_buffer": fetch}
        with connection.execute(query, execution_options=options) as result:
            yield from result


def by_code_point(connection: Connection, column: ColumnElement[Any]) -> ColumnElement[Any]:
    """Return a text column as a sort key in code-point order, whatever the database's collation."""
    return column if connection.dialect.name == Dialect.SQLITE else collate(column, "C")


def to_fact(connection: Connection, model: type[F], row: AnyRow, **instead: object) -> F:
    """Validate a row as a Fact again, captured objects in code-point key order (facts.md §10.7).

    ``instead`` names columns to be read with another stored value than their own.

    Raises FactStoreError naming table, id and field when the row breaks the contract's rules.
    """
    values = {**row._mapping, **instead}
    try:
        _decode_captured_columns(values)
        return model.model_validate(values)
    except ValidationError as error:
        field, problem = explain_errors(error)[0]
        reason = f"{field}: {problem}" if field else problem
    except JsonError as error:
        reason = str(error)
    place = f"{label_of(connection.engine.url)}: {model.TABLE} {values[model.KEY]!r}"
    raise FactStoreError(f"Fact store {place}: {reason}") from None


def shown_column(value: object) -> str:
    """Spell a column's value for a message."""
    return format_z(value) if isinstance(value, datetime) else shown(value)


def _decode_captured_columns(values: JsonObject) -> None:
    if "raw" in values:
        values["raw"] = decode_captured(values["raw"])
    for name in MESSAGE_COLUMNS:
        if name in values:
            values[name] = decode_messages(values[name])
