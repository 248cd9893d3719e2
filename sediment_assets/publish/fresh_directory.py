"""A new directory, all or nothing: staged beside its destination and renamed into place (bundle.md §7).

For what is published under a name that nobody has yet. Exports share a directory and are ``generation.py``'s.
"""

import errno
import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Final

from sediment_assets.errors import SedimentError
from sediment_assets.publish.durable import (
    create_private_directory,
    is_present,
    remove_tree,
    reported,
    sync_directory,
)

_STAGING_NAME: Final = re.compile(r"\..+\.[0-9a-f]{16}", re.DOTALL)
_SETTLED_SECONDS: Final = 60
"""A staging directory younger than this may be one whose process has not locked it yet."""


class DestinationError(SedimentError):
    """The destination is taken, or there is no directory to put it in."""


def require_destination(out: Path, what: str = "directory") -> None:
    """Refuse a destination that exists, a dangling link included, or whose parent is no directory.

    :param what: what the destination would be, for the message.
    :raises DestinationError: nothing was created then.
    """
    if is_present(out):
        raise DestinationError(f"{out}: expected a new {what}, got one that exists; name another")
    if not out.parent.is_dir():
        raise DestinationError(
            f"{out}: expected the directory {out.parent} to exist; create it first: mkdir -p {quote(str(out.parent))}"
        )


@dataclass(frozen=True, slots=True)
class FreshDirectory:
    """A private ``directory`` beside the destination ``out``; nothing is visible before ``publish``."""

    out: Path
    directory: Path
    what: str

    def publish(self) -> None:
        """Give the directory its name; the files in it are on the device already.

        :raises DestinationError: when the name was taken meanwhile.
        :raises PublishError: when the operating system refuses. Nothing is published in either case.
        """
        with reported(self.out, "publish"):
            sync_directory(self.directory)
            require_destination(self.out, self.what)
            self.directory.rename(self.out)
            try:
                sync_directory(self.out.parent)
            except OSError:
                self.out.rename(self.directory)
                raise


@contextmanager
def fresh_directory(out: Path, what: str = "directory") -> Iterator[FreshDirectory]:
    """Make a staging directory for the block and remove it in the end, unless it was published.

    :raises DestinationError: before anything is created.
    :raises PublishError: when the operating system refuses.
    """
    require_destination(out, what)
    directory = out.parent / f".{out.name}.{secrets.token_hex(8)}"
    with reported(out, "create a staging directory beside"):
        create_private_directory(directory)
        descriptor = _hold(directory)
    try:
        yield FreshDirectory(out, directory, what)
    finally:
        try:
            with suppress(OSError):
                remove_tree(directory)
        finally:
            os.close(descriptor)


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


def is_abandoned(path: Path) -> bool:
    """Whether this is the staging directory of a dead process: it held the directory locked, and no longer does."""
    if _STAGING_NAME.fullmatch(path.name) is None or path.is_symlink() or not path.is_dir():
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return time.time() - os.fstat(descriptor).st_mtime > _SETTLED_SECONDS
    except OSError:
        return False
    finally:
        os.close(descriptor)
