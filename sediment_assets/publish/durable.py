"""File primitives of publishing: exclusive creation, hard links instead of replacement, fsync, one-line errors.

Everything in this package that touches the disk goes through here, so that a failure always names the operator's path
and the cause. Which names mean what is decided in ``artifacts.py`` and ``claim.py``. Contract: targets.md §11.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sediment_assets.errors import SedimentError

FILE_MODE = 0o600
PRIVATE_DIRECTORY_MODE = 0o700
_BUFFER_BYTES = 1 << 20


class PublishError(SedimentError):
    """The operating system refused a step of publishing; nothing was published."""


@contextmanager
def reported(path: Path, action: str) -> Iterator[None]:
    """Turn an ``OSError`` of the block into ``PublishError``: ``<path>: cannot <action>: <cause>``."""
    try:
        yield
    except OSError as error:
        raise PublishError(f"{path}: cannot {action}: {error.strerror or error}") from error


def create_file(path: Path) -> BinaryIO:
    """Open a new file for writing; fails when anything has that name. Mode exactly 0600, whatever the umask."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    try:
        os.fchmod(descriptor, FILE_MODE)
        return os.fdopen(descriptor, "wb", buffering=_BUFFER_BYTES)
    except BaseException:
        os.close(descriptor)
        raise


def close_durably(file: BinaryIO) -> None:
    """Flush to the device, then close."""
    with file:
        file.flush()
        os.fsync(file.fileno())


def write_file(path: Path, data: bytes) -> None:
    """Create a new file with this content, on the device before this returns."""
    file = create_file(path)
    with file:
        file.write(data)
        close_durably(file)


def create_private_directory(path: Path) -> None:
    """Create a new directory that only its owner can enter, whatever the umask."""
    path.mkdir(mode=PRIVATE_DIRECTORY_MODE)
    path.chmod(PRIVATE_DIRECTORY_MODE)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def link_new(source: Path, destination: Path) -> None:
    """Give a staged file its final name. Unlike a rename, this never replaces what is already there."""
    os.link(source, destination, follow_symlinks=False)


def unlink_same(published: Path, staged: Path) -> None:
    """Take back a published name, if it still is the staged file; used when a later step failed."""
    with suppress(FileNotFoundError):
        if os.path.samestat(published.lstat(), staged.lstat()):
            published.unlink()


def remove_tree(path: Path) -> None:
    """Remove a directory of ours with its content; symbolic links are removed, never followed."""
    while is_present(path):
        with suppress(FileNotFoundError):  # another process removes the same directory: see what is left
            shutil.rmtree(path)


def is_present(path: Path) -> bool:
    """Whether anything has this name, a dangling symbolic link included."""
    return os.path.lexists(path)


def still_names(path: Path, descriptor: int) -> bool:
    """Whether ``path`` still is the file or directory that ``descriptor`` holds open."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
