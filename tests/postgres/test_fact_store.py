"""Fact stores on PostgreSQL: deployments are only read, failures are one line without credentials (facts.md §10–11)."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from sediment_assets.adapters.fact_store.counts import count_facts
from sediment_assets.adapters.fact_store.engine import create_store, read_snapshot, reading_engine, writing_engine
from sediment_assets.adapters.fact_store.importer import FactImportError, import_paths
from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.adapters.fact_store.quarantine_log import append_quarantine
from sediment_assets.adapters.fact_store.schema import CHAIN, HEAD
from sediment_assets.adapters.fact_store.snapshot import FactSnapshot, open_facts
from tests.builders import (
    IDENTITY,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
)
from tests.fact_files import store_content, write_facts
from tests.postgres.conftest import PASSWORD, Server
from tests.stores import fill_store

ONE_OF_EACH = [
    make_call(model_call_id="m1"), make_decision(raw={"a": "\0\ud800"}), make_outcome(reason="\0"),
    make_push(**IDENTITY), make_observation(**IDENTITY), make_rename(source_event_id="e"),
    make_quarantine(), make_quarantine(quarantine_id="q2", action="release"),
]  # fmt: skip


@pytest.fixture
def database(server: Server, new_database: Callable[[], str]) -> str:
    return new_database()


@pytest.fixture
def url(server: Server, database: str) -> str:
    return server.url(database)


@pytest.fixture
def admin(server: Server, database: str) -> Iterator[Callable[[str], None]]:
    """Runs SQL in the database, past the code under test."""
    with server.admin(database).connect() as connection:
        yield lambda sql: connection.execute(text(sql))


@pytest.fixture
def as_deployment(url: str, admin: Callable[[str], None]) -> str:
    """A store that another program made: our tables without our mark, and only what it needs."""
    fill_store(writing_engine(url), [make_call(), make_push()])
    admin("COMMENT ON TABLE alembic_version IS NULL")
    return url


def refusal(url: str) -> str:
    with pytest.raises(FactStoreError) as refused, read_snapshot(reading_engine(url)):
        pass
    message = str(refused.value)
    assert "\n" not in message
    for secret in (PASSWORD, "p%40ss", "admin", "w:rd"):
        assert secret not in message
    return message


# --- snapshots


def test_a_snapshot_does_not_see_later_facts(url: str):
    fill_store(writing_engine(url), [make_call(), make_push()])
    with open_facts(reading_engine(url), "acme") as facts:
        # Nothing was read yet: the view is fixed when the snapshot opens.
        fill_store(writing_engine(url), [make_call(inference_call_id="c2", session_id="s2")], [make_quarantine()])
        assert [session.session_id for session in facts.sessions()] == ["s1"]
        assert facts.quarantine_revision() == 0
    with open_facts(reading_engine(url), "acme") as facts:
        assert [session.session_id for session in facts.sessions()] == ["s2"]
        assert facts.quarantine_revision() == 1


def test_a_snapshot_is_repeatable_read_and_read_only(url: str):
    fill_store(writing_engine(url))
    with read_snapshot(reading_engine(url)) as connection:
        show = lambda name: connection.exec_driver_sql(f"SHOW {name}").scalar()  # noqa: E731
        assert show("transaction_isolation") == "repeatable read"
        assert show("transaction_read_only") == "on"
        assert (show("search_path"), show("TimeZone")) == ("public", "UTC")
        assert (show("statement_timeout"), show("idle_in_transaction_session_timeout")) == ("0", "0")


def test_large_reads_come_through_server_side_cursors(url: str):
    calls = [make_call(inference_call_id=f"c{n}", session_id=f"s{n}") for n in range(50)]
    fill_store(
        writing_engine(url), [*calls, *(make_decision(decision_id=f"d{n}", session_id=f"s{n}") for n in range(50))]
    )
    with read_snapshot(reading_engine(url)) as connection:
        sessions = FactSnapshot(connection, "acme").sessions()
        next(sessions)
        open_cursors = connection.exec_driver_sql("SELECT statement FROM pg_cursors WHERE name <> ''").scalars().all()
        assert len(open_cursors) == 2  # calls and decisions
        assert len(list(sessions)) == 49


def test_instants_do_not_depend_on_the_roles_time_zone(server: Server, database: str, url: str, admin):
    fill_store(writing_engine(url), [make_call(observed_at="2026-03-02T09:00:00.000001Z")])
    admin(f"ALTER DATABASE {database} SET timezone = 'Asia/Kolkata'")
    with open_facts(reading_engine(url), "acme") as facts:
        as_of = facts.as_of()
    assert as_of is not None
    assert as_of.isoformat() == "2026-03-02T09:00:00.000001+00:00"


def test_a_timeout_of_the_server_does_not_end_a_derivation(server: Server, database: str, url: str, admin):
    fill_store(writing_engine(url), [make_call()])
    admin(f"ALTER DATABASE {database} SET idle_in_transaction_session_timeout = '50ms'")
    with open_facts(reading_engine(url), "acme") as facts:
        time.sleep(0.2)
        assert facts.as_of() is not None


# --- roles


def test_a_role_that_may_only_select_can_read(server: Server, database: str, url: str, admin):
    fill_store(writing_engine(url), [make_call()], [make_quarantine(fact_id="ghost")])
    admin("CREATE ROLE reader LOGIN PASSWORD 'r'")
    try:
        admin("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
        admin("ALTER ROLE reader SET default_transaction_read_only = on")
        engine = reading_engine(server.url(database, "reader", "r"))
        with open_facts(engine, "acme") as facts:
            assert [session.session_id for session in facts.sessions()] == ["s1"]
            assert len(list(facts.evidence())) == 0
        assert count_facts(engine).organizations[0].quarantine_records == 1
        with pytest.raises(FactStoreError, match="read-only"):
            append_quarantine(
                writing_engine(server.url(database, "reader", "r")), [make_quarantine(quarantine_id="q2")]
            )
    finally:
        admin("DROP OWNED BY reader")
        admin("DROP ROLE reader")


def test_a_missing_privilege_is_named(server: Server, database: str, url: str, admin):
    fill_store(writing_engine(url), [make_call()])
    admin("CREATE ROLE nobody_special LOGIN PASSWORD 'r'")
    try:
        message = refusal(server.url(database, "nobody_special", "r"))
        assert message.endswith(
            f"/{database}: the role may not do this; reading needs SELECT on every table of the store"
        )
    finally:
        admin("DROP ROLE nobody_special")


# --- connecting


def test_a_wrong_password_is_told_without_credentials(server: Server, database: str):
    message = refusal(server.url(database, password="wr0ng"))
    assert message == f"Fact store 127.0.0.1:{server.port}/{database}: the user name or password was refused"


def test_a_missing_database_is_told(server: Server):
    assert refusal(server.url("nowhere")).startswith(
        f"Fact store 127.0.0.1:{server.port}/nowhere: there is no such database"
    )


def test_a_dead_port_is_told():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        message = refusal(f"postgresql://u:p@127.0.0.1:{port}/d")
    assert message == f"Fact store 127.0.0.1:{port}/d: nothing listens there; is the server running?"


def test_a_silent_server_is_given_up_after_five_seconds():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        port = silent.getsockname()[1]
        started = time.monotonic()
        message = refusal(f"postgresql://u:p@127.0.0.1:{port}/d")
    assert message == f"Fact store 127.0.0.1:{port}/d: no answer within 5 seconds"
    assert 4 < time.monotonic() - started < 9


# --- schema revision


@pytest.mark.parametrize(
    ("versions", "got"),
    [
        ([CHAIN[9]], "got 0010_repository_identity; upgrade it"),
        ([], "got none; upgrade it"),
        (["0012_future"], "got '0012_future'; it is newer than this"),
        ([HEAD, CHAIN[0]], "got 2 revisions"),
    ],
)
def test_unknown_revisions_are_refused(url: str, admin, versions: list[str], got: str):
    create_store(writing_engine(url))
    admin("DELETE FROM alembic_version")
    for version in versions:
        admin(f"INSERT INTO alembic_version VALUES ('{version}')")
    assert f"expected schema revision {HEAD}, {got}" in refusal(url)


def test_an_empty_database_is_no_store(url: str):
    assert "got no table alembic_version" in refusal(url)


# --- importing


def test_an_import_fills_a_new_store_and_changes_nothing_the_second_time(url: str, tmp_path: Path):
    directory = write_facts(tmp_path / "facts", ONE_OF_EACH)
    first = import_paths(writing_engine(url), [directory])
    assert sum(table.stored for table in first.tables) == len(ONE_OF_EACH)
    before = store_content(url)
    second = import_paths(writing_engine(url), [directory])
    assert [(table.stored, table.present) for table in second.tables] == [(0, table.read) for table in second.tables]
    assert store_content(url) == before


def test_both_databases_hold_the_same(url: str, tmp_path: Path):
    directory = write_facts(tmp_path / "facts", ONE_OF_EACH)
    embedded = f"sqlite:///{tmp_path}/facts.db"
    for each in (url, embedded):
        import_paths(writing_engine(each), [directory])
    assert store_content(url) == store_content(embedded)
    here, there = count_facts(reading_engine(url)), count_facts(reading_engine(embedded))
    assert here.organizations == there.organizations
    assert here.database.startswith("PostgreSQL ")


def test_a_conflict_rolls_the_import_back(url: str, tmp_path: Path):
    import_paths(writing_engine(url), [write_facts(tmp_path / "a", ONE_OF_EACH)])
    before = store_content(url)
    again = write_facts(tmp_path / "b", [make_push(push_id="p9"), make_outcome(commit_sha="c" * 40)])
    with pytest.raises(FactImportError, match="commit_sha: expected 'aaa"):
        import_paths(writing_engine(url), [again])
    assert store_content(url) == before


def test_an_existing_deployment_is_read_but_never_written(as_deployment: str, tmp_path: Path):
    with open_facts(reading_engine(as_deployment), "acme") as facts:
        assert [push.push_id for push in facts.pushes()] == ["p1"]
    before = store_content(as_deployment)
    with pytest.raises(FactStoreError, match="got a Sediment deployment, which is only read"):
        import_paths(writing_engine(as_deployment), [write_facts(tmp_path / "facts", ONE_OF_EACH)])
    with pytest.raises(FactStoreError, match="which is only read"):
        append_quarantine(writing_engine(as_deployment), [make_quarantine()])
    assert store_content(as_deployment) == before


def test_another_programs_database_is_left_alone(url: str, admin, tmp_path: Path):
    admin("CREATE TABLE notes (note text)")
    with pytest.raises(FactStoreError, match="expected an empty database, got tables of another program"):
        import_paths(writing_engine(url), [write_facts(tmp_path / "facts", ONE_OF_EACH)])
