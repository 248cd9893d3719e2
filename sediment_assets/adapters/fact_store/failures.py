"""What a database says when it fails, in one line of our words: where, what, and the way out; never a credential.

Drivers quote user names, SQL and parameters; none of that is passed on. Of an unknown failure only its kind is told.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from sediment_assets.adapters.fact_store.location import Dialect, FactStoreError, StoreLocation, label_of

_SQLITE = (
    ("file is not a database", "expected a SQLite database, got another kind of file"),
    ("disk image is malformed", "the file is damaged; restore it from a copy, or import the Facts again"),
    ("unable to open", "the file cannot be opened; check its permissions and those of its directory"),
    (
        "readonly database",
        "the file or its directory is read-only; importing needs write permission in both, and so does reading "
        "unless the store was turned once with sqlite3 FILE 'PRAGMA journal_mode=DELETE'",
    ),
    ("locked", "another process holds the store; try again when its import has ended"),
    ("disk is full", "the disk is full; nothing of this transaction was stored"),
    ("disk i/o error", "the disk reports an error"),
)
_POSTGRESQL = (
    ("password authentication failed", "the user name or password was refused"),
    ("no password supplied", "the server asks for a password and the URL has none"),
    ("no pg_hba.conf entry", "the server accepts no such connection from this host (pg_hba.conf)"),
    ("connection refused", "nothing listens there; is the server running?"),
    ("could not translate host name", "the host name is unknown"),
    ("name or service not known", "the host name is unknown"),
    ("no such file or directory", "nothing listens there; is the server running?"),
    ("timeout expired", "no answer within 5 seconds"),
    ("connection timeout", "no answer within 5 seconds"),
    ("too many", "the server has no connection left"),
    ("role", "the server refuses the role; check the user name"),
    ("database", "there is no such database, or the role may not connect to it"),
)
_SQLSTATES = {
    "42501": "the role may not do this; reading needs SELECT on every table of the store",
    "42P01": "a table of the store is missing; is this a Sediment database?",
    "42703": "a column of the store is missing; is this a Sediment database?",
    "25006": "the server or the role is read-only (default_transaction_read_only)",
    "57014": "the server cancelled the statement (statement_timeout)",
    "25P03": "the server ended the idle transaction (idle_in_transaction_session_timeout)",
    "57P01": "the server ended the connection",
    "55P03": "another process holds the store; try again when it has ended",
    "53100": "the server's disk is full; nothing of this transaction was stored",
    "22021": "the database's encoding cannot hold this text; a Fact store needs UTF8",
}


@contextmanager
def readable_failures(engine: Engine) -> Iterator[None]:
    """Turn every database error inside into a FactStoreError about ``engine``."""
    try:
        yield
    except DBAPIError as error:
        raise FactStoreError(f"Fact store {label_of(engine.url)}: {_reason(engine, error)}") from None
    except SQLAlchemyError as error:
        kind = type(error).__name__
        raise FactStoreError(f"Fact store {label_of(engine.url)}: {kind} while reading") from None


def _reason(engine: Engine, error: DBAPIError) -> str:
    state = getattr(error.orig, "sqlstate", None)
    if state in _SQLSTATES:
        return _SQLSTATES[state]
    text = str(error.orig).lower()
    hints = _SQLITE if engine.dialect.name == Dialect.SQLITE else _POSTGRESQL
    for words, reason in hints:
        if words in text:
            return reason
    suffix = f", SQLSTATE {state}" if state else ""
    return f"the database failed ({type(error.orig).__name__}{suffix})"


def require_readable_file(location: StoreLocation) -> None:
    """Refuse a SQLite store that is not there, with the way to make one."""
    path = location.path
    if path.is_dir():
        raise FactStoreError(f"Fact store {path}: expected a file, got a directory")
    if not path.exists():
        raise FactStoreError(
            f"Fact store {path}: no such file; "
            "create it with sediment capture SOURCE PATH, or sediment facts import PATH"
        )


def require_parent_directory(location: StoreLocation) -> None:
    """Refuse to create a SQLite store where no directory is."""
    path = location.path
    if path.is_dir():
        raise FactStoreError(f"Fact store {path}: expected a file, got a directory")
    if not path.parent.is_dir():
        raise FactStoreError(f"Fact store {path}: no directory {path.parent}; create it first: mkdir -p {path.parent}")
