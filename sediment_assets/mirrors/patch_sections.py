"""Sections of a commit's patch, for attribution: strict grammar, counters, code files (derivation.md §9.1-2).

Input is text after ``git_text.decode_git_text``. A section is valid as a whole, or dropped with one count.
Not here: how a patch is made (``adapters/git_mirror.py``) or proven (``patch_rebuild.py``).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sediment_assets.mirrors.diff_paths import unquote_path
from sediment_assets.reasons import Reason


class SectionSkip(Reason):
    """Why a diff section is dropped. Unit: sections of any file type (derivation.md §9.1, §14)."""

    UNSUPPORTED = (
        "unsupported_diff_section",
        "diff sections",
        "A binary file, a submodule, or a path that is not UTF-8.",
    )
    MALFORMED = "malformed_diff_section", "diff sections", "A section that breaks the diff grammar."


@dataclass(frozen=True, slots=True)
class Section:
    """One file of a patch: its new path (the old one for a deletion) and its added lines joined by LF."""

    path: str
    added_text: str


def parse_sections(patch: str) -> tuple[list[Section], Counter[str]]:
    """Return the valid sections in order, and the dropped ones counted by ``SectionSkip``."""
    sections: list[Section] = []
    counts: Counter[str] = Counter()
    for text in _split(patch):
        try:
            sections.append(_Parser(text).parse())
        except _DroppedError as dropped:
            counts[dropped.reason] += 1
    return sections, counts


def _split(patch: str) -> Iterator[str]:
    """Cut a patch before every line that starts with ``diff ``; lines end at LF only."""
    preamble, *sections = f"\n{patch.removesuffix(_LF)}".split("\ndiff ")
    if preamble and not preamble.isspace():
        yield preamble[1:]
    for section in sections:
        yield f"diff {section}"


class _DroppedError(Exception):
    def __init__(self, reason: SectionSkip) -> None:
        super().__init__(reason)
        self.reason = reason


def _malformed() -> _DroppedError:
    return _DroppedError(SectionSkip.MALFORMED)


def _unsupported() -> _DroppedError:
    return _DroppedError(SectionSkip.UNSUPPORTED)


_LF = "\n"
_GIT = "diff --git "
_UNSUPPORTED_STARTS = ("Binary files ", "GIT binary patch", "@@@", "copy from ", "copy to ")
_GITLINK = "160000"
_NO_FILE = "/dev/null"
_NO_NEWLINE = r"\ No newline at end of file"

_INDEX = re.compile(r"index [0-9a-f]+\.\.[0-9a-f]+(?: ([0-7]{6}))?")
_MODE = re.compile(r"(?:new file|deleted file|old|new) mode ([0-7]{6})")
_SIMILARITY = re.compile(r"(?:dis)?similarity index (?:100|[0-9]{1,2})%")
_HUNK = re.compile(r"@@ -([0-9]{1,18})(?:,([0-9]{1,18}))? \+([0-9]{1,18})(?:,([0-9]{1,18}))? @@(?: .*)?")


@dataclass(slots=True)
class _Parser:
    """One section. ``old`` and ``new`` are the names known from file headers or renames, without prefix."""

    text: str
    old: str | None = None
    new: str | None = None
    deleted: bool = False
    has_files: bool = False
    has_mode: bool = False
    renames: dict[str, str] = field(default_factory=dict)

    def parse(self) -> Section:
        if not self.text.startswith(_GIT):
            raise _unsupported()
        head, begin, hunks = self.text.partition("\n@@")
        first, *header = head.split("\n")
        self._refuse_unsupported([*header, (begin + hunks)[1:].partition("\n")[0]])
        self._header(header)
        self._check_shape(has_hunks=bool(begin))
        path = self._path(first.removeprefix(_GIT))
        return Section(path, _added_text((begin + hunks)[1:]))

    def _refuse_unsupported(self, header: Sequence[str]) -> None:
        for line in header:
            if line.startswith(_UNSUPPORTED_STARTS):
                raise _unsupported()
            match = _INDEX.fullmatch(line) or _MODE.fullmatch(line)
            if match is not None and match[1] == _GITLINK:
                raise _unsupported()

    def _header(self, header: Sequence[str]) -> None:
        """Rule 1: only known lines; file headers are the last two."""
        for number, line in enumerate(header):
            if line.startswith("--- "):
                if len(header) != number + 2 or not header[number + 1].startswith("+++ "):
                    raise _malformed()
                self._file_headers(line, header[number + 1])
                return
            if line.startswith(("rename from ", "rename to ")):
                _, side, name = line.split(" ", 2)
                if side in self.renames:
                    raise _malformed()
                self.renames[side] = _path_of(name)
            elif _MODE.fullmatch(line):
                self.has_mode = True
            elif not _INDEX.fullmatch(line) and not _SIMILARITY.fullmatch(line):
                raise _malformed()

    def _file_headers(self, old_line: str, new_line: str) -> None:
        self.has_files = True
        self.old = _side(old_line, "a/")
        self.new = _side(new_line, "b/")
        self.deleted = self.new is None

    def _check_shape(self, *, has_hunks: bool) -> None:
        """Rule 2: hunks exactly with file headers; renames in pairs and agreeing with them."""
        if has_hunks != self.has_files or len(self.renames) == 1:
            raise _malformed()
        if self.has_files and self.old is None and self.new is None:
            raise _malformed()
        if not (self.has_files or self.has_mode or self.renames):
            raise _malformed()
        if self.renames:
            source, target = self.renames["from"], self.renames["to"]
            if self.old not in (None, source) or self.new not in (None, target):
                raise _malformed()
            self.old, self.new = source, target

    def _path(self, names: str) -> str:
        """Rule 4: the first line splits at exactly one space into the two known names."""
        old = self.old if self.old is not None else self.new
        new = self.new if self.new is not None else self.old
        found = [
            right
            for left, right in _name_pairs(names)
            if (left == old and right == new if old is not None else left == right)
        ]
        if len(found) != 1:
            raise _malformed()
        return old if self.deleted and old is not None else found[0]


def _name_pairs(names: str) -> Iterator[tuple[str, str]]:
    """Every way to split the first line into an ``a/`` and a ``b/`` path, prefixes removed."""
    space = names.find(" ")
    while space != -1:
        left, right = _unprefixed(names[:space], "a/"), _unprefixed(names[space + 1 :], "b/")
        if left is not None and right is not None:
            yield left, right
        space = names.find(" ", space + 1)


def _unprefixed(token: str, prefix: str) -> str | None:
    # The cheap test first: most splits of a name with spaces fail on the prefix.
    if not token.removeprefix('"').startswith((prefix, "\\")):
        return None
    path = _decoded_path(token)
    if path is None or not path.startswith(prefix) or path == prefix:
        return None
    return path.removeprefix(prefix)


def _side(line: str, prefix: str) -> str | None:
    """Read a ``---`` or ``+++`` line; None for ``/dev/null``. Git ends a name with a space in it by a TAB."""
    token = line[4:].removesuffix("\t")
    if token == _NO_FILE:
        return None
    path = _unprefixed(token, prefix)
    if path is None:
        raise _malformed()
    return path


def _path_of(token: str) -> str:
    path = _decoded_path(token)
    if path is None:
        raise _malformed()
    return path


def _decoded_path(token: str) -> str | None:
    path = unquote_path(token.encode("utf-8", "surrogatepass"))
    if path is None:
        return None
    try:
        return path.decode()
    except UnicodeDecodeError:
        raise _unsupported() from None


def _added_text(hunks: str) -> str:
    """Rules 5 and 6: read the hunks, return the text of their ``+`` lines."""
    added = _added_at_once(hunks)
    return "\n".join(_added_lines(hunks.split("\n") if hunks else []) if added is None else added)


_ADDED = re.compile(r"^\+(.*)", re.MULTILINE)


def _added_at_once(hunks: str) -> list[str] | None:
    """Read hunks without looking at each line; None when that cannot prove them well-formed."""
    added: list[str] = []
    order = _HunkOrder()
    beginning, *rest = f"\n{hunks}".split("\n@@ ")
    if beginning.strip("\n"):
        return None
    for hunk in rest:
        header, _, body = hunk.partition("\n")
        old_count, new_count = order.next_counts(f"@@ {header}")
        lines = f"\n{body}" if body else ""
        plus, minus, same = lines.count("\n+"), lines.count("\n-"), lines.count("\n ")
        # Every line is of one of the three kinds, and both counts come out: in whatever order, they are used up
        # exactly at the end. A marker of a missing line end makes a fourth kind.
        if plus + minus + same != lines.count("\n") or minus + same != old_count or plus + same != new_count:
            return None
        added += _ADDED.findall(body)
    return added


def _added_lines(lines: Sequence[str]) -> list[str]:
    added: list[str] = []
    order = _HunkOrder()
    position = 0
    while position < len(lines):
        old_count, new_count = order.next_counts(lines[position])
        position = _hunk_body(lines, position + 1, old_count, new_count, added)
    return added


class _HunkOrder:
    """Hunks come in order and do not overlap; the distances between them are alike on both sides."""

    def __init__(self) -> None:
        self._old_end = self._new_end = 1

    def next_counts(self, header: str) -> tuple[int, int]:
        """Read the next hunk's header line; return how many lines it has on each side."""
        old_begin, old_count, new_begin, new_count = _hunk_header(header)
        if old_begin < self._old_end or old_begin - self._old_end != new_begin - self._new_end:
            raise _malformed()
        self._old_end, self._new_end = old_begin + old_count, new_begin + new_count
        return old_count, new_count


