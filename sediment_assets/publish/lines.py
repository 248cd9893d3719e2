"""Row files: one row per LF line, opened on the first row, hashed and counted while written (targets.md §11)."""

from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from sediment_assets.publish.artifacts import PUBLICATION_ORDER, row_file_name
from sediment_assets.publish.durable import close_durably, create_file, reported
from sediment_assets.publish.record import FileRecord

if TYPE_CHECKING:
    from hashlib import _Hash  # the class exists for type checkers only


class RowFiles:
    """The row files of one staging directory. A population or split side without rows leaves no file."""

    def __init__(self, staging: Path, out: Path, *, names_splits: bool) -> None:
        self._staging = staging
        self._out = out
        self._names_splits = names_splits
        self._open: dict[str, _OpenFile] = {}

    def write(self, population: str, split: str, line: bytes) -> None:
        """Append one encoded row, given without its LF.

        Raises:
            PublishError: the operating system refused; the message names the file's final path.
        """
        name = row_file_name(population, split if self._names_splits else None)
        with reported(self._out / name, "write rows"):
            file = self._open.get(name)
            if file is None:
                file = self._open[name] = _OpenFile(create_file(self._staging / name))
            file.append(line)

    def finish(self) -> dict[str, FileRecord]:
        """Flush everything to the device; return what was written, in the order of publication."""
        for name, file in self._open.items():
            with reported(self._out / name, "write rows"):
                close_durably(file.file)
        return {name: self._open[name].record() for name in PUBLICATION_ORDER if name in self._open}

    def abandon(self) -> None:
        """Close every file without waiting for the device."""
        for file in self._open.values():
            try:
                file.file.close()
            except OSError:  # a full disk again; the staging directory goes away anyway
                continue


@dataclass(slots=True)
class _OpenFile:
    file: BinaryIO
    rows: int = 0
    size: int = 0
    digest: "_Hash" = field(default_factory=sha256)

    def append(self, line: bytes) -> None:
        self.file.write(line)
        self.file.write(b"\n")
        self.digest.update(line)
        self.digest.update(b"\n")
        self.rows += 1
        self.size += len(line) + 1

    def record(self) -> FileRecord:
        return FileRecord(rows=self.rows, bytes=self.size, sha256=self.digest.hexdigest())
