"""Mirrors fetched by the graph: partitions from Push Facts, a refresh for a newer Push, the same sync as on the CLI."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from resources.clone_urls import CloneUrls
from resources.evidence_store import EvidenceStore, ExportOptions
from resources.generations import GenerationStore
from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from sediment_assets.defs.build import build_defs, fixed_resources
from sediment_assets.defs.jobs import OBSERVE_JOB
from sediment_assets.defs.keys import MIRRORED_COMMITS, MIRRORS, REPOSITORIES, ROLLOUTS
from sediment_assets.defs.mirrors import PUSH, REPOSITORY_PARTITIONS, SCHEDULE, SENSOR, SYNC_JOB
from sediment_assets.facts.model import Fact
from sediment_assets.mirrors.reader import MirrorError
from tests.builders import IDENTITY, ORG, make_call, make_push
from tests.dagster.graph import FIRST_DAY, QUIET, failures
from tests.git.repositories import git, linear
from tests.stores import fill_store

COMMITTER = {f"GIT_{role}_{part}": "t@example.test" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
WIDGET, GADGET = "github/github.com/42", "acme/gadget"


@dataclass
class Team:
    """Two remotes, their Pushes, and the graph over them."""

    directory: Path
    head: str
    instance: dg.DagsterInstance
    development: bool = True

    @property
    def url(self) -> str:
        return f"sqlite:///{self.directory}/facts.db"

    def store(self, *facts: Fact) -> None:
        fill_store(writing_engine(self.url), facts)

    def push(self, push_id: str, **values: Any) -> Fact:
        remote = (self.directory / "widget.git").as_uri()
        return make_push(push_id=push_id, **({"clone_url": remote, "after_sha": self.head} | values))

    @property
    def resources(self) -> dict[str, Any]:
        return {
            **fixed_resources(),
            "evidence": EvidenceStore(org_id=ORG, database_url=self.url, mirror_path=str(self.directory / "mirrors")),
            "clone_urls": CloneUrls(development=self.development),
            "generations": GenerationStore(root=str(self.directory / "exports")),
            "options": ExportOptions(),
        }

    @property
    def defs(self) -> dg.Definitions:
        return build_defs(FIRST_DAY, self.resources)

    def tick(self, cursor: str | None = None) -> Any:
        """Evaluate the sensor and do what the daemon does with its answer."""
        sensor = self.defs.resolve_sensor_def(SENSOR)
        with dg.build_sensor_context(
            instance=self.instance,
            instance_ref=self.instance.get_ref(),
            cursor=cursor,
            resources=self.resources,
            definitions=self.defs,
        ) as context:
            found = sensor.evaluate_tick(context)
        for request in found.dynamic_partitions_requests or ():
            self.instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        return found

    def sync(self, partition: str) -> dg.ExecuteInProcessResult:
        job = self.defs.resolve_job_def(SYNC_JOB)
        return job.execute_in_process(
            partition_key=partition,
            instance=self.instance,
            resources=self.resources,
            raise_on_error=False,
            run_config=QUIET,
        )


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    [head] = linear(tmp_path / "widget.git", {b"a.txt": b"one\n"})
    note = json.dumps({"v": 1, "sessions": [{"tool": "t", "session_id": "s1", "stamped_at": ""}]})
    git(tmp_path / "widget.git", "notes", "--ref=sediment", "add", "-m", note, head, **COMMITTER)
    (tmp_path / "home").mkdir()
    with dg.instance_for_test(temp_dir=str(tmp_path / "home")) as instance:  # ticks look partitions up by its reference
        (tmp_path / "mirrors").mkdir()
        yield Team(tmp_path, head, instance)


def requested(tick: Any) -> dict[str, str]:
    return {request.partition_key: request.tags[PUSH] for request in tick.run_requests}


def test_the_sensor_adds_repositories_and_asks_for_a_refresh_when_a_newer_push_arrives(team: Team):
    team.store(team.push("p1", **IDENTITY), team.push("p2", repo=GADGET))
    first = team.tick()
    assert requested(first) == {WIDGET: "p1", GADGET: "p2"}
    assert set(team.instance.get_dynamic_partitions(str(REPOSITORY_PARTITIONS.name))) == {WIDGET, GADGET}
    again = team.tick(first.cursor)
    assert (again.run_requests, again.skip_message) == ([], "no new Fact")
    team.store(make_call(), team.push("p3", repo=GADGET, ref="refs/heads/x", captured_at="2026-03-03T09:00:00Z"))
    newer = team.tick(first.cursor)
    assert requested(newer) == {GADGET: "p3"}
    assert not newer.dynamic_partitions_requests
    assert [request.run_key for request in newer.run_requests] == [f"{GADGET} p3"]


def test_a_repository_that_cannot_be_proven_is_not_asked_for(team: Team):
    other = {**IDENTITY, "repository_id": "43"}
    team.store(team.push("p1", **IDENTITY), team.push("p2", **other), team.push("p3", repo=GADGET, clone_url=""))
    tick = team.tick()
    assert (tick.run_requests, tick.skip_message) == ([], "no newer Push")
    assert team.instance.get_dynamic_partitions(str(REPOSITORY_PARTITIONS.name)) == []


def test_a_partition_is_fetched_and_its_notes_are_observed(team: Team):
    team.store(team.push("p1", **IDENTITY))
    team.tick()
    result = team.sync(WIDGET)
    [event] = result.get_asset_materialization_events()
    assert (event.asset_key, event.partition) == (REPOSITORIES, WIDGET)
    found = {name: value.value for name, value in event.materialization.metadata.items()}
    assert found == {
        "repository": "acme/widget",
        "status": "created",
        "refs": 2,
        "notes": 1,
        "notes_unreadable": 0,
        "session_ids_invalid": 0,
        "observations_stored": 1,
        "observations_known": 0,
        "mirror": f"repositories-v1/acme/{WIDGET}",
    }
    with open_facts(reading_engine(team.url), ORG) as facts:
        assert [observation.session_id for observation in facts.observations()] == ["s1"]
    [again] = team.sync(WIDGET).get_asset_materialization_events()
    assert again.materialization.metadata["status"].value == "unchanged"
    versions = {(found.materialization.tags or {})["dagster/data_version"] for found in (event, again)}
    assert len(versions) == 1


def test_evidence_is_observed_after_a_mirror_was_fetched(team: Team):
    team.store(team.push("p1", **IDENTITY))
    team.tick()
    assert team.sync(WIDGET).success
    observe = team.defs.resolve_job_def(OBSERVE_JOB)
    result = observe.execute_in_process(instance=team.instance, resources=team.resources, run_config=QUIET)
    observed = {event.asset_key: event for event in result.get_asset_observation_events()}
    found = observed[MIRRORS].asset_observation_data.asset_observation.metadata
    assert found["mirrors"].value == 1


def test_a_stored_observation_asks_for_no_refresh(team: Team):
    team.store(team.push("p1", **IDENTITY))
    cursor = team.tick().cursor
    team.sync(WIDGET)
    assert team.tick(cursor).skip_message == "no new Fact"


def test_what_the_policy_forbids_fails_at_once_and_names_no_url(team: Team):
    team.development = False
    team.store(team.push("p1"))
    team.tick()
    result = team.sync("acme/widget")
    assert not result.success
    assert not [event for event in result.all_events if event.is_step_up_for_retry]
    [problem] = failures(result).values()
    assert "need SEDIMENT_DEV_MODE=true" in problem
    assert str(team.directory) not in problem


def test_a_partition_that_no_push_names_says_so(team: Team):
    team.store(team.push("p1"))
    team.instance.add_dynamic_partitions(str(REPOSITORY_PARTITIONS.name), ["../../etc"])
    [problem] = failures(team.sync("../../etc")).values()
    assert "expected a repository that a visible Push names, got none" in problem


def test_every_night_all_mirrors_are_asked_for(team: Team):
    team.instance.add_dynamic_partitions(str(REPOSITORY_PARTITIONS.name), [WIDGET, GADGET])
    schedule = team.defs.resolve_schedule_def(SCHEDULE)
    with dg.build_schedule_context(
        instance=team.instance,
        scheduled_execution_time=datetime(2026, 11, 3, 2, tzinfo=UTC),
        repository_def=team.defs.get_repository_def(),
    ) as context:
        requests = schedule.evaluate_tick(context).run_requests or []
    assert [(request.partition_key, request.run_key) for request in requests] == [
        (GADGET, f"2026-11-03 {GADGET}"), (WIDGET, f"2026-11-03 {WIDGET}"),
    ]  # fmt: skip


def test_lineage_goes_from_facts_over_mirrors_to_rollouts(team: Team):
    graph = team.defs.resolve_asset_graph()
    assert graph.get(MIRRORS).parent_keys == {REPOSITORIES}
    assert MIRRORS in graph.get(MIRRORED_COMMITS).parent_keys
    assert dg.AssetKey(["facts", "pushes"]) in graph.get(MIRRORED_COMMITS).parent_keys
    assert MIRRORED_COMMITS in graph.get(ROLLOUTS).parent_keys


def test_nothing_is_requested_while_the_mirror_base_is_not_there(team: Team):
    team.store(team.push("p1"))
    (team.directory / "mirrors").rmdir()
    with pytest.raises(MirrorError, match="SEDIMENT_MIRROR_PATH: expected the base directory of the mirrors, got noth"):
        team.tick()
