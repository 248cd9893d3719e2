"""Creating and refreshing one mirror, and observing what its notes say (mirrors.md §2, §7.3).

A reader takes every directory with a ``HEAD`` for a whole mirror, so a new one grows in ``.incoming`` and is renamed
into its place when everything has arrived: a sync that is killed leaves no mirror, never half of one. A refresh moves
refs of a mirror that is whole, each to complete history; killed in between, some refs are newer than others, as
if the remote had been asked at another time. The next sync repairs both.
"""

import os
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from sediment_assets.adapters.git_fetch import LOCK_AGE_SECONDS, Fetcher, FetchError, killed_since
from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.adapters.host_names import resolve_host
from sediment_assets.adapters.mirror_locks import fetch_lock
from sediment_assets.capture.observations import NotedSessions, observe_pushes, read_notes
from sediment_assets.facts.defaults import new_id
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.mirrors.clone_url import CloneUrlPolicy
from sediment_assets.mirrors.layout import incoming_path, mirror_path
from sediment_assets.mirrors.refresh import PushRange
from sediment_assets.repositories.keys import RepositoryKey

SYNC_MARK: Final = "sediment-synced"
"""Empty file in a mirror whose modification time is that of the last complete sync."""

_READ_TOGETHER: Final = 20_000
"""Newest Pushes whose commits are read in a few questions; a mirror remembers about twice as many commits."""
_NO_SESSIONS: Final = NotedSessions({}, 0, 0, 0)


class SyncStatus(StrEnum):
    """What became of one repository."""

    CREATED = "created"
    REFRESHED = "refreshed"
    """At least one ref is another than before."""
    UNCHANGED = "unchanged"
    DECLINED = "declined"
    """Its evidence does not prove what may be fetched into it; refs are untouched (mirrors.md §8.6)."""
    REFUSED = "refused"
    """The clone-URL policy forbids where it would be fetched from; nothing was touched (mirrors.md §3)."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SyncedMirror:
    """A mirror after its sync."""

    status: SyncStatus
    refs: int
    noted: NotedSessions = _NO_SESSIONS
    observations: Sequence[SessionCommitObservation] = field(default_factory=tuple)
    """What the notes of pushed commits say; not stored yet."""


def sync_mirror(
    base: Path,
    key: RepositoryKey,
    url: str,
    fetcher: Fetcher,
    policy: CloneUrlPolicy,
    *,
    pushes: Sequence[PushRange] = (),
    progress: Callable[[str], None] | None = None,
) -> SyncedMirror:
    """Check the URL, then, under the mirror's lock, create or refresh it and read its notes.

    :raises CloneUrlRefusedError, MalformedCloneUrlError: before anything is touched.
    :raises MirrorError: when it cannot be locked, made, fetched or read.
    """
    policy.check(url, resolve_host)
    try:
        base.mkdir(parents=True, exist_ok=True)
        with fetch_lock(base, key, lambda: progress and progress("waiting for its lock")):
            return _sync_locked(base, key, url, fetcher, pushes, progress)
    except OSError as error:
        raise FetchError(f"mirrors {base}: {error.filename or 'git'}: {error.strerror or error}") from None


def _sync_locked(
    base: Path,
    key: RepositoryKey,
    url: str,
    fetcher: Fetcher,
    pushes: Sequence[PushRange],
    progress: Callable[[str], None] | None,
) -> SyncedMirror:
    directory = base / mirror_path(key)
    if os.path.lexists(directory / "HEAD"):
        with GitMirror(directory) as mirror:
            before = mirror.refs()
        remove_stale_locks(directory)
        fetcher.fetch(directory, url, progress)
    else:
        before = None
        _create(base, key, url, fetcher, progress)
    (directory / SYNC_MARK).touch()
    with GitMirror(directory) as mirror:
        refs = mirror.refs()
        noted = read_notes(mirror.notes())
        if noted.sessions:
            mirror.prepare(push.after_sha for push in pushes[-_READ_TOGETHER:])
        observations = observe_pushes(key, pushes, noted, mirror.push_commits)
    changed = SyncStatus.UNCHANGED if refs == before else SyncStatus.REFRESHED
    return SyncedMirror(SyncStatus.CREATED if before is None else changed, len(refs), noted, observations)


def _create(base: Path, key: RepositoryKey, url: str, fetcher: Fetcher, progress: Callable[[str], None] | None) -> None:
    place, directory = base / incoming_path(key), base / mirror_path(key)
    # What a killed sync left goes, as far as it can: its git may have outlived it and still write there, and then the
    # next sync removes the rest. So the directory is never the same twice.
    shutil.rmtree(place, ignore_errors=True)
    incoming = place / new_id()
    incoming.mkdir(parents=True)
    try:
        fetcher.create(incoming, url, progress)
        directory.parent.mkdir(parents=True, exist_ok=True)
        if directory.is_dir() and not any(directory.iterdir()):
            directory.rmdir()
        if directory.exists():
            raise FetchError(
                f"mirror {directory}: expected nothing or a mirror, got files without HEAD; move them away"
            )
        incoming.rename(directory)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_stale_locks(directory: Path) -> None:
    """Remove git's own lock files that a killed or crashed git left: others may be somebody's at work.

    Who calls holds the mirror's lock. A file is nobody's when it is younger than a fetch that was killed and is over,
    or older than any fetch takes.
    """
    now, killed = time.time(), killed_since(directory)
    files = [directory / f"{name}.lock" for name in ("HEAD", "config", "packed-refs", "shallow", "gc.pid")]
    for parent, _, names in os.walk(directory / "refs"):
        files += [Path(parent, name) for name in names if name.endswith(".lock")]
    for file in files:
        with suppress(FileNotFoundError):  # absent, or gone meanwhile: its git is at work
            made = file.lstat().st_mtime
            if now - made > LOCK_AGE_SECONDS or (killed is not None and made >= killed):
                file.unlink()
