"""Jobs and schedules: one job that materializes a day end to end, and the daily schedule for yesterday."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

import dagster as dg

from sediment_assets.defs.keys import CANONICAL_GROUP, target_group
from sediment_assets.targets.registry import Target

if TYPE_CHECKING:  # Dagster gives the type of its own job definitions no public name
    from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition

DAY_JOB = "materialize_day"
OBSERVE_JOB = "observe_evidence"


def day_job() -> "UnresolvedAssetJobDefinition":
    """Everything of one day: Rollouts, CI resolutions, the three targets and their checks."""
    return dg.define_asset_job(
        DAY_JOB,
        selection=dg.AssetSelection.groups(CANONICAL_GROUP, *map(target_group, Target)),
        description="Freeze one day's Rollouts and publish the rows of every target.",
        tags={"sediment/kind": "export"},
    )


def observe_job(observed: Sequence[dg.AssetKey]) -> "UnresolvedAssetJobDefinition":
    """Record the current version of every Fact table and of the mirrors."""
    return dg.define_asset_job(
        OBSERVE_JOB,
        selection=dg.AssetSelection.assets(*observed),
        description="Record the current version of the Facts and the mirrors, so that stale days show.",
        tags={"sediment/kind": "observation"},
    )


def daily_schedule(job: "UnresolvedAssetJobDefinition", *, running: bool = False) -> dg.ScheduleDefinition:
    """Materialize yesterday at 03:00 UTC; stopped until an operator starts it in the UI, unless ``running``."""
    status = dg.DefaultScheduleStatus.RUNNING if running else dg.DefaultScheduleStatus.STOPPED

    @dg.schedule(
        name="yesterday",
        job=job,
        cron_schedule="0 3 * * *",
        execution_timezone="UTC",
        description="Materializes yesterday's partition at 03:00 UTC, when most of its CI has ended.",
        default_status=status,
    )
    def yesterday(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
        day = (context.scheduled_execution_time - timedelta(days=1)).date().isoformat()
        return dg.RunRequest(run_key=day, partition_key=day)

    return yesterday
