"""The environment of a Dagster process: settings as the command line reads them, one home, all paths absolute."""

import argparse
import re
import socket
from datetime import date
from pathlib import Path

import pytest

from sediment_assets.adapters.fact_store.engine import create_store, writing_engine
from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.adapters.settings import SettingsError
from sediment_assets.cli.graph import (
    GraphError,
    graph_environment,
    prepare_home,
    require_free_port,
    run_backfill,
    run_ui,
)
from sediment_assets.mirrors.reader import MirrorError
from tests.cli.command import sediment

ENV = "sediment_org_id=acme\nSEDIMENT_DATABASE_URL=sqlite:///facts.db\nSEDIMENT_MIRROR_PATH=mirrors\nOTHER=1\n"


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text(ENV)
    return tmp_path


def test_settings_come_from_both_places_under_their_own_names(directory: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("sediment_mirror_path", "elsewhere\n")
    found = graph_environment()
    assert found["SEDIMENT_ORG_ID"] == "acme"
    assert found["SEDIMENT_MIRROR_PATH"] == "elsewhere"
    assert found["SEDIMENT_DATABASE_URL"] == "sqlite:///facts.db"
    assert found["SEDIMENT_EXPORT_ROOT"] == str(directory / "exports")
    assert found["DAGSTER_HOME"] == str(directory / ".dagster")
    assert "OTHER" not in found


def test_own_home_and_export_root_are_kept(directory: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DAGSTER_HOME", "home")
    monkeypatch.setenv("SEDIMENT_EXPORT_ROOT", "rows")
    found = graph_environment()
    assert found["DAGSTER_HOME"] == str(directory / "home")
    assert found["SEDIMENT_EXPORT_ROOT"] == str(directory / "rows")


def test_a_missing_setting_is_named_and_nothing_is_made(directory: Path):
    Path(".env").write_text("SEDIMENT_ORG_ID=acme\n")
    with pytest.raises(SettingsError, match="SEDIMENT_DATABASE_URL"):
        graph_environment()
    assert [path.name for path in directory.iterdir()] == [".env"]


def test_a_partition_start_that_is_no_date_is_one_line(directory: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SEDIMENT_PARTITION_START", "yesterday")
    with pytest.raises(SettingsError, match="SEDIMENT_PARTITION_START: expected a date such as 2026-01-31, got 'yest"):
        graph_environment()
    assert not (directory / ".dagster").exists()


def test_a_port_in_use_says_what_to_do():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(GraphError, match=rf"take another port: sediment ui --port {port + 1}"):
            require_free_port(port)
    require_free_port(port)
    with pytest.raises(GraphError, match="--port: expected a number from 0 to 65535, got 65536"):
        require_free_port(65536)


def test_an_instance_file_of_ones_own_is_kept(directory: Path):
    home = directory / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    prepare_home(home)
    prepare_home(home)
    assert (home / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"


def test_a_new_home_gets_the_projects_instance_file(directory: Path):
    prepare_home(directory / "home")
    shipped = Path(__file__).parents[2] / "dagster.yaml"
    assert (directory / "home" / "dagster.yaml").read_text() == shipped.read_text()


def test_a_home_that_cannot_be_made_is_named(directory: Path):
    (directory / "home").write_text("a file")
    with pytest.raises(GraphError, match="home: cannot prepare the Dagster instance directory: File exists"):
        prepare_home(directory / "home")


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("SEDIMENT_AUTOMATION", "yes", "SEDIMENT_AUTOMATION: expected on, local (all but fetching) or off, got 'yes'"),
        ("SEDIMENT_SENSOR_SECONDS", "0", "SEDIMENT_SENSOR_SECONDS: expected 1 to 86400 seconds, got '0'"),
        (
            "SEDIMENT_PARTITION_START",
            "soon",
            "SEDIMENT_PARTITION_START: expected a date such as 2026-01-31, got 'soon'",
        ),
    ],
)
def test_a_setting_of_the_graph_is_checked_before_dagster_starts(
    directory: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, problem: str
):
    monkeypatch.setenv(name, value)
    with pytest.raises(SettingsError, match=re.escape(problem)):
        run_ui(argparse.Namespace(port=0))
    assert [path.name for path in directory.iterdir()] == [".env"]


def test_a_backfill_in_a_wrong_directory_makes_nothing(directory: Path):
    with pytest.raises(FactStoreError, match=r"Fact store facts.db: no such file"):
        run_backfill(argparse.Namespace(first=date(2026, 1, 1), last=date(2026, 1, 1)))
    Path("facts.db").touch()
    with pytest.raises(FactStoreError, match="expected schema revision"):
        run_backfill(argparse.Namespace(first=date(2026, 1, 1), last=date(2026, 1, 1)))
    assert {path.name for path in directory.iterdir()} == {".env", "facts.db"}


def test_a_backfill_without_a_mirror_base_makes_nothing(directory: Path):
    create_store(writing_engine("sqlite:///facts.db"))
    with pytest.raises(MirrorError, match="SEDIMENT_MIRROR_PATH: expected the base directory of the mirrors, got noth"):
        run_backfill(argparse.Namespace(first=date(2026, 1, 1), last=date(2026, 1, 1)))
    assert not {".dagster", "exports", "mirrors"} & {path.name for path in directory.iterdir()}


def test_a_backfill_without_mirrors_warns_before_it_begins(tmp_path: Path):
    create_store(writing_engine(f"sqlite:///{tmp_path}/facts.db"))
    (tmp_path / "elsewhere").mkdir()
    settings = {
        "SEDIMENT_ORG_ID": "acme",
        "SEDIMENT_DATABASE_URL": f"sqlite:///{tmp_path}/facts.db",
        "SEDIMENT_MIRROR_PATH": "elsewhere",
        "HOME": str(tmp_path),
    }
    done = sediment("backfill", "--from", "1999-01-01", "--to", "1999-01-01", cwd=tmp_path, settings=settings)
    assert done.returncode == 1
    warning, error = done.stderr.splitlines()
    assert warning.startswith("no_mirrors: elsewhere: holds no mirror of organization acme, ")
    assert error.startswith("error: 1999-01-01: expected a day from ")
