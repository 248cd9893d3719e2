"""Complete validations of bundles that this process has done, by what they validated (bundle.md §7, §8).

A validation is a function of a bundle's bytes. The step that writes a bundle validates what it staged; when the same
run reads the bundle again, and its manifest and every file have the digests that were validated, the outcome is known.
Only what this process has validated itself counts, and only until it forgets: nothing of it is ever stored for another.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sediment_assets.adapters.bundle_index import BundleIndex
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.publish.durable import reported
from sediment_assets.repositories.resolver import RepositoryResolver

PRIVATE_PREFIX: Final = "sediment-bundle-"
"""Beginning of the names of private directories; ``TMPDIR`` says where they are."""
INDEX: Final = ".index"


@dataclass(frozen=True, slots=True)
class ValidatedRows:
    """What a complete validation leaves: the repositories that the bundle knows, and its Rollouts' lines."""

    manifest: Manifest
    resolver: RepositoryResolver
    index: BundleIndex


class Validations:
    """The validations of one run, with a private directory each. Close it, or the files stay until the process ends."""

    def __init__(self) -> None:
        self._kept: dict[str, ValidatedRows] = {}
        self._directories: list[tempfile.TemporaryDirectory[str]] = []
        self._indexes: list[BundleIndex] = []

    def known(self, manifest_sha256: str, manifest: Manifest) -> ValidatedRows | None:
        """Return the validation of a bundle with this manifest, whose files must agree with it; None without any."""
        rows = self._kept.get(manifest_sha256)
        return rows if rows is not None and rows.manifest == manifest else None

    def new_index(self, place: Path) -> BundleIndex:
        """Return an index for a validation that is to be kept; ``place`` names the bundle in messages."""
        self._directories.append(private_directory())
        self._indexes.append(BundleIndex(Path(self._directories[-1].name) / INDEX, place=place))
        return self._indexes[-1]

    def keep(self, manifest_sha256: str, rows: ValidatedRows) -> None:
        """Remember a validation that found nothing wrong."""
        self._kept[manifest_sha256] = rows

    def close(self) -> None:
        """Forget everything and remove the files."""
        self._kept.clear()
        while self._indexes:
            self._indexes.pop().close()
        while self._directories:
            self._directories.pop().cleanup()


def private_directory() -> "tempfile.TemporaryDirectory[str]":
    """Make a private directory that goes away with its object."""
    with reported(Path(tempfile.gettempdir()), "create a private directory in"):
        return tempfile.TemporaryDirectory(prefix=PRIVATE_PREFIX, ignore_cleanup_errors=True)


@contextmanager
def private_path() -> Iterator[Path]:
    """Make a private directory for the block."""
    with private_directory() as path:
        yield Path(path)
