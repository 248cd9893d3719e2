"""``sediment generations copy``: complete generations to a bucket or another file system.

Parsing and printing only; the work is ``adapters/generations/copying.py``, imported when the command runs.
"""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sediment_assets.cli.output import fail, say
from sediment_assets.cli.parser import partition_day
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.generations.catalog import FoundGeneration

DESCRIPTION: Final = """
Copy the newest complete generation of each kind and partition to DESTINATION/KIND/PARTITION/RUN.ATTEMPT, after hashing
all of its files. A claim is created first and the completion file last, both exclusively: several hosts may copy at
once, and whoever reads the completion file reads a whole generation. What is there already is left as it is.
"""
EPILOG: Final = """
examples:
  sediment generations copy --to /mnt/archive
  sediment generations copy --to s3://bucket/rows --kind swe-bench

Buckets need the extra `object-store`; credentials are those of the store's own
client (for S3: AWS_ACCESS_KEY_ID, AWS_PROFILE, AWS_ENDPOINT_URL, …).
"""


def add_parser(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], *, kinds: tuple[str, ...]
) -> argparse.ArgumentParser:
    """Add ``copy`` to the commands on generations."""
    copying = commands.add_parser(
        "copy", help="copy complete ones to a bucket or disk", description=DESCRIPTION, epilog=EPILOG
    )
    copying.add_argument(
        "--to",
        dest="destination",
        required=True,
        metavar="DESTINATION",
        help="a directory, or a URL such as s3://bucket/prefix",
    )
    copying.add_argument(
        "root", nargs="?", type=Path, metavar="ROOT", help="export root (default: SEDIMENT_EXPORT_ROOT, or exports)"
    )
    copying.add_argument("--kind", choices=kinds, help="of this target or canonical asset only")
    copying.add_argument("--partition", type=partition_day, metavar="DAY", help="of this partition only, YYYY-MM-DD")
    copying.set_defaults(run=run_copy)
    return copying


def run_copy(args: argparse.Namespace) -> int:
    """Copy generation by generation; exit code 1 when any of them could not be copied."""
    from sediment_assets.adapters.generations.catalog import find_generations
    from sediment_assets.adapters.generations.copying import Destination, UnfinishedCopyError
    from sediment_assets.cli.generations import export_root

    destination = Destination(args.destination)
    newest = {(one.kind, one.partition): one for one in find_generations(export_root(args.root)) if one.is_complete}
    meant = [
        one for one in newest.values() if args.kind in (None, one.kind) and args.partition in (None, one.partition)
    ]
    copied = present = failed = 0
    busy: list[FoundGeneration] = []
    for one in chain(meant, busy):
        try:
            if destination.copy(one):
                copied += 1
                say(f"copied {one.kind} {one.partition} {one.name}")
            else:
                present += 1
        except UnfinishedCopyError as error:
            # Another host may be at work there: the others first, then once more.
            if one in busy:
                failed += 1
                fail(*error.lines)
            else:
                busy.append(one)
        except SedimentError as error:
            failed += 1
            fail(*error.lines)
    say(f"{destination.shown}: copied {copied}, there already {present}, failed {failed}")
    return 1 if failed else 0
