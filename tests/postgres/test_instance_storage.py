"""Dagster's runs and events in PostgreSQL, by the instance file that docs/operations.md says to copy."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest
import yaml

from sediment_assets.cli.demo import import_evidence
from sediment_assets.demo import plant_evidence
from tests.postgres.conftest import Server

pytest.importorskip("dagster_postgres", reason="the extra `instance-postgres` is not installed")

ROOT = Path(__file__).parents[2]
INSTANCE = ROOT / "docs/deployment/postgres/dagster.yaml"
DAY = "2026-11-08"


def test_a_day_is_recorded_in_postgresql_and_nothing_in_the_home(
    server: Server, new_database: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    evidence = plant_evidence(tmp_path / "demo")
    import_evidence(evidence)
    home = tmp_path / "home"
    home.mkdir()
    shutil.copy(INSTANCE, home)
    url = server.url(new_database()).replace("postgresql:", "postgresql+psycopg2:")
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(ROOT),
        "DAGSTER_HOME": str(home),
        "SEDIMENT_INSTANCE_URL": url,
        **evidence.settings,
    }
    command = [sys.executable, "-m", "sediment_assets.cli.main", "backfill", "--from", DAY, "--to", DAY]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("SEDIMENT_INSTANCE_URL", url)
    with dg.DagsterInstance.from_config(str(home)) as instance:
        records = instance.fetch_materializations(dg.AssetKey(["targets", "sediment", "tasks"]), limit=2).records
    assert [record.partition_key for record in records] == [DAY]
    assert not list(home.rglob("*.db"))


def test_the_instance_file_differs_from_the_default_in_storage_and_limits_alone():
    default, postgres = (yaml.safe_load(path.read_text()) for path in (ROOT / "dagster.yaml", INSTANCE))
    assert set(postgres) - set(default) == {"storage"}
    assert {name for name in default if default[name] != postgres[name]} == {"concurrency"}
