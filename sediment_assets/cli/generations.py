"""``sediment generations``: what the export root holds, whether it is intact, what changed, what may go.

Parsing and the steps of each command; how results are spelled is ``generation_texts.py``. The event log is asked by a
process of its own (``defs/registration.py``), so that this command line never imports Dagster.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sediment_assets.cli import generation_copy, generation_diff
from sediment_assets.cli.graph import DEFAULT_EXPORT_ROOT, become, graph_environment, instance_directory
from sediment_assets.cli.output import fail, say, say_done, say_json
from sediment_assets.cli.parser import partition_day
from sediment_assets.errors import SedimentError
from sediment_assets.words import quantity

if TYPE_CHECKING:
    from sediment_assets.adapters.generations.catalog import FoundGeneration
    from sediment_assets.adapters.generations.prune import Decision

KINDS: Final = ("rollouts", "ci_resolutions", "sediment", "swe-bench", "nemo-gym")
"""Directories of an export root, spelled again because the catalog imports too much for ``--help``; a test compares."""
DEFAULT_KEEP: Final = 2
"""Complete generations that pruning keeps: the newest, and the one it can be compared with."""
REGISTRATION: Final = "sediment_assets.defs.registration"

DESCRIPTION = """
Generations are immutable directories, one for each materialization: EXPORT_ROOT/KIND/PARTITION/RUN.ATTEMPT. These
commands look at them, compare them, and remove what nothing needs.
"""
EPILOG = """
examples:
  sediment generations list
  sediment generations verify
  sediment generations diff exports/sediment/2026-11-03
  sediment generations register
  sediment generations prune --keep 2

where to go next:
  docs/generations.md          the same with examples
  sediment explain INSTANCE_ID where one row comes from
"""
LIST_DESCRIPTION = """
List the newest complete generation of each kind and partition: rows, skips, data version, size. Incomplete ones are
named. The newest is the one whose completion file was written last.
"""
VERIFY_DESCRIPTION = """
Hash every file of complete generations again and compare with their completion records: claims, file sets, sizes,
SHA-256. Exit code 1 names each damaged file. Incomplete generations are nobody's data, and only counted.
"""
REGISTER_DESCRIPTION = """
Record the complete generations of the export root in the Dagster instance again, after its history was lost or pruned:
materializations with partition, data version and figures, so that readers find them. What is recorded already stays as
it is; check results are not made up: execute the checks in the UI.
"""
PRUNE_DESCRIPTION = """
Remove generations that nothing needs. Always kept: the newest complete ones of each kind and partition (--keep), those
that the event log gives to readers, the bundles that kept ones rest on, and everything of a partition whose run is in
progress. One that is being read is left alone; an incomplete one goes only when its process is provably dead. Without
--yes nothing is removed.
"""
NOTHING_IN_LAYOUT: Final = (
    "no generations in the layout KIND/PARTITION/RUN here; command-line exports are checked by "
    "sediment generations verify|diff DIR"
)


class GenerationsError(SedimentError):
    """A command on generations that was asked for in a way that cannot work."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``generations`` and its subcommands; the parsed arguments carry the function to call as ``run``."""
    generations = subparsers.add_parser(
        "generations",
        help="list, verify, register, prune and copy published generations",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    commands = generations.add_subparsers(title="commands", metavar="COMMAND", required=True)
    listing = commands.add_parser("list", help="what the export root holds", description=LIST_DESCRIPTION)
    _add_root(listing)
    _add_selection(listing)
    listing.add_argument("--all", action="store_true", help="every generation, not only the newest complete ones")
    listing.add_argument("--json", action="store_true", help="print JSON, one object per generation, newest last")
    listing.set_defaults(run=run_list)
    verifying = commands.add_parser("verify", help="hash every file again", description=VERIFY_DESCRIPTION)
    verifying.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="generations or export roots (default: the export root)"
    )
    verifying.set_defaults(run=run_verify)
    generation_diff.add_parser(commands)
    registering = commands.add_parser(
        "register", help="restore Dagster's records of generations", description=REGISTER_DESCRIPTION
    )
    registering.set_defaults(run=run_register)
    pruning = commands.add_parser("prune", help="remove what nothing needs", description=PRUNE_DESCRIPTION)
    _add_root(pruning)
    pruning.add_argument(
        "--keep",
        type=_at_least_one,
        default=DEFAULT_KEEP,
        metavar="N",
        help=f"complete generations to keep of each kind and partition (default: {DEFAULT_KEEP})",
    )
    pruning.add_argument("--yes", "--delete", action="store_true", help="remove; without it, only say what would go")
    pruning.add_argument(
        "--no-instance",
        action="store_true",
        help="there is no Dagster instance: what is newest is told by the completion files alone",
    )
    pruning.set_defaults(run=run_prune)
    generation_copy.add_parser(commands, kinds=KINDS)


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "root", nargs="?", type=Path, metavar="ROOT", help="export root (default: SEDIMENT_EXPORT_ROOT, or exports)"
    )


def _add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", choices=KINDS, help="of this target or canonical asset only")
    parser.add_argument("--partition", type=partition_day, metavar="DAY", help="of this partition only, YYYY-MM-DD")


def _at_least_one(text: str) -> int:
    number = int(text) if text.isascii() and text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of generations, at least 1, got {text!r}")
    return number


