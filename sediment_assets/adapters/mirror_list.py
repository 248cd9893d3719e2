"""What mirrors there are, and which are missing: for ``sediment mirror list``, for warnings, and for the graph.

The only place that reads times of the file system; they are shown to people and decide nothing.
"""

import os.path
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.adapters.mirror_jobs import KnownRepositories
from sediment_assets.adapters.mirror_sync import SYNC_MARK
from sediment_assets.capture.observations import read_notes
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import LegacyKey, RepositoryKey

_WITHOUT_MIRRORS: Final = (
    "so every repository counts as mirror_absent, and a Session whose commits only notes tell as no_attributed_commit"
)


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


def require_mirror_base(base: Path) -> Path:
    """Return the base of the mirrors, which is there.

    A command is asked by a person and reads its warning. What runs unattended must not take a disk that is not mounted
    for repositories without mirrors: every day would be published again, green and empty.

    :raises MirrorError: when it is no directory.
    """
    if base.is_dir():
        return base
    found = "something else" if os.path.lexists(base) else "nothing"
    if base.is_file():
        found = "a file"
    raise MirrorError(
        f"SEDIMENT_MIRROR_PATH: expected the base directory of the mirrors, got {found} at {base}; mount its disk, or "
        "begin without mirrors: mkdir -p, or sediment mirror sync"
    )


def mirror_warning(base: Path, org_id: str) -> str | None:
    """Say that a derivation will find no mirror at all, which a mistaken setting looks like; None when there are any.

    :raises MirrorError: when the base cannot be listed.
    """
    with GitMirrorStore(base) as store:
        if store.keys(org_id):
            return None
    if not base.is_dir():
        return f"{base}: no such directory, {_WITHOUT_MIRRORS}; check SEDIMENT_MIRROR_PATH, or run sediment mirror sync"
    return (
        f"{base}: holds no mirror of organization {org_id}, {_WITHOUT_MIRRORS}; check "
        "SEDIMENT_MIRROR_PATH and SEDIMENT_ORG_ID, or run sediment mirror sync"
    )
