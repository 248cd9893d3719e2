"""A range of days, one run each, in one process: ``python -m sediment_assets.defs.backfill FIRST LAST``.

For bulk exports and for machines without a daemon; ``sediment backfill`` starts it. Events, checks and generations are
those of any other run. One line a day, then the rows and skips of the whole range.
"""

import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, timedelta
from time import monotonic
from typing import TYPE_CHECKING

import dagster as dg

from sediment_assets.defs.build import load_defs
from sediment_assets.defs.failures import cause_of, message_of
from sediment_assets.defs.jobs import DAY_JOB, OBSERVE_JOB
from sediment_assets.defs.keys import ROLLOUTS
from sediment_assets.defs.metadata import ROW_COUNT, SKIP_PREFIX
from sediment_assets.errors import SedimentError, error_text, one_line
from sediment_assets.facts.defaults import new_id
from sediment_assets.words import quantity

if TYPE_CHECKING:  # what Dagster records of an error has no public name
    from dagster_shared.error import SerializableErrorInfo

_INTERRUPTED = 130
_INTERRUPTS = {"KeyboardInterrupt", "DagsterExecutionInterruptedError"}
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class DayRangeError(SedimentError):
    """Days that are no partitions of the graph."""


class RangeTally:
    """Rows and skips per asset over all days, and the days that failed."""

    def __init__(self) -> None:
        self.rows: Counter[str] = Counter()
        self.skipped: dict[str, Counter[str]] = {}
        self.failed: list[str] = []

    def add(self, result: dg.ExecuteInProcessResult) -> None:
        """Take one day's run into account."""
        for event in result.get_asset_materialization_events():
            rows = event.materialization.metadata[ROW_COUNT].value
            assert isinstance(rows, int)
            asset = event.materialization.asset_key.to_user_string()
            self.rows[asset] += rows
            counts = self.skipped.setdefault(asset, Counter())
            for name, value in event.materialization.metadata.items():
                if name.startswith(SKIP_PREFIX) and isinstance(value.value, int):
                    counts[name.removeprefix(SKIP_PREFIX)] += value.value

    def lines(self) -> Iterator[str]:
        """Spell the totals."""
        yield f"{'asset':<29} {'rows':>5}  skipped"
        for asset, rows in self.rows.items():
            yield f"{asset:<29} {rows:>5}  {_counts(self.skipped.get(asset, Counter()))}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()) if count) or "-"


def check_range(partitions: dg.PartitionsDefinition[str], first: date, last: date) -> None:
    """Refuse a range that is not wholly one of partitions, before any work.

    :raises DayRangeError: naming the days there are.
    """
    known = partitions.get_partition_keys()
    if not known:
        raise DayRangeError("expected days that are over, got a graph without any: its first day is still to come")
    for day in (first.isoformat(), last.isoformat()):
        if not known[0] <= day <= known[-1]:
            raise DayRangeError(
                f"{day}: expected a day from {known[0]} (SEDIMENT_PARTITION_START) to {known[-1]} (yesterday, UTC)"
            )


def days(first: date, last: date) -> Iterator[str]:
    """Yield the partition keys from ``first`` to ``last``, both included."""
    day = first
    while day <= last:
        yield day.isoformat()
        day += timedelta(days=1)


@contextmanager
def noticed_interrupts() -> Iterator[Callable[[], None]]:
    """Make SIGINT and SIGTERM interrupt this process, and yield what raises those that Dagster swallowed.

    Dagster's handlers note a signal that comes between two steps, and forget it when a nested one ends. The operating
    system's side of Python also writes every signal to the wake-up descriptor, whoever handles it.
    """
    reading, writing = socket.socketpair()
    for end in (reading, writing):
        end.setblocking(False)

    def raise_swallowed() -> None:
        with suppress(BlockingIOError):
            if set(reading.recv(4096)) & {signal.SIGINT, signal.SIGTERM}:
                raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    descriptor = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    try:
        for number in before:
            signal.signal(number, signal.default_int_handler)
        yield raise_swallowed
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(descriptor)
        reading.close()
        writing.close()


