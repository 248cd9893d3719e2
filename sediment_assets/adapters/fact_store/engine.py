"""Opening a Fact store: read-only snapshots, write transactions, the schema revision (facts.md §10–11).

SQLite stores are in WAL mode: a derivation holds its snapshot for minutes, and neither blocks an import nor is blocked
by one. The price is that a reader, too, needs write permission in the file's directory. PostgreSQL is read in one
``REPEATABLE READ``, ``READ ONLY`` transaction; Sediment's own server demands release 16, reading works from 15 on.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, create_engine, event, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from sediment_assets.adapters.fact_store.failures import (
    readable_failures,
    require_parent_directory,
    require_readable_file,
)
from sediment_assets.adapters.fact_store.location import (
    Dialect,
    FactStoreError,
    StoreLocation,
    label_of,
    parse_location,
)
from sediment_assets.adapters.fact_store.schema import CHAIN, HEAD, OWN_STORE, alembic_version, metadata


class ForeignStoreError(FactStoreError):
    """The store belongs to a Sediment deployment: read, never written."""


CONNECT_SECONDS = 5
"""Longest wait for a PostgreSQL connection (facts.md §11.6)."""
BUSY_SECONDS = 30
"""Longest wait for another process that is writing the same SQLite store."""
PAGE_BYTES = 16_384
"""Pages of a new SQLite store: rows are long, and four times the default takes them in almost half the time."""
MIN_SERVER_VERSION = 15
"""Oldest PostgreSQL release accepted."""


def reading_engine(url: str) -> Engine:
    """Open a Fact store for reading only.

    Raises FactStoreError for a URL of another form, a SQLite file that is not there, or the missing postgres extra.
    """
    location = parse_location(url)
    if location.dialect is Dialect.SQLITE:
        require_readable_file(location)
        return _sqlite_engine(location, _READ, begin="BEGIN")
    return _postgresql_engine(location, isolation_level="REPEATABLE READ", postgresql_readonly=True)


def writing_engine(url: str) -> Engine:
    """Open a Fact store for importing; ``create_store`` makes its tables, and SQLite its file.

    Raises FactStoreError as ``reading_engine`` does, but a missing SQLite file only needs its directory.
    """
    location = parse_location(url)
    if location.dialect is Dialect.SQLITE:
        require_parent_directory(location)
        return _sqlite_engine(location, _CREATE, begin="BEGIN IMMEDIATE")
    return _postgresql_engine(location, isolation_level="READ COMMITTED")


# Not "ro": whoever closes a WAL store last tidies its -wal and -shm files away, and a read-only opener cannot.
_READ = "rw"
_CREATE = "rwc"


def _sqlite_engine(location: StoreLocation, mode: str, *, begin: str) -> Engine:
    file = f"file:{quote(str(location.path))}?mode={mode}"

    def connect() -> sqlite3.Connection:
        if mode == _CREATE:
            _create_private(location.path)
        # isolation_level=None: the driver's implicit transactions leave reads outside any, so we say BEGIN ourselves.
        connection = sqlite3.connect(
            file,
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            # Every cached statement keeps a copy of the values it was last given, a whole batch of Facts maybe.
            cached_statements=8,
        )
        connection.execute("PRAGMA foreign_keys = ON")
        if mode == _READ:
            connection.execute("PRAGMA query_only = ON")
        # The journal mode belongs to the file; only a new one is ours to turn.
        if mode == _CREATE and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
        return connection

    engine = create_engine(location.url, creator=connect, poolclass=NullPool, hide_parameters=True)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    return engine


def _create_private(path: Path) -> None:
    """Create a missing store readable by its owner only: it is to hold prompts. SQLite's side files follow its mode."""
    with suppress(OSError):  # there already, or SQLite has better words for what is wrong
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE_MODE))


_PRIVATE_MODE = 0o600


def _postgresql_engine(location: StoreLocation, **execution_options: Any) -> Engine:
    connect_args = {"connect_timeout": CONNECT_SECONDS, "client_encoding": "UTF8"}
    try:
        return create_engine(
            location.url,
            poolclass=NullPool,
            hide_parameters=True,
            connect_args=connect_args,
            execution_options=execution_options,
        )
    except ModuleNotFoundError:
        raise FactStoreError(
            f"Fact store {location}: PostgreSQL needs psycopg; pip install 'sediment-assets[postgres]'"
        ) from None


@contextmanager
def read_snapshot(engine: Engine) -> Iterator[Connection]:
    """Give a connection that sees one unchanging state of the store until the block ends; nothing can be written.

    Raises FactStoreError when the store cannot be opened or its schema revision is not ``HEAD``.
    """
    with readable_failures(engine):
        connection = engine.connect()
    try:
        with readable_failures(engine):
            _settle(connection)
            require_head(connection)
        yield connection
    finally:
        # Nothing was written, and after a broken connection there is nothing left to roll back.
        with suppress(SQLAlchemyError):
            connection.rollback()
        connection.close()


