"""Small and read-only file systems, where the kernel lets this user mount them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small(directory: Path, limit: str) -> Iterator[None]:
    """Make an existing directory an empty file system with a limit: ``size=8192``, ``nr_inodes=5``."""
    with _mounted(directory, "-t", "tmpfs", "-o", limit, "tmpfs"):
        yield


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """Make a directory, with what is in it, read-only for everybody."""
    with _mounted(directory, "--bind", str(directory)):
        subprocess.run(["mount", "-o", "remount,bind,ro", str(directory)], check=True)
        yield


@contextmanager
def _mounted(directory: Path, *options: str) -> Iterator[None]:
    done = subprocess.run(["mount", *options, str(directory)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting needs privileges here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(directory)], check=True)
