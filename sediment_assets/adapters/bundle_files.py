"""The files of a bundle on disk, read without trusting them: no links, exact bytes, one private copy (bundle.md §8)."""

import errno
import os
import stat
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from sediment_assets.bundle.encoding import MANIFEST, Population
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import MemberFile
from sediment_assets.bundle.validate.files import check_member
from sediment_assets.publish.durable import create_file, reported

_CHUNK: Final = 1 << 20


def read_manifest(directory: Path) -> bytes:
    """Read the manifest's file whole.

    :raises BundleError: when there is none, or it is no regular file.
    """
    with opened_member(directory, MANIFEST) as file:
        return file.read()


def copy_member(directory: Path, population: Population, declared: MemberFile, private: Path) -> None:
    """Copy one member into the private directory and compare it with the manifest on the way (rule 5).

    :raises BundleError: when it is no regular file, or another one than the manifest says.
    :raises PublishError: when the private copy cannot be written.
    """
    place = private / population.file
    with opened_member(directory, population.file) as file:
        size = os.fstat(file.fileno()).st_size
        if size != declared.bytes:
            raise BundleError(f"expected bytes {declared.bytes}, got {size}", file=population.file)
        with reported(place, "write a private copy (TMPDIR says where)"), create_file(place) as copy:
            found = _copied(file, copy, size)
    check_member(population, declared, found)


def _copied(file: BinaryIO, copy: BinaryIO, expected_bytes: int) -> MemberFile:
    """Copy and measure; a file that grows meanwhile is not copied to its end."""
    rows = size = 0
    digest = sha256()
    last = b"\n"
    while size <= expected_bytes and (chunk := file.read(_CHUNK)):
        copy.write(chunk)
        digest.update(chunk)
        size += len(chunk)
        rows += chunk.count(b"\n")
        last = chunk[-1:]
    return MemberFile(rows + (last != b"\n"), size, digest.hexdigest())


@contextmanager
def opened_member(directory: Path, name: str) -> Iterator[BinaryIO]:
    """Open a regular file; a symbolic link is none, and a FIFO is not waited for."""
    try:
        descriptor = os.open(directory / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError as error:
        got = "a symbolic link" if error.errno == errno.ELOOP else error.strerror
        raise BundleError(f"expected a regular file, got {got}", file=name) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise BundleError("expected a regular file, got something else", file=name)
    with os.fdopen(descriptor, "rb") as file:
        yield file


class MemberLines:
    """The lines of member files in a directory nobody else writes to; remembers where the Rollouts' lines begin."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rollout_offsets = array("Q")

    def __call__(self, population: Population) -> Iterator[bytes]:
        """Yield the lines of a member file, with their line ends."""
        offsets = array("Q")
        offset = 0
        with (self._directory / population.file).open("rb", buffering=_CHUNK) as file:
            for line in file:
                offsets.append(offset)
                offset += len(line)
                yield line
        if population is Population.ROLLOUTS:
            self._rollout_offsets = offsets

    def find_rollouts(self) -> None:
        """Find out where the Rollouts' lines begin, without looking at them."""
        for _ in self(Population.ROLLOUTS):
            pass

    def rollout_lines(self, numbers: Iterator[int]) -> Iterator[bytes]:
        """Yield the Rollouts' lines of these numbers, from 1; once all of them have been read in order."""
        with (self._directory / Population.ROLLOUTS.file).open("rb") as file:
            for number in numbers:
                file.seek(self._rollout_offsets[number - 1])
                yield file.readline()