def run_days(
    defs: dg.Definitions,
    first: date,
    last: date,
    instance: dg.DagsterInstance,
    raise_swallowed: Callable[[], None] = lambda: None,
) -> RangeTally:
    """Run every day of the range, whatever happens to the others, and print a line for each."""
    job = defs.resolve_job_def(DAY_JOB)
    tally = RangeTally()
    for day in days(first, last):
        started = monotonic()
        result = _run(job, instance, day)
        tally.add(result)
        problems = list(_problems(result))
        if problems:
            tally.failed.append(day)
        state = f"FAILED: {'; '.join(problems)}" if problems else quantity(_rollouts(result), "Rollout")
        say(f"{day}  {state}  ({monotonic() - started:.1f} s)")
        raise_swallowed()
    return tally


def observe(defs: dg.Definitions, instance: dg.DagsterInstance) -> None:
    """Record the versions of Facts and mirrors first: a day built before its evidence was seen never turns stale.

    Evidence that cannot be read fails the days as well, which say why.
    """
    _run(defs.resolve_job_def(OBSERVE_JOB), instance)


def _run(job: dg.JobDefinition, instance: dg.DagsterInstance, day: str | None = None) -> dg.ExecuteInProcessResult:
    """Run a job, for one day where it has days.

    :raises KeyboardInterrupt: its run is recorded as ended, and what it staged is taken back.
    """
    run_id = new_id()
    try:
        result = job.execute_in_process(
            partition_key=day, instance=instance, raise_on_error=False, run_config=_QUIET, run_id=run_id
        )
    except KeyboardInterrupt:
        run = instance.get_run_by_id(run_id)
        if run is not None and not run.is_finished:
            instance.report_run_canceled(run)
        raise
    if any(error.cls_name in _INTERRUPTS for _, error in _failures(result)):
        raise KeyboardInterrupt
    return result


def _rollouts(result: dg.ExecuteInProcessResult) -> int:
    events = result.asset_materializations_for_node(ROLLOUTS.path[-1])
    return sum(int(str(event.metadata[ROW_COUNT].value)) for event in events)


def _problems(result: dg.ExecuteInProcessResult) -> Iterator[str]:
    """Say what went wrong, each failed step and check in one line; steps that were skipped for it are not named."""
    for place, error in _failures(result):
        yield f"{place}: {message_of(error)}"
    for evaluation in result.get_asset_check_evaluations():
        if not evaluation.passed and evaluation.severity is dg.AssetCheckSeverity.ERROR:
            yield f"check {evaluation.check_name} of {evaluation.asset_key.to_user_string()}: {evaluation.description}"


def _failures(result: dg.ExecuteInProcessResult) -> "Iterator[tuple[str, SerializableErrorInfo]]":
    """Yield each failed step, or the run when none did, with what made it fail."""
    steps = [(event.step_key or "", cause_of(event)) for event in result.all_events if event.is_step_failure]
    runs = [("run", cause_of(event)) for event in result.all_events if event.is_job_failure]
    for place, error in steps or runs:
        if error is not None:
            yield place, error


def say(text: str) -> None:
    """Print a line. A reader that went away ends no backfill."""
    try:
        print(one_line(text), flush=True)  # noqa: T201  # this module is a command
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(error: SedimentError) -> None:
    print(error_text(error), file=sys.stderr)  # noqa: T201


def main(arguments: Sequence[str]) -> int:
    """Materialize the range named by two days; exit code 1 when any day failed."""
    first, last = map(date.fromisoformat, arguments)
    try:
        defs = load_defs()
        partitions = defs.resolve_job_def(DAY_JOB).partitions_def
        assert partitions is not None
        check_range(partitions, first, last)
    except SedimentError as error:
        _fail(error)
        return 1
    try:
        with noticed_interrupts() as raise_swallowed, dg.DagsterInstance.get() as instance:
            observe(defs, instance)
            raise_swallowed()
            tally = run_days(defs, first, last, instance, raise_swallowed)
    except KeyboardInterrupt:
        _fail(SedimentError("interrupted; every day printed above is done, the others are not"))
        return _INTERRUPTED
    for line in ("", *tally.lines(), "", f"generations: {os.path.relpath(os.environ['SEDIMENT_EXPORT_ROOT'])}"):  # noqa: TID251
        say(line)
    if tally.failed:
        _fail(SedimentError(f"days that failed: {', '.join(tally.failed)}"))
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
