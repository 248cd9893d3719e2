"""The demo's expectations, checked by the whole way: plant, import, ``sediment export rlvr`` for each target."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sediment_assets.demo import DemoEvidence
from sediment_assets.demo.cases import CASES, FAILED, PASSED
from sediment_assets.targets.registry import Target

Row = dict[str, Any]


class Exported(NamedTuple):
    """What one export wrote: rows by Session and file stem, and what it printed."""

    tasks: dict[str, Row]
    rollouts: dict[str, list[Row]]
    splits: dict[str, str]
    printed: str
    directory: Path

    def skipped(self, population: str) -> Counter[str]:
        """The printed tally of ``task`` or ``rollout`` rows."""
        line = next(line for line in self.printed.splitlines() if line.startswith(f"{population} rows:"))
        return Counter(json.loads(line.partition("skipped: ")[2].replace("'", '"')))


@pytest.fixture(scope="module")
def exported(imported: DemoEvidence, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exported]:
    return {target: export(imported, target, tmp_path_factory.mktemp(target)) for target in Target}


def export(evidence: DemoEvidence, target: str, directory: Path) -> Exported:
    command = ["export", "rlvr", "--target", target, "--out", str(directory)]
    done = subprocess.run(
        [sys.executable, "-m", "sediment_assets.cli.main", *command],
        env={"PATH": os.environ["PATH"], **evidence.settings},
        cwd=directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = Exported({}, {}, {}, done.stdout, directory)
    for path in sorted(directory.glob("*.jsonl")):
        kind, split, _ = path.name.split(".")
        for line in path.read_text().splitlines():
            row = json.loads(line)
            session_id = session_of(row)
            found.splits.setdefault(session_id, split)
            assert found.splits[session_id] == split
            if kind == "tasks":
                assert session_id not in found.tasks
                found.tasks[session_id] = row
            else:
                found.rollouts.setdefault(session_id, []).append(row)
    return found


def session_of(row: Row) -> str:
    """The Session of any target's row, by its instance id ``acme-<session>-<suffix>``."""
    instance_id: str = row.get("instance_id") or row["metadata"]["instance_id"]
    return instance_id.removeprefix("acme-").rpartition("-")[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.session_id)
class TestEachSession:
    def test_gives_its_sediment_task_or_none(self, exported: dict[str, Exported], case: Any):
        task = exported["sediment"].tasks.get(case.session_id)
        assert (task is not None) == (case.task in (PASSED, FAILED))
        if task is not None:
            assert task["reward_source"] == {PASSED: "resolved_ci_pass", FAILED: "resolved_ci_fail"}[case.task]

    def test_gives_its_swe_bench_task_or_none(self, exported: dict[str, Exported], case: Any):
        assert (case.session_id in exported["swe-bench"].tasks) == (case.swe_bench == PASSED)

    def test_gives_a_rollout_row_per_segment(self, exported: dict[str, Exported], case: Any):
        for target in ("sediment", "nemo-gym"):
            assert len(exported[target].rollouts.get(case.session_id, [])) == case.rows

    def test_is_rewarded_by_its_verdict(self, exported: dict[str, Exported], case: Any):
        rows = exported["nemo-gym"].rollouts.get(case.session_id, [])
        assert {row.get("reward") for row in rows} == ({case.reward} if case.rows else set())

    def test_is_on_its_side_of_the_split(self, exported: dict[str, Exported], case: Any):
        for target in exported.values():
            assert target.splits.get(case.session_id, case.split) == case.split


def test_every_session_without_a_row_is_counted_once(exported: dict[str, Exported]):
    skipped = Counter(case.task for case in CASES if case.task not in (PASSED, FAILED, None))
    assert exported["sediment"].skipped("task") == skipped + Counter({"ambiguous_workflow_verdicts": 1})
    swe = skipped + Counter({"failed_reference_patch": 2, "ambiguous_workflow_verdicts": 1})
    assert exported["swe-bench"].skipped("task") == swe
    declined = Counter(case.declined for case in CASES if case.declined)
    for target in ("sediment", "nemo-gym"):
        assert exported[target].skipped("rollout") == declined + Counter({"ambiguous_workflow_verdicts": 1})


