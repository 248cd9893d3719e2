"""The private staging directory inside an output directory, and the sweep of what dead runs left (targets.md §11).

The staging directory has a sibling lock file that its process keeps locked. The kernel drops that lock when the process
dies, however it dies, so a lock that can be taken proves that the staging directory beside it is nobody's any more.
"""

import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sediment_assets.publish.artifacts import LOCK, STAGE_LOCK_SUFFIX, STAGE_PREFIX
from sediment_assets.publish.durable import (
    FILE_MODE,
    PublishError,
    create_private_directory,
    remove_tree,
    reported,
    still_names,
)

_STAGE_LOCK = re.compile(re.escape(STAGE_PREFIX) + r"[A-Za-z0-9_]+" + re.escape(STAGE_LOCK_SUFFIX), re.ASCII)


@contextmanager
def staging_directory(out: Path) -> Iterator[Path]:
    """Create a staging directory in ``out`` and remove it, with everything in it, however the block ends.

    Raises:
        PublishError: the operating system refused.
    """
    stage = out / f"{STAGE_PREFIX}{secrets.token_hex(8)}"
    lock = _lock_path(stage)
    descriptor = _take_lock(lock)
    try:
        with reported(stage, "create the staging directory"):
            create_private_directory(stage)
        yield stage
    finally:
        # The lock file goes last: while it exists a killed removal can be finished by a later sweep.
        try:
            with suppress(OSError):
                remove_tree(stage)
                lock.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _lock_path(stage: Path) -> Path:
    return stage.with_name(stage.name + STAGE_LOCK_SUFFIX)


def _take_lock(path: Path) -> int:
    with reported(path, "create the staging lock"):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not still_names(path, descriptor):
                raise PublishError(f"{path}: the staging lock was removed meanwhile; try again")
        except BaseException:
            path.unlink(missing_ok=True)
            os.close(descriptor)
            raise
    return descriptor


def sweep(out: Path) -> None:
    """Remove the staging directories of dead runs from ``out``. Call it while holding the export lock.

    A staging directory without its lock file is left alone: nothing proves that its process is dead.
    """
    with reported(out, "look for remains of dead runs"):
        locks = _stage_locks(out)
    for lock in locks:
        with reported(lock, "sweep the remains of a dead run"):
            _sweep_one(lock)


@contextmanager
def killed_export(out: Path) -> Iterator[bool]:
    """Say whether the export that left its lock in ``out`` is provably dead, and keep it so for the block.

    It is when the kernel has released the staging lock that it took after its export lock. An export that was killed
    between these two locks leaves no proof.

    Raises:
        OSError: the directory changed meanwhile, or the file system cannot lock.
    """
    with ExitStack() as held:
        # A staging lock older than the export lock is of an earlier export, and proves nothing about this one.
        taken = (out / LOCK).lstat().st_mtime_ns
        locks = [lock for lock in _stage_locks(out) if lock.lstat().st_mtime_ns >= taken]
        yield bool(locks) and all(_can_be_held(lock, held) for lock in locks)


def _stage_locks(out: Path) -> list[Path]:
    return sorted(path for path in out.iterdir() if _STAGE_LOCK.fullmatch(path.name))


def _can_be_held(lock: Path, held: ExitStack) -> bool:
    descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return still_names(lock, descriptor)


def _sweep_one(lock: Path) -> None:
    stage = lock.with_name(lock.name.removesuffix(STAGE_LOCK_SUFFIX))
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:  # gone meanwhile, a link, or somebody else's: not provably ours
        return
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if still_names(lock, descriptor):
            if stat.S_ISDIR(_mode(stage)):
                remove_tree(stage)
            lock.unlink()
    except BlockingIOError:  # its process is alive
        return
    finally:
        os.close(descriptor)


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except FileNotFoundError:
        return 0
