"""Row files: one row per LF line, counted and hashed while written, opened on their first row (targets.md §11).

A population or split side without rows leaves no file. What a row's bytes are is ``facts/json_encoding.py``'s business.
"""

import hashlib
from contextlib import suppress
from pathlib import Path

from sediment_assets.publish.artifacts import PUBLICATION_ORDER, row_file_name
from sediment_assets.publish.durable import close_durably, create_file, reported
from sediment_assets.publish.record import FileRecord


class _OpenFile:
    """One staged file with its running count, size and hash."""

    def __init__(self, path: Path) -> None:
        self.file = create_file(path)
        self._rows = 0
        self._bytes = 0
        self._digest = hashlib.sha256()

    def append(self, line: bytes) -> None:
        self.file.write(line)
        self._rows += 1
        self._bytes += len(line)
        self._digest.update(line)

    def finish(self) -> FileRecord:
        close_durably(self.file)
        return FileRecord(rows=self._rows, bytes=self._bytes, sha256=self._digest.hexdigest())


class RowFiles:
    """The row files of one staging directory. Errors name a file's final path, not the staged one."""

    def __init__(self, staging: Path, out: Path, *, names_splits: bool) -> None:
        self._staging = staging
        self._out = out
        self._names_splits = names_splits
        self._open: dict[str, _OpenFile] = {}

    def write(self, population: str, split: str, row: bytes) -> None:
        """Append one encoded row, given without its LF.

        Raises:
            PublishError: the operating system refused.
        """
        name = row_file_name(population, split if self._names_splits else None)
        with reported(self._out / name, "stage rows"):
            file = self._open.get(name)
            if file is None:
                file = self._open[name] = _OpenFile(self._staging / name)
            file.append(row + b"\n")

    def finish(self) -> dict[str, FileRecord]:
        """Bring every file to the device and close it; return what was written, in the order of publication.

        Raises:
            PublishError: the operating system refused.
        """
        records = {}
        for name in PUBLICATION_ORDER:
            if name in self._open:
                with reported(self._out / name, "stage rows"):
                    records[name] = self._open[name].finish()
        return records

    def abandon(self) -> None:
        """Close every file without a word: a full disk complains again, and nobody wants the content any more."""
        for file in self._open.values():
            with suppress(OSError):
                file.file.close()
