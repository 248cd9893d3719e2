"""Whether a mirror still is what it was: a cheap proof, without reading an object (``MirrorStore.fingerprint``).

What a mirror answers rests on its objects, on the few files of it that git obeys, and on its refs. Objects never
change, so the names of packs and loose objects say which there are; size and times tell a damaged file from a repaired
one. Whatever git would look for elsewhere, and we do not follow, gives no proof at all.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

OBEYED: Final = ("HEAD", "config", "config.worktree", "shallow", "info/attributes", "info/grafts")
"""Files of a bare repository that can change what git answers about ids. Replacements are refs."""
_ALTERNATES: Final = "info/alternates"
_MOST_ALTERNATES: Final = 16

State = list[object]


class UnprovenError(Exception):
    """Nobody can say cheaply whether this mirror is what it was."""


def mirror_state(directory: Path) -> State:
    """Return, as JSON values, what decides the answers of a mirror besides its refs.

    :raises UnprovenError: when that is not to be seen from its own directory and its alternates.
    """
    try:
        if os.path.lexists(directory / "commondir"):
            raise UnprovenError("a worktree: its objects are elsewhere")
        obeyed = {name: _content(directory / name) for name in OBEYED}
        if "include" in (obeyed["config"] or "").lower() + (obeyed["config.worktree"] or "").lower():
            raise UnprovenError("settings are included from elsewhere")
        return [obeyed, *([str(path), list(_files(path))] for path in _object_directories(directory / "objects"))]
    except OSError as error:
        raise UnprovenError(str(error)) from None


def _content(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("latin-1")
    except FileNotFoundError:
        return None


def _object_directories(objects: Path) -> Iterator[Path]:
    """Yield a repository's object directory and all that it borrows from, each once."""
    waiting, known = [objects], set()
    while waiting:
        path = waiting.pop(0)
        if path.resolve() in known:
            continue
        known.add(path.resolve())
        if len(known) > _MOST_ALTERNATES:
            raise UnprovenError("too many alternates")
        yield path
        for line in (_content(path / _ALTERNATES) or "").encode("latin-1").split(b"\n"):
            if line.startswith(b'"'):
                raise UnprovenError("a quoted alternate")
            if line and not line.startswith(b"#"):
                waiting.append(path / os.fsdecode(line))


def _files(directory: Path, prefix: str = "") -> Iterator[list[object]]:
    """Yield name, size and times of every file below a directory, by name.

    The time of the last change of any kind, which nobody can set, is among them.
    """
    with os.scandir(directory) as listed:
        entries = sorted(listed, key=lambda entry: entry.name)
    for entry in entries:
        name = prefix + os.fsencode(entry.name).decode("latin-1")
        if entry.is_dir():
            yield from _files(Path(entry.path), f"{name}/")
        else:
            found = Path(entry.path).stat()
            yield [name, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
