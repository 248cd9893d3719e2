"""The argument parser of every command: help at 80 columns, full listings for a wrong command (cli.md §1)."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Sequence
from datetime import date
from typing import Any, NoReturn

HELP_COLUMNS = 80
_INVALID_COMMAND = re.compile(r"argument [A-Z]+: invalid choice: '([^']+)'")


def calendar_day(text: str) -> date:
    """Parse the name of a partition.

    :raises argparse.ArgumentTypeError: when there is no such day.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a day such as 2026-11-02, got {text!r}") from None


def partition_day(text: str) -> str:
    """Check the name of a partition and return it as directories spell it; raises as ``calendar_day``."""
    return calendar_day(text).isoformat()


class _HelpFormatter(argparse.HelpFormatter):
    """Wraps at 80 columns whatever the terminal; leaves indented paragraphs (examples, tables) as they are."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, **({"width": HELP_COLUMNS - 2} | options))

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        paragraphs = textwrap.dedent(text).strip("\n").split("\n\n")
        return "\n\n".join(self._fill_paragraph(paragraph, width, indent) for paragraph in paragraphs)

    def _fill_paragraph(self, paragraph: str, width: int, indent: str) -> str:
        if any(line.startswith(" ") for line in paragraph.splitlines()):
            return textwrap.indent(paragraph, indent)
        return textwrap.fill(paragraph, width, initial_indent=indent, subsequent_indent=indent)


class CommandParser(argparse.ArgumentParser):
    """A parser whose subcommands are of its kind. A usage error exits 2 on standard error.

    A parser that has subcommands answers an error with its full help, so that whoever mistyped a command sees them all.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"formatter_class": _HelpFormatter} | options))
        self._lists_commands = False
        self._is_mixing = False

    def add_subparsers(self, **options: Any) -> argparse._SubParsersAction[Any]:
        """Add subcommands, as argparse does."""
        self._lists_commands = True
        return super().add_subparsers(**options)

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]  # its overloads
        """Parse; options may stand between arguments. The parser that meets an unknown argument refuses it, so that
        its usage is shown, not the root's.
        """
        if self._is_mixing:
            return super().parse_known_args(args, namespace)
        if self._lists_commands or "--" in (args or ()) or not self._get_positional_actions():
            found, unknown = super().parse_known_args(args, namespace)
        else:
            self._is_mixing = True
            try:
                found, unknown = self.parse_known_intermixed_args(args, namespace)
            finally:
                self._is_mixing = False
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Print the usage, or all commands, then the error; exit 2."""
        from sediment_assets.cli.output import one_line

        if self._lists_commands:
            self.print_help(sys.stderr)
        else:
            self.print_usage(sys.stderr)
        self.exit(2, f"{self.prog}: error: {one_line(message)}{self._meant(message)}\n")

    def _meant(self, message: str) -> str:
        """Say which command looks like the one that does not exist."""
        from difflib import get_close_matches

        typed = _INVALID_COMMAND.search(message)
        commands = [
            name
            for action in self._actions
            if isinstance(action, argparse._SubParsersAction)
            for name in action.choices
        ]
        close = get_close_matches(typed[1], commands, n=1) if typed else []
        return f"; did you mean {close[0]}?" if close else ""
