"""Git trees: their entries, and the paths in which two of them differ.

This is what a Reference patch is proven against (design.md §7), so it reads tree objects itself and does not rely on
the diff machinery that made the patch.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sediment_assets.mirrors.reader import MirrorError

TREE_MODE: Final = 0o040000
LINK_MODE: Final = 0o120000
GITLINK_MODE: Final = 0o160000
FILE_MODES: Final = (0o100644, 0o100755)
"""Regular files; git knows no other permissions."""

_CANONICAL_MODES = frozenset({b"40000", b"100644", b"100755", b"120000", b"160000"})
_ENTRY = {digits: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % (digits // 2), re.DOTALL) for digits in (40, 64)}

ReadTree = Callable[[str], bytes]
"""Read the bytes of a tree object by id; raises MirrorError when it is missing."""


class TreeEntry(NamedTuple):
    """Mode and object id of one path; old spellings of a mode count as the one git checks out."""

    mode: int
    oid: str


class TreeChange(NamedTuple):
    """One path that differs: its entry on each side, None where it does not exist. Never a directory."""

    old: TreeEntry | None
    new: TreeEntry | None


@dataclass(slots=True)
class TreeChanges:
    """All differing paths, and whether every directory on the way is spelled as git itself writes it.

    Where one is not (modes such as 100664 by other tools), equal entries do not yet mean equal trees.
    """

    paths: dict[bytes, TreeChange] = field(default_factory=dict)
    canonical: bool = True


def parse_tree(data: bytes, digits: int) -> list[tuple[bytes, bytes, bytes]]:
    """Return (mode text, name, raw id) of each entry; ``digits`` is the length of a hexadecimal id.

    :raises MirrorError: when the bytes are no tree.
    """
    entries: list[tuple[bytes, bytes, bytes]] = _ENTRY[digits].findall(data)
    if sum(len(mode) + len(name) + 2 for mode, name, _ in entries) + len(entries) * digits // 2 != len(data):
        raise MirrorError("tree: expected entries of mode, name and id, got other bytes; run git fsck there")
    return entries


def canonical_mode(text: bytes) -> int:
    """Return the mode git takes an entry for: permissions other than the owner's x bit do not exist for it."""
    mode = int(text, 8)
    if mode & 0o170000 == 0o100000:
        return FILE_MODES[bool(mode & 0o100)]
    kind = mode & 0o170000
    return kind if kind in (TREE_MODE, LINK_MODE) else GITLINK_MODE


def tree_changes(read: ReadTree, old: str, new: str) -> TreeChanges:
    """Compare two trees by id, reading only directories that differ."""
    changes = TreeChanges()
    pending: list[tuple[bytes, str | None, str | None]] = [(b"", old, new)]
    while pending:
        prefix, *sides = pending.pop()
        before, after = (_entries(read, side, len(new), changes) for side in sides)
        for name in {name for name, _ in before.items() ^ after.items()}:
            change = TreeChange(_entry(before.get(name)), _entry(after.get(name)))
            old_tree, new_tree = map(_tree_id, change)
            if old_tree is not None or new_tree is not None:
                pending.append((prefix + name + b"/", old_tree, new_tree))
                change = TreeChange(change.old if old_tree is None else None, change.new if new_tree is None else None)
            if change.old != change.new:
                changes.paths[prefix + name] = change
    return changes


_Entries = dict[bytes, tuple[bytes, bytes]]


def _entries(read: ReadTree, oid: str | None, digits: int, changes: TreeChanges) -> _Entries:
    """Read one directory as name to (mode text, raw id); None is one that does not exist."""
    if oid is None:
        return {}
    listed = parse_tree(read(oid), digits)
    entries = {name: (mode, raw) for mode, name, raw in listed}
    if len(entries) != len(listed) or not {mode for mode, _, _ in listed} <= _CANONICAL_MODES:
        changes.canonical = False
    return entries


def _entry(raw: tuple[bytes, bytes] | None) -> TreeEntry | None:
    return None if raw is None else TreeEntry(canonical_mode(raw[0]), raw[1].hex())


def _tree_id(entry: TreeEntry | None) -> str | None:
    return entry.oid if entry is not None and entry.mode == TREE_MODE else None
