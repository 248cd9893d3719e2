"""Column types of the Fact store: how one value is spelled on SQLite and on PostgreSQL (facts.md §10.2)."""

import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, Text
from sqlalchemy.types import TypeDecorator, TypeEngine

from sediment_assets.facts import json_values

PLAIN: TypeEngine[str] = Text().with_variant(Text(collation="C"), "postgresql")
"""T and J: text as it is. In a store of our own PostgreSQL sorts it by code point, as SQLite always does."""


_PLAIN_LITERAL = re.compile(r'"[ !#-\[\]-~]*"')
"""A literal of printable ASCII in which nothing is escaped, as most are."""


def sortable_instant(value: datetime) -> str:
    """Spell an aware instant as fixed-width UTC text with microseconds, so that text order is time order."""
    return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


class StoredInstant(TypeDecorator[datetime]):
    """Z: ``timestamptz`` on PostgreSQL, sortable UTC text on SQLite; an aware datetime in UTC in memory."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the database's own type."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(Text())
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | str | None:
        """Spell an instant for the database."""
        if value is None or dialect.name != "sqlite":
            return value
        return sortable_instant(value)

    def process_result_value(self, value: datetime | str | None, dialect: Dialect) -> datetime | None:
        """Read an instant as UTC, whatever time zone the session has."""
        if isinstance(value, str):
            return datetime.fromisoformat(value)
        return None if value is None else value.astimezone(UTC)


class StringLiteral(TypeDecorator[str]):
    """S: text stored as one JSON string literal, quotes included, so that NUL and lone surrogates survive."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Encode the text; SQL NULL stays NULL."""
        return None if value is None else json_values.encode_stored(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Decode the literal."""
        if value is None:
            return None
        if _PLAIN_LITERAL.fullmatch(value) is not None:
            return value[1:-1]
        text = json_values.decode(value)
        if not isinstance(text, str):
            raise json_values.JsonError(f"stored text: expected a JSON string literal, got {value[:40]!r}")
        return text
