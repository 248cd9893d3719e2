"""Where translated Facts go: all into the store, all into files, or nowhere; and nothing after anything went wrong."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from sediment_assets.adapters.capture_json import BrokenInputError
from sediment_assets.adapters.capture_run import (
    CaptureConflictError,
    StrictCaptureError,
    check_capture,
    emit_capture,
    store_capture,
)
from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.adapters.fact_store.fact_batches import BATCH_ROWS
from sediment_assets.adapters.fact_store.importer import import_paths
from sediment_assets.capture.contract import Remainder, Translated, Untranslated
from sediment_assets.capture.tally import Tally
from sediment_assets.facts.model import Fact
from sediment_assets.publish.fresh_directory import DestinationError
from tests.builders import (
    IDENTITY,
    OTHER_SHA,
    make_call,
    make_decision,
    make_message,
    make_observation,
    make_outcome,
    make_push,
    make_rename,
)
from tests.fact_files import store_content, write_facts

SECRET = f"Bearer {'A' * 16}"
FACTS: list[Fact] = [
    make_observation(**IDENTITY),  # before its Push, which a batch stores first
    make_call(input_messages=[make_message("user", SECRET)], raw={"api_key": "x", "n": [1e-7, {"deep": SECRET}]}),
    make_push(**IDENTITY),
    make_decision(),
    make_outcome(),
    make_rename(),
    make_call(inference_call_id="c2"),
    make_push(push_id="p2", after_sha=OTHER_SHA),
]


def translated(*facts: Fact) -> list[Translated]:
    return [Translated(f"log:{number}", fact) for number, fact in enumerate(facts, 1)]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/facts.db"


@pytest.fixture
def engine(url: str) -> Engine:
    return writing_engine(url)


def test_interleaved_tables_are_stored_as_their_import_would(engine: Engine, url: str, tmp_path: Path):
    summary = store_capture(engine, translated(*FACTS), Tally())
    other = f"sqlite:///{tmp_path}/other.db"
    imported = import_paths(writing_engine(other), [write_facts(tmp_path / "facts", FACTS)])
    assert store_content(url) == store_content(other)
    assert {(t.table, t.read, t.stored, t.present) for t in summary.tables} == {
        (t.table, t.read, t.stored, t.present) for t in imported.tables
    }
    calls = next(t for t in summary.tables if t.table == "inference_calls")
    assert calls.redactions == {"bearer_token": 2, "structured_credential": 1}


def test_calls_with_ids_of_their_own_are_one_by_their_providers_id():
    shared = [make_call(inference_call_id=name, model_call_id="chatcmpl-000000000001") for name in "ab"]
    other = make_call(inference_call_id="c", model_call_id="chatcmpl-000000000001", session_id="s2")
    tally = Tally()
    (summary,) = check_capture(translated(*shared, other), tally).tables
    assert (summary.read, summary.present) == (2, 1)
    assert tally.unexpected == ["log:3: invalid_value: id: contradicts log:1: another call with this id"]


def test_storing_twice_changes_nothing(engine: Engine, url: str):
    store_capture(engine, translated(*FACTS), Tally())
    before = store_content(url)
    summary = store_capture(engine, translated(*FACTS), Tally())
    assert {(t.table, t.stored) for t in summary.tables} == {(t.table, 0) for t in summary.tables}
    assert store_content(url) == before


def test_emitted_files_import_to_the_same_store(engine: Engine, url: str, tmp_path: Path):
    store_capture(engine, translated(*FACTS), Tally())
    emit_capture(tmp_path / "out", translated(*FACTS), Tally())
    other = f"sqlite:///{tmp_path}/other.db"
    import_paths(writing_engine(other), [tmp_path / "out"])
    assert store_content(url) == store_content(other)
    text = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    assert SECRET not in text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["facts.db", "other.db", "out"]
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()} == {0o600}


def test_emitted_lines_are_canonical_bytes(tmp_path: Path):
    fact = make_push(**IDENTITY)
    emit_capture(tmp_path / "out", translated(fact), Tally())
    assert (tmp_path / "out" / "pushes.jsonl").read_text() == (
        '{"schema_version":2,"repository_provider":"github","repository_host":"github.com","repository_id":"42",'
        f'"push_id":"{fact.push_id}","org_id":"acme","provider":"github","repo":"acme/widget",'
        f'"clone_url":"{fact.clone_url}","ref":"{fact.ref}","before_sha":"{fact.before_sha}",'
        f'"after_sha":"{fact.after_sha}","forced":false,"captured_at":"2026-03-02T09:00:00Z"}}\n'
    )


def broken() -> Iterator[Translated]:
    yield from translated(*FACTS)
    raise BrokenInputError("log:9: expected JSON")


def test_a_broken_file_leaves_everything_as_it_was(engine: Engine, url: str, tmp_path: Path):
    store_capture(engine, translated(make_push()), Tally())
    before = store_content(url)
    with pytest.raises(BrokenInputError):
        store_capture(engine, broken(), Tally())
    with pytest.raises(BrokenInputError):
        emit_capture(tmp_path / "out", broken(), Tally())
    assert store_content(url) == before
    assert [path.name for path in tmp_path.iterdir()] == ["facts.db"]


def test_conflicts_are_listed_by_their_place_and_nothing_is_stored(engine: Engine, url: str):
    store_capture(engine, translated(make_outcome()), Tally())
    before = store_content(url)
    contradicting = make_outcome(outcome_id="o2", commit_sha=OTHER_SHA)
    with pytest.raises(CaptureConflictError, match=r"^1 Fact contradicts .*\nlog:2: commit_sha: expected '"):
        store_capture(engine, translated(make_call(), contradicting), Tally())
    assert store_content(url) == before


def test_many_conflicts_are_counted(engine: Engine):
    store_capture(engine, translated(make_outcome()), Tally())
    many = [make_outcome(outcome_id=f"x{number}", commit_sha=OTHER_SHA) for number in range(BATCH_ROWS + 60)]
    with pytest.raises(CaptureConflictError) as error:
        store_capture(engine, translated(*many), Tally())
    lines = str(error.value).splitlines()
    assert lines[0] == "560 Facts contradict stored ones, nothing was stored"
    assert lines[-1] == "… and 510 more"
    assert len(lines) == 52


UNTRANSLATED = [
    Untranslated("log:1", Remainder.NO_EVIDENCE, "a heartbeat"),
    *(Untranslated(f"log:{number}", Remainder.NO_SESSION, "nothing names it") for number in range(2, 25)),
]


def test_what_gave_no_fact_is_counted_and_the_unexpected_listed(engine: Engine):
    tally = Tally()
    store_capture(engine, [*UNTRANSLATED, *translated(make_push())], tally)
    assert tally.remainders == {Remainder.NO_EVIDENCE: 1, Remainder.NO_SESSION: 23}
    lines = tally.unexpected_lines()
    assert (lines[0], len(lines), lines[-1]) == ("log:2: no_session: nothing names it", 21, "… and 3 more")


def test_strict_stores_nothing_when_something_unexpected_gave_no_fact(engine: Engine, url: str, tmp_path: Path):
    store_capture(engine, [UNTRANSLATED[0], *translated(make_push())], Tally(), strict=True)
    before = store_content(url)
    outcomes = [*translated(make_call()), *UNTRANSLATED[:3]]
    with pytest.raises(StrictCaptureError, match="2 records or parts could not be translated, nothing was stored"):
        store_capture(engine, outcomes, Tally(), strict=True)
    with pytest.raises(StrictCaptureError):
        emit_capture(tmp_path / "out", outcomes, Tally(), strict=True)
    with pytest.raises(StrictCaptureError):
        check_capture(outcomes, Tally(), strict=True)
    assert store_content(url) == before
    assert not (tmp_path / "out").exists()


def test_a_dry_run_counts_what_would_be_redacted(tmp_path: Path):
    summary = check_capture(translated(*FACTS), Tally())
    assert summary.destination is None
    assert {t.table: (t.read, t.stored) for t in summary.tables}["inference_calls"] == (2, 0)
    assert next(t for t in summary.tables if t.table == "inference_calls").redactions["bearer_token"] == 2
    assert list(tmp_path.iterdir()) == []


def test_a_fact_beyond_the_limits_of_json_is_counted_not_stored(engine: Engine):
    deep: list[object] = []
    for _ in range(1496):
        deep = [deep]
    tally = Tally()
    summary = store_capture(engine, translated(make_call(raw={"a": deep}), make_push()), tally)
    assert tally.unexpected == ["log:1: invalid_value: expected JSON nested at most 1497 levels, got more"]
    assert [(t.table, t.stored) for t in summary.tables] == [("pushes", 1)]


def test_a_destination_that_exists_is_refused_first(tmp_path: Path):
    with pytest.raises(DestinationError, match="expected a new directory, got one that exists"):
        emit_capture(tmp_path, broken(), Tally())
    with pytest.raises(DestinationError, match=r"expected the directory .* to exist"):
        emit_capture(tmp_path / "no" / "out", broken(), Tally())
