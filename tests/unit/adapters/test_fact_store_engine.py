"""Opening SQLite stores: what is refused and how it is said, snapshots, one writer (facts.md §10.1, §11.1)."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import Table, select
from sqlalchemy.exc import SQLAlchemyError

from sediment_assets.adapters.fact_store.engine import (
    create_store,
    read_snapshot,
    reading_engine,
    write_transaction,
    writing_engine,
)
from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.adapters.fact_store.schema import (
    CHAIN,
    HEAD,
    ci_outcomes,
    inference_calls,
    metadata,
    primary_key,
    pushes,
)
from sediment_assets.adapters.fact_store.session_stream import calls_query, decisions_query
from sediment_assets.adapters.fact_store.snapshot import open_facts
from sediment_assets.adapters.fact_store.visibility import Visibility
from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.tables import FACT_MODELS
from tests.builders import make_call, make_decision, make_push, make_quarantine, plain_message, tool_call
from tests.stores import fill_store


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/facts.db"


def refusal(url: str) -> str:
    """What opening the store for reading says."""
    with pytest.raises(FactStoreError) as refused, read_snapshot(reading_engine(url)):
        pass
    message = str(refused.value)
    assert "\n" not in message
    return message


# --- files


def test_a_missing_file_names_the_command_that_makes_it(url: str, tmp_path: Path):
    assert refusal(url) == (
        f"Fact store {tmp_path}/facts.db: no such file; "
        "create it with sediment capture SOURCE PATH, or sediment facts import PATH"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_new_store_is_readable_by_its_owner_only(url: str, tmp_path: Path):
    before = os.umask(0)
    try:
        create_store(writing_engine(url))
    finally:
        os.umask(before)
    assert (tmp_path / "facts.db").stat().st_mode & 0o777 == 0o600


def test_the_mode_of_a_store_that_is_there_stays(url: str, tmp_path: Path):
    (tmp_path / "facts.db").touch(mode=0o640)
    (tmp_path / "facts.db").chmod(0o640)
    create_store(writing_engine(url))
    assert (tmp_path / "facts.db").stat().st_mode & 0o777 == 0o640


def test_a_directory_is_no_store(tmp_path: Path):
    assert refusal(f"sqlite:///{tmp_path}") == f"Fact store {tmp_path}: expected a file, got a directory"
    with pytest.raises(FactStoreError, match="expected a file, got a directory"):
        writing_engine(f"sqlite:///{tmp_path}")


def test_a_store_is_not_created_in_a_missing_directory(tmp_path: Path):
    with pytest.raises(FactStoreError) as refused:
        writing_engine(f"sqlite:///{tmp_path}/no/where/facts.db")
    assert str(refused.value).endswith(
        f"no directory {tmp_path}/no/where; create it first: mkdir -p {tmp_path}/no/where"
    )


def test_another_kind_of_file_is_refused_and_kept(url: str, tmp_path: Path):
    (tmp_path / "facts.db").write_text("not a database, but long enough to be looked at " * 20)
    before = (tmp_path / "facts.db").read_bytes()
    assert refusal(url) == f"Fact store {tmp_path}/facts.db: expected a SQLite database, got another kind of file"
    with pytest.raises(FactStoreError, match="another kind of file"):
        create_store(writing_engine(url))
    assert (tmp_path / "facts.db").read_bytes() == before


def test_another_programs_database_is_refused_and_kept(url: str, tmp_path: Path):
    with sqlite3.connect(tmp_path / "facts.db") as other:
        other.execute("CREATE TABLE notes (text)")
    other.close()
    before = (tmp_path / "facts.db").read_bytes()
    assert "got no table alembic_version" in refusal(url)
    with pytest.raises(FactStoreError, match="expected an empty database, got tables of another program"):
        create_store(writing_engine(url))
    assert (tmp_path / "facts.db").read_bytes() == before


def test_creating_a_store_twice_changes_nothing(url: str, tmp_path: Path):
    create_store(writing_engine(url))
    before = (tmp_path / "facts.db").read_bytes()
    create_store(writing_engine(url))
    assert (tmp_path / "facts.db").read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_store_is_one_line(url: str, tmp_path: Path):
    create_store(writing_engine(url))
    (tmp_path / "facts.db").chmod(0)
    assert "the file cannot be opened; check its permissions" in refusal(url)


def test_reading_leaves_no_files_behind(url: str, tmp_path: Path):
    fill_store(writing_engine(url), [make_push()])
    with open_facts(reading_engine(url), "acme") as facts:
        assert len(list(facts.pushes())) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["facts.db"]


# --- schema revision (facts.md §10.1)


@pytest.mark.parametrize(
    ("versions", "got"),
    [
        *(([name], f"got {name}; upgrade it") for name in CHAIN[:-1]),
        ([], "got none; upgrade it"),
        (["0012_future"], "got '0012_future'; it is newer than this"),
        ([HEAD, CHAIN[0]], "got 2 revisions"),
    ],
)
def test_unknown_revisions_are_refused(url: str, versions: list[str], got: str):
    engine = writing_engine(url)
    create_store(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM alembic_version")
        for version in versions:
            connection.exec_driver_sql("INSERT INTO alembic_version VALUES (?)", (version,))
    assert f"expected schema revision {HEAD}, {got}" in refusal(url)
    with pytest.raises(FactStoreError, match="expected schema revision"), write_transaction(engine):
        pass


# --- snapshots


def test_a_snapshot_does_not_see_later_facts(url: str):
    engine = writing_engine(url)
    fill_store(engine, [make_call(), make_push()])
    with open_facts(reading_engine(url), "acme") as facts:
        # Nothing was read yet: the view is fixed when the snapshot opens, and the writer is not kept waiting.
        later = [make_call(inference_call_id="c2", session_id="s2"), make_decision()]
        fill_store(engine, later, [make_quarantine()])
        assert [session.session_id for session in facts.sessions()] == ["s1"]
        assert facts.quarantine_revision() == 0
        assert next(iter(facts.sessions())).decisions == ()
    with open_facts(reading_engine(url), "acme") as facts:
        assert [session.session_id for session in facts.sessions()] == ["s2"]
        assert facts.quarantine_revision() == 1


def test_a_reader_cannot_write(url: str):
    create_store(writing_engine(url))
    with read_snapshot(reading_engine(url)) as connection, pytest.raises(Exception, match="readonly"):
        connection.execute(pushes.insert().values(push_id="p"))


def test_a_failed_write_transaction_stores_nothing(url: str):
    engine = writing_engine(url)
    create_store(engine)

    def fail_half_way():
        with write_transaction(engine) as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'x'")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    with read_snapshot(reading_engine(url)):
        pass


def test_an_error_of_the_consumer_is_not_taken_for_the_stores(url: str):
    fill_store(writing_engine(url), [make_call()])

    def fail_between_rows():
        with open_facts(reading_engine(url), "acme") as facts:
            for _ in facts.sessions():
                raise SQLAlchemyError("another database's")

    with pytest.raises(SQLAlchemyError, match="another database's"):
        fail_between_rows()


def test_sessions_are_read_one_by_one(url: str):
    engine = writing_engine(url)
    fill_store(engine, [make_call(inference_call_id=s, session_id=s) for s in "abc"])
    fill_store(engine, [make_decision(decision_id=s, session_id=s) for s in "ac"])
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE developer_decisions SET agent_harness = 'emacs' WHERE session_id = 'c'")
    with open_facts(reading_engine(url), "acme") as facts:
        sessions = facts.sessions()
        assert [next(sessions).session_id, next(sessions).session_id] == ["a", "b"]
        with pytest.raises(FactStoreError, match=r"developer_decisions 'c': agent_harness: expected .*, got 'emacs'"):
            next(sessions)


def test_stored_json_that_is_none_names_its_row(url: str):
    engine = writing_engine(url)
    fill_store(engine, [make_call()])
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE inference_calls SET raw = '{'")
    expected = pytest.raises(FactStoreError, match=r"facts.db: inference_calls 'c1': expected JSON, got")
    with open_facts(reading_engine(url), "acme") as facts, expected:
        [found.fact() for found in facts.full_calls(["c1"])]


def test_identities_do_not_rely_on_the_alias_copy(url: str):
    engine = writing_engine(url)
    call = make_call(output_messages=[plain_message("assistant", tool_call("b"), tool_call("a"))], model_call_id="m")
    fill_store(engine, [call])
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM inference_call_aliases WHERE ordinal = 1")
    with open_facts(reading_engine(url), "acme") as facts:
        assert [identity.call_ids for identity in facts.call_identities()] == [("a", "b", "m")]


def test_an_invalid_organization_is_refused(url: str):
    create_store(writing_engine(url))
    with pytest.raises(ValueError, match="expected an organization id"), open_facts(reading_engine(url), "a b"):
        pass


def test_the_organization_is_normalised(url: str):
    fill_store(writing_engine(url), [make_call()])
    with open_facts(reading_engine(url), "ACME") as facts:
        assert facts.org_id == "acme"
        assert list(facts.session_ids_with_calls()) == ["s1"]


WINDOW = SessionWindow(parse_instant("2026-03-02T00:00:00Z"), parse_instant("2026-03-03T00:00:00Z"))


@pytest.mark.parametrize("window", [None, WINDOW])
@pytest.mark.parametrize(
    "log", [[], [make_quarantine(), make_quarantine(quarantine_id="q2", fact_table="developer_decisions")]]
)
@pytest.mark.parametrize("query", [calls_query, decisions_query])
def test_ordered_sessions_need_no_sorting(url: str, window, log, query):
    # A sort would carry every message through a temporary file.
    fill_store(writing_engine(url), [], log)
    with read_snapshot(reading_engine(url)) as connection:
        compiled = query(connection, Visibility(connection, "acme"), window).compile(dialect=connection.dialect)
        values = tuple(str(compiled.params[name]) for name in compiled.positiontup)
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}", values)]
    assert not [step for step in plan if "TEMP B-TREE" in step or "SCAN" in step], plan


@pytest.mark.parametrize(
    "log", [[], [make_quarantine(), make_quarantine(fact_table="ci_outcomes", quarantine_id="q2")]]
)
@pytest.mark.parametrize("table", [inference_calls, ci_outcomes], ids=str)
def test_named_facts_are_found_by_primary_key(url: str, table: Table, log: list[QuarantineRecord]):
    fill_store(writing_engine(url), quarantine=log)
    with read_snapshot(reading_engine(url)) as connection:
        query = select(table).where(Visibility(connection, "acme").named(table, ["a", "b"]))
        compiled = query.compile(connection.engine, compile_kwargs={"literal_binds": True})
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {compiled}")]
        assert f"({primary_key(table).name}=?)" in plan[0]


def test_every_stored_column_of_a_fact_is_a_field():
    for name, model in FACT_MODELS.items():
        columns = set(metadata.tables[name].c.keys()) - {"call_alias_count"}
        assert columns == set(model.model_fields), name


def test_opening_a_store_imports_no_dagster_and_nothing_of_postgresql(url: str):
    create_store(writing_engine(url))
    code = (
        "import sys; from sediment_assets.adapters.fact_store.engine import *; "
        "import sediment_assets.adapters.fact_store.importer; "
        f"read_snapshot(reading_engine({url!r})).__enter__(); "
        "print(sorted({'psycopg', 'dagster', 'sqlalchemy.dialects.postgresql'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_missing_psycopg_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(FactStoreError) as refused:
        reading_engine("postgresql://u:secret@h/d")
    assert str(refused.value) == "Fact store h/d: PostgreSQL needs psycopg; pip install 'sediment-assets[postgres]'"
