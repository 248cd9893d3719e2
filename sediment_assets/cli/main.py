"""The ``sediment`` command: assembles the parsers, runs one command, maps failures to exit codes (cli.md §1).

Exit codes: 0 success, also when nothing was written; 1 a reported error, or a bug with its traceback; 2 a usage error;
130 interrupted, 143 terminated. Commands import what they need when they run, so that ``--help`` starts at once.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from sediment_assets import __version__
from sediment_assets.cli import capture, demo, derive, explain, export, facts, generations, graph, mirror, notes
from sediment_assets.cli.output import fail, printable
from sediment_assets.cli.parser import CommandParser
from sediment_assets.errors import SedimentError

COMMANDS = (facts, capture, notes, mirror, derive, export, graph, generations, explain, demo)
"""Modules with ``add_parser``, in the order in which help lists them."""

_LONGEST_SHOWN = 300

DESCRIPTION = """
Captured coding-agent evidence to training data for reinforcement learning from verifiable rewards. Nothing is ever
run or invented: what cannot be proven gives no row and is counted under a closed reason.
"""
EPILOG = """
examples:
  export SEDIMENT_ORG_ID=acme SEDIMENT_MIRROR_PATH=mirrors
  export SEDIMENT_DATABASE_URL=sqlite:///facts.db
  sediment capture litellm logs/    a team's own files, translated into Facts
  sediment facts import facts/      canonical Fact JSONL into the store
  sediment facts                    what the store holds
  sediment export rlvr --target swe-bench --out rows/swe-bench
  sediment explain --declined       which Sessions gave no row, and why

settings (environment, or .env in the current directory; names in any case):
  SEDIMENT_ORG_ID           the organization
  SEDIMENT_DATABASE_URL     the Fact store: sqlite:///PATH (four slashes for an
                            absolute path) or postgresql://USER@HOST/DATABASE
  SEDIMENT_MIRROR_PATH      base directory of the bare Git mirrors
  More of them: sediment export rlvr --help

where to go next:
  sediment COMMAND --help   each command explains itself with examples
  make demo                 the whole way on demo evidence, from a clone
  make ui                   the same as a graph of assets in Dagster
"""


def build_parser() -> argparse.ArgumentParser:
    """Assemble the parser of every command."""
    parser = CommandParser(prog="sediment", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"sediment {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    # What is left in the end goes with the process; to look through it for cycles first takes an eighth of a second.
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_encode(stream)
    try:
        try:
            with _signals_end_the_command():
                return _run(arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        fail("interrupted; nothing was left half-written")
        return 130
    except BrokenPipeError:
        # Whoever read our output went away; what was to be written on disk is complete.
        _discard_output()
        return 1
    except OSError as error:
        # _run lets no other error of the system through, so this is the output itself: a full disk behind it, say.
        fail(f"standard output: cannot be written: {error.strerror or error}")
        _discard_output()
        return 1


def _run(arguments: Sequence[str] | None) -> int:
    args = build_parser().parse_args(arguments)
    try:
        code: int = args.run(args)
    except SedimentError as error:
        fail(*error.lines)
        return 1
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            # The system refuses a path the operator named: too long, no permission, a loop of links.
            fail(f"{shown_path(error.filename)}: {error.strerror or error}")
            return 1
        # A bug. Its traceback may quote captured text, which must not steer the terminal.
        sys.stderr.write(printable(traceback.format_exc()))
        return 1
    return code


def shown_path(path: object) -> str:
    """Show a path of an error, its middle left out when it is longer than any path can be."""
    text = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else str(path)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:80]}…{text[-20:]} ({len(text)} characters)"


@contextmanager
def _signals_end_the_command() -> Iterator[None]:
    """Let a termination signal unwind the command, so that its staging and locks are cleaned up."""

    def end(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    handled = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)


def _never_fail_to_encode(stream: TextIO) -> None:
    """Escape what a stream's encoding lacks, instead of failing after the work is done."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Keep the interpreter from complaining when it flushes once more at its end."""
    sink = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(sink, descriptor)


if __name__ == "__main__":
    sys.exit(main())
