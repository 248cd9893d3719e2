"""The tree of ``refs/notes/sediment``: which blob annotates which object, as ``git notes list`` has it (§7.2).

A notes tree names each annotated object by its hexadecimal id, cut into directories of two digits at will (fanout).
Other entries are not notes. Two entries for one object are one note: git joins their texts.
"""

import re
from collections.abc import Sequence

from sediment_assets.mirrors.trees import FILE_MODES, TREE_MODE, ReadObjects, canonical_mode, parse_tree

NOTES_REF = "refs/notes/sediment"
"""The ref that holds the attribution notes."""
NOTES_TREE = f"{NOTES_REF}^{{tree}}"
"""The tree of the notes ref, by a name git resolves."""

_HEX_PAIRS = re.compile(rb"(?:[0-9a-fA-F]{2})+")


def list_notes(read: ReadObjects, root: bytes, digits: int) -> dict[str, list[str]]:
    """Return blob ids by annotated object id, ascending; ``digits`` is the length of an id.

    :raises MirrorError: when a directory of the tree is missing.
    """
    found: dict[str, list[str]] = {}
    level = [("", root)]
    while level:
        below: list[tuple[str, str]] = []
        for prefix, data in level:
            for mode_text, name, raw in parse_tree(data, digits):
                if _HEX_PAIRS.fullmatch(name) is None:
                    continue
                mode, annotated = canonical_mode(mode_text), prefix + name.decode().lower()
                if len(annotated) == digits and mode in FILE_MODES:
                    found.setdefault(annotated, []).append(raw.hex())
                elif len(name) == 2 and len(annotated) < digits and mode == TREE_MODE:
                    below.append((annotated, raw.hex()))
        level = list(zip((prefix for prefix, _ in below), read([oid for _, oid in below]), strict=True))
    return dict(sorted(found.items()))


def join_bodies(bodies: Sequence[bytes]) -> bytes:
    """Join the texts of one object's notes as git does: without the first's last LF, a blank line between."""
    joined = bodies[0]
    for body in bodies[1:]:
        joined = joined.removesuffix(b"\n") + b"\n\n" + body if joined and body else joined or body
    return joined
