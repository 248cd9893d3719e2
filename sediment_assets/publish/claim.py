"""Who may export into a directory: the lock of a running export and the lasting claim of a target (targets.md §12).

Everything fails closed: a lock that is there, a claim that cannot be read and artifacts that nobody claimed all refuse
the directory and leave it unchanged. Nothing here is ever broken automatically; the messages say what a person can do.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sediment_assets.errors import SedimentError
from sediment_assets.publish.artifacts import CLAIM, LOCK, PUBLICATION_ORDER, RECORD
from sediment_assets.publish.durable import is_present, link_new, reported, still_names, write_file
from sediment_assets.publish.record import RecordError, read_record
from sediment_assets.targets.registry import Target

_CLAIM_LIMIT_BYTES = 4096
"""A claim is one short line; whatever is longer is no claim."""


class ClaimError(SedimentError):
    """The output directory is refused: in use, claimed by another target, or not fresh."""


class LockHeldError(ClaimError):
    """Another export holds the directory, or was killed while it did."""


@dataclass(frozen=True, slots=True)
class ExportLock:
    """The lock directory this process created. Its open descriptor keeps the inode from being reused."""

    path: Path
    descriptor: int

    def is_ours(self) -> bool:
        """Whether the lock on disk still is the one this process took."""
        return still_names(self.path, self.descriptor)

    def verify(self) -> None:
        """Refuse to go on when somebody removed the lock while this export was running."""
        if not self.is_ours():
            raise LockHeldError(
                f"{self.path}: expected the lock of this export, but it was removed or replaced meanwhile; "
                "nothing was published: export again into a new directory"
            )


def refuse_directory(out: Path, target: Target) -> None:
    """Raise what ``claimed_directory`` would raise now, and change nothing: a look before hours of work.

    Raises:
        ClaimError: the directory would be refused.
    """
    _require_directory_or_absent(out)
    if out.is_dir():
        if is_present(out / LOCK):
            raise _lock_held(out / LOCK)
        check_claim(out, target)


def prepare_directory(out: Path) -> None:
    """Create the output directory with its parents; it may exist.

    Raises:
        ClaimError: something else than a directory has this name.
        PublishError: the operating system refused.
    """
    _require_directory_or_absent(out)
    with reported(out, "create the output directory"):
        out.mkdir(parents=True, exist_ok=True)


def _require_directory_or_absent(out: Path) -> None:
    """Refuse an output path that is taken by a file, or by a link that leads nowhere."""
    with reported(out, "look at the output path"):
        if is_present(out) and not out.is_dir():
            raise ClaimError(f"{out}: expected a directory or nothing at the output path, got something else")


@contextmanager
def export_lock(out: Path) -> Iterator[ExportLock]:
    """Hold the lock of an existing output directory; it goes away on success and on failure, not after a kill.

    Raises:
        LockHeldError: the lock is there already.
    """
    path = out / LOCK
    with reported(path, "take the lock"):
        try:
            path.mkdir()
        except FileExistsError:
            raise _lock_held(path) from None
    # Interrupted between these two lines, the lock stays: the same evidence that a kill leaves.
    with reported(path, "take the lock"):
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    lock = ExportLock(path, descriptor)
    try:
        yield lock
    finally:
        try:
            if lock.is_ours():
                with suppress(OSError):
                    path.rmdir()
        finally:
            os.close(descriptor)


def _lock_held(path: Path) -> LockHeldError:
    return LockHeldError(
        f"{path}: an export into this directory is in progress, or was killed; "
        f"if none is running, export into a new directory, or remove this lock (rmdir) and try again"
    )


def check_claim(out: Path, target: Target) -> bool:
    """Apply the table of targets.md §12; return whether the claim file of this target is already there.

    A completion record that lists files counts like an artifact: what it describes is immutable, also after its files
    were deleted. The record of an empty export does not, since nothing was exported.

    Raises:
        ClaimError: the directory is not this target's, or not fresh.
    """
    claimed = _claimed_target(out)
    present = _exported_names(out)
    if claimed is None:
        if present:
            raise ClaimError(
                f"{out}: expected a fresh directory, got {', '.join(present)} without a claim file ({CLAIM}); "
                "export into a new directory"
            )
        return False
    if claimed is not target:
        raise ClaimError(f"{out}: belongs to target {claimed}, not {target}: each target needs its own directory")
    if present:
        raise ClaimError(f"{out}: {_already_exported(present)}; export into a new directory")
    return True


def _already_exported(present: list[str]) -> str:
    if RECORD in present:
        return "already holds an export, and exports are never replaced"
    return (
        f"holds {', '.join(present)} but no {RECORD}: the remains of an export that was killed, "
        "or the output of another program"
    )


def _exported_names(out: Path) -> list[str]:
    with reported(out, "look for artifacts"):
        present = [name for name in PUBLICATION_ORDER if is_present(out / name)]
        if is_present(out / RECORD) and (present or not is_empty_export(out)):
            present.append(RECORD)
    return present


def is_empty_export(out: Path) -> bool:
    """Whether the directory's completion record says that an export had nothing to write."""
    try:
        return not read_record(out).files
    except RecordError:
        return False


def _claimed_target(out: Path) -> Target | None:
    path = out / CLAIM
    try:
        content = _read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ClaimError(f"{path}: cannot read the claim: {error.strerror or error}") from error
    if content is None:
        raise ClaimError(f"{path}: expected a claim file, got something that is not a regular file")
    try:
        if len(content) > _CLAIM_LIMIT_BYTES:
            raise ValueError
        return Target(content.decode("utf-8").strip())
    except ValueError:  # UnicodeDecodeError is one
        raise ClaimError(
            f"{path}: expected a claim of one of {', '.join(Target)}, got other content; export into a new directory"
        ) from None


def _read_regular(path: Path) -> bytes | None:
    """Read a claim without following a link and without waiting for a FIFO; None when it is no regular file."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        return os.read(descriptor, _CLAIM_LIMIT_BYTES + 1)
    finally:
        os.close(descriptor)


def write_claim(out: Path, target: Target, staging: Path) -> None:
    """Create the claim file exclusively: written in ``staging``, then hard-linked to its name, never replaced.

    Raises:
        ClaimError: another process created a claim meanwhile.
    """
    path = out / CLAIM
    staged = staging / CLAIM
    with reported(path, "create the claim"):
        write_file(staged, f"{target}\n".encode())
        try:
            link_new(staged, path)
        except FileExistsError:
            raise ClaimError(f"{path}: another program claimed the directory meanwhile") from None
