"""What similarity found, one small file for each state of the evidence (``derive/attribution_memo.py``).

``<export root>/.attribution/<key>.json`` holds a digest of its second line, then that line. Files are private, appear
by one rename, and may be removed at any time. Whatever is damaged, foreign or cannot be written costs a walk over the
organization's Pushes, and is never an error.
"""

import os
import platform
import stat
import tempfile
import time
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson
import pydantic

import sediment_assets
from sediment_assets.facts.json_values import JsonError, JsonObject, decode, encode_canonical
from sediment_assets.publish.durable import PRIVATE_DIRECTORY_MODE

ATTRIBUTION_DIRECTORY: Final = ".attribution"
"""Name of the directory in an export root; hidden, so that no generation is looked for in it."""
KEPT: Final = 8
"""So many files stay, those used last."""
_SUFFIX: Final = ".json"
_TEMPORARY: Final = ".writing-"
_DEAD_SECONDS: Final = 3600
"""A temporary file older than this belongs to a process that was killed."""


@cache
def program() -> str:
    """Name everything installed here that makes an attribution: this program to the byte, Python, its libraries."""
    root = Path(sediment_assets.__file__).parent
    digest = sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root)}\n{sha256(path.read_bytes()).hexdigest()}\n".encode())
    versions = (sediment_assets.__version__, platform.python_version(), orjson.__version__, pydantic.VERSION)
    return " ".join((*versions, digest.hexdigest()))


class AttributionFiles:
    """An ``AttributionMemo`` in the directory ``.attribution`` of an export root, which is created when needed."""

    def __init__(self, export_root: Path) -> None:
        self._directory = export_root / ATTRIBUTION_DIRECTORY

    @property
    def program(self) -> str:
        """See ``AttributionMemo``."""
        return program()

    def recall(self, key: str) -> Any:
        """See ``AttributionMemo``."""
        path = self._path(key)
        try:
            said, _, line = _read_own(path).partition(b"\n")
            if said.decode("ascii") != _digest(line):
                return None
            plain = decode(line)
        except (OSError, ValueError, JsonError):
            return None
        if not isinstance(plain, dict) or plain.get("key") != key:
            return None
        with suppress(OSError):
            os.utime(path, follow_symlinks=False)
        return plain.get("attribution")

    def keep(self, key: str, plain: JsonObject) -> None:
        """See ``AttributionMemo``."""
        with suppress(OSError, JsonError):
            line = encode_canonical({"key": key, "attribution": plain}).encode()
            self._directory.parent.mkdir(parents=True, exist_ok=True)
            self._directory.mkdir(mode=PRIVATE_DIRECTORY_MODE, exist_ok=True)
            _require_own(self._directory.lstat(), stat.S_ISDIR)
            self._write(self._path(key), f"{_digest(line)}\n".encode() + line)
            self._tidy()

    def _path(self, key: str) -> Path:
        return self._directory / f"{key}{_SUFFIX}"

    def _write(self, path: Path, data: bytes) -> None:
        descriptor, name = tempfile.mkstemp(prefix=_TEMPORARY, dir=self._directory)  # mode 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise

    def _tidy(self) -> None:
        """Remove all but the files used last, and what killed processes left."""
        found = []
        for path in self._directory.iterdir():
            with suppress(FileNotFoundError):  # another process tidies, too
                used = path.lstat().st_mtime
                if path.name.startswith(_TEMPORARY) and time.time() - used > _DEAD_SECONDS:
                    path.unlink()
                elif path.suffix == _SUFFIX:
                    found.append((used, path))
        for _, path in sorted(found, reverse=True)[KEPT:]:
            path.unlink(missing_ok=True)


def _digest(line: bytes) -> str:
    return sha256(line).hexdigest()


def _read_own(path: Path) -> bytes:
    """Read a file that nobody else can have written.

    :raises OSError: when it is none, a symbolic link included.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        _require_own(os.fstat(descriptor), stat.S_ISREG)
        return file.read()


def _require_own(found: os.stat_result, is_kind: Any) -> None:
    if not is_kind(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise PermissionError("not written by this user alone")
