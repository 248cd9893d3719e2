"""A fresh directory, published whole by one rename: the shape of a derived bundle (bundle.md §7).

The staging directory is a sibling of the destination, so the rename never crosses a file system. A killed process
leaves it behind; it is never swept.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sediment_assets.errors import SedimentError
from sediment_assets.publish.durable import (
    create_private_directory,
    is_present,
    remove_tree,
    reported,
    sync_directory,
)


class DestinationError(SedimentError):
    """The directory to be created exists already, or has nowhere to be created in."""


def refuse_destination(destination: str | os.PathLike[str]) -> None:
    """Check a destination before hours of work: its name must be free, its parent an existing directory.

    Raises:
        DestinationError: it cannot be created.
    """
    path = Path(destination)
    if is_present(path):
        raise DestinationError(f"{path}: expected a name that is free, got one that exists; choose a new directory")
    if not path.parent.is_dir():
        raise DestinationError(f"{path}: expected an existing parent directory, got none; create {path.parent} first")


@contextmanager
def fresh_directory(destination: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a private staging directory (0700); when the block ends well, it becomes ``destination``.

    The block writes its files with ``durable.write_file`` or ``durable.create_file``. If it fails, or the destination
    is taken meanwhile, the staging directory is removed and nothing is published.

    Raises:
        DestinationError: the destination cannot be created, checked before and after the block.
        PublishError: the operating system refused.
    """
    path = Path(destination)
    refuse_destination(path)
    stage = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with reported(path, "create the staging directory beside"):
            create_private_directory(stage)
        yield stage
        with reported(path, "publish"):
            sync_directory(stage)
            refuse_destination(path)
            stage.rename(path)
    except BaseException:
        with suppress(OSError):
            remove_tree(stage)
        raise
    with reported(path.parent, "make the new directory durable"):
        sync_directory(path.parent)
