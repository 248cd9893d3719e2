"""A real PostgreSQL server for the session, on a loopback port, with a database per test.

Its main database sorts text by an ICU collation (not by code point), as deployments do.
"""

import itertools
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sqlalchemy import Engine, NullPool, create_engine

ADMIN, PASSWORD = "admin", "p@ss/w:rd"
ENCODED_PASSWORD = "p%40ss%2Fw%3Ard"


@dataclass(frozen=True)
class Server:
    """A running server. ``url`` gives a database URL for a role of it."""

    port: int

    def url(self, database: str, user: str = ADMIN, password: str = ENCODED_PASSWORD) -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def admin(self, database: str) -> Engine:
        """An engine that commits every statement, past the code under test."""
        url = self.url(database).replace("postgresql:", "postgresql+psycopg:")
        return create_engine(url, isolation_level="AUTOCOMMIT", poolclass=NullPool)


def _binaries() -> Path | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).parent if on_path else None


def _as_server_user() -> tuple[list[str], int | None]:
    """The command prefix and user id for the server, which refuses to run as root."""
    if os.geteuid() != 0:
        return [], None
    user = pwd.getpwnam("nobody")
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"], user.pw_uid


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL binaries (initdb) on this machine")
    prefix, uid = _as_server_user()
    # Not under pytest's private directory, which another user cannot enter.
    home = Path(subprocess.check_output([*prefix, "mktemp", "-d", "/tmp/sediment-postgres.XXXXXX"], text=True).strip())
    data, port = home / "data", _free_port()
    try:
        (home / "password").write_text(PASSWORD)
        if uid is not None:
            os.chown(home / "password", uid, -1)
        _run(prefix, home, binaries / "initdb", "-D", data, "-U", ADMIN, "-E", "UTF8", "--no-sync",
             "--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8",
             "--auth=scram-sha-256", f"--pwfile={home / 'password'}")  # fmt: skip
        options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories= -c fsync=off"
        _run(prefix, home, binaries / "pg_ctl", "-D", data, "-w", "-l", home / "log", "-o", options, "start")
        try:
            yield Server(port)
        finally:
            _run(prefix, home, binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _run(prefix: list[str], home: Path, *command: object) -> None:
    done = subprocess.run(
        [*prefix, *map(str, command)], cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.fixture
def new_database(server: Server) -> Iterator[Callable[[], str]]:
    """Makes empty databases and drops them afterwards."""
    names: list[str] = []
    with server.admin("postgres").connect() as admin:

        def create() -> str:
            name = f"facts_{next(_NUMBERS)}"
            admin.exec_driver_sql(f"CREATE DATABASE {name}")
            names.append(name)
            return name

        yield create
        for name in names:
            admin.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


_NUMBERS = itertools.count(1)
