"""What an export root holds: ``<root>/<kind>/<partition>/<run id>.<attempt>/``, complete or not (design: generations).

Nothing is hashed here, and nothing is opened but completion files. Outside the event log the newest generation is the
one whose completion file was written last; records hold no clock.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final

from sediment_assets.adapters.bundle_files import read_manifest
from sediment_assets.adapters.resolutions import CI_RESOLUTIONS
from sediment_assets.bundle.encoding import MANIFEST, Population, decode_manifest
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.validate.manifest import parse_manifest
from sediment_assets.errors import SedimentError
from sediment_assets.publish.artifacts import LOCK, RECORD
from sediment_assets.publish.durable import is_present
from sediment_assets.publish.reading import completion_file
from sediment_assets.publish.record import GenerationRecord, RecordError, read_record
from sediment_assets.targets.registry import Target

ROLLOUTS_KIND: Final = "rollouts"
"""Kind of the generations that are derived bundles."""
KINDS: Final = (ROLLOUTS_KIND, CI_RESOLUTIONS, *(target.value for target in Target))
"""Directories of an export root, in the order of the graph; others are nobody's business."""


class CatalogError(SedimentError):
    """An export root that cannot be looked at."""


@dataclass(frozen=True, slots=True)
class FoundGeneration:
    """One generation directory as found. Figures of an incomplete one are empty."""

    kind: str
    partition: str
    path: Path
    size: int
    """Bytes of all files in the directory."""
    completed_at: int | None
    """When its completion file was written, in nanoseconds since 1970; None while it is not complete."""
    problem: str | None = None
    """Why it must not be read."""
    rows: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    data_version: str | None = None
    """Digest of its files; of a bundle none is stored."""
    bundle_digest: str | None = None
    """The bundle it rests on; of a bundle, its own digest."""
    record: GenerationRecord | None = None
    """The completion record; a bundle has a manifest instead."""
    manifest: Manifest | None = None

    @property
    def name(self) -> str:
        """Run id and attempt."""
        return self.path.name

    @property
    def is_complete(self) -> bool:
        """Whether it may be read."""
        return self.completed_at is not None and self.problem is None


def find_generations(root: Path) -> list[FoundGeneration]:
    """Return every generation under an export root: by kind, partition, completion and name, the newest last.

    :raises CatalogError: when a directory cannot be listed.
    """
    if not root.is_dir():
        raise CatalogError(f"{root}: expected an export root (SEDIMENT_EXPORT_ROOT), got no directory")
    return [found for kind in KINDS for partition in _directories(root / kind) for found in find_in(partition, kind)]


def find_in(partition: Path, kind: str) -> list[FoundGeneration]:
    """Return the generations in the directory of one partition, the newest complete one last."""
    found = [look_at(path, kind) for path in _directories(partition)]
    return sorted(found, key=lambda one: (one.is_complete, one.completed_at or 0, one.name))


def _directories(parent: Path) -> Iterator[Path]:
    """Yield the directories in ``parent`` by name; hidden ones are staging directories and other remains."""
    if not parent.is_dir():
        return
    try:
        children = sorted(parent.iterdir())
    except OSError as error:
        raise CatalogError(f"{parent}: cannot be listed: {error.strerror or error}") from None
    yield from (path for path in children if not path.name.startswith(".") and path.is_dir() and not path.is_symlink())


def look_at(path: Path, kind: str | None = None) -> FoundGeneration:
    """Read what a generation directory says about itself; its partition is the name of the directory above it."""
    size = _size(path)
    marker = completion_file(path)
    kind = kind or _kind_of(path, marker)
    if marker is None:
        return FoundGeneration(kind, path.parent.name, path, size, None, why_incomplete(path))
    try:
        completed_at = marker.lstat().st_mtime_ns
        return _bundle(path, kind, size, completed_at) if marker.name == MANIFEST else _rows(path, size, completed_at)
    except (RecordError, BundleError, OSError) as error:
        return FoundGeneration(kind, path.parent.name, path, size, None, str(error))


def _kind_of(path: Path, marker: Path | None) -> str:
    return ROLLOUTS_KIND if marker is not None and marker.name == MANIFEST else path.parent.parent.name


def _rows(path: Path, size: int, completed_at: int) -> FoundGeneration:
    record = read_record(path)
    return FoundGeneration(
        record.target,
        path.parent.name,
        path,
        size,
        completed_at,
        rows={name: population.rows for name, population in record.populations.items()},
        skipped={name: population.skipped for name, population in record.populations.items()},
        data_version=record.data_version,
        bundle_digest=record.bundle_digest,
        record=record,
    )


def _bundle(path: Path, kind: str, size: int, completed_at: int) -> FoundGeneration:
    data = read_manifest(path)
    manifest = parse_manifest(decode_manifest(data))
    return FoundGeneration(
        kind,
        path.parent.name,
        path,
        size,
        completed_at,
        rows={str(Population.ROLLOUTS): manifest.files[Population.ROLLOUTS].rows},
        bundle_digest=sha256(data).hexdigest(),
        manifest=manifest,
    )


def why_incomplete(path: Path) -> str:
    """Say in a few words what is known of a generation without completion file."""
    if is_present(path / LOCK):
        return "an export is running, or was killed"
    names = sorted(child.name for child in path.iterdir()) if path.is_dir() else []
    return f"no {RECORD}: " + ("an export failed here and left its claim" if names else "an empty directory")


def _size(path: Path) -> int:
    """Sum the bytes of the files in a directory; what vanishes meanwhile counts nothing."""
    total = 0
    for directory, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(Path(directory, name)).st_size
            except FileNotFoundError:
                continue
    return total