def test_each_fragment_reason_occurs_once(exported: dict[str, Exported]):
    assert "fragmented: {'input_history_changed': 1, 'prior_output_absent': 1, 'prior_output_not_replayed': 1}" in (
        exported["sediment"].printed
    )


@pytest.mark.parametrize(
    ("session_id", "reliability", "suspected_flake"),
    [
        ("ledger-posting-clock", 0.0, True),
        ("ledger-transfer-retries", 1.0, False),
        ("dashboard-timezone-axis", 1.0, False),
        ("dashboard-legend-order", 1.0, False),
    ],
)
def test_reliability_follows_the_attempts_that_count(
    exported: dict[str, Exported], session_id: str, reliability: float, suspected_flake: bool
):
    resolution = exported["sediment"].tasks[session_id]["ci_resolution"]
    assert (resolution["reliability"], resolution["suspected_flake"]) == (reliability, suspected_flake)


def test_a_renamed_repository_has_one_label(exported: dict[str, Exported]):
    labels = {
        task["repo"] for session_id, task in exported["sediment"].tasks.items() if session_id.startswith("ledger")
    }
    assert labels == {"acme/ledger"}


def test_only_the_session_without_a_note_is_attributed_by_similarity(exported: dict[str, Exported]):
    tasks = exported["sediment"].tasks
    assert {s for s, task in tasks.items() if task["attribution_source"] == "jaccard"} == {"dashboard-sparkline"}


def test_the_patch_of_two_commits_spans_both(exported: dict[str, Exported]):
    patch = exported["sediment"].tasks["dashboard-dark-theme"]["reference_patch"]
    assert "+export const dark" in patch
    assert "+  const media = globalThis.matchMedia" in patch
    assert "+  return matchMedia(" not in patch


def test_the_patch_without_the_last_verdict_ends_at_the_commit_before(exported: dict[str, Exported]):
    assert "README.md" not in exported["sediment"].tasks["ledger-audit-log"]["reference_patch"]


def test_the_quarantined_call_is_nowhere(exported: dict[str, Exported]):
    for target in exported.values():
        for path in target.directory.glob("*.jsonl"):
            assert "XX00 0000 0000 0000 1234" not in path.read_text()


def test_rejected_and_accepted_edits_travel_with_their_turns(exported: dict[str, Exported]):
    (row,) = exported["sediment"].rollouts["ledger-weekend-overdraft"]
    decisions = [decision["accepted"] for turn in row["turns"] for decision in turn["decisions"]]
    assert decisions == [False, True, True, True, True]


def test_a_patch_with_crlf_latin_1_an_image_and_a_rename_rebuilds_the_commit(
    exported: dict[str, Exported], imported: DemoEvidence, tmp_path: Path
):
    task = exported["sediment"].tasks["dashboard-brand-refresh"]
    patch = task["reference_patch"]
    assert all(
        sign in patch for sign in ("\r\n", "GIT binary patch", "rename to src/theme/index.ts", "data/regions.csv")
    )
    mirror = imported.directory / "mirrors" / "acme%2Facme%2Ftelemetry-dashboard"
    git = ["git", f"--git-dir={mirror}"]
    env = {"PATH": os.environ["PATH"], "GIT_INDEX_FILE": str(tmp_path / "index")}
    subprocess.run([*git, "read-tree", task["base_commit"]], env=env, check=True)
    subprocess.run([*git, "apply", "--cached", "-"], env=env, check=True, input=patch.encode())
    assert run(git, env, "write-tree") == run(git, env, "rev-parse", f"{task['ci_resolution']['commit_sha']}^{{tree}}")


def run(git: list[str], env: dict[str, str], *arguments: str) -> str:
    return subprocess.run([*git, *arguments], env=env, check=True, capture_output=True, text=True).stdout
