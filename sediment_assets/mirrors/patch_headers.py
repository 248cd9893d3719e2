"""The headers of one section of a git-made patch: names, modes, ids.

For the patch proof (``patch_rebuild.py``); attribution has its own, contractual grammar (``patch_sections.py``).
Everything here refuses by ValueError.
"""

import re
from collections.abc import Iterator
from typing import Final

from sediment_assets.mirrors.diff_paths import unquote_path
from sediment_assets.mirrors.trees import FILE_MODES, LINK_MODE

_GIT: Final = b"diff --git "
_NO_FILE: Final = b"/dev/null"
_HEADER: Final = re.compile(
    rb"(old mode|new mode|new file mode|deleted file mode|similarity index|rename from|rename to|index) (.*)", re.DOTALL
)
_IDS: Final = re.compile(rb"([0-9a-f]+)\.\.([0-9a-f]+)(?: ([0-7]{6}))?")


class SectionHeaders:
    """What the lines before the content say. ``ids`` are the old and the new blob id, None for an unstated one."""

    def __init__(self, lines: list[bytes], start: int) -> None:
        names = lines[start]
        if not names.startswith(_GIT):
            raise ValueError("expected a section")
        self.end = start + 1
        self._values: dict[bytes, bytes] = {}
        while match := _HEADER.fullmatch(lines[self.end]):
            if match[1] in self._values:
                raise ValueError("expected each header once")
            self._values[match[1]] = match[2]
            self.end += 1
        self.is_new = b"new file mode" in self._values
        self.is_deleted = b"deleted file mode" in self._values
        self.is_rename = b"rename from" in self._values
        if self.is_new + self.is_deleted + self.is_rename > 1:
            raise ValueError("expected a file that is new, deleted or renamed")
        self.ids, self.old_mode, self.new_mode = self._ids_and_modes()
        self.has_hunks = lines[self.end].startswith(b"--- ")
        self.old, self.new = self._names(lines, names[len(_GIT) :])
        self.end += 2 * self.has_hunks

    def _ids_and_modes(self) -> tuple[tuple[str, str] | None, int | None, int | None]:
        old = self._mode(b"old mode", b"deleted file mode")
        new = self._mode(b"new mode", b"new file mode")
        if (b"old mode" in self._values) != (b"new mode" in self._values):
            raise ValueError("expected both modes")
        if b"index" not in self._values:
            return None, old, new
        match = _IDS.fullmatch(self._values[b"index"])
        if match is None or (match[3] is not None and not old is new is None):
            raise ValueError("expected ids, and a mode only once")
        if match[3] is not None:
            old = new = _mode(match[3])
        return (match[1].decode(), match[2].decode()), old, new

    def _mode(self, *names: bytes) -> int | None:
        stated = [_mode(self._values[name]) for name in names if name in self._values]
        if len(stated) > 1:
            raise ValueError("expected one mode of a side")
        return stated[0] if stated else None

    def _names(self, lines: list[bytes], first: bytes) -> tuple[bytes, bytes]:
        """Return the old and the new path; every place that states them must agree."""
        known: set[tuple[bytes, bytes]] = set()
        if self.is_rename:
            known.add((_path(self._values[b"rename from"]), _path(self._values[b"rename to"])))
        if self.has_hunks:
            known.add(self._file_lines(lines[self.end], lines[self.end + 1]))
        if not known:
            known = {pair for pair in _splits(first) if pair[0] == pair[1] and not pair[0].endswith(b" ")}
        if len(known) != 1:
            raise ValueError("expected one pair of names")
        [pair] = known
        if first != b"a/%s b/%s" % pair and pair not in _splits(first):
            raise ValueError("expected the same names everywhere")
        return pair

    def _file_lines(self, old_line: bytes, new_line: bytes) -> tuple[bytes, bytes]:
        if not new_line.startswith(b"+++ "):
            raise ValueError("expected both file lines")
        old, new = _side(old_line, b"a/"), _side(new_line, b"b/")
        if (old is None) != self.is_new or (new is None) != self.is_deleted:
            raise ValueError("expected /dev/null for a file that is not there")
        return (old if old is not None else _stated(new)), (new if new is not None else _stated(old))


def _mode(text: bytes) -> int:
    mode = int(text, 8)
    if len(text) != 6 or mode not in (*FILE_MODES, LINK_MODE):
        raise ValueError("expected the mode of a file or link")
    return mode


def _stated(name: bytes | None) -> bytes:
    if name is None:
        raise ValueError("expected a name on one side")
    return name


def _path(token: bytes) -> bytes:
    return _stated(unquote_path(token))


def _side(line: bytes, prefix: bytes) -> bytes | None:
    token = line[4:].removesuffix(b"\t")
    if token == _NO_FILE:
        return None
    path = _path(token)
    if not path.startswith(prefix) or path == prefix:
        raise ValueError("expected a prefix and a name")
    return path.removeprefix(prefix)


def _splits(first: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Every way to read the first line as two prefixed paths."""
    space = first.find(b" ")
    while space != -1:
        old, new = unquote_path(first[:space]), unquote_path(first[space + 1 :])
        if old is not None and new is not None and old.startswith(b"a/") and new.startswith(b"b/"):
            yield old.removeprefix(b"a/"), new.removeprefix(b"b/")
        space = first.find(b" ", space + 1)
