"""One generation: a claimed, fresh directory in which everything is staged before anything is visible (targets.md §11).

    with claimed_directory(out, Target.NEMO_GYM) as generation:
        staged = stage_export(generation, source, projector, settings)
        generation.publish(staged.files)
        generation.complete(staged.record)

The order is fixed: lock, claim, stage everything, publish, completion record. A block that ends without ``complete``
leaves only the claim behind. Only a kill can leave published files without a record; then the lock stays, too, and
refuses the next export until a person has looked.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
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
from sediment_assets.publish.record import FileRecord, GenerationRecord, file_record
from sediment_assets.publish.staging import staging_directory, sweep
from sediment_assets.targets.registry import Target


class Generation:
    """An output directory this process holds, and the private staging directory inside it."""

    def __init__(self, out: Path, target: Target, staging: Path, lock: ExportLock) -> None:
        self.out = out
        self.target = target
        self.staging = staging
        self._lock = lock
        self._published: list[str] = []
        self._complete = False

    def stage_text(self, name: str, text: str) -> FileRecord:
        """Stage a file that is no row file, ``environment.yaml`` say.

        Raises:
            PublishError: the operating system refused.
        """
        with reported(self.out / name, "stage the file"):
            write_file(self.staging / name, text.encode())
        return file_record(self.staging / name, rows=None)

    def publish(self, names: Iterable[str]) -> None:
        """Give staged files their final names, in this order.

        Raises:
            ClaimError: the lock was removed meanwhile, or a name is taken.
            PublishError: the operating system refused.
        """
        self._lock.verify()
        with reported(self.staging, "make the staged names durable"):
            sync_directory(self.staging)
        self._retire_empty_record()
        for name in names:
            self._link(name)
        self._sync()

    def complete(self, record: GenerationRecord) -> None:
        """Write the completion record: from now on the generation may be read, and it stays.

        Raises:
            ClaimError: the lock was removed meanwhile, or another record is there.
            PublishError: the operating system refused.
        """
        with reported(self.out / RECORD, "stage the completion record"):
            write_file(self.staging / RECORD, record.encode())
        self._lock.verify()
        self._retire_empty_record()
        self._link(RECORD)
        self._sync()
        self._complete = True

    def _retire_empty_record(self) -> None:
        """Remove the record of an earlier export that had nothing to write; ``check_claim`` let no other pass."""
        path = self.out / RECORD
        with reported(path, "replace the record of an empty export"), suppress(FileNotFoundError):
            path.unlink()

    def _link(self, name: str) -> None:
        path = self.out / name
        # Noted before it is done: an interrupt between the two must not hide a published name from take_back.
        self._published.append(name)
        with reported(path, "publish"):
            try:
                link_new(self.staging / name, path)
            except FileExistsError:
                raise ClaimError(
                    f"{path}: appeared while this export was running; export into a new directory"
                ) from None

    def _sync(self) -> None:
        with reported(self.out, "make the published names durable"):
            sync_directory(self.out)

    def take_back(self) -> None:
        """Remove every published name of a generation that was not completed.

        Best effort: a name that cannot be removed stays, without a record, and ``check_claim`` refuses it later.
        """
        if self._complete:
            return
        for name in reversed(self._published):
            with suppress(OSError):
                unlink_same(self.out / name, self.staging / name)


@contextmanager
def claimed_directory(out: str | os.PathLike[str], target: Target) -> Iterator[Generation]:
    """Lock and claim a fresh output directory for the block; create it, with its parents, when it is not there.

    Lock and staging directory go away however the block ends; without ``complete`` only the claim stays.

    Raises:
        ClaimError: the directory is in use, another target's, or not fresh. It is left unchanged.
        PublishError: the operating system refused.
    """
    path = Path(out)
    prepare_directory(path)
    with export_lock(path) as lock:
        is_claimed = check_claim(path, target)
        sweep(path)
        with staging_directory(path) as staging:
            if not is_claimed:
                write_claim(path, target, staging)
            generation = Generation(path, target, staging, lock)
            try:
                yield generation
            finally:
                generation.take_back()