@contextmanager
def write_transaction(engine: Engine) -> Iterator[Connection]:
    """Give a connection whose writes are all stored when the block ends, or none if it raises. One writer at a time.

    Raises FactStoreError when the store is not ours to write: unknown revision, or an existing Sediment deployment.
    """
    with readable_failures(engine), engine.begin() as connection:
        _settle(connection)
        require_head(connection)
        _require_own_store(connection)
        yield connection


def _settle(connection: Connection) -> None:
    """Fix the view and, on PostgreSQL, what the server or role may have set otherwise, for this transaction only."""
    if connection.dialect.name == Dialect.SQLITE:
        # BEGIN alone takes no snapshot; the first read does.
        connection.exec_driver_sql("SELECT count(*) FROM sqlite_master")
        return
    connection.exec_driver_sql("SELECT 1")
    version = connection.dialect.server_version_info or (0,)
    if int(version[0]) < MIN_SERVER_VERSION:
        raise FactStoreError(
            f"Fact store {label_of(connection.engine.url)}: expected PostgreSQL {MIN_SERVER_VERSION} or newer, "
            f"got {version[0]}"
        )
    # A derivation thinks between two fetches, so no timeout of the server's may end it.
    for setting in (
        "search_path = public",
        "timezone = 'UTC'",
        "statement_timeout = 0",
        "idle_in_transaction_session_timeout = 0",
    ):
        connection.exec_driver_sql(f"SET LOCAL {setting}")


def require_head(connection: Connection) -> None:
    """Refuse a store whose schema revision is not the one supported (facts.md §10.1)."""
    place = f"Fact store {label_of(connection.engine.url)}"
    if not inspect(connection).has_table(alembic_version.name):
        raise FactStoreError(
            f"{place}: expected schema revision {HEAD}, got no table alembic_version; "
            "sediment facts import PATH makes a new store"
        )
    found = connection.scalars(select(alembic_version.c.version_num)).all()
    if len(found) > 1:
        raise FactStoreError(f"{place}: expected schema revision {HEAD}, got {len(found)} revisions")
    if not found or found[0] in CHAIN[:-1]:
        got = found[0] if found else "none"
        raise FactStoreError(
            f"{place}: expected schema revision {HEAD}, got {got}; upgrade it with sediment db upgrade (0.6)"
        )
    if found[0] != HEAD:
        raise FactStoreError(f"{place}: expected schema revision {HEAD}, got {found[0][:80]!r}; it is newer than this")


def _require_own_store(connection: Connection) -> None:
    if connection.dialect.name == Dialect.SQLITE:
        return
    if inspect(connection).get_table_comment(alembic_version.name)["text"] != OWN_STORE:
        raise ForeignStoreError(
            f"Fact store {label_of(connection.engine.url)}: expected a store made by sediment facts import, got a "
            "Sediment deployment, which is only read; import into an empty database or a SQLite file"
        )


def create_store(engine: Engine) -> bool:
    """Make the tables of an empty Fact store; False when they are there already.

    Raises FactStoreError for a database with tables of another program.
    """
    with readable_failures(engine), engine.begin() as connection:
        _settle(connection)
        tables = set(inspect(connection).get_table_names())
        if alembic_version.name in tables:
            return False
        if tables:
            raise FactStoreError(
                f"Fact store {label_of(engine.url)}: expected an empty database, got tables of another program"
            )
        metadata.create_all(connection)
        connection.execute(alembic_version.insert().values(version_num=HEAD))
    return True


@contextmanager
def filling_new_store(engine: Engine) -> Iterator[None]:
    """Fill a store that was just created: SQLite does without its WAL meanwhile, and writes every page once, not twice.

    Readers have to wait, but there is nothing to read yet.
    """
    _set_journal_mode(engine, "DELETE")
    try:
        yield
    finally:
        _set_journal_mode(engine, "WAL")


def _set_journal_mode(engine: Engine, mode: str) -> None:
    if engine.dialect.name != Dialect.SQLITE:
        return
    # Past SQLAlchemy: a mode is not set inside a transaction. While others use the file it just stays as it is.
    connection = engine.raw_connection()
    with closing(connection), suppress(sqlite3.OperationalError):
        connection.cursor().execute(f"PRAGMA journal_mode = {mode}")


def lock_for_import(connection: Connection) -> None:
    """Keep other writers out until the transaction ends. SQLite has one writer at a time anyway."""
    if connection.dialect.name != Dialect.SQLITE:
        tables = ", ".join(metadata.tables)
        connection.exec_driver_sql(f"LOCK TABLE {tables} IN SHARE ROW EXCLUSIVE MODE")


def database_version(connection: Connection) -> str:
    """Name the database software, for people: ``SQLite 3.40.1``, ``PostgreSQL 15.18``."""
    if connection.dialect.name == Dialect.SQLITE:
        return f"SQLite {sqlite3.sqlite_version}"
    return f"PostgreSQL {connection.scalar(text('SHOW server_version'))}"
