"""Late evidence requests exactly the days it changes: what the sensor requests after each kind of new evidence."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from resources.generations import newest_materialized
from sediment_assets.defs.changes import CHANGES_EXPLAINED
from sediment_assets.defs.jobs import DAY_JOB, OBSERVE_JOB
from sediment_assets.defs.keys import ROLLOUTS, output_key
from sediment_assets.defs.late_evidence import CAUSE, MOST_FAILURES, RUN_KEY, SENSOR, SENSOR_TAG, Cursor
from sediment_assets.defs.observation import EVIDENCE, tag_of
from sediment_assets.demo import DemoEvidence
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.rollouts.evidence_versions import NO_EVIDENCE
from sediment_assets.targets.registry import Target
from tests.dagster.graph import QUIET, Evidence, Graph, failures, quarantine_line

BUILT = ("2026-11-03", "2026-11-05", "2026-11-07")
"""Days materialized before anything happens; the last one has no Session."""


@dataclass
class Operated:
    """A graph whose sensor is running: ``tick`` looks once, ``follow`` does what it requests until it rests."""

    graph: Graph
    directory: Path
    cursor: str | None = None
    _records: int = 0

    def tick(self) -> list[dg.RunRequest]:
        sensor = self.graph.defs.resolve_sensor_def("late_evidence")
        with dg.build_sensor_context(
            instance=self.graph.instance,
            cursor=self.cursor,
            repository_def=self._repository,
            resources=dict(self.graph.defs.resources or {}),
        ) as context:
            data = sensor.evaluate_tick(context)
        self.cursor = data.cursor
        return list(data.run_requests or ())

    @cached_property
    def _repository(self) -> dg.RepositoryDefinition:
        return self.graph.defs.get_repository_def()

    def follow(self) -> dict[str, str]:
        """Return the days that were requested and run, each with its cause."""
        found = {}
        while requests := self.tick():
            for request in requests:
                self.run(request)
                if request.job_name == DAY_JOB:
                    assert request.partition_key is not None
                    assert request.partition_key not in found
                    found[request.partition_key] = request.tags[CAUSE]
        return found

    def run(self, request: dg.RunRequest) -> None:
        job = self.graph.defs.resolve_job_def(str(request.job_name))
        job.execute_in_process(
            partition_key=request.partition_key, instance=self.graph.instance, run_config=QUIET, tags=request.tags
        )

    def add(self, table: str, *facts: dict[str, Any]) -> None:
        path = self.directory / f"{table}.jsonl"
        path.write_text("".join(json.dumps(fact) + "\n" for fact in facts))
        self.graph.evidence.add(path)

    def hide(self, table: str, fact_id: str, action: str = "quarantine") -> None:
        self._records += 1
        self.add("quarantine", quarantine_line(table, fact_id, action, 100 + self._records))

    def one(self, query: str, *values: str) -> str:
        with closing(sqlite3.connect(self.graph.evidence.database)) as database:
            (found,) = database.execute(query, values).fetchone()
        return str(found)


@pytest.fixture(scope="module")
def module_operated(
    planted: DemoEvidence, demo: Evidence, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Operated]:
    """Three days materialized and observed over a copy of the demo."""
    work = tmp_path_factory.mktemp("late")
    shutil.copyfile(demo.database, work / "facts.db")
    shutil.copytree(demo.mirrors, work / "mirrors")
    evidence = Evidence(work / "facts.db", work / "mirrors", planted.directory / "verifier-commands.toml")
    with dg.DagsterInstance.ephemeral() as instance:
        operated = Operated(Graph(evidence, work / "exports", instance), work)
        for day in BUILT:
            operated.graph.run(day)
        yield operated


@pytest.fixture
def operated(module_operated: Operated) -> Operated:
    """The graph at rest: whatever other tests brought is worked off, and nothing is requested."""
    module_operated.follow()
    assert module_operated.tick() == []
    return module_operated


def outcome_of(operated: Operated, session_id: str) -> dict[str, Any]:
    """A CI outcome that reached a Session, as canonical JSON."""
    commit = operated.one("SELECT commit_sha FROM session_commit_observations WHERE session_id = ?", session_id)
    facts = operated.graph.evidence.commands
    assert facts is not None
    lines = (facts.parent / "facts" / "ci_outcomes.jsonl").read_text("utf-8").splitlines()
    return next(fact for fact in map(json.loads, lines) if fact["commit_sha"] == commit)


_attempts = count(2)


def rerun(outcome: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """One more attempt of a CI run, with another result."""
    attempt = next(_attempts)
    return {
        **outcome,
        "outcome_id": f"11111111-2222-4333-8444-{attempt:012}",
        "run_attempt": attempt,
        "result": "failed" if outcome["result"] == "passed" else "passed",
        "captured_at": "2026-11-20T09:00:00Z",
        "source_event_id": None,
        **changes,
    }


def test_a_ci_rerun_requests_the_day_of_its_session_and_changes_its_rows(operated: Operated):
    tasks = output_key(Target.SEDIMENT, "tasks")
    before = operated.graph.generation(tasks, BUILT[0])
    outcome = outcome_of(operated, "ledger-audit-log")
    operated.add("ci_outcomes", rerun(outcome))
    assert operated.follow() == {BUILT[0]: "ci_outcomes"}
    after = operated.graph.generation(tasks, BUILT[0])
    assert after != before
    assert (after / "tasks.train.jsonl").read_bytes() != (before / "tasks.train.jsonl").read_bytes()
    found = operated.graph.check(BUILT[0], tasks, CHANGES_EXPLAINED)
    assert found.passed
    assert found.description == "Rows changed 2, equal 8; because of: new_ci_attempt."
    assert found.metadata["rows_changed"].value == 2
    assert found.metadata["before"].value == str(before)
    causes = found.metadata["causes"]
    assert isinstance(causes, dg.TableMetadataValue)
    assert [row.data["cause"] for row in causes.records] == ["new_ci_attempt"]


def test_a_first_generation_and_one_without_changes_say_so(operated: Operated):
    tasks = output_key(Target.SWE_BENCH, "tasks")
    found = operated.graph.check("2026-11-07", tasks, CHANGES_EXPLAINED)
    assert (found.passed, found.description) == (True, "The first generation of this day.")
    operated.graph.run("2026-11-07")
    found = operated.graph.check("2026-11-07", tasks, CHANGES_EXPLAINED)
    assert (found.passed, found.description) == (True, "All 0 rows are equal.")


def test_changes_that_cannot_be_compared_warn(operated: Operated):
    tasks = output_key(Target.SEDIMENT, "tasks")
    operated.graph.run(BUILT[0])
    path = next(operated.graph.generation(tasks, BUILT[0]).glob("tasks.*.jsonl"))
    content = path.read_bytes()
    path.write_bytes(b"{\n")
    found = operated.graph.check(BUILT[0], tasks, CHANGES_EXPLAINED)
    path.write_bytes(content)
    assert not found.passed
    assert found.severity is dg.AssetCheckSeverity.WARN
    assert str(found.description).startswith("Cannot be compared: ")


def test_ci_of_a_commit_that_no_session_made_requests_nothing(operated: Operated):
    operated.add("ci_outcomes", rerun(outcome_of(operated, "ledger-audit-log"), commit_sha="ab" * 20, run_id="1"))
    requests = operated.tick()
    assert [request.job_name for request in requests] == [OBSERVE_JOB]
    for request in requests:
        operated.run(request)
    assert operated.tick() == []


def test_a_quarantine_and_its_release_request_the_day_both_times(operated: Operated):
    outcome_id = outcome_of(operated, "dashboard-dark-theme")["outcome_id"]
    operated.hide("ci_outcomes", outcome_id)
    assert operated.follow() == {BUILT[0]: "ci_outcomes"}
    operated.hide("ci_outcomes", outcome_id, "release")
    assert operated.follow() == {BUILT[0]: "ci_outcomes"}


def test_a_hidden_session_leaves_its_day(operated: Operated):
    session = "ledger-posting-clock"
    with closing(sqlite3.connect(operated.graph.evidence.database)) as database:
        calls = database.execute("SELECT inference_call_id FROM inference_calls WHERE session_id = ?", (session,))
        for (call_id,) in calls.fetchall():
            operated.hide("inference_calls", call_id)
    requested = operated.follow()
    assert list(requested) == [BUILT[0]]
    assert requested[BUILT[0]].startswith("inference_calls, ")


def test_a_new_note_requests_the_day_of_the_session_it_names(operated: Operated):
    mirror = next(
        path.parent for path in operated.graph.evidence.mirrors.rglob("HEAD") if "dashboard" in str(path.parent)
    )
    git = ["git", "-C", str(mirror), "-c", "user.name=t", "-c", "user.email=t@t"]
    listed = subprocess.run([*git, "notes", "--ref=sediment", "list"], check=True, capture_output=True, text=True)
    notes = [line.split() for line in listed.stdout.splitlines()]
    note, commit = next(
        (blob, commit)
        for blob, commit in notes
        if "dashboard-dark-theme"
        in subprocess.run([*git, "cat-file", "blob", blob], check=True, capture_output=True, text=True).stdout
    )
    assert note
    subprocess.run([*git, "notes", "--ref=sediment", "remove", commit], check=True, capture_output=True)
    requested = operated.follow()
    assert list(requested) == [BUILT[0]]
    assert requested[BUILT[0]].endswith("commits")


def test_a_mirror_that_appears_later_requests_the_days_whose_commits_it_has(operated: Operated):
    mirror = next(
        path.parent for path in operated.graph.evidence.mirrors.rglob("HEAD") if "dashboard" not in str(path.parent)
    )
    mirror.rename(operated.directory / "away")
    assert list(operated.follow()) == ["2026-11-03", "2026-11-05"]
    without = operated.graph.record(Target.SEDIMENT, "2026-11-03").populations["tasks"]
    (operated.directory / "away").rename(mirror)
    assert list(operated.follow()) == ["2026-11-03", "2026-11-05"]
    assert operated.graph.record(Target.SEDIMENT, "2026-11-03").populations["tasks"].rows > without.rows


def test_evidence_of_a_day_never_materialized_requests_nothing(operated: Operated):
    outcome = outcome_of(operated, "ledger-fee-rounding")
    operated.add("ci_outcomes", rerun(outcome))
    assert operated.follow() == {}


def test_a_day_that_gets_its_first_session_is_requested(
    planted: DemoEvidence, day_facts: Callable[[str], Path], tmp_path: Path
):
    evidence = Evidence(tmp_path / "facts.db", planted.directory / "mirrors")
    evidence.add(day_facts("2026-11-02"))
    with dg.DagsterInstance.ephemeral() as instance:
        operated = Operated(Graph(evidence, tmp_path / "exports", instance), tmp_path)
        operated.graph.run("2026-11-03")
        assert operated.follow() == {}
        evidence.add(day_facts("2026-11-03"))
        assert list(operated.follow()) == ["2026-11-03"]


def test_a_day_of_another_policy_is_left_to_its_operator(operated: Operated):
    job = operated.graph.defs.resolve_job_def(DAY_JOB)
    policy = {"ops": {"rollouts": {"config": {"policy": {"split": {"eval_fraction": 0.5}}}}}}
    job.execute_in_process(partition_key=BUILT[0], instance=operated.graph.instance, run_config={**QUIET, **policy})
    operated.add("ci_outcomes", rerun(outcome_of(operated, "ledger-audit-log")))
    assert operated.follow() == {}
    operated.graph.run(BUILT[0])  # for the other tests


def test_a_request_is_made_once_whatever_becomes_of_its_run(operated: Operated):
    operated.add("ci_outcomes", rerun(outcome_of(operated, "ledger-audit-log")))
    for request in operated.tick():
        operated.run(request)
    first = operated.tick()
    assert [request.partition_key for request in first] == [BUILT[0]]
    assert operated.tick() == []  # not run, or failed: a person looks at it
    operated.run(first[0])  # for the other tests


def test_a_tick_that_is_repeated_after_a_crash_has_the_same_run_key(operated: Operated):
    operated.add("ci_outcomes", rerun(outcome_of(operated, "ledger-audit-log")))
    before = operated.cursor
    (first,) = operated.tick()
    operated.cursor = before
    (again,) = operated.tick()
    assert first.run_key == again.run_key
    operated.run(again)


def test_a_failed_observation_is_requested_again_and_given_up_at_last(demo: Evidence, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        operated = Operated(Graph(demo, tmp_path / "exports", instance), tmp_path)
        for _ in range(1 + MOST_FAILURES):
            (request,) = operated.tick()
            tags = {RUN_KEY: str(request.run_key), SENSOR_TAG: SENSOR}
            assert operated.tick() == []  # it may still be running
            instance.create_run_for_job(
                operated.graph.defs.resolve_job_def(OBSERVE_JOB), tags=tags, status=dg.DagsterRunStatus.FAILURE
            )
        assert operated.tick() == []


def test_mirrors_that_vanish_fail_whatever_reads_them_and_request_nothing(operated: Operated):
    mirrors, cursor = operated.graph.evidence.mirrors, operated.cursor
    away = mirrors.with_name("unmounted")
    mirrors.rename(away)
    try:
        expected = f"SEDIMENT_MIRROR_PATH: expected the base directory of the mirrors, got nothing at {mirrors}; mount"
        with pytest.raises(MirrorError) as tick:
            operated.tick()
        assert str(tick.value).startswith(expected)
        observed = operated.graph.defs.resolve_job_def(OBSERVE_JOB).execute_in_process(
            instance=operated.graph.instance, raise_on_error=False, run_config=QUIET
        )
        derived = operated.graph.run(BUILT[0], raises=False)
        for failed, step in ((observed, "observe_mirrors"), (derived, "rollouts")):
            assert expected in failures(failed)[step]
        mirrors.write_text("a file")
        with pytest.raises(MirrorError) as tick:
            operated.tick()
        assert f"got a file at {mirrors}; mount" in str(tick.value)
        mirrors.unlink()
        mirrors.mkdir()  # what is left of a mount point
        with pytest.raises(MirrorError) as tick:
            operated.tick()
        assert "at the last look, got none in" in str(tick.value)
        assert operated.cursor == cursor
        operated.cursor = None  # as an operator deletes it when they are gone for good
        (request,) = operated.tick()
        assert request.run_key not in {run.tags.get(RUN_KEY) for run in operated.graph.instance.get_runs()}
    finally:
        shutil.rmtree(mirrors, ignore_errors=True)
        away.rename(mirrors)
    operated.cursor = cursor
    assert operated.tick() == []


def test_a_cursor_from_before_mirrors_were_counted_is_read():
    assert Cursor.parse('{"state": "x", "observations": 3, "failures": 0, "read_to": 9}') == Cursor("x", 3, 0, 9)


@pytest.mark.parametrize("text", [None, "", "no JSON", "[]", '{"what": 1}'])
def test_an_unreadable_cursor_is_a_new_beginning(text: str | None):
    assert Cursor.parse(text) == Cursor()


def test_the_versions_that_the_rollouts_carry_are_those_observed(operated: Operated):
    observed = operated.graph.instance.fetch_observations(dg.AssetKey(["mirrors", "commits"]), limit=50).records
    evidence = {
        found.event_log_entry.asset_observation.partition: found.event_log_entry.asset_observation.tags[EVIDENCE]
        for found in reversed(observed)
        if found.event_log_entry.asset_observation
    }
    carried = {day: newest_materialized(operated.graph.instance, ROLLOUTS, day).tags[EVIDENCE] for day in BUILT}
    assert {day: carried[day] for day in BUILT[:2]} == {day: evidence[day] for day in BUILT[:2]}
    assert carried[BUILT[2]] == tag_of(NO_EVIDENCE)
    assert BUILT[2] not in evidence, "a day that never had evidence would look stale by its first observation"
