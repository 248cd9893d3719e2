"""The operator's files as Documents: paths, directories and standard input, opened one after the other (design.md §3).

What is in a file is found by looking, not by its name: gzip by its first bytes, JSON of any layout
(``capture_json.py``); only YAML goes by ``.yaml`` or ``.yml``. Names matter in directories, to leave other files out.
"""

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from sediment_assets.adapters.capture_json import BrokenInputError, BrokenLine, read_json
from sediment_assets.capture.contract import Document, Record, Remainder, Untranslated
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:  # the type checker's own module
    from _typeshed import WriteableBuffer

STDIN: Final = "-"
"""The path that means standard input."""
SUFFIXES: Final = (".json", ".jsonl", ".ndjson", ".traj", ".yaml", ".yml")
"""Files read from a directory, each also with ``.gz`` behind it; a file that is named itself may have any name."""
_YAML: Final = (".yaml", ".yml")
_GZIP: Final = b"\x1f\x8b"
_BUFFER: Final = 1 << 20


class CaptureFileError(SedimentError):
    """A path that is not there, or cannot be read."""


@dataclass(slots=True)
class ReadingProgress:
    """How far reading is: the file that is open, and bytes of all files (0 in total when that is not known)."""

    name: str = ""
    bytes_read: int = 0
    bytes_total: int = 0


@dataclass(frozen=True, slots=True)
class CaptureFiles:
    """Files found, in the order of reading; ``ignored`` are those of directories that have other names."""

    paths: tuple[str, ...]
    ignored: tuple[str, ...]
    progress: ReadingProgress = field(default_factory=ReadingProgress)
    broken: list[Untranslated] = field(default_factory=list)
    """Lines that are no JSON among lines that are, as far as was read; no source sees them."""

    def documents(self, tell: Callable[[ReadingProgress], None] | None = None) -> Iterator[Document]:
        """Yield the files as Documents; each is open from its first record to its last.

        What a source leaves unread of a Document is read before the next one, so that no broken file goes unnoticed.

        :raises BrokenInputError: while records are read: what was broken, and on which line.
        :raises CaptureFileError: a file cannot be read (any more).
        """
        for path in self.paths:
            records = self._readable(_records(path, self.progress, tell))
            yield Document(path, records)
            for _ in records:
                pass

    def _readable(self, values: Iterator[tuple[str, Any]]) -> Iterator[Record]:
        for place, value in values:
            if isinstance(value, BrokenLine):
                self.broken.append(Untranslated(place, Remainder.UNKNOWN_SHAPE, value.problem))
            else:
                yield Record(place, value)


def find_capture_files(paths: Sequence[str]) -> CaptureFiles:
    """Find the files to read: those named, and those under directories, sorted by path; hidden ones are left out.

    :raises CaptureFileError: a path does not exist, or cannot be listed.
    """
    found: list[str] = []
    ignored: list[str] = []
    for path in paths:
        if path == STDIN:
            found.append(path)
        elif Path(path).is_dir():
            for file in _files_under(path):
                (found if _is_captured(file) else ignored).append(file)
        elif Path(path).exists():
            found.append(path)
        else:
            raise CaptureFileError(f"{path}: expected a file or directory, got no such path")
    sizes = [Path(path).stat().st_size for path in found if path != STDIN]
    return CaptureFiles(tuple(found), tuple(ignored), ReadingProgress(bytes_total=sum(sizes)))


def _files_under(directory: str) -> list[str]:
    def refuse(error: OSError) -> None:
        raise CaptureFileError(f"{error.filename}: {error.strerror}") from None

    found = []
    for folder, folders, names in os.walk(directory, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        found += [os.path.join(folder, name) for name in names if not name.startswith(".")]  # noqa: PTH118  # as typed
    return sorted(found)


def _is_captured(path: str) -> bool:
    name = path.lower().removesuffix(".gz")
    return name.endswith(SUFFIXES) and Path(path).is_file()


def _records(
    path: str, progress: ReadingProgress, tell: Callable[[ReadingProgress], None] | None
) -> Iterator[tuple[str, Any]]:
    progress.name = path
    place = path
    try:
        with _opened(path) as plain:
            counted = io.BufferedReader(_Counted(plain, progress, tell), _BUFFER)
            is_gzip = counted.peek(2)[:2] == _GZIP
            file = cast(BinaryIO, gzip.GzipFile(fileobj=counted) if is_gzip else counted)
            for place, value in _read(file, path):
                yield place, value
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise BrokenInputError(
            f"{path}: expected a whole gzip file, got one that is broken or cut off behind {place}"
        ) from None
    except OSError as error:
        raise CaptureFileError(f"{path}: {error.strerror or error}") from None


def _read(file: BinaryIO, path: str) -> Iterator[tuple[str, Any]]:
    if not path.lower().removesuffix(".gz").endswith(_YAML):
        return read_json(file, path)
    from sediment_assets.adapters.capture_yaml import read_yaml

    return read_yaml(file, path)


def _opened(path: str) -> io.RawIOBase:
    if path == STDIN:
        return cast(io.RawIOBase, io.FileIO(sys.stdin.fileno(), closefd=False))
    return cast(io.RawIOBase, io.FileIO(path))


class _Counted(io.RawIOBase):
    """A file that says how far it has been read."""

    def __init__(
        self, file: io.RawIOBase, progress: ReadingProgress, tell: Callable[[ReadingProgress], None] | None
    ) -> None:
        self._file = file
        self._progress = progress
        self._tell = tell

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        size = self._file.readinto(buffer) or 0
        self._progress.bytes_read += size
        if self._tell is not None:
            self._tell(self._progress)
        return size


def described(names: Iterable[str], shown: int = 3) -> str:
    """List the first of some file names, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - shown} more" if len(listed) > shown else ""
    return ", ".join(listed[:shown]) + more
