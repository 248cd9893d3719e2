"""How results and failures are printed (cli.md §1): plain when piped; captured text never steers a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def is_styled(stream: object) -> bool:
    """Whether a stream is a terminal that wants more than plain text."""
    isatty = getattr(stream, "isatty", None)
    return bool(isatty and isatty()) and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """Show control characters and lone surrogates as escapes: captured text never steers a terminal."""
    return "".join(
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1] for character in text
    )


def say(text: str) -> None:
    """Print one line of results."""
    print(printable(text))


def warn(text: str) -> None:
    """Print one warning; its first word is the event's name."""
    print(printable(text), file=sys.stderr)


def fail(text: str) -> None:
    """Print one error."""
    message = f"error: {printable(text)}"
    print(f"\x1b[31m✗\x1b[0m {message}" if is_styled(sys.stderr) else message, file=sys.stderr)


@contextmanager
def counting(label: str) -> Iterator[Callable[[object], None] | None]:
    """Show a running count on a terminal's standard error while the block works; None when there is none."""
    if not is_styled(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda _: progress.advance(task)
