"""All mirrors under one base directory: which exist, opening them, their locks (mirrors.md §1, §4)."""

import errno
import os.path
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Self

from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.adapters.git_process import TIMEOUT_SECONDS, git_version
from sediment_assets.adapters.mirror_fingerprint import UnprovenError, mirror_state
from sediment_assets.adapters.mirror_locks import is_absent, read_snapshot
from sediment_assets.facts.json_values import encode_canonical
from sediment_assets.facts.scalars import normal_org_id
from sediment_assets.mirrors.layout import IDENTIFIED_ROOT, decode_identified, decode_legacy, mirror_path
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import RepositoryKey, key_text

MAX_LIVE_MIRRORS = 32
"""Mirrors that keep processes running at once; the one asked longest ago gives way."""

_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})


def has_head(directory: Path) -> bool:
    """Whether a directory is a mirror: it has an entry ``HEAD``, be it a dangling link (mirrors.md §1).

    :raises MirrorError: when the file system does not say; a mirror taken for absent would drop evidence that is there.
    """
    try:
        os.lstat(directory / "HEAD")
    except OSError as error:
        if error.errno in _ABSENT:
            return False
        raise MirrorError(
            f"mirror {directory}: expected a directory this user may read, got {error.strerror}"
        ) from None
    return True


class GitMirrorStore:
    """The mirrors under ``base``. Close it, or use it as a context manager, to end the processes behind them.

    ``warnings`` collects one line for each directory that ``keys`` had to ignore.
    """

    def __init__(self, base: Path, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self.base = base.resolve()
        self.warnings: list[str] = []
        self._timeout = timeout
        self._mirrors: dict[RepositoryKey, GitMirror] = {}
        self._live: OrderedDict[int, GitMirror] = OrderedDict()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """End and reap every process; a later question starts them again."""
        for mirror in list(self._mirrors.values()):
            mirror.close()
        self._live.clear()

    def keys(self, org_id: str) -> list[RepositoryKey]:
        """See ``MirrorStore``. A directory is a mirror when it has an entry ``HEAD``.

        :raises MirrorError: when the base exists and cannot be listed.
        """
        org_id = normal_org_id(org_id)
        self.warnings.clear()
        found: set[RepositoryKey] = set()
        for path in self._directories(org_id):
            try:
                if len(path.parts) == 1:
                    key: RepositoryKey | None = decode_legacy(path.name, org_id)
                else:
                    key = decode_identified(path)
            except ValueError as error:
                if not os.path.lexists(self.base / path / "HEAD"):  # cannot be looked into, and bears nobody's name
                    continue
                self.warnings.append(f"mirror directory {str(self.base / path)!r} is ignored: {error}")
                continue
            if key is not None:
                found.add(key)
        return sorted(found, key=lambda key: key.sort_key)

    def _directories(self, org_id: str) -> Iterator[PurePosixPath]:
        """Relative paths of all directories with ``HEAD``, or closed to us, where one organization's mirrors are."""
        if is_absent(self.base):
            return
        paths = [PurePosixPath(name) for name in self._names(PurePosixPath())]
        identified = [PurePosixPath(IDENTIFIED_ROOT, org_id)]
        for _ in ("provider", "host", "id"):
            identified = [path / name for path in identified for name in self._names(path)]
        for path in [*paths, *identified]:
            try:
                is_there = has_head(self.base / path)
            except MirrorError:  # told by ``open``, to whom it matters
                is_there = True
            if is_there:
                yield path

    def _names(self, path: PurePosixPath) -> list[str]:
        try:
            return sorted(child.name for child in (self.base / path).iterdir())
        except (FileNotFoundError, NotADirectoryError) as error:
            if isinstance(error, NotADirectoryError) and self.base.is_file():
                raise MirrorError(
                    f"mirrors {self.base}: expected a directory (SEDIMENT_MIRROR_PATH), got a file"
                ) from None
            return []
        except OSError as error:
            raise MirrorError(
                f"mirrors {self.base / path}: expected a directory this user may list, got {error.strerror}"
            ) from None

    def open(self, key: RepositoryKey) -> GitMirror | None:
        """See ``MirrorStore``. The same object each time.

        :raises MirrorError: when nobody can say whether there is a mirror.
        """
        if is_absent(self.base):
            return None
        with self._lock:
            mirror = self._mirrors.get(key)
            if mirror is None:
                directory = self.base / mirror_path(key)
                if not has_head(directory):
                    return None
                mirror = GitMirror(directory, timeout=self._timeout, on_question=self._touch)
                self._mirrors[key] = mirror
            return mirror

    def _touch(self, mirror: GitMirror) -> None:
        """Note a question to one mirror, and stop the processes of one that was not asked for long."""
        with self._lock:
            self._live[id(mirror)] = mirror
            self._live.move_to_end(id(mirror))
            if len(self._live) > MAX_LIVE_MIRRORS:
                oldest, idle = next(iter(self._live.items()))
                if idle.close(wait=False):
                    del self._live[oldest]

    def revisions(self, org_id: str) -> dict[str, dict[str, str]]:
        """See ``MirrorStore``."""
        opened = ((key, self.open(key)) for key in self.keys(org_id))
        return {key_text(key): mirror.refs() for key, mirror in opened if mirror is not None}

    def fingerprint(self, keys: Iterable[RepositoryKey]) -> str | None:
        """See ``MirrorStore``. Reads refs and directories, no objects."""
        parts: list[object] = []
        try:
            parts.append(git_version())
            for key in sorted(keys, key=lambda key: key.sort_key):
                mirror = self.open(key)
                state = None if mirror is None else [mirror.refs(), mirror_state(mirror.directory), mirror.failures]
                parts.append([key.sort_key, state])
        except (MirrorError, UnprovenError):
            return None
        return sha256(encode_canonical(parts).encode()).hexdigest()

    def locked(self, keys: Iterable[RepositoryKey]) -> AbstractContextManager[None]:
        """See ``MirrorStore``; ``read_snapshot`` has the rules."""
        return read_snapshot(self.base, keys)
