"""Daily partitions: the UTC day of a Session's first visible InferenceCall.

Every Session lies in exactly one partition. Sessions outside the range are counted by a check of the
``canonical/rollouts`` asset, never silently lost.
"""

from datetime import UTC, date, datetime, timedelta
from typing import Final

import dagster as dg

from sediment_assets.derive.attribution import FIRST_INSTANT, LAST_INSTANT
from sediment_assets.derive.fact_reader import SessionWindow

EVERY_MORNING: Final = dg.FreshnessPolicy.cron(
    deadline_cron="0 6 * * *", lower_bound_delta=timedelta(hours=24), timezone="UTC"
)
"""Overdue when nothing was materialized in the 24 hours before 06:00 UTC: the schedule ran at 03:00, or did not."""


def daily_partitions(start: date) -> dg.DailyPartitionsDefinition:
    """Return the partitions from ``start`` to yesterday, in UTC."""
    return dg.DailyPartitionsDefinition(start_date=start.isoformat(), timezone="UTC")


def window_of(partition_key: str) -> SessionWindow:
    """Return the half-open instant range of one day, given as ``YYYY-MM-DD``."""
    start = datetime.combine(date.fromisoformat(partition_key), datetime.min.time(), tzinfo=UTC)
    return SessionWindow(start, start + timedelta(days=1))


def before_first(partitions: dg.TimeWindowPartitionsDefinition) -> SessionWindow:
    """Return everything before the first partition."""
    return SessionWindow(FIRST_INSTANT, partitions.start.replace(tzinfo=UTC))


def after_last(partitions: dg.TimeWindowPartitionsDefinition) -> SessionWindow:
    """Return everything after the newest partition there is by now: today, above all."""
    last = partitions.get_last_partition_window()
    return SessionWindow(partitions.start.replace(tzinfo=UTC) if last is None else last.end, LAST_INSTANT)
