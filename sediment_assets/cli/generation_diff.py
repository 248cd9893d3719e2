"""``sediment generations diff A B``: which rows differ between two generations, and why."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sediment_assets.cli.output import say, say_json
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.generations.comparison import QuarantineLog
    from sediment_assets.lineage.diff import GenerationDiff

DEFAULT_EXAMPLES: Final = 10

DESCRIPTION = """
Compare two generations of one target and partition row by row: which instance_ids were added, removed or changed, and
why. Given one directory of a partition, its two newest complete generations are compared. The evidence is what the
generations' records, their rows and, where they are kept, their bundles say; with the settings of the Fact store, its
quarantine log, too. What none of it proves is called unknown. A row counts under each of its causes.
"""
EPILOG = """
examples:
  sediment generations diff exports/sediment/2026-11-03
  sediment generations diff rows/monday rows/tuesday --json
"""


class DiffError(SedimentError):
    """A comparison that was asked for in a way that cannot work."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``diff``; the parsed arguments carry the function to call as ``run``."""
    diff = commands.add_parser(
        "diff", help="which rows differ between two generations, and why", description=DESCRIPTION, epilog=EPILOG
    )
    diff.add_argument("before", type=Path, metavar="A", help="a generation, or the directory of a partition")
    diff.add_argument("after", nargs="?", type=Path, metavar="B", help="a later generation")
    diff.add_argument(
        "--bundle", action="append", type=Path, default=[], metavar="DIR", help="a bundle that one of them rests on"
    )
    diff.add_argument(
        "--examples", type=int, default=DEFAULT_EXAMPLES, metavar="N",
        help=f"rows to show (default: {DEFAULT_EXAMPLES})",
    )  # fmt: skip
    diff.add_argument("--json", action="store_true", help="print one JSON object with every row that differs")
    diff.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare and print; raises SedimentError."""
    from sediment_assets.adapters.generations.comparison import compare_generations

    if args.examples < 0:
        raise DiffError(f"--examples: expected a number of rows, at least 0, got {args.examples}")
    before, after = _two(args.before, args.after)
    diff = compare_generations(before, after, bundles=args.bundle, quarantine=_quarantine(before, after))
    if args.json:
        say_json(plain(diff, before, after))
        return 0
    for line in describe(diff, before, after, args.examples):
        say(line)
    return 0


def _two(before: Path, after: Path | None) -> tuple[Path, Path]:
    """Return what to compare: as given, or the two newest complete generations of a partition."""
    from sediment_assets.adapters.generations.catalog import find_in
    from sediment_assets.publish.reading import completion_file

    if after is not None:
        return before, after
    if not before.is_dir():
        raise DiffError(f"{before}: expected a generation or the directory of a partition, got no directory")
    if completion_file(before) is not None:
        raise DiffError(f"{before}: expected a second generation to compare with, or the directory of a partition")
    complete = [one for one in find_in(before, before.parent.name) if one.is_complete]
    if len(complete) < 2:
        raise DiffError(
            f"{before}: expected two complete generations to compare, got {len(complete)}; name them, or materialize "
            "the partition again"
        )
    return complete[-2].path, complete[-1].path


def _quarantine(before: Path, after: Path) -> QuarantineLog | None:
    """Read the quarantine log between two generations, where a Fact store is set."""
    from sediment_assets.adapters.fact_store.engine import reading_engine
    from sediment_assets.adapters.fact_store.quarantine_log import quarantine_between
    from sediment_assets.adapters.settings import DATABASE_URL, Settings
    from sediment_assets.publish.record import RecordError, read_record

    try:
        old, new = read_record(before), read_record(after)
    except RecordError:
        return None  # the comparison says it better
    url = Settings.load().get(DATABASE_URL)
    if url is None or old.quarantine_revision > new.quarantine_revision:
        return None
    engine = reading_engine(url)
    try:
        return quarantine_between(engine, new.org_id, old.quarantine_revision, new.quarantine_revision)
    finally:
        engine.dispose()


def describe(diff: GenerationDiff, before: Path, after: Path, examples: int) -> Iterator[str]:
    """Spell a comparison: counts by cause, then some rows."""
    from sediment_assets.cli.facts import aligned
    from sediment_assets.lineage.diff import Difference

    yield f"A {before}"
    yield f"B {after}"
    same = ", ".join(f"{population} {count}" for population, count in sorted(diff.same.items()))
    yield f"rows that are the same: {same or 'none'}"
    if not diff.differences:
        yield "no row differs"
        return
    if not diff.bundles_at_hand:
        yield "the bundles are not at hand (--bundle names them), so fewer causes are proven"
    rows = [("cause", *Difference, "meaning")]
    for cause, counts in diff.counts().items():
        rows.append((cause, *(str(counts[difference]) for difference in Difference), cause.meaning))
    totals = [str(diff.count(difference)) for difference in Difference]
    rows.append(("rows", *totals, "in all; a row counts under each of its causes"))
    yield ""
    yield from aligned(rows, numbers=(1, 2, 3))
    yield ""
    for one in diff.telling_first()[:examples]:
        fields = f" ({', '.join(one.fields)})" if one.fields else ""
        yield f"{one.difference} {one.population} {one.instance_id}{fields}"
        yield from (f"  {found.cause}: {found.detail}" for found in one.causes)
    left = len(diff.differences) - examples
    if left > 0:
        yield f"and {left} more: --examples {len(diff.differences)} shows all"


def plain(diff: GenerationDiff, before: Path, after: Path) -> dict[str, Any]:
    """Return a comparison as plain JSON."""
    from sediment_assets.lineage.diff import Difference

    return {
        "before": str(before),
        "after": str(after),
        "bundles_at_hand": diff.bundles_at_hand,
        "same": dict(diff.same),
        "rows": {difference.value: diff.count(difference) for difference in Difference},
        "causes": {
            cause.value: {difference.value: counts[difference] for difference in Difference}
            for cause, counts in diff.counts().items()
        },
        "differences": [
            {
                "difference": one.difference.value,
                "population": one.population,
                "instance_id": one.instance_id,
                "session_id": one.session_id,
                "fields": list(one.fields),
                "causes": [{"cause": found.cause.value, "detail": found.detail} for found in one.causes],
            }
            for one in diff.differences
        ],
    }
