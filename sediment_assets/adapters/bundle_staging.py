"""Publishing a bundle: a fresh directory, staged beside its destination and renamed into place (bundle.md §7)."""

import errno
import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from sediment_assets.bundle.encoding import MANIFEST, Population
from sediment_assets.bundle.manifest import MemberFile
from sediment_assets.errors import SedimentError
from sediment_assets.publish.durable import (
    close_durably,
    create_file,
    create_private_directory,
    is_present,
    remove_tree,
    reported,
    sync_directory,
    write_file,
)


class DestinationError(SedimentError):
    """The destination is taken, or there is no directory to put it in."""


def require_destination(out: Path) -> None:
    """Refuse a destination that exists, a dangling link included, or whose parent is no directory.

    :raises DestinationError: nothing was created then.
    """
    if is_present(out):
        raise DestinationError(f"{out}: expected a new bundle directory, got one that exists; name another")
    if not out.parent.is_dir():
        raise DestinationError(f"{out}: expected the directory {out.parent} to exist; create it first: mkdir -p")


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A staged member file, and the bytes of its longest line."""

    member: MemberFile
    longest_line: int


class StagedBundle:
    """A private directory beside the destination; nothing is visible before ``publish``."""

    def __init__(self, out: Path, directory: Path) -> None:
        self.out = out
        self.directory = directory

    def write(self, population: Population, lines: Iterator[bytes]) -> WrittenFile:
        """Write a member file line by line: hashed and counted on the way, on the device in the end.

        :raises PublishError: when the operating system refuses.
        """
        rows = size = longest = 0
        digest = sha256()
        shown = self.out / population.file
        with reported(shown, "write"):
            file = create_file(self.directory / population.file)
        try:
            for line in lines:
                with reported(shown, "write"):
                    file.write(line)
                digest.update(line)
                rows += 1
                size += len(line)
                longest = max(longest, len(line))
            with reported(shown, "write"):
                close_durably(file)
        finally:
            with suppress(OSError):  # a full disk again; the staging directory goes away anyway
                file.close()
        return WrittenFile(MemberFile(rows, size, digest.hexdigest()), longest)

    def write_manifest(self, data: bytes) -> None:
        """Write the manifest, the last file of a bundle.

        :raises PublishError: when the operating system refuses.
        """
        with reported(self.out / MANIFEST, "write"):
            write_file(self.directory / MANIFEST, data)

    def publish(self) -> None:
        """Give the directory its name.

        :raises DestinationError: when the name was taken meanwhile.
        :raises PublishError: when the operating system refuses. Nothing is published in either case.
        """
        with reported(self.out, "publish"):
            sync_directory(self.directory)
            require_destination(self.out)
            self.directory.rename(self.out)
            try:
                sync_directory(self.out.parent)
            except OSError:
                self.out.rename(self.directory)
                raise


@contextmanager
def staged_bundle(out: Path) -> Iterator[StagedBundle]:
    """Make a staging directory for the block and remove it in the end, unless it was published.

    :raises DestinationError: before anything is created.
    :raises PublishError: when the operating system refuses.
    """
    require_destination(out)
    directory = out.parent / f".{out.name}.{secrets.token_hex(8)}"
    with reported(out, "create a staging directory beside"):
        create_private_directory(directory)
        descriptor = _hold(directory)
    try:
        yield StagedBundle(out, directory)
    finally:
        try:
            with suppress(OSError):
                remove_tree(directory)
        finally:
            os.close(descriptor)


STAGING_NAME: Final = re.compile(r"\..+\.[0-9a-f]{16}", re.DOTALL)
"""Names of staging directories. Their processes hold them locked, so one that can be locked is a dead run's."""


def _hold(directory: Path) -> int:
    """Lock a new staging directory until its process ends, however it does; a file system may have no locks."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.ENOLCK, errno.EBADF):
            os.close(descriptor)
            raise
    return descriptor
