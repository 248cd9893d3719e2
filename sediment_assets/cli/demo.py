"""``sediment demo``: evidence to try everything with.

Parsing and printing only; the evidence is made in ``demo``, imported when a command runs.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sediment_assets.cli.output import fail, say

if TYPE_CHECKING:
    from sediment_assets.adapters.fact_store.importer import ImportSummary
    from sediment_assets.demo import DemoEvidence

PLANT_DESCRIPTION = """\
Plant made-up evidence into an empty directory: canonical Facts of about thirty
Sessions over one week, bare mirrors of two repositories, verification commands,
and a store with the Facts imported. The same bytes on every machine; planting
again changes nothing.
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``demo`` and its subcommands; the parsed arguments carry the function to call as ``run``."""
    demo = subparsers.add_parser(
        "demo",
        help="made-up evidence to try everything with",
        description="Made-up evidence to try everything with; docs/demo.md says what each Session in it shows.",
    )
    commands = demo.add_subparsers(title="commands", metavar="COMMAND", required=True)
    planting = commands.add_parser("plant", help="plant demo evidence into a directory", description=PLANT_DESCRIPTION)
    planting.add_argument("directory", metavar="DIR", type=Path, help="an absent or empty directory, or a planted one")
    planting.set_defaults(run=run_plant)


def run_plant(args: argparse.Namespace) -> int:
    """Plant the demo, import its Facts, say what to do next; raises SedimentError."""
    from sediment_assets.demo import is_begun, plant_evidence

    try:
        evidence = plant_evidence(args.directory)
        summary = import_evidence(evidence)
    except KeyboardInterrupt:
        if not is_begun(args.directory):
            raise
        fail(
            f"interrupted; {args.directory} is not a whole demo: plant it again, which does what is missing, or "
            "remove the directory"
        )
        return 130
    for line in describe_planting(evidence, summary):
        say(line)
    return 0


def import_evidence(evidence: DemoEvidence) -> ImportSummary:
    """Import the planted Facts into the planting's own store; importing again changes nothing."""
    from sediment_assets.adapters.fact_store.engine import writing_engine
    from sediment_assets.adapters.fact_store.importer import import_paths

    engine = writing_engine(evidence.settings["SEDIMENT_DATABASE_URL"])
    try:
        return import_paths(engine, [evidence.facts_directory])
    finally:
        engine.dispose()


def describe_planting(evidence: DemoEvidence, summary: ImportSummary) -> list[str]:
    """Spell what a planting holds and which environment makes ``sediment`` use it."""
    verb = "planted" if evidence.fresh else "already planted, left alone:"
    stored = sum(table.stored for table in summary.tables)
    lines = [f"{verb} {evidence.directory}", f"evidence digest: {evidence.digest}", "", "Facts:"]
    lines += [f"  {name.removesuffix('.jsonl')}: {count}" for name, count in evidence.facts.items()]
    lines += [f"  imported into {summary.store}: {stored} new", "", "mirrors:"]
    lines += [f"  {slug}: {commits} commits" for slug, commits in evidence.mirrors.items()]
    lines += ["", "settings:"]
    lines += [f"  export {name}={shlex.quote(value)}" for name, value in evidence.settings.items()]
    directory = shlex.quote(str(evidence.directory))
    return [
        *lines,
        "",
        "next (.env there says the same settings):",
        f"  cd {directory}",
        "  sediment export rlvr --target sediment --out rows",
    ]
