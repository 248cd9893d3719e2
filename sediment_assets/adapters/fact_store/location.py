"""Where a Fact store is: the forms of SEDIMENT_DATABASE_URL and the credential-free name of each (facts.md §11.6)."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from sediment_assets.errors import SedimentError


class FactStoreError(SedimentError):
    """The Fact store cannot be opened, read or written; the message names it without credentials."""


class Dialect(StrEnum):
    """The two databases a Fact store lives in."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


_FORMS = "sqlite:///PATH or postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True, slots=True, repr=False)
class StoreLocation:
    """A checked database URL. ``str()`` of it is safe to show: a file path, or ``host[:port]/database``."""

    dialect: Dialect
    url: URL

    def __str__(self) -> str:
        return label_of(self.url)

    def __repr__(self) -> str:
        return f"StoreLocation({self})"

    @property
    def path(self) -> Path:
        """The file of a SQLite store."""
        return Path(self.url.database or "")


def label_of(url: URL) -> str:
    """Name a database without credentials: a file path, or ``host[:port]/database``."""
    if url.get_backend_name() == Dialect.SQLITE:
        return url.database or ""
    host = url.host or url.query.get("host") or "localhost"
    if isinstance(host, tuple):
        host = ",".join(host)
    if ":" in host:
        host = f"[{host}]"
    port = f":{url.port}" if url.port is not None else ""
    return f"{host}{port}/{url.database or ''}"


def parse_location(url: str) -> StoreLocation:
    """Check a database URL.

    Accepts ``sqlite:///PATH`` (four slashes for an absolute path), ``postgresql://…`` and ``postgresql+psycopg://…``.
    Raises FactStoreError, never quoting the URL: it may hold a password.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise FactStoreError(f"SEDIMENT_DATABASE_URL: expected {_FORMS}, got no ://")
    if scheme == "sqlite":
        return _sqlite(url)
    if scheme in ("postgresql", "postgresql+psycopg"):
        return _postgresql(url, rest)
    raise FactStoreError(f"SEDIMENT_DATABASE_URL: expected {_FORMS}, got another scheme")


def _sqlite(text: str) -> StoreLocation:
    url = _parsed(text)
    if url.host or not url.database or url.database == ":memory:" or url.database.startswith("file:"):
        raise FactStoreError("SEDIMENT_DATABASE_URL: expected sqlite:///PATH with the path of a file, got none")
    if url.query:
        raise FactStoreError("SEDIMENT_DATABASE_URL: expected sqlite:///PATH without options, got a question mark")
    return StoreLocation(Dialect.SQLITE, url)


def _postgresql(text: str, rest: str) -> StoreLocation:
    authority = rest.partition("/")[0]
    # A slash in a password ends the authority early, and what should have been secret looks like a database.
    misplaced = "@" not in authority and "@" in rest.partition("?")[0]
    if authority.count("@") > 1 or misplaced:
        raise FactStoreError(
            "SEDIMENT_DATABASE_URL: expected one @ between credentials and host, got another; percent-encode "
            "@ as %40 and / as %2F in the user name and password"
        )
    return StoreLocation(Dialect.POSTGRESQL, _parsed(text).set(drivername="postgresql+psycopg"))


def _parsed(text: str) -> URL:
    try:
        return make_url(text)
    except (ArgumentError, ValueError):
        # The parser's own message quotes the text it could not read.
        raise FactStoreError(f"SEDIMENT_DATABASE_URL: expected {_FORMS}, got one that cannot be parsed") from None
