"""The code location: it loads without a warning, in any directory that has no ``resources`` package of its own."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
import yaml

from sediment_assets.adapters.settings import Settings
from sediment_assets.cli.graph import WORKSPACE_FILE, prepare_home
from sediment_assets.defs.build import build_defs, default_resources
from sediment_assets.defs.partitions import daily_partitions
from tests.dagster.graph import FIRST_DAY, Graph

ROOT = Path(__file__).parents[2]


def python(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_definitions_are_valid_for_dagsters_own_command(tmp_path: Path):
    done = python("-m", "dagster", "definitions", "validate", "-m", "sediment_assets.definitions", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    printed = done.stdout + done.stderr
    assert "All code locations passed validation" in printed
    assert "sediment_assets" in printed
    for noise in ("BetaWarning", "PreviewWarning", "DeprecationWarning", "Traceback"):
        assert noise not in printed


def test_a_foreign_resources_package_is_named_at_once(tmp_path: Path):
    (tmp_path / "resources").mkdir()
    (tmp_path / "resources" / "__init__.py").write_text("raise_nothing = True\n")
    done = python("-c", "import sediment_assets.definitions", cwd=tmp_path, PYTHONPATH=f"{tmp_path}:{ROOT}")
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        f"ImportError: another package named 'resources' is imported, from {tmp_path}/resources/__init__.py; "
        "start Dagster in another directory"
    )


def test_a_wrong_partition_start_is_named_in_one_line(tmp_path: Path):
    done = python("-c", "import sediment_assets.definitions", cwd=tmp_path, SEDIMENT_PARTITION_START="monday")
    assert done.stderr.strip().endswith("SEDIMENT_PARTITION_START: expected a date such as 2026-01-31, got 'monday'")


def test_settings_are_read_when_a_run_starts_and_show_no_secret():
    resources = default_resources(Settings({}, {"SEDIMENT_DATABASE_URL": "postgresql://user:secret@host/db"}))
    assert "secret" not in repr(resources)
    assert resources["evidence"].database_url.env_var_name == "SEDIMENT_DATABASE_URL"


def test_the_graph_is_loadable_with_every_resource_it_asks_for(graph: Graph):
    dg.Definitions.validate_loadable(graph.defs)


def test_the_ui_loads_the_location_that_the_projects_workspace_names(tmp_path: Path):
    prepare_home(tmp_path / "home")
    written = yaml.safe_load((tmp_path / "home" / WORKSPACE_FILE).read_text())
    assert written == yaml.safe_load((ROOT / "workspace.yaml").read_text())


def test_no_two_paths_lead_to_an_output_so_that_a_range_of_days_can_be_launched(graph: Graph):
    # The web server compares the days of a target's outputs wrongly when some were reached twice: defs/targets.py.
    assets = graph.defs.resolve_asset_graph()
    for key in assets.materializable_asset_keys:
        assert len(assets.get(key).parent_keys & assets.materializable_asset_keys) <= 1, key


class TestTheDailySchedule:
    def request(self, at: datetime) -> dg.RunRequest:
        defs = build_defs(FIRST_DAY, default_resources(Settings({}, {})))
        schedule = defs.resolve_schedule_def("yesterday")
        with dg.build_schedule_context(
            scheduled_execution_time=at, repository_def=defs.get_repository_def()
        ) as context:
            (request,) = schedule.evaluate_tick(context).run_requests or ()
        return request

    def test_requests_yesterday_once(self):
        request = self.request(datetime(2026, 11, 9, 3, tzinfo=UTC))
        assert request.partition_key == "2026-11-08"
        assert request.run_key == "2026-11-08"

    def test_requests_the_newest_partition_there_is(self):
        at = datetime(2026, 11, 9, 3, tzinfo=UTC)
        with dg.partition_loading_context(at):
            newest = daily_partitions(FIRST_DAY).get_last_partition_key()
        assert self.request(at).partition_key == newest

    def test_is_stopped_until_an_operator_starts_it(self):
        defs = build_defs(FIRST_DAY, default_resources(Settings({}, {})))
        assert defs.resolve_schedule_def("yesterday").default_status is dg.DefaultScheduleStatus.STOPPED


@pytest.mark.parametrize("key", ["2026-11-01", "monday", "../2026-11-02", "2026-11-02 "])
def test_a_key_that_is_no_partition_starts_no_run(graph: Graph, key: str):
    with pytest.raises(dg.DagsterUnknownPartitionError):
        graph.run(key)
    assert not graph.root.exists()
    assert graph.instance.get_runs_count() == 0
