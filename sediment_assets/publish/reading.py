"""Holding a generation while it is read, so that nobody removes it meanwhile (docs/generations.md).

A complete generation never changes, so readers need no lock against writers. They need one against ``sediment
generations prune``: readers share a lock on the completion file, and pruning wants it alone. The kernel gives it back
when a reader dies, however it dies.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from sediment_assets.bundle.encoding import MANIFEST
from sediment_assets.publish.artifacts import RECORD
from sediment_assets.publish.durable import is_present, still_names

COMPLETION_FILES: Final = (RECORD, MANIFEST)
"""Written last: a target's or the CI resolutions' record, a bundle's manifest."""


def completion_file(directory: Path) -> Path | None:
    """Return the file whose presence says that a generation is complete; None while it is not."""
    return next((directory / name for name in COMPLETION_FILES if is_present(directory / name)), None)


@contextmanager
def held_for_reading(directory: Path) -> Iterator[None]:
    """Keep a generation from being removed for the block. Where there is nothing to hold, nothing is held.

    A file system without locks cannot hold anything either; pruning refuses to remove anything there.
    """
    descriptor = _opened(directory, os.O_RDONLY)
    try:
        if descriptor is not None:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


@contextmanager
def held_alone(directory: Path) -> Iterator[bool]:
    """Say whether nobody else reads a complete generation, and keep it so for the block.

    :raises OSError: when the file system cannot lock.
    """
    # Opened for writing, which an exclusive lock on a network file system needs; nothing is written.
    descriptor = _opened(directory, os.O_RDWR)
    try:
        yield descriptor is not None and _locked_alone(directory, descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _locked_alone(directory: Path, descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    path = completion_file(directory)
    return path is not None and still_names(path, descriptor)


def _opened(directory: Path, mode: int) -> int | None:
    path = completion_file(directory)
    if path is None:
        return None
    try:
        return os.open(path, mode | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return None
