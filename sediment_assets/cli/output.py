"""How results and failures are printed (cli.md §1): plain when piped; captured text never steers a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pathlib import Path

    from rich.progress import Progress, TaskID

    from sediment_assets.publish.summary import ExportWarning

from sediment_assets.errors import one_line as one_line  # every command prints through this module
from sediment_assets.errors import printable as printable
from sediment_assets.words import quantity


def is_styled(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants more than plain text."""
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def say(text: str) -> None:
    """Print one line of results."""
    print(one_line(text))


def say_json(value: object) -> None:
    """Print results as one JSON text of several lines."""
    import json

    print(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))  # the one control character that JSON does not escape


def say_done(text: str) -> None:
    """Print one line about something that now exists."""
    mark = "\x1b[32m✓\x1b[0m " if is_styled(sys.stdout) else ""
    print(f"{mark}{one_line(text)}")


def warn(text: object) -> None:
    """Print one warning; its first word is the event's name."""
    print(one_line(str(text)), file=sys.stderr)


def warn_without_mirrors(base: Path, org_id: str) -> None:
    """Warn when no repository of the organization has a mirror: every row would be declined, and none would say why."""
    from sediment_assets.adapters.mirror_base import mirror_warning
    from sediment_assets.publish.summary import ExportWarning, WarningEvent

    problem = mirror_warning(base, org_id)
    if problem is not None:
        warn(ExportWarning(WarningEvent.NO_MIRRORS, problem))


def warn_without_facts(org_id: str, database_url: str, *, has_facts: bool) -> None:
    """Warn when the store has no visible Fact of the organization, and say how many others it has."""
    if has_facts:
        return
    from sediment_assets.adapters.fact_store.counts import count_facts
    from sediment_assets.adapters.fact_store.engine import reading_engine
    from sediment_assets.publish.summary import ExportWarning, WarningEvent

    engine = reading_engine(database_url)
    try:
        others = sum(one.org_id != org_id for one in count_facts(engine).organizations)
    finally:
        engine.dispose()
    problem = (
        f"the Fact store has no visible Fact of organization {org_id!r} (SEDIMENT_ORG_ID); it has "
        f"{quantity(others, 'other organization')}: sediment facts shows them"
    )
    warn(ExportWarning(WarningEvent.NO_FACTS, problem))


def report(warning: ExportWarning) -> None:
    """Print a named event: at a terminal as a note where nothing is wrong; piped always by its name (cli.md §1)."""
    if warning.event.is_normal and is_styled(sys.stderr):
        note(warning.explanation)
    else:
        warn(warning)


def note(text: str) -> None:
    """Say something on standard error that is no warning."""
    line = f"note: {one_line(text)}"
    print(f"\x1b[2m{line}\x1b[0m" if is_styled(sys.stderr) else line, file=sys.stderr)


def hint(text: str) -> None:
    """Tell a person at a terminal what could be done next; nothing when piped."""
    if is_styled(sys.stderr):
        note(text)


def fail(text: str, *others: str) -> None:
    """Print one error; ``others`` are its further lines."""
    mark = "\x1b[31m✗\x1b[0m " if is_styled(sys.stderr) else ""
    print(f"{mark}error: {one_line(text)}", file=sys.stderr)
    for other in others:
        print(one_line(other), file=sys.stderr)


@contextmanager
def counting(label: str) -> Iterator[Callable[[object], None] | None]:
    """Show a running count on a terminal's standard error while the block works; give None when there is none."""
    with _shown_count(label) as shown:
        yield None if shown is None else lambda _: shown[0].advance(shown[1])


@contextmanager
def stages(label: str) -> Iterator[Callable[[str, int], None] | None]:
    """As ``counting``, for work of several stages: told what is being worked on, and how many rows of it are done."""
    with _shown_count(label) as shown:
        if shown is None:
            yield None
            return
        progress, task = shown
        last = 0.0

        def tell(stage: str, done: int) -> None:
            nonlocal last
            if time.monotonic() - last >= _REFRESH_SECONDS:  # rows can be faster than a terminal
                last = time.monotonic()
                progress.update(task, description=one_line(stage), completed=done)

        yield tell


_REFRESH_SECONDS = 0.1


@contextmanager
def _shown_count(label: str) -> Iterator[tuple[Progress, TaskID] | None]:
    if not is_styled(sys.stderr):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield progress, progress.add_task(label, total=None)
