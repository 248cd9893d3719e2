"""Git trees: their entries, and the paths in which two of them differ.

This is what a Reference patch is proven against (design.md §7), so it reads tree objects itself and does not rely on
the diff machinery that made the patch.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

from sediment_assets.mirrors.reader import MirrorError

TREE_MODE: Final = 0o040000
LINK_MODE: Final = 0o120000
GITLINK_MODE: Final = 0o160000
FILE_MODES: Final = (0o100644, 0o100755)
"""Regular files; git knows no other permissions."""

_CANONICAL_MODES = frozenset({b"40000", b"100644", b"100755", b"120000", b"160000"})
_ENTRY = {digits: re.compile(rb"([0-7]+) ([^\0]+)\0(.{%d})" % (digits // 2), re.DOTALL) for digits in (40, 64)}

ReadObjects = Callable[[Sequence[str]], Sequence[bytes]]
"""Read the bytes of trees, or of blobs, by id and in order; raises MirrorError when one is missing."""


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


RawEntry = tuple[bytes, bytes, bytes]
"""One entry as a tree spells it: mode text, name, raw id."""


def parse_tree(data: bytes, digits: int) -> list[RawEntry]:
    """Return the entries of a tree; ``digits`` is the length of a hexadecimal id.

    :raises MirrorError: when the bytes are no tree.
    """
    entries: list[RawEntry] = _ENTRY[digits].findall(data)
    if len(b"".join(chain.from_iterable(entries))) + 2 * len(entries) != len(data):  # a space and a NUL each
        raise MirrorError("tree: expected entries of mode, name and id, got other bytes; run git fsck there")
    return entries


def canonical_mode(text: bytes) -> int:
    """Return the mode git takes an entry for: permissions other than the owner's x bit do not exist for it."""
    mode = int(text, 8)
    if mode & 0o170000 == 0o100000:
        return FILE_MODES[bool(mode & 0o100)]
    kind = mode & 0o170000
    return kind if kind in (TREE_MODE, LINK_MODE) else GITLINK_MODE


def tree_changes(read: ReadObjects, old: str, new: str) -> TreeChanges:
    """Compare two trees by id, reading only directories that differ, one level of them at a time."""
    changes = TreeChanges()
    level: list[_Directory] = [(b"", old, new)]
    while level:
        wanted = list(dict.fromkeys(oid for _, *sides in level for oid in sides if oid is not None))
        listed: dict[str | None, set[RawEntry]] = {None: set()}
        for oid, data in zip(wanted, read(wanted), strict=True):
            listed[oid] = _entries(data, len(new), changes)
        below: list[_Directory] = []
        for prefix, old_side, new_side in level:
            below += _compare(prefix, listed[old_side], listed[new_side], changes)
        level = below
    return changes


_Directory = tuple[bytes, str | None, str | None]  # path with its slash, tree id on each side


def _entries(data: bytes, digits: int, changes: TreeChanges) -> set[RawEntry]:
    listed = parse_tree(data, digits)
    names = set(map(itemgetter(1), listed))
    if len(names) != len(listed) or not set(map(itemgetter(0), listed)) <= _CANONICAL_MODES:
        changes.canonical = False
    return set(listed)


def _compare(prefix: bytes, before: set[RawEntry], after: set[RawEntry], changes: TreeChanges) -> Iterator[_Directory]:
    """Record the files that differ in one directory; return the directories to look into."""
    olds = {name: _entry(mode, raw) for mode, name, raw in before - after}
    news = {name: _entry(mode, raw) for mode, name, raw in after - before}
    for name in olds.keys() | news.keys():
        old, new = olds.get(name), news.get(name)
        old_tree, new_tree = _tree_id(old), _tree_id(new)
        if old_tree is not None or new_tree is not None:
            yield prefix + name + b"/", old_tree, new_tree
        change = TreeChange(old if old_tree is None else None, new if new_tree is None else None)
        if change.old != change.new:
            changes.paths[prefix + name] = change


def _entry(mode: bytes, raw: bytes) -> TreeEntry:
    return TreeEntry(canonical_mode(mode), raw.hex())


def _tree_id(entry: TreeEntry | None) -> str | None:
    return entry.oid if entry is not None and entry.mode == TREE_MODE else None
