"""A range of days, one run each, in one process: ``python -m sediment_assets.defs.backfill FIRST LAST``.

For bulk exports and for machines without a daemon; ``sediment backfill`` starts it. Events, checks and generations are
those of any other run. One line a day, then the rows and skips of the whole range.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from time import monotonic

import dagster as dg

from sediment_assets.defs.build import load_defs
from sediment_assets.defs.jobs import DAY_JOB
from sediment_assets.defs.keys import ROLLOUTS

_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
_SKIP = "skip/"


class RangeTally:
    """Rows and skips per asset over all days."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.skipped: dict[str, Counter[str]] = {}
        self.failed: list[str] = []

    def add(self, result: dg.ExecuteInProcessResult) -> None:
        """Take one day's run into account."""
        for event in result.get_asset_materialization_events():
            rows = event.materialization.metadata["dagster/row_count"].value
            assert isinstance(rows, int)
            self.rows[event.materialization.asset_key.to_user_string()] += rows
        for evaluation in result.get_asset_check_evaluations():
            counts = self.skipped.setdefault(evaluation.asset_key.to_user_string(), Counter())
            for name, value in evaluation.metadata.items():
                if name.startswith(_SKIP) and isinstance(value.value, int):
                    counts[name.removeprefix(_SKIP)] += value.value

    def lines(self) -> Iterator[str]:
        """Spell the totals."""
        yield "asset                          rows  skipped"
        for asset, rows in self.rows.items():
            skipped = {reason: count for reason, count in self.skipped.get(asset, Counter()).items() if count}
            yield f"{asset:<30} {rows:>4}  {_counts(skipped)}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items())) or "-"


def days(first: date, last: date) -> Iterator[str]:
    """Yield the partition keys from ``first`` to ``last``, both included."""
    day = first
    while day <= last:
        yield day.isoformat()
        day += timedelta(days=1)


def run_days(first: date, last: date, instance: dg.DagsterInstance) -> RangeTally:
    """Run every day of the range, whatever happens to the others, and print a line for each."""
    job = load_defs().resolve_job_def(DAY_JOB)
    tally = RangeTally()
    for day in days(first, last):
        started = monotonic()
        result = job.execute_in_process(partition_key=day, instance=instance, raise_on_error=False, run_config=_QUIET)
        tally.add(result)
        problems = list(_problems(result))
        if problems:
            tally.failed.append(day)
        state = f"{_rollouts(result)} Rollouts" if not problems else "FAILED: " + "; ".join(problems)
        print(f"{day}  {state}  ({monotonic() - started:.1f} s)", flush=True)  # noqa: T201
    return tally


def _rollouts(result: dg.ExecuteInProcessResult) -> object:
    counts = [
        event.materialization.metadata["dagster/row_count"].value
        for event in result.get_asset_materialization_events()
        if event.materialization.asset_key == ROLLOUTS
    ]
    return counts[0] if counts else "no"


def _problems(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    for event in result.all_events:
        if event.is_step_failure:
            yield f"{event.step_key}: {_cause(event)}"
    for evaluation in result.get_asset_check_evaluations():
        if not evaluation.passed and evaluation.severity is dg.AssetCheckSeverity.ERROR:
            yield f"check {evaluation.check_name} of {evaluation.asset_key.to_user_string()}: {evaluation.description}"


def _cause(event: dg.DagsterEvent) -> str:
    error = event.step_failure_data.error
    while error is not None and error.cause is not None:
        error = error.cause
    return error.message.strip() if error is not None else "unknown"


def main(arguments: Sequence[str]) -> int:
    """Materialize the range named by two days; exit code 1 when any day failed."""
    first, last = map(date.fromisoformat, arguments)
    with dg.DagsterInstance.get() as instance:
        tally = run_days(first, last, instance)
    print("", *tally.lines(), sep="\n")  # noqa: T201
    print(f"\ngenerations: {os.path.relpath(os.environ['SEDIMENT_EXPORT_ROOT'])}")  # noqa: T201, TID251
    if tally.failed:
        print(f"failed: {', '.join(tally.failed)}", file=sys.stderr)  # noqa: T201
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
