"""Importing canonical JSONL: what is read, what is refused and how, all or nothing (design.md §4, facts.md §9)."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sediment_assets.adapters.fact_store import engine as engine_module
from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.fact_batches import BATCH_ROWS
from sediment_assets.adapters.fact_store.importer import (
    FactImportError,
    ImportProgress,
    ImportSummary,
    import_paths,
)
from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.adapters.fact_store.snapshot import open_facts
from tests.builders import (
    IDENTITY,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
    plain_message,
    tool_call,
    tool_response,
)
from tests.fact_files import fact_line, store_content, write_facts

ONE_OF_EACH = [
    make_call(output_messages=[plain_message("assistant", tool_call("t1"))], model_call_id="m1"),
    make_decision(raw={"b": 1, "a": "\ud800"}),
    make_outcome(reason="x\0"),
    make_push(**IDENTITY),
    make_observation(**IDENTITY),
    make_rename(),
    make_quarantine(fact_table="developer_decisions", fact_id="d1"),
]
ALL_TABLES = (
    "inference_calls developer_decisions ci_outcomes pushes session_commit_observations repository_renames quarantine"
)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/facts.db"


def run_import(url: str, *paths: Path) -> ImportSummary:
    return import_paths(writing_engine(url), paths)


def refused_lines(url: str, *paths: Path) -> tuple[str, ...]:
    with pytest.raises(FactImportError) as refused:
        run_import(url, *paths)
    return refused.value.problems


def file_of(tmp_path: Path, name: str, *lines: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(b"".join(lines))
    return path


# --- what is imported


def test_a_directory_of_every_table_is_imported(url: str, tmp_path: Path):
    summary = run_import(url, write_facts(tmp_path / "facts", ONE_OF_EACH))
    assert summary.store == str(tmp_path / "facts.db")
    assert {table.table for table in summary.tables} == set(ALL_TABLES.split())
    assert all((table.read, table.stored, table.present) == (1, 1, 0) for table in summary.tables)
    with open_facts(reading_engine(url), "acme") as facts:
        call, _, outcome, push, observation, rename, _ = ONE_OF_EACH
        assert [found.fact() for found in facts.full_calls(["c1"])] == [call]
        assert [identity.call_ids for identity in facts.call_identities()] == [("m1", "t1")]
        assert facts.full_ci_outcomes(["o1"]) == {"o1": outcome}
        assert list(facts.pushes()) == [push]
        assert list(facts.observations()) == [observation]
        assert list(facts.renames()) == [rename]
        (session,) = facts.sessions()
        assert session.decisions == ()
        assert facts.quarantine_revision() == 1


def test_importing_twice_changes_nothing(url: str, tmp_path: Path):
    directory = write_facts(tmp_path / "facts", ONE_OF_EACH)
    run_import(url, directory)
    before = store_content(url)
    summary = run_import(url, directory, directory)
    assert all((table.read, table.stored, table.present) == (2, 0, 2) for table in summary.tables)
    assert store_content(url) == before


def test_the_order_of_files_does_not_matter(url: str, tmp_path: Path):
    directory = write_facts(
        tmp_path / "facts", [make_observation(**IDENTITY), make_push(**IDENTITY), make_quarantine()]
    )
    names = ["quarantine.jsonl", "session_commit_observations.jsonl", "pushes.jsonl"]
    summary = run_import(url, *(directory / name for name in names))
    assert [table.table for table in summary.tables] == ["pushes", "session_commit_observations", "quarantine"]


def test_files_of_one_table_add_up(url: str, tmp_path: Path):
    first = write_facts(tmp_path / "a", [make_call()])
    second = write_facts(tmp_path / "b", [make_call(inference_call_id="c2")])
    (table,) = run_import(url, first, second / "inference_calls.jsonl").tables
    assert (table.read, table.stored) == (2, 2)


def test_batches_are_seamless(url: str, tmp_path: Path):
    count = 2 * BATCH_ROWS + 3
    calls = [make_call(inference_call_id=f"c{n}", session_id=f"s{n % 7}") for n in range(count)]
    # The same call again within a batch, and across batches.
    calls[5:5] = [calls[4]]
    calls.append(calls[0])
    (table,) = run_import(url, write_facts(tmp_path / "facts", calls)).tables
    assert (table.read, table.stored, table.present) == (count + 2, count, 2)


def test_of_a_batch_only_what_is_new_is_stored(url: str, tmp_path: Path):
    calls = [make_call(inference_call_id=f"c{n}", model_call_id=f"m{n}") for n in range(6)]
    run_import(url, write_facts(tmp_path / "first", [calls[1], calls[4]]))
    again = make_call(inference_call_id="other", model_call_id="m4")
    (summary,) = run_import(url, write_facts(tmp_path / "second", [*calls, again])).tables
    assert (summary.read, summary.stored, summary.present) == (7, 4, 3)
    content = store_content(url)
    assert len(content["inference_calls"]) == 6
    assert [alias for _, _, _, alias in content["inference_call_aliases"]] == [f"m{n}" for n in range(6)]


def test_progress_ends_at_the_size_of_all_files(url: str, tmp_path: Path):
    directory = write_facts(tmp_path / "facts", ONE_OF_EACH)
    seen: list[ImportProgress] = []
    import_paths(writing_engine(url), [directory], progress=seen.append)
    total = sum(path.stat().st_size for path in directory.iterdir())
    assert [step.bytes_total for step in seen] == [total] * len(seen)
    assert sorted(step.bytes_read for step in seen) == [step.bytes_read for step in seen]
    assert seen[-1].bytes_read == total


# --- paths


def test_other_suffixes_in_a_directory_are_left_alone(url: str, tmp_path: Path):
    directory = write_facts(tmp_path / "facts", [make_call()])
    (directory / "README.md").write_text("not a Fact")
    assert len(run_import(url, directory).tables) == 1


@pytest.mark.parametrize("explicit", [True, False])
def test_an_unknown_jsonl_file_is_refused_with_the_known_names(url: str, tmp_path: Path, explicit: bool):
    directory = write_facts(tmp_path / "facts", [make_call()])
    unknown = file_of(directory, "completions.jsonl", b"{}\n")
    with pytest.raises(FactStoreError) as refused:
        run_import(url, unknown if explicit else directory)
    known = ", ".join(f"{name}.jsonl" for name in ALL_TABLES.split())
    assert str(refused.value) == (
        f"{unknown}: expected one of {known}, got 'completions.jsonl'; "
        "files of other kinds: sediment capture SOURCE PATH"
    )
    assert not (tmp_path / "facts.db").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "expected a file or directory, got no such path"),
        ("missing/pushes.jsonl", "expected a file or directory, got no such path"),
        ("empty", "in the directory, got none of them; files of other kinds: sediment capture SOURCE PATH"),
        ("notes.txt", "got 'notes.txt'; files of other kinds: sediment capture SOURCE PATH"),
        ("odd/pushes.jsonl", "expected a regular file, got a directory"),
    ],
)
def test_unusable_paths_are_refused(url: str, tmp_path: Path, name: str, message: str):
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.txt").touch()
    (tmp_path / "odd" / "pushes.jsonl").mkdir(parents=True)
    path = tmp_path / name
    with pytest.raises(FactStoreError) as refused:
        run_import(url, path if path.parent.name != "odd" else path.parent)
    assert str(refused.value).startswith(f"{path}: ")
    assert str(refused.value).endswith(message)


# --- lines


def test_lines_may_end_in_any_usual_way(url: str, tmp_path: Path):
    lines = [fact_line(make_call(inference_call_id=f"c{n}")).strip() for n in range(2)]
    file_of(tmp_path, "inference_calls.jsonl", lines[0], b"\r\n", lines[1])
    (table,) = run_import(url, tmp_path / "inference_calls.jsonl").tables
    assert table.stored == 2


def test_an_empty_file_has_no_facts(url: str, tmp_path: Path):
    (table,) = run_import(url, file_of(tmp_path, "pushes.jsonl")).tables
    assert (table.read, table.stored) == (0, 0)


def test_unknown_keys_are_dropped_and_the_last_duplicate_wins(url: str, tmp_path: Path):
    line = b'{"future":{"a":[1]},"ref":"first",' + fact_line(make_push(ref="last"))[1:]
    run_import(url, file_of(tmp_path, "pushes.jsonl", line))
    with open_facts(reading_engine(url), "acme") as facts:
        assert list(facts.pushes()) == [make_push(ref="last")]


def test_values_are_normalised(url: str, tmp_path: Path):
    line = fact_line(make_push(), org_id="ACME", repo=" Acme/Widget ", captured_at="2026-03-02 10:00:00+01:00")
    run_import(url, file_of(tmp_path, "pushes.jsonl", line))
    with open_facts(reading_engine(url), "acme") as facts:
        assert list(facts.pushes()) == [make_push()]


CALL = fact_line(make_call())
DEEP = b"[" * 1500 + b"]" * 1500
UNKNOWN_PART = plain_message("a", "x", {"type": "image"})
BLANK_ID = plain_message("a", "x", tool_call(" "))
NOT_AN_ID = "expected a non-blank string without U+0000 and surrogates"
BAD_LINES = [
    (b"\n", "expected a JSON object, got a blank line"),
    (b"  \t\r\n", "expected a JSON object, got a blank line"),
    (b"\xef\xbb\xbf" + CALL, "expected a JSON object, got a byte order mark"),
    (CALL.replace(b"Done.", b"\xff"), "expected JSON in UTF-8, got an invalid byte at position"),
    (CALL.replace(b"Done.", b"\xed\xa0\x80"), "expected JSON in UTF-8, got an invalid byte at position"),
    (CALL[:-2] + b"\n", "expected JSON, got"),
    (CALL.strip() + b"{}\n", "expected JSON, got"),
    (b"[]\n", "expected a JSON object, got []"),
    (b"null\n", "expected a JSON object, got null"),
    (fact_line(make_call(), raw={"n": 1}).replace(b'"n":1', b'"n":' + b"9" * 4301), "expected integers of at most"),
    (CALL.replace(b'"raw":{}', b'"raw":{"a":' + DEEP + b"}"), "expected JSON nested at most"),
    (fact_line(make_call(), org_id="a b"), "org_id: expected an organization id"),
    (fact_line(make_call(), session_id=...), "session_id: expected a value, got no such key"),
    (fact_line(make_call(), session_id=None), "session_id: expected a non-blank string"),
    (fact_line(make_call(), gateway_provider="LiteLLM"), "gateway_provider: expected "),
    (fact_line(make_call(), observed_at="2026-03-02"), "observed_at: expected a timestamp with an offset"),
    (fact_line(make_call(), raw="{}"), "raw: expected an object, got '{}'"),
    (fact_line(make_call(), output_messages=[UNKNOWN_PART]), "output_messages[0].parts[1]: expected "),
    (fact_line(make_call(), output_messages=[BLANK_ID]), f"output_messages[0].parts[1].id: {NOT_AN_ID}"),
    (fact_line(make_call(), schema_version=2), "schema_version: expected the integer 1, got 2"),
    (fact_line(make_call(), session_id="", user_id=""), f"session_id: {NOT_AN_ID}, got '' (and 1 more field)"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "problem"), BAD_LINES)
def test_a_bad_line_is_named_with_file_line_field_and_values(url: str, tmp_path: Path, line: bytes, problem: str):
    path = file_of(tmp_path, "inference_calls.jsonl", fact_line(make_call(inference_call_id="ok")), line)
    (found,) = refused_lines(url, path)
    assert found.startswith(f"{path}:2: {problem}")
    assert "\n" not in found


@pytest.mark.parametrize(
    ("record", "field"),
    [
        (make_call(), "inference_call_id"), (make_call(), "observed_at"),
        (make_decision(), "decision_id"), (make_decision(), "captured_at"),
        (make_outcome(), "outcome_id"), (make_outcome(), "captured_at"),
        (make_push(), "push_id"), (make_push(), "captured_at"),
        (make_observation(), "observation_id"), (make_observation(), "captured_at"),
        (make_rename(), "rename_id"), (make_rename(), "captured_at"),
        (make_quarantine(), "quarantine_id"), (make_quarantine(), "recorded_at"),
    ],
)  # fmt: skip
def test_an_import_invents_no_ids_and_no_instants(url: str, tmp_path: Path, record, field: str):
    path = write_facts(tmp_path / "facts", [record])
    (file,) = path.iterdir()
    file.write_bytes(fact_line(record, **{field: ...}))
    assert refused_lines(url, path) == (f"{file}:1: {field}: expected a value, got no such key",)


def test_every_bad_line_is_listed_up_to_fifty(url: str, tmp_path: Path):
    lines = [fact_line(make_call(), org_id="?") if n % 2 else CALL for n in range(150)]
    path = file_of(tmp_path, "inference_calls.jsonl", *lines)
    more = file_of(tmp_path, "pushes.jsonl", b"{}\n")
    with pytest.raises(FactImportError) as refused:
        run_import(url, path, more)
    first, *listed, last = str(refused.value).split("\n")
    assert first == "76 bad lines, nothing was imported"
    assert listed[0].startswith(f"{more}:1: ")
    assert [line.split(": ")[0] for line in listed[1:]] == [f"{path}:{n}" for n in range(2, 100, 2)]
    assert last == "… and 26 more"


def test_one_bad_line_keeps_everything_out(url: str, tmp_path: Path):
    run_import(url, write_facts(tmp_path / "before", [make_call()]))
    before = store_content(url)
    directory = write_facts(tmp_path / "facts", [make_push(), make_call(inference_call_id="c2"), make_rename()])
    with (directory / "repository_renames.jsonl").open("ab") as file:
        file.write(fact_line(make_rename(), new_repo="ACME/widget"))
    (problem,) = refused_lines(url, directory)
    assert problem.startswith(f"{directory}/repository_renames.jsonl:2: new_repo: expected ")
    assert store_content(url) == before


def test_a_refused_first_import_leaves_an_empty_store(url: str, tmp_path: Path):
    refused_lines(url, file_of(tmp_path, "pushes.jsonl", b"\n"))
    content = store_content(url)
    assert content.pop("alembic_version") == [("0011_inference_call_aliases",)]
    assert not any(content.values())


def test_messages_hold_no_control_characters_of_captured_values(url: str, tmp_path: Path):
    path = file_of(tmp_path, "pushes.jsonl", fact_line(make_push(), repo="\x1b[31m\u202e\n" * 30))
    (problem,) = refused_lines(url, path)
    assert problem.isprintable()
    assert len(problem) < 300


# --- redaction (facts.md §9)


def test_facts_are_redacted_before_they_are_stored(url: str, tmp_path: Path):
    secret = "A" * 16
    call = make_call(
        input_messages=[
            plain_message("user", f"Authorization: Bearer {secret}", tool_response("t", {"api_key": secret}))
        ],
        raw={"token": f"sk-{secret}"},
    )
    decision = make_decision(raw={"x-api-key": ""})
    directory = write_facts(tmp_path / "facts", [call, decision, make_outcome(reason=f"Bearer {secret}"), make_push()])
    summary = run_import(url, directory)
    redacted = {table.table: dict(table.redactions) for table in summary.tables}
    assert redacted == {
        "pushes": {},
        "ci_outcomes": {"bearer_token": 1},
        "developer_decisions": {"structured_credential": 1},
        "inference_calls": {"authorization_header": 1, "structured_credential": 1, "provider_key": 1},
    }
    assert secret not in repr(store_content(url))
    assert secret.encode() not in (tmp_path / "facts.db").read_bytes()
    # Nothing new is stored, so nothing is redacted in it.
    assert not any(table.redactions for table in run_import(url, directory).tables)


# --- while others read


def journal_mode(path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        mode: str = connection.execute("PRAGMA journal_mode").fetchone()[0]
        return mode


def test_a_filled_store_lets_readers_and_writers_work_side_by_side(url: str, tmp_path: Path):
    run_import(url, write_facts(tmp_path / "first", [make_call()]))
    assert journal_mode(tmp_path / "facts.db") == "wal"
    with open_facts(reading_engine(url), "acme") as facts:
        run_import(url, write_facts(tmp_path / "second", [make_call(inference_call_id="c2", session_id="s2")]))
        assert list(facts.session_ids_with_calls()) == ["s1"]
    with open_facts(reading_engine(url), "acme") as facts:
        assert list(facts.session_ids_with_calls()) == ["s1", "s2"]


def test_a_refused_first_import_leaves_a_store_for_readers_and_writers(url: str, tmp_path: Path):
    refused_lines(url, file_of(tmp_path, "pushes.jsonl", b"\n"))
    assert journal_mode(tmp_path / "facts.db") == "wal"


def test_an_operators_journal_mode_is_kept(url: str, tmp_path: Path):
    run_import(url, write_facts(tmp_path / "first", [make_call()]))
    with closing(sqlite3.connect(tmp_path / "facts.db")) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
    run_import(url, write_facts(tmp_path / "second", [make_push()]))
    assert journal_mode(tmp_path / "facts.db") == "delete"


def test_a_second_writer_waits_and_then_says_so(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    directory = write_facts(tmp_path / "facts", [make_call()])
    run_import(url, directory)
    monkeypatch.setattr(engine_module, "BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(tmp_path / "facts.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(FactStoreError) as refused:
            run_import(url, directory)
    assert str(refused.value) == (
        f"Fact store {tmp_path}/facts.db: another process holds the store; try again when its import has ended"
    )