def export_root(given: Path | None) -> Path:
    """Return the export root: as given, else as set, else the default."""
    from sediment_assets.adapters.settings import Settings

    return given if given is not None else Settings.load().export_root(Path(DEFAULT_EXPORT_ROOT))


def run_list(args: argparse.Namespace) -> int:
    """Print what an export root holds; raises SedimentError."""
    from sediment_assets.adapters.generations.catalog import find_generations
    from sediment_assets.cli.generation_texts import describe_generations, plain_generation

    root = export_root(args.root)
    all_found = find_generations(root)
    found = [one for one in all_found if args.kind in (None, one.kind) and args.partition in (None, one.partition)]
    shown = found if args.all else _newest(found)
    if args.json:
        say_json([plain_generation(one) for one in shown])
        return 0
    for line in describe_generations(root, found, shown):
        say(line)
    if not all_found:
        say(NOTHING_IN_LAYOUT)
    return 0


def _newest(found: Iterable[FoundGeneration]) -> list[FoundGeneration]:
    """Keep the newest complete one of each kind and partition, and every incomplete one."""
    newest = {(one.kind, one.partition): one for one in found if one.is_complete}
    return [one for one in found if not one.is_complete or newest[one.kind, one.partition] is one]


def run_verify(args: argparse.Namespace) -> int:
    """Hash everything again; exit code 1 when anything is damaged."""
    from sediment_assets.adapters.generations.intact import verify_files, verify_manifest

    checked = files = incomplete = damaged = 0
    meant = list(_to_verify(args.paths or [export_root(None)]))
    for one in meant:
        if one.completed_at is None and one.problem is not None and not _is_damaged(one):
            incomplete += 1
            continue
        try:
            files += verify_files(one.path)
            verify_manifest(one, meant)
            checked += 1
        except SedimentError as error:
            damaged += 1
            fail(*error.lines)
    say(f"intact: {quantity(checked, 'generation')}, {quantity(files, 'file')} hashed; incomplete: {incomplete}")
    if damaged:
        fail(f"damaged: {quantity(damaged, 'generation')}; materialize their partitions again, then prune")
    return 1 if damaged else 0


def _to_verify(paths: Sequence[Path]) -> Iterable[FoundGeneration]:
    """Yield the generations that are meant; a named one that is not complete is an error."""
    from sediment_assets.adapters.generations.catalog import find_generations, look_at
    from sediment_assets.publish.reading import completion_file

    for path in paths:
        if completion_file(path) is not None:
            yield look_at(path)
        elif any((path / kind).is_dir() for kind in KINDS):
            yield from find_generations(path)
        else:
            raise GenerationsError(f"{path}: expected a complete generation or an export root, got neither")


def _is_damaged(one: FoundGeneration) -> bool:
    """Whether it has a completion file that cannot be read, as opposed to none."""
    from sediment_assets.publish.reading import completion_file

    return completion_file(one.path) is not None


def run_register(args: argparse.Namespace) -> int:
    """Become the process that restores the records; where there is nothing to record, nothing is started or made."""
    from sediment_assets.adapters.generations.catalog import find_generations

    root = export_root(None)
    if find_generations(root):
        become([REGISTRATION, "register"], graph_environment())
    say(f"{root}: {NOTHING_IN_LAYOUT}")
    return 0


def run_prune(args: argparse.Namespace) -> int:
    """Say what would go, or remove it; raises SedimentError."""
    from sediment_assets.adapters.generations.catalog import find_generations
    from sediment_assets.adapters.generations.prune import plan_pruning
    from sediment_assets.cli.generation_texts import describe_decisions, size_text

    root = export_root(args.root)
    if not find_generations(root):
        say(f"{root}: {NOTHING_IN_LAYOUT}")
        return 0
    known = {"newest": [], "busy": []} if args.no_instance else _known_to_instance(root)
    decisions = plan_pruning(root, args.keep, recorded=[Path(path) for path in known["newest"]], busy=known["busy"])
    going = [decision for decision in decisions if decision.removes]
    for line in describe_decisions(decisions, acts=args.yes):
        say(line)
    amount = f"{quantity(len(going), 'generation')}, {size_text(sum(decision.size for decision in going))}"
    if not args.yes:
        say(f"would remove {amount}; nothing is removed without --yes")
        return 0
    removed = _remove(going)
    say_done(f"removed {removed} of {amount}")
    return 0


def _remove(going: Iterable[Decision]) -> int:
    from sediment_assets.adapters.generations.prune import Removal, remove

    removed = 0
    for decision in going:
        ended = remove(decision)
        removed += ended is Removal.REMOVED
        if ended is not Removal.REMOVED:
            say(f"{decision.path}: {ended}")
    return removed


def _known_to_instance(root: Path) -> dict[str, Any]:
    """Ask the event log which generations readers get, and which partitions have a run in progress."""
    home = instance_directory()
    if not home.is_dir():
        raise GenerationsError(
            f"{home}: expected the Dagster instance that knows what is needed (DAGSTER_HOME), got no directory; "
            "say --no-instance if there is none"
        )
    command = [sys.executable, "-m", REGISTRATION, "known", str(root.absolute())]
    done = subprocess.run(command, env=graph_environment(), stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise GenerationsError(f"{home}: the event log could not be asked (see above); nothing was removed")
    known: dict[str, Any] = json.loads(done.stdout)
    return known
