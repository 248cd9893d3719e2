"""What mirrors there are, and which are missing: for ``sediment mirror list``.

The only place that reads times of the file system; they are shown to people and decide nothing.
"""

import os.path
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.adapters.mirror_jobs import KnownRepositories
from sediment_assets.adapters.mirror_sync import SYNC_MARK
from sediment_assets.capture.observations import read_notes
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import LegacyKey, RepositoryKey


@dataclass(frozen=True, slots=True)
class ListedMirror:
    """One repository: its mirror, or that there is none (``refs`` is None)."""

    key: RepositoryKey
    label: str | None
    """None when no Fact names the repository."""
    path: PurePosixPath
    """Relative to the base."""
    refs: int | None = None
    notes: int = 0
    unreadable_notes: int = 0
    synced: datetime | None = None
    """When it was last fetched; None when nothing says so."""
    pushed: bool = False
    """Whether a visible Push names the repository."""
    problem: str | None = None


def list_mirrors(base: Path, known: KnownRepositories) -> Iterator[ListedMirror]:
    """Yield every mirror of the organization, and every repository of a visible Push without one, by sort key.

    :raises MirrorError: when the base cannot be listed.
    """
    with GitMirrorStore(base) as store:
        there = set(store.keys(known.org_id))
        for key in sorted(there | known.plan.targets.keys(), key=lambda key: key.sort_key):
            yield _listed(store, key, known)


def _listed(store: GitMirrorStore, key: RepositoryKey, known: KnownRepositories) -> ListedMirror:
    path, target = mirror_path(key), known.plan.targets.get(key)
    label = target.label if target else _label(known, key)
    try:
        mirror = store.open(key)
        if mirror is None:
            return ListedMirror(key, label, path, pushed=target is not None)
        refs, noted = mirror.refs(), read_notes(mirror.notes())
    except MirrorError as error:
        return ListedMirror(key, label, path, 0, pushed=target is not None, problem=str(error))
    return ListedMirror(
        key, label, path, len(refs), noted.notes, noted.unreadable, _synced(mirror.directory), target is not None
    )


def _label(known: KnownRepositories, key: RepositoryKey) -> str | None:
    try:
        return known.resolver.label(key)
    except KeyError:
        return key.slug if isinstance(key, LegacyKey) else None


def _synced(directory: Path) -> datetime | None:
    for name in (SYNC_MARK, "FETCH_HEAD"):
        if os.path.lexists(directory / name):
            return datetime.fromtimestamp(int((directory / name).stat().st_mtime), UTC)
    return None
