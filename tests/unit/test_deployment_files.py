"""The files that docs/operations.md tells an operator to copy: units that start what there is, settings that exist."""

import configparser
import shlex
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from sediment_assets.adapters import settings
from sediment_assets.adapters.automation import AUTOMATION, SENSOR_SECONDS

UNITS = Path(__file__).parents[2] / "docs/deployment/systemd"


@pytest.mark.parametrize("name", ["sediment-webserver.service", "sediment-daemon.service"])
def test_a_unit_starts_an_installed_command_as_its_own_user(name: str):
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[method-assign,assignment]  # names of directives have capitals
    unit.read(UNITS / name)
    program, *_ = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name in {script.name for script in entry_points(group="console_scripts")}
    assert unit["Service"]["User"] == "sediment"
    assert unit["Service"]["UMask"] == "0077"
    assert unit["Service"]["EnvironmentFile"] == "/etc/sediment/sediment.env"


def test_the_settings_of_the_units_exist():
    known = {value for value in vars(settings).values() if isinstance(value, str) and value.startswith("SEDIMENT_")}
    known |= {AUTOMATION, SENSOR_SECONDS, "SEDIMENT_INSTANCE_URL", "DAGSTER_HOME"}
    lines = (UNITS / "sediment.env").read_text().splitlines()
    assert {line.partition("=")[0] for line in lines if not line.startswith("#")} <= known


def test_the_units_load_the_location_of_the_project():
    ours = Path(__file__).parents[2] / "workspace.yaml"
    assert yaml.safe_load((UNITS / "workspace.yaml").read_text()) == yaml.safe_load(ours.read_text())
