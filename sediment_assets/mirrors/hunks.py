"""Applying the hunks of one file, byte for byte and at the stated lines only.

For the patch proof (``patch_rebuild.py``). Stricter than ``git apply`` on purpose: no offsets, no fuzz, and every
position must agree on both sides. Everything here refuses by ValueError. Lines end at LF only; all else is content.
"""

import re
from dataclasses import dataclass, field

_HUNK = re.compile(rb"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(?: .*)?", re.DOTALL)
_NO_NEWLINE = rb"\ No newline at end of file"


@dataclass(slots=True)
class _Hunk:
    """One hunk's two sides; an *open* side ends in a line without LF."""

    old_start: int
    new_start: int
    old: list[bytes] = field(default_factory=list)
    new: list[bytes] = field(default_factory=list)
    old_open: bool = False
    new_open: bool = False
    ends_in_context: bool = False


def apply_hunks(content: bytes, lines: list[bytes], start: int) -> tuple[bytes, int]:
    """Apply the hunks that begin at ``lines[start]``; return the new content and the position behind them.

    A line that belongs to no hunk must follow them.
    """
    old = content.split(b"\n")
    # What follows the last LF: an open last line, or nothing.
    if old[-1] == b"":
        old.pop()
        is_open = False
    else:
        is_open = True
    new: list[bytes] = []
    new_open = False
    done, at = 0, start
    while at < len(lines) and lines[at].startswith(b"@@ "):
        hunk, at = _read_hunk(lines, at)
        end = hunk.old_start + len(hunk.old)
        if new_open or hunk.old_start < done or old[hunk.old_start : end] != hunk.old:
            raise ValueError("expected the old lines at their place")
        # Only the file's last line is open, and a hunk without context at its end must reach the file's end.
        if hunk.old_open != (is_open and end == len(old) and bool(hunk.old)):
            raise ValueError("expected the same end of file")
        if not hunk.ends_in_context and end != len(old):
            raise ValueError("expected context, or the end of the file")
        new += old[done : hunk.old_start]
        if hunk.new_start != len(new):
            raise ValueError("expected the new lines at their place")
        new += hunk.new
        new_open = hunk.new_open
        done = end
    rest = old[done:]
    if rest and new_open:
        raise ValueError("expected the open line at the end")
    new += rest
    ends_open = new_open or (is_open and bool(rest))
    return b"\n".join(new) + (b"" if ends_open or not new else b"\n"), at


def _read_hunk(lines: list[bytes], at: int) -> tuple[_Hunk, int]:
    match = _HUNK.fullmatch(lines[at])
    if match is None:
        raise ValueError("expected a hunk header")
    old_start, old_left, new_start, new_left = (1 if group is None else int(group) for group in match.groups())
    if not (old_left or new_left) or (old_left and not old_start) or (new_left and not new_start):
        raise ValueError("expected lines that exist")
    hunk = _Hunk(old_start - (old_left > 0), new_start - (new_left > 0))
    at += 1
    while old_left or new_left:
        kind, text = lines[at][:1], lines[at][1:]
        if kind not in (b" ", b"-", b"+"):
            raise ValueError("expected a line of the hunk")
        at += 1
        is_open = lines[at] == _NO_NEWLINE
        at += is_open
        if kind != b"+":
            _add(hunk.old, text, hunk.old_open)
            hunk.old_open = is_open
            old_left -= 1
        if kind != b"-":
            _add(hunk.new, text, hunk.new_open)
            hunk.new_open = is_open
            new_left -= 1
        if old_left < 0 or new_left < 0 or (is_open and not text):
            raise ValueError("expected as many lines as the header says")
        hunk.ends_in_context = kind == b" "
    return hunk, at


def _add(side: list[bytes], text: bytes, is_open: bool) -> None:
    if is_open:
        raise ValueError("expected no line after an open one")
    side.append(text)
