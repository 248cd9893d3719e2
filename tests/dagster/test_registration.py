"""``sediment generations register``: an instance that lost its history learns again what is on disk."""

import shutil
from contextlib import nullcontext
from pathlib import Path

import dagster as dg
import pytest

from resources.generations import NoGenerationError, newest_materialized
from sediment_assets.adapters.generations.catalog import ROLLOUTS_KIND
from sediment_assets.defs.canonical import _ROLLOUTS_KIND
from sediment_assets.defs.keys import CI_RESOLUTIONS, ROLLOUTS, output_key
from sediment_assets.defs.observation import POLICY
from sediment_assets.defs.registration import known, main, register
from sediment_assets.publish.artifacts import RECORD
from sediment_assets.targets.registry import Target
from tests.dagster.conftest import DAYS, Week
from tests.dagster.graph import OUTPUTS, Graph, versions

ORG = "acme"
ALL = [ROLLOUTS, CI_RESOLUTIONS, *OUTPUTS]
TASKS = output_key(Target.SWE_BENCH, "tasks")


@pytest.fixture(scope="module")
def forgetful(week: Week, tmp_path_factory: pytest.TempPathFactory):
    """The week's generations, and an instance that knows none of them."""
    with dg.instance_for_test() as instance:
        root = tmp_path_factory.mktemp("exports")
        yield Graph(week.graph.evidence, week.graph.root, instance), root


def test_the_catalog_knows_where_the_graph_puts_bundles():
    assert ROLLOUTS_KIND == _ROLLOUTS_KIND


def test_records_come_back_as_they_were_and_only_once(week: Week, forgetful):
    graph, _ = forgetful
    with pytest.raises(NoGenerationError):
        graph.generation(ROLLOUTS, DAYS[0])
    assert register(graph.instance, graph.root, ORG) == len(ALL) * len(DAYS)
    assert register(graph.instance, graph.root, ORG) == 0
    for day in DAYS:
        before = versions(week.results[day])
        for key in ALL:
            assert graph.generation(key, day) == week.graph.generation(key, day)
            event = graph.instance.fetch_materializations(
                dg.AssetRecordsFilter(asset_key=key, asset_partitions=[day]), limit=1
            ).records[0]
            assert event.asset_materialization is not None
            assert (event.asset_materialization.tags or {})["dagster/data_version"] == before[key]
        # Late evidence is asked for by policy: a restored day is one of the default policy, as it was.
        restored, recorded = (newest_materialized(one.instance, ROLLOUTS, day) for one in (graph, week.graph))
        assert restored.tags[POLICY] == recorded.tags[POLICY]


def test_what_the_command_prints_of_a_name_stays_on_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SEDIMENT_ORG_ID", ORG)
    monkeypatch.setenv("SEDIMENT_DATABASE_URL", "sqlite:///facts.db")
    monkeypatch.setenv("SEDIMENT_MIRROR_PATH", "mirrors")
    (tmp_path / "ex\nports").mkdir()
    monkeypatch.setenv("SEDIMENT_EXPORT_ROOT", "ex\nports")
    with dg.instance_for_test() as instance:
        monkeypatch.setattr(dg.DagsterInstance, "get", lambda: nullcontext(instance))
        assert main(["register"]) == 0
    assert capsys.readouterr().out == "ex\\nports: 0 records restored\n"


def test_generations_of_another_organization_or_in_another_days_directory_stay_out(week: Week, tmp_path: Path):
    with dg.instance_for_test() as instance:
        assert register(instance, week.graph.root, "other") == 0
        day = week.graph.generation(TASKS, DAYS[0])
        shutil.copytree(day, tmp_path / "swe-bench" / DAYS[1] / "moved.0")
        assert register(instance, tmp_path, ORG) == 0


def test_readers_and_checks_work_on_restored_records(forgetful):
    graph, root = forgetful
    register(graph.instance, graph.root, ORG)
    elsewhere = Graph(graph.evidence, root, graph.instance)
    assert elsewhere.materialize(DAYS[0], [TASKS]).success  # from the restored CI resolutions and bundle
    assert root in elsewhere.generation(TASKS, DAYS[0]).parents
    assert graph.check(DAYS[1], TASKS, "generation_intact").passed


def test_what_the_event_log_has_and_newer_generations_lack_is_not_recorded_behind_it(week: Week, tmp_path: Path):
    with dg.instance_for_test() as instance:
        graph = Graph(week.graph.evidence, tmp_path / "exports", instance)
        graph.run(DAYS[5])  # a day without Sessions
        with dg.instance_for_test() as other:
            Graph(week.graph.evidence, graph.root, other).run(DAYS[5])
        latest = graph.generation(TASKS, DAYS[5])
        assert register(instance, graph.root, ORG) == len(ALL)  # the other instance's generations are newer
        assert graph.generation(TASKS, DAYS[5]) != latest
        assert register(instance, graph.root, ORG) == 0
        (graph.generation(TASKS, DAYS[5]) / RECORD).unlink()
        assert register(instance, graph.root, ORG) == 0
        assert graph.generation(TASKS, DAYS[5]) == latest
        assert str(latest) in known(instance, graph.root)["newest"]
        assert known(instance, graph.root)["busy"] == []
