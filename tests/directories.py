"""Directories in tests: what is in one, and being nobody in particular."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


def names(directory: Path) -> list[str]:
    """Names in a directory, hidden ones included, sorted."""
    return sorted(path.name for path in directory.iterdir())


@contextmanager
def as_nobody() -> Iterator[Path]:
    """Run the block without root's power to ignore modes; gives an empty directory that belongs to that user."""
    directory = Path(tempfile.mkdtemp())
    user = os.geteuid()
    if user == 0:
        os.chown(directory, NOBODY, NOBODY)
        os.seteuid(NOBODY)
    try:
        yield directory
    finally:
        os.seteuid(user)
        directory.chmod(0o700)
        shutil.rmtree(directory)