def _hunk_header(line: str) -> tuple[int, int, int, int]:
    match = _HUNK.fullmatch(line)
    if match is None:
        raise _malformed()
    old_start, old_count, new_start, new_count = (1 if group is None else int(group) for group in match.groups())
    if (old_start == 0 and old_count) or (new_start == 0 and new_count):
        raise _malformed()
    return old_start + (not old_count), old_count, new_start + (not new_count), new_count


def _hunk_body(lines: Sequence[str], position: int, old: int, new: int, added: list[str]) -> int:
    """Read body lines until both counts are used up; return the position after them and their markers."""
    after_line = False
    while position < len(lines):
        line = lines[position]
        if line == _NO_NEWLINE and after_line:
            after_line = False
        elif old == 0 and new == 0:
            break
        else:
            kind = line[:1]
            if kind == "+":
                added.append(line[1:])
            if kind not in ("+", "-", " "):
                raise _malformed()
            old -= kind != "+"
            new -= kind != "-"
            if old < 0 or new < 0:
                raise _malformed()
            after_line = True
        position += 1
    if old or new:
        raise _malformed()
    return position


_LOCK_FILES = ("package-lock.json", "yarn.lock", "poetry.lock", "uv.lock", ".min.js", ".min.css")
_CODE_SUFFIXES = (
    *(".py", ".ts", ".js", ".tsx", ".jsx", ".go", ".rs", ".java", ".kt", ".scala", ".rb", ".php", ".cs"),
    *(".cpp", ".c", ".h", ".tf", ".hcl", ".sql", ".sh", ".bash"),
)


def is_code_file(path: str) -> bool:
    """Whether a file is scored: a code suffix, case-sensitive, and nowhere a generated name (§9.2)."""
    return path.endswith(_CODE_SUFFIXES) and not any(name in path for name in _LOCK_FILES)
