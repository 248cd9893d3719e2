"""Proving a Reference patch without git: apply it here, hash the results, compare with the verified tree.

The answer is "certain" or "ask git" (``adapters/patch_proof.py``), never "wrong": what this module does not expect
from a patch that git made, and what ``git apply`` may refuse for reasons other than content (odd path names, a file
where a directory was, gitlinks, one path twice), is left to git itself.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sediment_assets.mirrors.binary_patch import read_payload
from sediment_assets.mirrors.hunks import apply_hunks
from sediment_assets.mirrors.patch_headers import SectionHeaders
from sediment_assets.mirrors.trees import GITLINK_MODE, LINK_MODE, ReadObjects, TreeChange, TreeChanges, TreeEntry

MAX_PATCH_BYTES: Final = 64 * 2**20
"""Larger patches are left to git: they would be held several times over."""

# Names that git may refuse in an index: see verify_path in its read-cache, with the NTFS and HFS rules on.
_ODD_PATH: Final = re.compile(
    rb"(?i)(?:^|/)(?:\.{0,2}(?:/|$)|(?:\.git|git~[0-9])[ .]*(?:$|[/:])|\.[^/]*[\x80-\xff])|\\"
)


def certainly_rebuilds(patch: bytes, changes: TreeChanges, read_blobs: ReadObjects, digits: int) -> bool:
    """Whether ``patch`` applied to the old side of ``changes`` certainly gives exactly the new side.

    :raises MirrorError: when an old content is missing.
    """
    if len(patch) > MAX_PATCH_BYTES or not patch.endswith(b"\n") or _odd(changes):
        return False
    old = {change.old.oid for change in changes.paths.values() if change.old is not None}
    contents = dict(zip(old, read_blobs(list(old)), strict=True))
    rebuild = _Rebuild(changes.paths, contents, digits)
    try:
        rebuild.read(patch.split(b"\n")[:-1])
    except (ValueError, IndexError, KeyError):
        return False
    return rebuild.result == {path: change.new for path, change in changes.paths.items()}


def _odd(changes: TreeChanges) -> bool:
    paths = changes.paths.keys()
    return any(map(_ODD_PATH.search, paths)) or any(
        _is_odd_change(path, change) or any(parent in paths for parent in _parents(path))
        for path, change in changes.paths.items()
    )


def _is_odd_change(path: bytes, change: TreeChange) -> bool:
    modes = {entry.mode for entry in change if entry is not None}
    # Links named like git's own files are refused; a file that turns into a link has two sections.
    return GITLINK_MODE in modes or (LINK_MODE in modes and (len(modes) > 1 or b"git" in path.lower()))


def _parents(path: bytes) -> Iterator[bytes]:
    slash = path.rfind(b"/")
    while slash != -1:
        yield path[:slash]
        slash = path.rfind(b"/", 0, slash)


@dataclass(slots=True)
class _Rebuild:
    """The files a patch makes, by path; None for those it removes."""

    changes: dict[bytes, TreeChange]
    contents: dict[str, bytes]
    digits: int
    result: dict[bytes, TreeEntry | None] = field(default_factory=dict)

    def read(self, lines: list[bytes]) -> None:
        """Apply all sections."""
        lines.append(b"end of patch")  # so that "the next line" always exists; it starts no part of a patch
        at = 0
        while at < len(lines) - 1:
            at = self._section(lines, at)

    def _section(self, lines: list[bytes], start: int) -> int:
        section = SectionHeaders(lines, start)
        old = self._old_entry(section)
        content = self.contents[old.oid] if old is not None else b""
        if section.has_hunks:
            content, at = apply_hunks(content, lines, section.end)
        elif lines[section.end] == b"GIT binary patch":
            content, at = _apply_payloads(content, lines, section.end + 1)
        else:
            at = section.end
        self._settle(section, old, content)
        return at

    def _old_entry(self, section: SectionHeaders) -> TreeEntry | None:
        if section.is_new:
            return None
        old = self.changes[section.old].old
        if old is None or section.old_mode not in (None, old.mode):
            raise ValueError("expected the old file")
        return old

    def _settle(self, section: SectionHeaders, old: TreeEntry | None, content: bytes) -> None:
        """Record what the section leaves behind; its ``index`` line must say the same."""
        if section.is_deleted and content:
            raise ValueError("expected nothing to remain")
        absent = "0" * self.digits
        old_oid = absent if old is None else old.oid
        new_oid = absent if section.is_deleted else self._blob_id(content)
        if section.ids != (old_oid, new_oid) and (section.ids is not None or old_oid != new_oid):
            raise ValueError("expected the ids of these contents")
        if section.is_deleted:
            self._record(section.old, None)
            return
        if section.is_rename:
            self._record(section.old, None)
        if (section.is_rename or section.is_new) and self.changes[section.new].old is not None:
            raise ValueError("expected a new name that is free")
        mode = section.new_mode if section.new_mode is not None else old and old.mode
        if mode is None:
            raise ValueError("expected a mode")
        self._record(section.new, TreeEntry(mode, new_oid))

    def _blob_id(self, content: bytes) -> str:
        digest = (hashlib.sha1 if self.digits == 40 else hashlib.sha256)(b"blob %d\0" % len(content))
        digest.update(content)
        return digest.hexdigest()

    def _record(self, path: bytes, entry: TreeEntry | None) -> None:
        if path in self.result:
            raise ValueError("expected each path once")
        self.result[path] = entry


def _apply_payloads(content: bytes, lines: list[bytes], at: int) -> tuple[bytes, int]:
    """Apply a binary patch; its second half must lead back."""
    forth, at = read_payload(lines, at)
    back, at = read_payload(lines, at)
    result = forth.content(content)
    if back.content(result) != content:
        raise ValueError("expected the way back to the old content")
    return result, at
