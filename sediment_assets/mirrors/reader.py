"""What the derivation and the targets ask of a Git mirror, without git (mirrors.md §4–7).

Ports only: the real implementation is ``adapters/git_mirror.py``. A mirror is never fetched, never written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from sediment_assets.errors import SedimentError
from sediment_assets.repositories.keys import RepositoryKey


class MirrorError(SedimentError):
    """A mirror could not answer: a missing object, a failed or silent git, a lock that cannot be had."""


class PatchProofError(MirrorError):
    """A Reference patch does not rebuild the verified commit's tree exactly: withheld (design.md §7)."""


@dataclass(frozen=True, slots=True)
class Note:
    """One entry of ``refs/notes/sediment``; ``body`` is None when unreadable or too large to be a note."""

    annotated: str
    body: bytes | None


class MirrorReader(Protocol):
    """One mirror. Object ids are 40 or 64 lower-case hexadecimal digits; it has no object by another name."""

    def refs(self) -> Mapping[str, str]:
        """Every full ref name and its object id, by name; ``HEAD`` is no ref (§4).

        :raises MirrorError: when the repository cannot be read.
        """
        ...

    def commit_exists(self, sha: str) -> bool:
        """Whether the object is a commit, or an annotated tag of one (§5)."""
        ...

    def first_parent(self, sha: str) -> str | None:
        """First parent, or None for a root commit.

        :raises MirrorError: when the commit is missing.
        """
        ...

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether ``ancestor`` is reachable from ``descendant`` or equal to it.

        :raises MirrorError: when a commit on the way is missing.
        """
        ...

    def committer_time(self, sha: str) -> int:
        """Unix seconds of the committer date; 0 for anything unreadable (§5)."""
        ...

    def push_commits(self, before: str, after: str, forced: bool, limit: int) -> Sequence[str]:
        """Commits a Push brought, oldest first, at most ``limit`` of the newest (derivation.md §9 step 4)."""
        ...

    def prepare(self, shas: Iterable[str]) -> None:
        """Hear which commits will be asked about soon, so that they can be read together. Never fails."""
        ...

    def commit_patches(self, shas: Iterable[str]) -> Iterator[str | MirrorError]:
        """Yield each commit's patch against its first parent, decoded by the rules of §5, for attribution (§6.1).

        An error takes the place of a patch that git cannot make. Patches are made while earlier ones are looked at;
        other questions may come in between.
        """
        ...

    def reference_patch(self, base: str, head: str) -> str:
        """Patch from ``base`` to ``head`` that is proven to rebuild the tree of ``head`` (design.md §7).

        :raises PatchProofError: when it does not.
        :raises MirrorError: when git cannot make it.
        """
        ...

    def notes(self) -> Iterator[Note]:
        """Notes by annotated object id; none when there is no notes ref (§7.2).

        :raises MirrorError: when notes that are there cannot be listed: they would be lost without a count.
        """
        ...


class MirrorStore(Protocol):
    """All mirrors under one base directory."""

    def keys(self, org_id: str) -> list[RepositoryKey]:
        """Repositories of one organization that have a mirror directory, by sort key (§1)."""
        ...

    def open(self, key: RepositoryKey) -> MirrorReader | None:
        """Return the mirror of a repository; None when it is absent."""
        ...

    def revisions(self, org_id: str) -> Mapping[str, Mapping[str, str]]:
        """``mirror_revisions``: key text to the refs of each mirror that opens (§4).

        :raises MirrorError: when the refs of any of them cannot be listed.
        """
        ...

    def fingerprint(self, keys: Iterable[RepositoryKey]) -> str | None:
        """Digest everything that the answers of these mirrors rest on, absent ones included (never what is answered).

        Two equal fingerprints, taken at any time by any process, mean equal answers. None when nobody can vouch for
        that; another one as soon as a git has failed, which may be its own fault.
        """
        ...

    def locked(self, keys: Iterable[RepositoryKey]) -> AbstractContextManager[None]:
        """Hold the locks of these mirrors: a read snapshot (§4).

        :raises MirrorError: when a lock cannot be had, or a nested snapshot is no subset of the outer one.
        """
        ...
