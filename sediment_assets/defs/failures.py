"""A line for every failed run, for whatever collects logs: the hook on which alerts hang.

The line is JSON on the logger ``sediment.alerts`` and in the sensor's tick. To do more (page somebody, open a ticket),
add a sensor of your own that calls ``failure_of``: docs/operations.md shows it.
"""

import json
import logging
from typing import TYPE_CHECKING, Any, Final

import dagster as dg

from sediment_assets.errors import printable

if TYPE_CHECKING:  # what Dagster records of an error has no public name
    from dagster_shared.error import SerializableErrorInfo

SENSOR: Final = "run_failures"
LOGGER: Final = "sediment.alerts"
_ERROR_CHARACTERS: Final = 500
_PARTITION_TAG: Final = "dagster/partition"


def failure_of(context: dg.RunFailureSensorContext) -> dict[str, Any]:
    """Describe a failed run: what it was to do, where it failed, and the first line of why."""
    steps = context.get_step_failure_events()
    return {
        "event": "run_failed",
        "job": context.dagster_run.job_name,
        "run_id": context.dagster_run.run_id,
        "partition": context.dagster_run.tags.get(_PARTITION_TAG),
        "steps": sorted({event.step_key for event in steps if event.step_key}),
        "error": _first_line(steps[0] if steps else context.failure_event),
    }


def failure_line(failure: dict[str, Any]) -> str:
    """Spell a failure as one line of ASCII JSON."""
    return json.dumps(failure, sort_keys=True)


def cause_of(event: dg.DagsterEvent) -> "SerializableErrorInfo | None":
    """Return the error of our own that Dagster wraps in a failed step or run."""
    data = event.step_failure_data if event.is_step_failure else event.job_failure_data
    error = data.error
    while error is not None and error.cause is not None and (error.cls_name or "").startswith("Dagster"):
        error = error.cause
    return error


def message_of(error: "SerializableErrorInfo") -> str:
    """Return an error's own text, without the class that Python prints before it."""
    text = error.message.strip()
    kind, separator, message = text.partition(": ")
    return message if separator and kind.rpartition(".")[2] == error.cls_name else text


def _first_line(event: dg.DagsterEvent) -> str:
    error = cause_of(event)
    text = event.message or "" if error is None else message_of(error)
    return printable(text.strip().partition("\n")[0])[:_ERROR_CHARACTERS]


def run_failures_sensor(*, running: bool = False) -> dg.SensorDefinition:
    """Make the sensor; stopped until an operator starts it in the UI, unless ``running``."""

    @dg.run_failure_sensor(
        name=SENSOR,
        description="Writes one line of JSON for every failed run, to the log of the code location and into the tick. "
        "The place to hang an alert on: docs/operations.md.",
        default_status=dg.DefaultSensorStatus.RUNNING if running else dg.DefaultSensorStatus.STOPPED,
    )
    def run_failures(context: dg.RunFailureSensorContext) -> None:
        line = failure_line(failure_of(context))
        logging.getLogger(LOGGER).error(line)
        context.log.error(line)

    return run_failures
