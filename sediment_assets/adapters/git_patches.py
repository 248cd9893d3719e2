"""Making patches with ``git diff-tree`` (mirrors.md §6, design.md §7): text for attribution, exact bytes for tasks."""

import re
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from sediment_assets.adapters.git_process import Conversation, Git, temporary_space
from sediment_assets.mirrors.diff_paths import quote_path
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.mirrors.trees import GITLINK_MODE, LINK_MODE, ReadObjects, TreeChanges

# Pinned on both: what an ambient configuration could change (mirrors.md §6.2), spelled as git's own defaults.
_DIFF: Final = (
    *("diff-tree", "-p", "-M", "-l1000", "-U3", "--inter-hunk-context=0", "--diff-algorithm=myers"),
    *("--indent-heuristic", "--no-color", "--no-ext-diff", "--no-textconv", "--no-relative"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none", "--submodule=short"),
)
_REFERENCE: Final = (*_DIFF, "--binary", "--full-index")
_SETTINGS: Final = ("-c", "diff.suppressBlankEmpty=false", "-c", "core.bigFileThreshold=512m")
_RAW_PATHS: Final = (*_SETTINGS, "-c", "core.quotePath=false")
_QUOTED_PATHS: Final = (*_SETTINGS, "-c", "core.quotePath=true")

# diff-tree copies input lines that name no object, and flushes: so they frame an answer. No line of a patch starts
# with a dot: file names that hold a line feed are quoted, and every content line has its own first character.
_BEGIN: Final = b".begin\n"
_END: Final = b"\n.end\n"
_PAIRS_AT_ONCE: Final = 24  # with 64 digits each they fit the smallest pipe
_QUESTIONS_PER_PROCESS: Final = 500  # diff-tree keeps every root tree it has read; a new process lets go of them
_SNIFFED: Final = 8000  # git takes a file for binary when a NUL is among its first bytes
_GLOB: Final = re.compile(rb"[*?\[\\]")


TreePair = tuple[str, str]
"""Old and new tree."""


class GitPatches:
    """Patches between trees of one mirror. Arguments are whole tree ids that exist or not, never captured text."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._attribution = _DiffTree(git, *_RAW_PATHS, "-c", "core.abbrev=auto", *_DIFF)
        self._reference = _DiffTree(git, *_RAW_PATHS, *_REFERENCE)

    def attributions(self, pairs: Sequence[TreePair]) -> Iterator[bytes | MirrorError]:
        """Yield patches as attribution reads them: no binary payload, abbreviated ids (mirrors.md §6.1)."""
        return self._attribution.patches(pairs)

    def reference(self, old_tree: str, new_tree: str) -> bytes:
        """Return the exact patch, file names as they are."""
        patch = next(self._reference.patches([(old_tree, new_tree)]))
        if isinstance(patch, MirrorError):
            raise patch
        return patch

    def reference_ascii(self, old_tree: str, new_tree: str, changes: TreeChanges, read_blobs: ReadObjects) -> bytes:
        """Return the exact patch with C-quoted names; files that are not UTF-8 are carried as git binary patches.

        ``changes`` is the difference of the two trees.

        :raises GitUnavailableError: when there is no room for the attributes file.
        """
        settings, attributes = _attributes(changes, read_blobs)
        try:
            with tempfile.TemporaryDirectory(prefix="sediment-attributes-") as directory:
                path = Path(directory, "attributes")
                path.write_bytes(attributes)
                arguments = ("-c", f"core.attributesFile={path}", *settings, *_QUOTED_PATHS, *_REFERENCE)
                return self._git.run(*arguments, old_tree, new_tree, "--").stdout
        except OSError as error:
            raise temporary_space(error) from None

    def close(self) -> None:
        """End the processes; a later patch starts others."""
        self._attribution.close()
        self._reference.close()


class _DiffTree:
    """One ``git diff-tree --stdin`` with fixed options.

    Several pairs are asked for at once, so that git works on the next patch while we read one. It waits when we do not.
    """

    def __init__(self, git: Git, *arguments: str) -> None:
        self._conversation = Conversation(git, *arguments, "--stdin")
        self._questions = 0
        self._is_answering = False

    def patches(self, pairs: Sequence[TreePair]) -> Iterator[bytes | MirrorError]:
        """Yield the patch of each pair, or why there is none. Questions in between cost no more than a new process."""
        waiting = deque(pairs)
        while waiting:
            if self._is_answering or self._questions >= _QUESTIONS_PER_PROCESS:
                self.close()
            try:
                yield from self._answers(waiting)
            except _InterruptedError:
                continue
            except MirrorError as error:
                waiting.popleft()
                yield error

    def _answers(self, waiting: deque[TreePair]) -> Iterator[bytes]:
        """Ask for the first pairs and yield their patches; a pair is taken off when its patch is read."""
        asked = list(islice(waiting, _PAIRS_AT_ONCE))
        self._questions += len(asked)
        with self._conversation.question(b"".join(map(_question, asked))):
            process = self._conversation.process
        for left in range(len(asked), 0, -1):
            if self._conversation.process is not process:
                raise _InterruptedError
            self._is_answering = True
            patch = self._next_patch(waiting[0])
            self._is_answering = left > 1
            waiting.popleft()
            yield patch

    def _next_patch(self, pair: TreePair) -> bytes:
        # The pair itself heads the answer; without it, one of the two is no tree that git can read.
        head = _BEGIN + " ".join(pair).encode()
        try:
            answer = self._conversation.until(_END)
            if not answer.startswith(head):
                raise self._conversation.error(f"no tree {pair[0]} or {pair[1]}")
        except BaseException:
            self.close()
            raise
        return answer[len(head) + 1 :] + b"\n" if len(answer) > len(head) else b""

    def close(self) -> None:
        self._conversation.close()
        self._questions = 0
        self._is_answering = False


class _InterruptedError(Exception):
    """Somebody else asked, or closed, before all answers were read."""


def _question(pair: TreePair) -> bytes:
    return _BEGIN + " ".join(pair).encode() + _END


def _attributes(changes: TreeChanges, read_blobs: ReadObjects) -> tuple[tuple[str, ...], bytes]:
    """Return settings and an attributes file that keep git from showing files that are not UTF-8 as text.

    Attributes do not reach symbolic links. When a link's target is not UTF-8, everything is binary by default
    instead, and the files that are text are named.
    """
    binary, text, links = [], [], False
    for path, change in sorted(changes.paths.items()):
        sides = [entry for entry in change if entry is not None and entry.mode != GITLINK_MODE]
        contents = read_blobs([entry.oid for entry in sides])
        if not all(map(is_utf8, contents)):
            binary.append(path)
            links = links or any(entry.mode == LINK_MODE for entry in sides)
        elif not any(b"\0" in content[:_SNIFFED] for content in contents):
            text.append(path)
    lines = [_pattern(path) + b" -diff\n" for path in binary]
    if not links:
        return (), b"".join(lines)
    lines += [_pattern(path) + b" diff\n" for path in text]
    return ("-c", "diff.default.binary=true"), b"".join(lines)


def _pattern(path: bytes) -> bytes:
    """Return the attributes pattern of exactly one path from the root."""
    return quote_path(b"/" + _GLOB.sub(rb"\\\g<0>", path))


def is_utf8(content: bytes) -> bool:
    """Whether a content is UTF-8 as JSON can carry it: no surrogates, no overlong forms."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True
