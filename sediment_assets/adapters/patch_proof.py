"""The proof of a Reference patch: ``git apply --cached`` on the base tree gives the verified tree (design.md §7).

Most patches are proven without a process (``mirrors/patch_rebuild.py``, which property tests hold against git); git
itself judges the rest. It then applies the patch in a scratch repository that holds the old contents of the changed
files and nothing else: it would otherwise take a binary file's new content from the mirror and never look at the
payload. Nothing is written into the mirror. Files that do not change are left out: both trees have them alike.
"""

import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from sediment_assets.adapters.git_process import Git, temporary_space
from sediment_assets.mirrors.patch_rebuild import certainly_rebuilds
from sediment_assets.mirrors.reader import PatchProofError
from sediment_assets.mirrors.trees import GITLINK_MODE, ReadObjects, TreeChanges, TreeEntry

Entries = dict[bytes, TreeEntry]

_ROOM_BYTES = 2**20
"""What must fit beside a scratch repository in which git failed."""


class PatchProver:
    """Prover for the patches of one mirror; ``digits`` is the length of its object ids, 40 or 64."""

    def __init__(self, git: Git, read_blobs: ReadObjects, digits: int) -> None:
        self._git = git
        self._read_blobs = read_blobs
        self._digits = digits

    def prove(self, base_tree: str, head_tree: str, changes: TreeChanges, patch: bytes) -> None:
        """Return if ``patch`` turns the base tree into the head tree; ``changes`` is their difference.

        :raises PatchProofError: when it does not.
        :raises MirrorError: when an old content is missing.
        :raises GitUnavailableError: when git cannot be started, or has no room for its scratch repository.
        """
        try:
            if not certainly_rebuilds(patch, changes, self._read_blobs, self._digits):
                with tempfile.TemporaryDirectory(prefix="sediment-proof-") as name:
                    self._prove_paths(Path(name), changes, patch)
            if not changes.canonical:
                with tempfile.TemporaryDirectory(prefix="sediment-proof-") as name:
                    self._prove_trees(Path(name), base_tree, head_tree, patch)
        except PatchProofError as failed:
            raise PatchProofError(
                f"mirror {self._git.directory}: patch from tree {base_tree} to {head_tree}: expected exactly the "
                f"second, got {failed}; the task is left out"
            ) from None
        except OSError as error:
            raise temporary_space(error) from None

    def _prove_paths(self, directory: Path, changes: TreeChanges, patch: bytes) -> None:
        """Apply to the old side of the changed paths alone; the result must be their new side."""
        scratch = _Scratch(directory, self._git.timeout, self._digits)
        old, new = side(changes, 0), side(changes, 1)
        for oid in {entry.oid for entry in old.values() if entry.mode != GITLINK_MODE}:
            scratch.store_blob(oid, *self._read_blobs([oid]))
        scratch.load(old)
        scratch.apply(patch)
        if scratch.entries() != new:
            raise PatchProofError("other files")

    def _prove_trees(self, directory: Path, base_tree: str, head_tree: str, patch: bytes) -> None:
        """Apply to the whole base tree; needed only where equal entries do not mean equal trees."""
        scratch = _Scratch(directory, self._git.timeout, self._digits, self._git.directory / "objects")
        scratch.run("read-tree", base_tree)
        scratch.apply(patch)
        if scratch.run("write-tree").decode().strip() != head_tree:
            raise PatchProofError("a tree with other file modes")


def side(changes: TreeChanges, index: int) -> Entries:
    """Return the old (0) or new (1) side of the changed paths."""
    return {path: entry for path, change in changes.paths.items() if (entry := change[index]) is not None}


class _Scratch:
    """A repository of its own in a temporary directory: an index and objects."""

    def __init__(self, directory: Path, timeout: float, digits: int, alternate: Path | None = None) -> None:
        self._git = Git(directory, timeout=timeout)
        self._objects = directory / "objects"
        (self._objects / "info").mkdir(parents=True)
        (directory / "refs").mkdir()
        (directory / "HEAD").write_text("ref: refs/heads/none\n")
        (directory / "config").write_text(
            "[core]\nrepositoryformatversion = 1\nbare = true\n[extensions]\n"
            f"objectFormat = {'sha1' if digits == 40 else 'sha256'}\n"
        )
        if alternate is not None:
            (self._objects / "info" / "alternates").write_text(f"{alternate.absolute()}\n")

    def store_blob(self, oid: str, data: bytes) -> None:
        """Store a content under its id as a loose object."""
        path = self._objects / oid[:2] / oid[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(b"blob %d\0" % len(data) + data, 1))

    def run(self, *arguments: str, stdin: bytes | None = None) -> bytes:
        """Run git here; what it refuses (a patch, a path, a tree) is not proven."""
        done = self._git.run(*arguments, stdin=stdin, allowed=(0, 1, 128))
        if done.status:
            self._require_room()
            raise PatchProofError(done.complaint)
        return done.stdout

    def _require_room(self) -> None:
        """Raise OSError when the disk is full: git says that in many ways, and it is no fault of the patch."""
        place = self._objects / "room"
        place.mkdir(exist_ok=True)
        (place / "probe").write_bytes(bytes(_ROOM_BYTES))

    def load(self, entries: Mapping[bytes, TreeEntry]) -> None:
        """Make these files the index."""
        lines = (b"%06o %s\t%s\0" % (entry.mode, entry.oid.encode(), path) for path, entry in entries.items())
        self.run("update-index", "-z", "--index-info", stdin=b"".join(lines))

    def apply(self, patch: bytes) -> None:
        """Apply a patch to the index. No patch is nothing to do, though git calls it an error."""
        if patch:
            self.run("apply", "--cached", "--whitespace=nowarn", "-", stdin=patch)

    def entries(self) -> Entries:
        """Return the index."""
        found: Entries = {}
        for line in self.run("ls-files", "-s", "-z").split(b"\0")[:-1]:
            head, _, path = line.partition(b"\t")
            mode, oid, _ = head.split(b" ")
            found[path] = TreeEntry(int(mode, 8), oid.decode())
        return found
