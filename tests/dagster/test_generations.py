"""Generations: each materialization its own directory, the newest complete one is read, versions follow content."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from resources.generations import GenerationStore, PartitionKeyError
from sediment_assets.adapters.bundle_dir import Bundle, open_bundle
from sediment_assets.bundle.encoding import MANIFEST
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.validate.rows import validate_rows
from sediment_assets.defs.keys import CI_RESOLUTIONS, ROLLOUTS, output_key
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.targets.registry import Target
from tests.dagster.conftest import DAYS
from tests.dagster.graph import OUTPUTS, Evidence, Graph, artifacts, evaluations, failures, metadata, versions

DAY = DAYS[0]
TASKS = output_key(Target.SEDIMENT, "tasks")
SWE_BENCH = [output_key(Target.SWE_BENCH, "tasks")]
ALL = [ROLLOUTS, CI_RESOLUTIONS, *OUTPUTS]


def test_an_unchanged_day_gets_new_generations_of_the_same_versions(graph: Graph, day_facts: Callable[[str], Path]):
    first = graph.run(DAY)
    before = {key: graph.generation(key, DAY) for key in ALL}
    contents = {key: artifacts(path) for key, path in before.items()}
    graph.evidence.add(day_facts(DAYS[1]))  # another day's Facts
    second = graph.run(DAY)
    after = {key: graph.generation(key, DAY) for key in ALL}
    assert all(before[key] != after[key] for key in ALL)
    assert versions(first) == versions(second)
    assert set(versions(first)) == set(ALL)
    assert {key: artifacts(path) for key, path in before.items()} == contents
    for key in OUTPUTS:
        assert artifacts(after[key]) == contents[key]
    assert metadata(first, ROLLOUTS)["bundle_digest"] != metadata(second, ROLLOUTS)["bundle_digest"]


def test_a_changed_day_gets_other_versions(graph: Graph, planted, tmp_path: Path):
    first = graph.run(DAY)
    quarantine = tmp_path / "quarantine.jsonl"
    shutil.copyfile(planted.facts_directory / "quarantine.jsonl", quarantine)
    graph.evidence.add(quarantine)  # its revision is part of every row
    second = graph.run(DAY)
    assert versions(first)[ROLLOUTS] != versions(second)[ROLLOUTS]
    assert versions(first)[TASKS] != versions(second)[TASKS]
    environment = output_key(Target.SEDIMENT, "environment")
    assert versions(first)[environment] == versions(second)[environment]


class TestATargetReadsTheResolutionsOfItsBundle:
    def test_older_resolutions_are_refused(self, graph: Graph, day_facts: Callable[[str], Path]):
        graph.run(DAY)
        published = graph.generation(SWE_BENCH[0], DAY)
        graph.evidence.add(day_facts(DAYS[1]))
        graph.materialize(DAY, [ROLLOUTS])
        result = graph.materialize(DAY, SWE_BENCH, raises=False)
        self.is_refused(graph, result)
        assert graph.generation(SWE_BENCH[0], DAY) == published

    def test_newer_resolutions_are_refused(self, graph: Graph, day_facts: Callable[[str], Path]):
        graph.materialize(DAY, [ROLLOUTS])
        graph.evidence.add(day_facts(DAYS[1]))
        graph.materialize(DAY, [ROLLOUTS, CI_RESOLUTIONS])
        (graph.generation(ROLLOUTS, DAY) / MANIFEST).unlink()  # the older bundle is the newest complete one now
        self.is_refused(graph, graph.materialize(DAY, SWE_BENCH, raises=False))

    def is_refused(self, graph: Graph, result: dg.ExecuteInProcessResult) -> None:
        message = failures(result)["publish_swe_bench"]
        assert "ResolutionsError" in message
        assert f"{graph.generation(CI_RESOLUTIONS, DAY)}: expected the CI resolutions of bundle" in message
        assert message.endswith("materialize ci_resolutions for this partition again")

    def test_those_of_the_same_bundle_are_read_by_a_run_of_its_own(self, graph: Graph):
        graph.materialize(DAY, [ROLLOUTS, CI_RESOLUTIONS])
        assert graph.materialize(DAY, SWE_BENCH).success
        assert graph.record(Target.SWE_BENCH, DAY).bundle_digest is not None


def test_an_older_generation_is_read_while_the_newest_is_not_complete(graph: Graph):
    graph.run(DAY)
    older = graph.generation(ROLLOUTS, DAY)
    graph.materialize(DAY, [ROLLOUTS])
    newest = graph.generation(ROLLOUTS, DAY)
    assert newest != older
    (newest / MANIFEST).unlink()
    assert graph.generation(ROLLOUTS, DAY) == older


def test_sessions_outside_the_partitions_are_counted(demo: Evidence, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(
            demo, tmp_path / "exports", instance, start=dg.DailyPartitionsDefinition("2026-11-04").start.date()
        )
        result = graph.materialize("2026-11-04", [ROLLOUTS])
    check = evaluations(result)[ROLLOUTS, "sessions_before_partition_start"]
    assert not check.passed
    assert check.severity is dg.AssetCheckSeverity.WARN
    assert check.metadata["sessions_before_first_partition"].value == 11
    assert check.metadata["sessions_after_last_partition"].value == 0
    assert check.description == "Sessions that began before the first partition, 2026-11-04: 11."
    assert metadata(result, ROLLOUTS)["dagster/row_count"] == 6


@pytest.mark.parametrize(
    "key", ["..", "../2026-11-02", "2026-11-02/..", "20261102", "2026-W45-1", " 2026-11-02", "2026-11-2", "x" * 300]
)
def test_a_partition_key_that_is_no_day_never_becomes_a_path(tmp_path: Path, key: str):
    store = GenerationStore(root=str(tmp_path / "exports"))
    with pytest.raises(PartitionKeyError, match="partition: expected a day such as 2026-11-02, got"):
        store.new_path("sediment", dg.build_asset_context(partition_key=key))
    assert list(tmp_path.iterdir()) == []


def test_a_root_that_cannot_be_made_is_named(graph: Graph):
    graph.root.write_text("a file")
    message = failures(graph.run(DAY, raises=False))["rollouts"]
    assert message.endswith(f"{graph.root}/rollouts/{DAY}: cannot create the directory of generations: Not a directory")


def test_a_run_validates_its_bundle_once_and_removes_the_private_copy(graph: Graph, monkeypatch: pytest.MonkeyPatch):
    temporary = graph.root.parent / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    opened: list[Path] = []
    validated: list[Manifest] = []

    @contextmanager
    def counted(directory: Path, **known: Any) -> Iterator[Bundle]:
        opened.append(directory)
        with open_bundle(directory, **known) as bundle:
            assert list(temporary.glob("sediment-bundle-*"))
            yield bundle

    def validating(manifest: Manifest, *of_bundle: Any) -> RepositoryResolver:
        validated.append(manifest)
        return validate_rows(manifest, *of_bundle)

    monkeypatch.setattr("resources.bundles.open_bundle", counted)
    monkeypatch.setattr("sediment_assets.adapters.bundle_dir.validate_rows", validating)
    graph.run(DAY)
    assert opened == [graph.generation(ROLLOUTS, DAY)]
    assert len(validated) == 1, "the step that writes a bundle validates it; its copy has the same bytes"
    assert list(temporary.glob("sediment-bundle-*")) == []
    graph.materialize(DAY, [CI_RESOLUTIONS])
    assert len(validated) == 2, "another run believes nobody"
    assert list(temporary.glob("sediment-bundle-*")) == []
