"""``sediment facts`` and ``sediment facts import``: what is in the Fact store, and how Facts get into it.

Parsing and printing only; the work is ``adapters/fact_store``, imported when a command runs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sediment_assets.cli.output import is_styled, one_line, say

if TYPE_CHECKING:
    from sediment_assets.adapters.fact_store.counts import OrganizationCount, StoreCount
    from sediment_assets.adapters.fact_store.importer import ImportProgress, ImportSummary


COUNTS = """
Show what the Fact store holds: how many Facts per organization and table, how many of them are quarantined, and when
the first and the last were captured. Nothing is written.
"""
COUNTS_EPILOG = """
settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_DATABASE_URL  the Fact store: sqlite:///PATH (four slashes for an
                         absolute path) or postgresql://USER@HOST/DATABASE

examples:
  sediment facts
  sediment facts import facts/
"""
IMPORT = """
Import canonical Facts, one JSON object a line, into the Fact store; a missing SQLite store is made. Credentials are
redacted first. If one line is invalid, nothing is imported and every bad line is listed. Importing the same lines again
changes nothing.

  inference_calls.jsonl       developer_decisions.jsonl
  ci_outcomes.jsonl           pushes.jsonl
  repository_renames.jsonl    session_commit_observations.jsonl
  quarantine.jsonl            the quarantine log, in the order of its lines
"""
IMPORT_EPILOG = """
redaction (before anything is stored; what was is replaced for good by
[REDACTED_CREDENTIAL], and counted):
  in     messages, tool arguments and results of InferenceCalls; the reason of
         CI outcomes; raw of these and of developer decisions
  what   Authorization: Bearer TOKEN and Bearer TOKEN (16 characters or more)
         "KEY": "VALUE" and string values in JSON under KEY, when KEY is
           authorization, proxy_authorization, x_api_key, api_key, apikey or
           ends with _api_key (any case, - for _)
         ..._API_KEY=VALUE, api-key: VALUE and the like (quoted 8 characters
           or more, else 16 or more)
         sk-... (16 characters or more)
         a line that is exactly a value found under such a KEY in a tool call
           or result of the same InferenceCall
  not    other credentials (ghp_..., AKIA..., PEM keys, passwords), names and
         e-mail addresses; Pushes, renames and observations; ids, roles, tool
         names, URLs, JSON keys

settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_DATABASE_URL  the Fact store: sqlite:///PATH (four slashes for an
                         absolute path), or an empty PostgreSQL database; an
                         existing Sediment deployment is only ever read

examples:
  sediment facts import facts/
  sediment facts import pushes.jsonl more/inference_calls.jsonl
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``facts`` and its subcommand; the parsed arguments carry the function to call as ``run``."""
    facts = subparsers.add_parser(
        "facts", help="show what is in the Fact store, or import Facts", description=COUNTS, epilog=COUNTS_EPILOG
    )
    facts.set_defaults(run=run_counts)
    commands = facts.add_subparsers(title="commands", metavar="COMMAND")
    importing = commands.add_parser(
        "import", help="import canonical Fact JSONL", description=IMPORT, epilog=IMPORT_EPILOG
    )
    importing.add_argument("paths", nargs="+", metavar="PATH", help="a TABLE.jsonl file, or a directory of such files")
    importing.set_defaults(run=run_import)


def run_counts(args: argparse.Namespace) -> int:
    """Print the store's counts; raises SedimentError."""
    from sediment_assets.adapters.fact_store.counts import count_facts
    from sediment_assets.adapters.fact_store.engine import reading_engine

    for line in describe_store(count_facts(reading_engine(_database_url()))):
        say(line)
    return 0


def run_import(args: argparse.Namespace) -> int:
    """Import the named files and print what became of them; raises SedimentError."""
    from sediment_assets.adapters.fact_store.engine import writing_engine
    from sediment_assets.adapters.fact_store.importer import import_paths

    engine = writing_engine(_database_url())
    progress = _ProgressLine() if is_styled(sys.stderr) else None
    try:
        summary = import_paths(engine, args.paths, progress=progress)
    finally:
        if progress is not None:
            progress.clear()
    for line in describe_import(summary):
        say(line)
    return 0


def describe_import(summary: ImportSummary) -> list[str]:
    """Spell an import's summary: one aligned line per table."""
    rows = [("table", "read", "stored", "present", "redacted")]
    rows += [
        (table.table, str(table.read), str(table.stored), str(table.present), reasons(table.redactions.items()))
        for table in summary.tables
    ]
    return [f"imported into {summary.store}", *aligned(rows, numbers=(1, 2, 3))]


def describe_store(count: StoreCount) -> list[str]:
    """Spell a store's counts: a block of aligned lines per organization."""
    lines = [f"store: {count.store}", f"database: {count.database}", f"schema revision: {count.revision}"]
    if not count.organizations:
        lines.append("no Facts; store some with sediment capture SOURCE PATH, or sediment facts import PATH")
    for organization in count.organizations:
        lines += ["", f"organization: {organization.org_id}", *_organization_lines(organization)]
    return lines


def _organization_lines(organization: OrganizationCount) -> list[str]:
    from sediment_assets.facts.instants import format_z
    from sediment_assets.facts.tables import FACT_MODELS

    rows = [("table", "facts", "quarantined", "first", "last")]
    for table in organization.tables:
        # Tables nothing is imported into are shown when an existing deployment has filled them.
        if table.facts or table.table in FACT_MODELS:
            span = [format_z(instant) if instant else "-" for instant in (table.first, table.last)]
            rows.append((table.table, str(table.facts), str(table.quarantined), span[0], span[1]))
    return [
        *aligned(rows, numbers=(1, 2)),
        f"sessions: {organization.sessions}",
        f"quarantine records: {organization.quarantine_records}  revision: {organization.quarantine_revision}",
    ]


def reasons(counts: Iterable[tuple[str, int]]) -> str:
    """Spell counts by reason in one cell of a table."""
    return ", ".join(f"{reason} {count}" for reason, count in sorted(counts)) or "-"


def aligned(rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> list[str]:
    """Align the cells of rows in columns; ``numbers`` are the columns that end on the right.

    Cells quote captured names, so they are escaped before they are measured.
    """
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if index in numbers else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


class _ProgressLine:
    """One line on a terminal's stderr that says how far an import is."""

    def __call__(self, progress: ImportProgress) -> None:
        share = progress.bytes_read / progress.bytes_total if progress.bytes_total else 1.0
        print(f"\r\x1b[K{share:4.0%}  {one_line(progress.path.name)}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _database_url() -> str:
    from sediment_assets.adapters.settings import Settings

    return Settings.load().database_url()
