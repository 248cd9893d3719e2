"""Failures and kills in the middle of a target's export: nothing half-published is read, and the next run works."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import dagster as dg
import pytest

from resources.generations import is_complete
from sediment_assets.defs.keys import output_key
from sediment_assets.publish.artifacts import CLAIM, LOCK
from sediment_assets.publish.durable import PublishError
from sediment_assets.publish.generation import Generation
from sediment_assets.targets.projection import Projector
from sediment_assets.targets.registry import ENVIRONMENT_MANIFEST, Target
from tests.dagster.conftest import DAYS
from tests.dagster.graph import Evidence, Graph, artifacts, failures
from tests.directories import names

DAY = DAYS[0]
TASKS = output_key(Target.SEDIMENT, "tasks")
SEDIMENT = [output_key(Target.SEDIMENT, name) for name in ("tasks", "rollouts", "environment")]
DISK_FULL = "environment.yaml: cannot publish: No space left on device"


def fail_at_environment(publish):
    """Let everything be published but ``environment.yaml``, the last output."""

    def failing(self: Generation, published: Iterable[str]) -> None:
        if ENVIRONMENT_MANIFEST in published:
            raise PublishError(DISK_FULL)
        publish(self, published)

    return failing


@pytest.fixture(scope="module")
def published(one_day_evidence: Evidence, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """A graph with one complete day."""
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(one_day_evidence, tmp_path_factory.mktemp("exports"), instance)
        graph.run(DAY)
        yield graph


@pytest.fixture(scope="module")
def complete(published: Graph) -> Path:
    """What the run before the failed one published."""
    return published.generation(TASKS, DAY)


@pytest.fixture(scope="module")
def failed(published: Graph, complete: Path) -> dg.ExecuteInProcessResult:
    """A run that failed on its last output."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Generation, "publish", fail_at_environment(Generation.publish))
        return published.materialize(DAY, SEDIMENT, raises=False)


class TestAFailureOnALaterOutput:
    def test_fails_the_step_with_its_cause(self, failed: dg.ExecuteInProcessResult):
        assert failures(failed) == {"publish_sediment": f"{PublishError.__module__}.PublishError: {DISK_FULL}"}

    def test_leaves_no_file_and_no_record(self, complete: Path, failed: dg.ExecuteInProcessResult):
        left = complete.with_name(f"{failed.run_id}.0")
        assert names(left) == [CLAIM]
        assert not is_complete(left)

    def test_leaves_readers_the_newest_complete_generation(
        self, published: Graph, complete: Path, failed: dg.ExecuteInProcessResult
    ):
        assert TASKS in {event.asset_key for event in failed.get_asset_materialization_events()}  # the log has it
        assert [published.generation(key, DAY) for key in SEDIMENT] == [complete] * 3
        assert published.check(DAY, TASKS, "generation_intact").passed

    def test_does_not_hinder_the_next_run(self, published: Graph, complete: Path, failed: dg.ExecuteInProcessResult):
        result = published.materialize(DAY, SEDIMENT)
        assert failed.run_id != result.run_id
        assert published.generation(TASKS, DAY).name == f"{result.run_id}.0"
        assert artifacts(published.generation(TASKS, DAY)) == artifacts(complete)


def test_a_failure_in_the_middle_of_staging_publishes_nothing(graph: Graph, monkeypatch: pytest.MonkeyPatch):
    project = Projector.project

    def failing(self: Projector, *args) -> Iterator:
        if self.rollouts == 2:
            raise PublishError("the second Rollout cannot be written")
        return project(self, *args)

    monkeypatch.setattr(Projector, "project", failing)
    result = graph.run(DAY, raises=False)
    assert set(failures(result)) == {f"publish_{target}" for target in ("sediment", "swe_bench", "nemo_gym")}
    for target in Target:
        (left,) = (graph.root / target.value / DAY).iterdir()
        assert names(left) == [CLAIM]
    assert [event for event in result.get_asset_materialization_events() if event.asset_key.path[0] == "targets"] == []
    with pytest.raises(dg.Failure, match="no complete generation"):
        graph.generation(TASKS, DAY)


KILLED = """
import os, signal, sys
from datetime import date
from pathlib import Path
import dagster as dg
from sediment_assets.publish.generation import Generation
from tests.dagster.graph import Evidence, Graph

publish = Generation.publish

def killed(self, names):
    publish(self, names)
    if self.target == "sediment" and "rollouts.train.jsonl" in names:  # the second of its three outputs
        os.kill(os.getpid(), signal.SIGKILL)

Generation.publish = killed
database, mirrors, root, home, day = sys.argv[1:]
with dg.DagsterInstance.local_temp(home) as instance:
    Graph(Evidence(Path(database), Path(mirrors)), Path(root), instance).run(day)
"""


def test_a_killed_run_leaves_nothing_that_loads_and_the_next_succeeds(one_day: Evidence, tmp_path: Path):
    root, home = tmp_path / "exports", tmp_path / "home"
    home.mkdir()
    arguments = [str(part) for part in (one_day.database, one_day.mirrors, root, home, DAY)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *arguments],
        cwd=Path(__file__).parents[2],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    (left,) = (root / "sediment" / DAY).iterdir()
    assert LOCK in names(left)
    assert {"tasks.train.jsonl", "rollouts.train.jsonl"} <= set(names(left))
    assert not is_complete(left)
    with dg.DagsterInstance.local_temp(str(home)) as instance:
        graph = Graph(Evidence(one_day.database, one_day.mirrors), root, instance)
        with pytest.raises(dg.Failure, match="no complete generation"):
            graph.generation(TASKS, DAY)
        result = graph.run(DAY)
        assert graph.generation(TASKS, DAY).name == f"{result.run_id}.0"
        assert graph.check(DAY, TASKS, "generation_intact").passed
    assert LOCK in names(left)  # the evidence of the kill stays
