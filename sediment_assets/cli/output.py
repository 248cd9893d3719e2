"""How results and failures are printed (cli.md §1): plain when piped; captured text never steers a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from sediment_assets.errors import printable as printable  # every command prints through this module


def is_styled(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants more than plain text."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def say(text: str) -> None:
    """Print one line of results."""
    print(printable(text))


def say_done(text: str) -> None:
    """Print one line about something that now exists."""
    mark = "\x1b[32m✓\x1b[0m " if is_styled(sys.stdout) else ""
    print(f"{mark}{printable(text)}")


def warn(text: object) -> None:
    """Print one warning; its first word is the event's name."""
    print(printable(str(text)), file=sys.stderr)


def note(text: str) -> None:
    """Tell a person at a terminal something that is no warning; nothing when piped."""
    if is_styled(sys.stderr):
        print(f"\x1b[2m{printable(text)}\x1b[0m", file=sys.stderr)


def fail(text: str) -> None:
    """Print one error."""
    mark = "\x1b[31m✗\x1b[0m " if is_styled(sys.stderr) else ""
    print(f"{mark}error: {printable(text)}", file=sys.stderr)


@contextmanager
def counting(label: str) -> Iterator[Callable[[object], None] | None]:
    """Show a running count on a terminal's standard error while the block works; give None when there is none."""
    if not is_styled(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda _: progress.advance(task)


@contextmanager
def stages() -> Iterator[Callable[[str, int], None] | None]:
    """Show what is being worked on and how many rows of it are done, as ``counting`` does."""
    if not is_styled(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading evidence", total=None)
        shown = 0.0

        def tell(stage: str, done: int) -> None:
            nonlocal shown
            if time.monotonic() - shown >= _REFRESH_SECONDS:  # rows can be faster than a terminal
                shown = time.monotonic()
                progress.update(task, description=stage, completed=done)

        yield tell


_REFRESH_SECONDS = 0.1
