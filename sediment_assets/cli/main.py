"""The ``sediment`` command: assembles the parsers, runs one command, maps failures to exit codes (cli.md §1).

Exit codes: 0 success, also when nothing was written; 1 a reported error; 2 a usage error; 130 interrupted. Commands
import what they need when they run, so that ``--help`` starts at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from sediment_assets import __version__
from sediment_assets.cli import export, facts
from sediment_assets.cli.output import fail
from sediment_assets.errors import SedimentError

COMMANDS = (facts, export)
"""Modules with ``add_parser``, in the order in which help lists them."""

DESCRIPTION = """\
Captured coding-agent evidence to training data for reinforcement learning from
verifiable rewards. Nothing is ever run or invented: what cannot be proven gives
no row and is counted.
"""
EPILOG = """\
first steps:
  export SEDIMENT_ORG_ID=acme SEDIMENT_MIRROR_PATH=mirrors
  export SEDIMENT_DATABASE_URL=sqlite:///facts.db
  sediment facts import facts/            canonical Fact JSONL into the store
  sediment facts                          what the store holds
  sediment export rlvr --target sediment --out rows/sediment

Each command has its own --help.
"""


def build_parser() -> argparse.ArgumentParser:
    """Assemble the parser of every command."""
    parser = argparse.ArgumentParser(
        prog="sediment",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sediment {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    os.environ["COLUMNS"] = "80"  # help wraps at 80 columns whatever the terminal (cli.md §1)
    parser = build_parser()
    args = parser.parse_args(arguments)
    if args.command is None:
        parser.print_help(sys.stderr)
        return 2
    try:
        code: int = args.run(args)
        sys.stdout.flush()
    except SedimentError as error:
        fail(str(error))
        return 1
    except KeyboardInterrupt:
        fail("interrupted; nothing was published")
        return 130
    except BrokenPipeError:
        # The reader of our output went away; what was to be written on disk is complete.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
