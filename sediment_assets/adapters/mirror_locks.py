"""Mirror locks: the read snapshot over a set of mirrors, and the lock of a fetch (mirrors.md §4, §7.3).

One exclusive ``flock`` per mirror, the same that fetching takes; blocking, without a timeout, on one host. Locks are
taken in ascending code-point order of their paths, so two snapshots never wait for each other.
"""

import errno
import fcntl
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from sediment_assets.mirrors.layout import lock_path, observation_lock_path
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import RepositoryKey

_HELD = threading.local()  # per thread: base directory to the snapshot it is in


class _Snapshot:
    """Lock paths held under one base; ``absent`` when the base did not exist when it began."""

    def __init__(self, paths: frozenset[str], *, absent: bool) -> None:
        self.paths = paths
        self.absent = absent


def _snapshots() -> dict[Path, _Snapshot]:
    held: dict[Path, _Snapshot] = _HELD.__dict__.setdefault("snapshots", {})
    return held


def is_absent(base: Path) -> bool:
    """Whether this thread is in a snapshot that began without the base: its mirrors stay absent to the end."""
    snapshot = _snapshots().get(base)
    return snapshot is not None and snapshot.absent


@contextmanager
def read_snapshot(base: Path, keys: Iterable[RepositoryKey]) -> Iterator[None]:
    """Hold the locks of these mirrors; creates missing lock files, and nothing at all without the base.

    Within the same thread a snapshot may nest in another that holds all of its locks.

    :raises MirrorError: when a lock cannot be had, or the outer snapshot lacks one.
    """
    paths = frozenset(str(lock_path(key)) for key in keys)
    snapshots = _snapshots()
    outer = snapshots.get(base)
    if outer is not None:
        if not paths <= outer.paths:
            raise MirrorError(
                f"mirrors {base}: expected a nested read snapshot to hold no lock of its own, got "
                f"{min(paths - outer.paths)}; name all mirrors in the outer one"
            )
        yield
        return
    absent = not base.is_dir()
    with ExitStack() as stack:
        if not absent:
            for path in sorted(paths):
                stack.enter_context(_locked(base / path))
        snapshots[base] = _Snapshot(paths, absent=absent)
        try:
            yield
        finally:
            del snapshots[base]


def fetch_lock(
    base: Path, key: RepositoryKey, waiting: Callable[[], None] | None = None
) -> AbstractContextManager[None]:
    """Hold the lock of one mirror to write it; ``waiting`` is called once if a reader or another fetch holds it."""
    return _locked(base / lock_path(key), waiting)


def observation_lock(base: Path, key: RepositoryKey) -> AbstractContextManager[None]:
    """Hold the capture lock of one repository, to store what its notes say (§7.3)."""
    return _locked(base / observation_lock_path(key))


@contextmanager
def _locked(path: Path, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # then there can be no mirror of that name either
            yield
            return
        raise _refused(path, error) from None
    try:
        try:
            _lock(descriptor, waiting)
        except OSError as error:
            raise _refused(path, error) from None
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, waiting: Callable[[], None] | None) -> None:
    if waiting is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
        else:
            return
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _refused(path: Path, error: OSError) -> MirrorError:
    return MirrorError(
        f"mirror lock {path}: expected a file this user may write, got {error.strerror}; "
        "reading a mirror takes the same lock as fetching it"
    )
