"""One mirror on disk, read through real git (mirrors.md §5–7): the adapter behind ``mirrors/reader.py``.

A mirror answers from three long-lived processes at most; only its first question, ref listings, long Push ranges,
long ancestry walks and patches that are not UTF-8 start a process of their own. Nothing here fetches or
writes. Which mirrors exist is ``git_mirror_store.py``.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha1, sha256
from pathlib import Path
from typing import Self

from sediment_assets.adapters.git_history import commit_range, reaches
from sediment_assets.adapters.git_objects import GitObjects
from sediment_assets.adapters.git_patches import GitPatches, TreePair, is_utf8
from sediment_assets.adapters.git_process import TIMEOUT_SECONDS, Git, GitInterruptedError
from sediment_assets.adapters.patch_proof import PatchProver
from sediment_assets.mirrors.git_text import decode_git_text
from sediment_assets.mirrors.notes import MAX_RAW_NOTE_BYTES
from sediment_assets.mirrors.notes_tree import NOTES_TREE, join_bodies, list_notes
from sediment_assets.mirrors.reader import MirrorError, Note
from sediment_assets.mirrors.trees import tree_changes

_NOTES_AT_ONCE = 256
_MAX_COUNT = 2**31 - 1  # git reads a count into 32 bits: 2**32 + 1 would mean 1 to it


class GitMirror:
    """One mirror. Safe for several threads: each question holds the mirror's own lock."""

    def __init__(
        self,
        directory: Path,
        *,
        timeout: float = TIMEOUT_SECONDS,
        on_question: Callable[["GitMirror"], None] | None = None,
    ) -> None:
        self.directory = directory
        self._git = Git(directory, timeout=timeout)
        self._on_question = on_question
        self._lock = threading.RLock()
        self._digits = 0  # length of this repository's object ids, once git has told it
        self._objects = GitObjects(self._git, _shallow_commits(directory))
        self._patches = GitPatches(self._git)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def failures(self) -> int:
        """How many git processes of this mirror ended otherwise than they should, so far."""
        return self._git.failures

    def close(self, *, wait: bool = True) -> bool:
        """End and reap this mirror's processes; a later question starts them again.

        :returns: false when another thread is asking and ``wait`` is off.
        """
        if not self._lock.acquire(blocking=wait):
            return False
        try:
            self._objects.close()
            self._patches.close()
        finally:
            self._lock.release()
        return True

    @contextmanager
    def _question(self) -> Iterator[None]:
        """Hold the lock around one question.

        :raises MirrorError: when git cannot read the repository at all, whatever is asked.
        """
        with self._lock:
            if not self._digits:
                name = self._git.run("rev-parse", "--show-object-format").stdout.strip()
                self._digits = 64 if name == b"sha256" else 40
            if self._on_question is not None:
                self._on_question(self)
            yield

    @cached_property
    def _empty_tree(self) -> str:
        return (sha256 if self._digits == 64 else sha1)(b"tree 0\0").hexdigest()

    @cached_property
    def _prover(self) -> PatchProver:
        return PatchProver(self._git, self._blobs, self._digits)

    def _blobs(self, oids: Sequence[str]) -> list[bytes]:
        return self._objects.contents(oids, "blob")

    def _trees(self, oids: Sequence[str]) -> list[bytes]:
        return self._objects.contents(oids, "tree")

    def refs(self) -> dict[str, str]:
        """See ``MirrorReader``. Annotated tags give the id of the tag object (mirrors.md §4)."""
        with self._question():
            listed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)").stdout
        found: dict[str, str] = {}
        for line in decode_git_text(listed).split("\n"):
            oid, _, name = line.partition(" ")
            if name:
                found[name] = oid
        return dict(sorted(found.items()))

    def commit_exists(self, sha: str) -> bool:
        """See ``MirrorReader``. A repository that git cannot read is an error all the same."""
        with self._question():
            try:
                self._objects.commit(sha)
            except MirrorError:
                return False
            return True

    def first_parent(self, sha: str) -> str | None:
        """See ``MirrorReader``."""
        with self._question():
            return next(iter(self._objects.commit(sha).parents), None)

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """See ``MirrorReader``."""
        with self._question():
            target, start = self._objects.commit(ancestor), self._objects.commit(descendant)
            found = reaches(self._objects.commit, start, target.sha)
            if found is None:
                found = self._merge_base_says(target.sha, start.sha)
            return found

    def _merge_base_says(self, ancestor: str, descendant: str) -> bool:
        arguments = ("merge-base", "--is-ancestor", "--end-of-options", ancestor, descendant)
        done = self._git.run(*arguments, allowed=(0, 1))
        if done.status and done.complaint.startswith(
            "error: "
        ):  # some releases answer "no" when a commit on the way is missing
            raise self._git.error(arguments, done.complaint)
        return done.status == 0

    def committer_time(self, sha: str) -> int:
        """See ``MirrorReader``. An annotated tag has no committer date of its own: 0."""
        with self._question():
            try:
                commit = self._objects.commit(sha)
            except MirrorError:
                return 0
            return commit.committer_time if commit.sha == sha else 0

    def push_commits(self, before: str, after: str, forced: bool, limit: int) -> list[str]:
        """See ``MirrorReader``: ``[after]`` for a forced or first Push, an empty or an unknown range."""
        if forced or not before.strip("0"):
            return [after]
        with self._question():
            try:
                newest_first = self._range(before, after, min(max(1, limit), _MAX_COUNT))
            except MirrorError:
                return [after]
        return newest_first[::-1] or [after]

    def _range(self, before: str, after: str, limit: int) -> list[str]:
        """List ``before..after`` as ``git rev-list`` does; both are known commits from here on."""
        listed = commit_range(self._objects.commit, before, after, limit)
        if listed is None:
            arguments = ("rev-list", f"--max-count={limit}", "--end-of-options", f"{before}..{after}")
            listed = self._git.run(*arguments).stdout.decode().split()
        return listed

    def prepare(self, shas: Iterable[str]) -> None:
        """See ``MirrorReader``."""
        with self._question(), suppress(MirrorError):
            self._objects.prepare(shas)

    def commit_patches(self, shas: Iterable[str]) -> Iterator[str | MirrorError]:
        """See ``MirrorReader``. A merge is compared with its first parent, a root with the empty tree."""
        with self._question():
            pairs = [self._tree_pair(sha) for sha in shas]
        patches = self._patches.attributions([pair for pair in pairs if not isinstance(pair, MirrorError)])
        for pair in pairs:
            if isinstance(pair, MirrorError):
                yield pair
                continue
            with self._question():
                patch = next(patches)
            yield patch if isinstance(patch, MirrorError) else decode_git_text(patch)

    def commit_patch(self, sha: str) -> str:
        """Return one commit's patch as ``commit_patches`` does.

        :raises MirrorError: when git cannot make it.
        """
        patch = next(self.commit_patches([sha]))
        if isinstance(patch, MirrorError):
            raise patch
        return patch

    def _tree_pair(self, sha: str) -> TreePair | MirrorError:
        try:
            commit = self._objects.commit(sha)
            old = self._objects.commit(commit.parents[0]).tree if commit.parents else self._empty_tree
        except MirrorError as error:
            return error
        return old, commit.tree

    def reference_patch(self, base: str, head: str) -> str:
        """See ``MirrorReader``: exact bytes first; once more in ASCII with binary payloads if they are not UTF-8."""
        with self._question():
            old, new = self._objects.commit(base).tree, self._objects.commit(head).tree
            if old == new:
                return ""
            changes = tree_changes(self._trees, old, new)
            patch = self._patches.reference(old, new)
            if not is_utf8(patch):
                patch = self._patches.reference_ascii(old, new, changes, self._blobs)
            if not is_utf8(patch):
                raise MirrorError(f"mirror {self.directory}: patch {base}..{head}: expected UTF-8, got other bytes")
            self._prover.prove(old, new, changes, patch)
            return patch.decode()

    def notes(self) -> Iterator[Note]:
        """See ``MirrorReader``. An absent ref is no notes; notes that are there and cannot be listed are an error."""
        with self._question():
            root = self._objects.read(NOTES_TREE, "tree")
            listed = list_notes(self._trees, (root and root.data) or b"", self._digits)
        entries = list(listed.items())
        for start in range(0, len(entries), _NOTES_AT_ONCE):
            with self._question():
                notes = self._read_notes(entries[start : start + _NOTES_AT_ONCE])
            yield from notes

    def _read_notes(self, entries: list[tuple[str, list[str]]]) -> list[Note]:
        oids = [oid for _, blobs in entries for oid in blobs]
        try:
            bodies = self._bodies(oids)
        except GitInterruptedError:
            raise
        except MirrorError:  # git stops at a broken blob: find out which, so that the others are still read
            bodies = {}
            for oid in oids:
                try:
                    bodies.update(self._bodies([oid]))
                except GitInterruptedError:  # no blob's fault: going on would lose notes that are there
                    raise
                except MirrorError:
                    continue
        notes = []
        for annotated, blobs in entries:
            parts = [body for oid in blobs if (body := bodies.get(oid)) is not None]
            notes.append(Note(annotated, join_bodies(parts) if len(parts) == len(blobs) else None))
        return notes

    def _bodies(self, oids: list[str]) -> dict[str, bytes | None]:
        read = self._objects.read_many(oids, ["blob"], MAX_RAW_NOTE_BYTES)
        return {oid: found.data for oid, found in zip(oids, read, strict=True) if found is not None}


def _shallow_commits(directory: Path) -> frozenset[str]:
    """Commits whose parents a shallow repository leaves out; git takes them for roots."""
    try:
        return frozenset((directory / "shallow").read_text().split())
    except (OSError, UnicodeDecodeError):
        return frozenset()
