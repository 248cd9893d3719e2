"""The files of a bundle that is being written, in a fresh directory (bundle.md §7)."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from sediment_assets.bundle.encoding import MANIFEST, Population
from sediment_assets.bundle.manifest import MemberFile
from sediment_assets.publish.durable import close_durably, create_file, reported, write_file
from sediment_assets.publish.fresh_directory import FreshDirectory, fresh_directory

BUNDLE_DIRECTORY: Final = "bundle directory"
"""What a bundle's destination would be, in messages."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A staged member file, and the bytes of its longest line."""

    member: MemberFile
    longest_line: int


class StagedBundle(FreshDirectory):
    """A bundle's private directory beside its destination; nothing is visible before ``publish``."""

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


@contextmanager
def staged_bundle(out: Path) -> Iterator[StagedBundle]:
    """Make a staging directory for the block and remove it in the end, unless it was published.

    :raises DestinationError: before anything is created.
    :raises PublishError: when the operating system refuses.
    """
    with fresh_directory(out, BUNDLE_DIRECTORY) as fresh:
        yield StagedBundle(fresh.out, fresh.directory, fresh.what)
