"""Copying complete generations to a bucket or another file system, safely from several hosts at once.

One interface for every store that fsspec knows. What makes it safe is exclusive creation, which local file systems give
and object stores give by a condition (S3: ``If-None-Match``): the claim is created first and decides who copies, the
completion file last and says that the copy may be read. Nothing is ever replaced; a copy that was killed leaves a claim
without completion file, which refuses the next one until a person has looked.
"""

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit, urlunsplit

from sediment_assets.adapters.generations.catalog import FoundGeneration
from sediment_assets.adapters.generations.intact import verify_files
from sediment_assets.errors import SedimentError
from sediment_assets.publish.artifacts import CLAIM
from sediment_assets.publish.reading import completion_file, held_for_reading

_CHUNK_BYTES: Final = 1 << 20


class CopyError(SedimentError):
    """A generation that cannot be copied; what was there is unchanged."""


class UnfinishedCopyError(CopyError):
    """Somebody else is copying the same generation, or was killed while they did."""


class Destination:
    """A root in some store. ``shown`` names it without credentials."""

    def __init__(self, url: str) -> None:
        """Find the store of a URL or path.

        :raises CopyError: when the store's library is not installed, or the URL names no store.
        """
        self.shown = _without_credentials(url)
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise CopyError(f"{self.shown}: {_INSTALL}") from None
        try:
            # A cached listing could hide the claim of another host.
            self._store, root = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except (ImportError, ValueError) as error:
            raise CopyError(f"{self.shown}: expected a store that fsspec knows, got: {error}; {_INSTALL}") from None
        self._root = root.rstrip("/")
        self._is_local = "file" in _names(self._store.protocol)

    def copy(self, found: FoundGeneration) -> bool:
        """Copy a complete generation to ``<root>/<kind>/<partition>/<name>``; False when it is there already.

        :raises CopyError: when somebody else's files are there, or the store refuses.
        :raises SedimentError: when the generation is not what its completion file says.
        """
        place = f"{found.kind}/{found.partition}/{found.name}"
        with held_for_reading(found.path), self._reported(place):
            verify_files(found.path)
            last = completion_file(found.path)
            assert last is not None, "verified"
            if self._holds_already(place, last):
                return False
            self._copy_new(found.path, place, last)
        return True

    def _copy_new(self, source: Path, place: str, last: Path) -> None:
        names = sorted(entry.name for entry in source.iterdir() if entry.is_file())
        first = CLAIM if CLAIM in names else None
        order = [*filter(None, [first]), *(name for name in names if name not in {first, last.name}), last.name]
        self._refuse_remains(place)
        created: list[str] = []
        try:
            for name in order:
                self._create(f"{place}/{name}", source / name)
                created.append(name)
        except FileExistsError:
            self._remove(place, created)
            raise UnfinishedCopyError(
                f"{self._label(place)}: another process is copying to it; nothing was replaced"
            ) from None
        except BaseException:
            self._remove(place, created)
            raise

    def _create(self, name: str, source: Path) -> None:
        """Create a file exclusively. Stores decide when the file is closed; a local one is then on the disk, too."""
        path = f"{self._root}/{name}"
        if self._is_local:
            self._store.makedirs(path.rpartition("/")[0], exist_ok=True)
        with source.open("rb") as content, self._store.open(path, "xb") as out:
            shutil.copyfileobj(content, out, _CHUNK_BYTES)
            _flush(out)

    def _holds_already(self, place: str, last: Path) -> bool:
        """Whether a complete copy is there: the completion file names the hash of every other.

        A part of that file is no copy yet: on a disk a file is seen while it is being written.
        """
        path = f"{self._root}/{place}/{last.name}"
        if not self._store.exists(path):
            return False
        there, expected = self._store.cat_file(path), last.read_bytes()
        if there == expected:
            return True
        if expected.startswith(there):
            return False
        raise CopyError(f"{self._label(place)}: expected nothing or this generation, got another one")

    def _refuse_remains(self, place: str) -> None:
        path = f"{self._root}/{place}"
        try:
            names = sorted(name.rpartition("/")[2] for name in self._store.ls(path, detail=False))
        except FileNotFoundError:
            return
        if names:
            raise UnfinishedCopyError(
                f"{self._label(place)}: expected nothing, got {', '.join(names)}: a copy in progress or one that was "
                "killed; remove it if nobody copies, and copy again"
            )

    def _remove(self, place: str, names: list[str]) -> None:
        for name in reversed(names):
            with suppress(Exception):
                self._store.rm_file(f"{self._root}/{place}/{name}")

    @contextmanager
    def _reported(self, place: str) -> Iterator[None]:
        try:
            yield
        except SedimentError:
            raise
        except Exception as error:
            # Stores raise whatever their client library raises; its text may span lines.
            problem = " ".join(str(error).split()) or type(error).__name__
            raise CopyError(f"{self._label(place)}: cannot be copied to: {problem}") from error

    def _label(self, place: str) -> str:
        return f"{self.shown.rstrip('/')}/{place}"


_INSTALL: Final = "install the extra for object stores: pip install 'sediment-assets[object-store]'"


def _names(protocol: str | tuple[str, ...]) -> tuple[str, ...]:
    return (protocol,) if isinstance(protocol, str) else protocol


def _flush(out: BinaryIO | Any) -> None:
    with suppress(OSError, io.UnsupportedOperation, AttributeError):
        out.flush()
        os.fsync(out.fileno())


def _without_credentials(url: str) -> str:
    """Leave out user information and query, where some stores' URLs carry secrets."""
    parts = urlsplit(url)
    if not parts.scheme:
        return url
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
