"""``sediment backfill``, as a person runs it: what it prints, its exit code, and what a failing day leaves."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
import pytest
from dagster._utils.interrupts import capture_interrupts

from sediment_assets.defs.backfill import DayRangeError, check_range, noticed_interrupts, say
from sediment_assets.defs.partitions import daily_partitions
from sediment_assets.demo import DemoEvidence
from sediment_assets.demo.cases import CASES
from tests.cli.command import default_signals
from tests.dagster.graph import FIRST_DAY, Evidence

COMMAND = [sys.executable, "-m", "sediment_assets.cli.main", "backfill"]


def environment(evidence: Evidence, cwd: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(cwd),
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "SEDIMENT_PARTITION_START": "2026-11-02",
        **evidence.settings,
    }


def backfill(evidence: Evidence, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = environment(evidence, cwd)
    return subprocess.run([*COMMAND, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def sessions(day: str) -> int:
    return sum(case.day == day and case.task is not None for case in CASES)


def runs(cwd: Path) -> Sequence[tuple[str, str | None]]:
    """Status and day of every export recorded in the instance, oldest first."""
    with dg.DagsterInstance.from_config(str(cwd / ".dagster")) as instance:
        found = instance.get_runs(dg.RunsFilter(job_name="materialize_day"))
    return [(run.status.value, run.tags.get("dagster/partition")) for run in reversed(found)]


def test_prints_each_day_and_the_totals_of_the_range(demo: Evidence, tmp_path: Path):
    done = backfill(demo, tmp_path, "--from", "2026-11-07", "--to", "2026-11-08")
    assert done.returncode == 0, done.stderr
    lines = re.sub(r"\(\d+\.\d s\)", "(… s)", done.stdout).splitlines()
    assert lines == [
        "2026-11-07  0 Rollouts  (… s)",
        f"2026-11-08  {sessions('08')} Rollouts  (… s)",
        "",
        "asset                          rows  skipped",
        "canonical/rollouts                2  -",
        "canonical/ci_resolutions          2  -",
        "targets/nemo_gym/rollouts         2  -",
        "targets/sediment/tasks            2  -",
        "targets/sediment/rollouts         2  -",
        "targets/sediment/environment      1  -",
        "targets/swe_bench/tasks           1  failed_reference_patch 1",
        "",
        "generations: exports",
    ]
    assert done.stderr == ""
    assert runs(tmp_path) == [("SUCCESS", "2026-11-07"), ("SUCCESS", "2026-11-08")]
    with dg.DagsterInstance.from_config(str(tmp_path / ".dagster")) as instance:
        observed = instance.fetch_observations(dg.AssetKey(["facts", "ci_outcomes"]), limit=50)
    partitions = [record.partition_key for record in observed.records]
    assert partitions.count("2026-11-08") == partitions.count(None) == 1


def test_an_unreadable_mirror_fails_the_days_with_its_place_and_cause(
    demo: Evidence, planted: DemoEvidence, tmp_path: Path
):
    mirrors = tmp_path / "mirrors\nof all"  # a name may hold anything, and no line of a day becomes two
    shutil.copytree(demo.mirrors, mirrors)
    mirror = next(path.parent for path in mirrors.rglob("HEAD"))
    (mirror / "HEAD").write_text("nonsense\n")
    evidence = Evidence(demo.database, mirrors)
    done = backfill(evidence, tmp_path, "--from", "2026-11-07", "--to", "2026-11-08")
    assert done.returncode == 1
    for line, day in zip(done.stdout.splitlines(), ("2026-11-07", "2026-11-08"), strict=False):
        assert line.startswith(f"{day}  FAILED: rollouts: ")
        assert str(mirror).replace("\n", "\\n") in line
        assert "Error: " not in line
    assert done.stderr == "error: days that failed: 2026-11-07, 2026-11-08\n"
    assert not [path for path in (tmp_path / "exports").rglob("*") if path.is_file()]


def test_days_outside_the_partitions_are_refused_first(demo: Evidence, tmp_path: Path):
    done = backfill(demo, tmp_path, "--from", "2026-11-01", "--to", "2026-11-03")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: 2026-11-01: expected a day from 2026-11-02 (SEDIMENT_PARTITION_START) to ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "exports").exists()


@pytest.mark.parametrize(
    ("first", "last", "problem"),
    [
        ("2026-11-02", "2026-11-08", None),
        ("2026-11-08", "2026-11-08", None),
        ("2026-11-01", "2026-11-08", "2026-11-01: expected a day from 2026-11-02"),
        ("2026-11-08", "2026-11-09", r"2026-11-09: expected a day from .* to 2026-11-08 \(yesterday, UTC\)"),
        ("2020-01-01", "2020-01-02", "2020-01-01: expected a day from"),
    ],
)
def test_a_range_is_wholly_one_of_partitions(first: str, last: str, problem: str | None):
    now = dg.partition_loading_context(datetime(2026, 11, 9, 3, tzinfo=UTC))
    with now, pytest.raises(DayRangeError, match=problem) if problem else nullcontext():
        check_range(daily_partitions(FIRST_DAY), date.fromisoformat(first), date.fromisoformat(last))


def test_a_graph_that_begins_in_the_future_has_no_day_to_run():
    partitions = daily_partitions(date(2999, 1, 1))
    with pytest.raises(DayRangeError, match="its first day is still to come"):
        check_range(partitions, FIRST_DAY, FIRST_DAY)


@pytest.mark.parametrize(
    ("arguments", "code", "problem"),
    [
        (
            ["--from", "2026-11-05", "--to", "2026-11-04"],
            1,
            "error: --from: expected a day not after --to (2026-11-04)",
        ),
        (["--from", "yesterday", "--to", "2026-11-04"], 2, "expected a day such as 2026-11-02, got 'yesterday'"),
        (["--from", "2026-11-05"], 2, "--to"),
    ],
)
def test_wrong_arguments_are_refused_before_dagster_starts(
    demo: Evidence, tmp_path: Path, arguments: list[str], code: int, problem: str
):
    done = backfill(demo, tmp_path, *arguments)
    assert done.returncode == code
    assert problem in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_missing_settings_are_named(tmp_path: Path):
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[2])}
    arguments = ["--from", "2026-11-02", "--to", "2026-11-02"]
    done = subprocess.run([*COMMAND, *arguments], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert all(name in done.stderr for name in ("SEDIMENT_ORG_ID", "SEDIMENT_DATABASE_URL", "SEDIMENT_MIRROR_PATH"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_backfill_stops_cleans_up_and_says_where(demo: Evidence, tmp_path: Path, number: signal.Signals):
    arguments = ["--from", "2026-11-07", "--to", "2026-11-08"]
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(demo, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("2026-11-07  0 Rollouts")
        process.send_signal(number)
        rest, error = process.communicate()
    assert process.returncode == 130
    assert error == "error: interrupted; every day printed above is done, the others are not\n"
    assert not list((tmp_path / "exports").rglob(".sediment-training-*"))
    assert not list((tmp_path / "exports").rglob(".sediment-rlvr-export.lock"))
    assert runs(tmp_path)[0] == ("SUCCESS", "2026-11-07")
    # A signal between two steps that Dagster swallowed is noticed at the end of the day.
    expected = {"SUCCESS"} if "2026-11-08" in rest else {"CANCELED", "FAILURE"}
    assert {status for status, day in runs(tmp_path) if day == "2026-11-08"} <= expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_backfill_that_a_shell_started_in_the_background_ends_on_a_signal(
    demo: Evidence, tmp_path: Path, number: signal.Signals
):
    process = subprocess.Popen(
        [*COMMAND, "--from", "2026-11-07", "--to", "2026-11-08"],
        cwd=tmp_path,
        env=environment(demo, tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=ignored_signals,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("2026-11-07  0 Rollouts")
        process.send_signal(number)
        process.communicate()
    assert process.returncode == 130


def ignored_signals() -> None:
    """What a shell without job control does to a command that ends in ``&``."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def test_a_signal_that_other_handlers_swallow_is_raised_afterwards():
    before = signal.getsignal(signal.SIGTERM)
    with noticed_interrupts() as raise_swallowed:
        raise_swallowed()
        with capture_interrupts():
            os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            raise_swallowed()
        raise_swallowed()
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_reader_that_went_away_ends_no_backfill(monkeypatch: pytest.MonkeyPatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        monkeypatch.setattr(sys, "stdout", gone)
        for line in ("2026-11-02  5 Rollouts", "2026-11-03  6 Rollouts"):
            say(line)
