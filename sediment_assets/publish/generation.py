"""One generation: a claimed, fresh directory in which everything is staged before anything is visible.

The order is fixed: lock, claim, stage everything, publish, completion record. Whatever fails before publication leaves
only the claim behind; a killed process leaves its lock, which refuses the next export until a person has looked.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sediment_assets.publish.artifacts import RECORD
from sediment_assets.publish.claim import (
    ClaimError,
    ExportLock,
    check_claim,
    export_lock,
    prepare_directory,
    write_claim,
)
from sediment_assets.publish.durable import link_new, reported, sync_directory, unlink_same, write_file
from sediment_assets.publish.record import GenerationRecord
from sediment_assets.publish.staging import staging_directory, sweep
from sediment_assets.targets.registry import Target


class Generation:
    """An output directory this process holds, and the private staging directory inside it."""

    def __init__(self, out: Path, target: Target, staging: Path, lock: ExportLock) -> None:
        self.out = out
        self.target = target
        self.staging = staging
        self._lock = lock

    def stage_text(self, name: str, text: str) -> None:
        """Stage a small text file."""
        with reported(self.out / name, "stage the file"):
            write_file(self.staging / name, text.encode())

    def publish(self, names: Sequence[str]) -> None:
        """Make staged files visible, in this order: all of them, or none when one cannot be.

        Raises:
            ClaimError: the lock was removed meanwhile, or a name is taken.
            PublishError: the operating system refused.
        """
        self._lock.verify()
        done: list[str] = []
        try:
            for name in names:
                self._link(name)
                done.append(name)
            with reported(self.out, "make the published names durable"):
                sync_directory(self.out)
        except BaseException:
            for name in done:
                unlink_same(self.out / name, self.staging / name)
            raise

    def _link(self, name: str) -> None:
        with reported(self.out / name, "publish"):
            try:
                link_new(self.staging / name, self.out / name)
            except FileExistsError:
                raise ClaimError(
                    f"{self.out / name}: appeared while this export was running; export into a new directory"
                ) from None

    def complete(self, record: GenerationRecord) -> None:
        """Write the completion record: from now on the generation may be read."""
        with reported(self.out / RECORD, "write the completion record"):
            write_file(self.staging / RECORD, record.encode())
        self.publish([RECORD])


@contextmanager
def claimed_directory(out: Path, target: Target) -> Iterator[Generation]:
    """Lock and claim a fresh output directory for the block; create it, with its parents, when it is not there.

    Raises:
        ClaimError: the directory is in use, another target's, or not fresh. It is left unchanged.
        PublishError: the operating system refused.
    """
    prepare_directory(out)
    with export_lock(out) as lock:
        is_claimed = check_claim(out, target)
        sweep(out)
        with staging_directory(out) as staging:
            if not is_claimed:
                write_claim(out, target, staging)
            yield Generation(out, target, staging, lock)
