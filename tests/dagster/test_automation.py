"""What runs without a person: stopped unless the settings start it, and one line for every run that failed."""

import json
import re

import dagster as dg
import pytest

from sediment_assets.adapters.automation import Automation
from sediment_assets.adapters.settings import Settings, SettingsError
from sediment_assets.defs.build import build_defs, default_resources
from sediment_assets.defs.failures import failure_line, failure_of
from sediment_assets.defs.jobs import DAY_JOB
from tests.dagster.conftest import DAYS
from tests.dagster.graph import FIRST_DAY, Evidence, Graph


def statuses(automation: Automation) -> dict[str, str]:
    defs = build_defs(FIRST_DAY, default_resources(Settings({}, {})), automation)
    found = [*(defs.schedules or ()), *(defs.sensors or ())]
    return {one.name: one.default_status.value for one in found}


LOCAL = {"yesterday", "late_evidence", "run_failures"}
FETCHING = {"mirrors_nightly", "new_pushes"}


@pytest.mark.parametrize(
    ("automation", "running"),
    [
        (Automation(), set()),
        (Automation(running=True), LOCAL),
        (Automation(running=True, fetching=True), LOCAL | FETCHING),
    ],
)
def test_schedules_and_sensors_run_only_where_they_are_switched_on(automation: Automation, running: set[str]):
    found = statuses(automation)
    assert set(found) == LOCAL | FETCHING
    assert {name for name, status in found.items() if status == "RUNNING"} == running


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, Automation()),
        ({"SEDIMENT_AUTOMATION": "off"}, Automation()),
        ({"SEDIMENT_AUTOMATION": "local"}, Automation(running=True)),
        (
            {"SEDIMENT_AUTOMATION": "on", "SEDIMENT_SENSOR_SECONDS": "5"},
            Automation(running=True, fetching=True, seconds=5),
        ),
    ],
)
def test_the_settings_of_automation(given: dict[str, str], expected: Automation):
    assert Automation.of(Settings({}, given)) == expected


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (
            {"SEDIMENT_AUTOMATION": "yes"},
            "SEDIMENT_AUTOMATION: expected on, local (all but fetching) or off, got 'yes'",
        ),
        ({"SEDIMENT_SENSOR_SECONDS": "0"}, "SEDIMENT_SENSOR_SECONDS: expected 1 to 86400 seconds, got '0'"),
        ({"SEDIMENT_SENSOR_SECONDS": "½"}, "SEDIMENT_SENSOR_SECONDS: expected 1 to 86400 seconds, got '½'"),
    ],
)
def test_a_wrong_setting_is_named(given: dict[str, str], problem: str):
    with pytest.raises(SettingsError, match=re.escape(problem)):
        Automation.of(Settings({}, given))


def test_a_failed_run_is_one_line_with_its_day_step_and_cause(graph: Graph):
    gone = Graph(
        Evidence(graph.evidence.database.with_name("absent.db"), graph.evidence.mirrors), graph.root, graph.instance
    )
    result = gone.run(DAYS[0], raises=False)
    context = dg.build_run_status_sensor_context(
        sensor_name="run_failures",
        dagster_event=next(event for event in result.all_events if event.is_job_failure),
        dagster_instance=graph.instance,
        dagster_run=result.dagster_run,
    ).for_run_failure()
    line = failure_line(failure_of(context))
    found = json.loads(line)
    assert "\n" not in line
    assert found["event"] == "run_failed"
    assert found["job"] == DAY_JOB
    assert found["partition"] == DAYS[0]
    assert found["steps"] == ["rollouts"]
    assert found["error"].startswith(f"Fact store {gone.evidence.database}: no such file")
