"""An in-memory MirrorStore: commits as a graph, patches as given texts. For tests that need mirrors but no git."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from sediment_assets.mirrors.reader import MirrorError, MirrorReader, Note
from sediment_assets.repositories.keys import RepositoryKey, key_text


@dataclass(frozen=True)
class MemoryCommit:
    """One commit. ``time`` is its committer date in Unix seconds, ``patch`` its patch against the first parent."""

    sha: str
    parents: tuple[str, ...] = ()
    time: int = 0
    patch: str = ""


@dataclass
class MemoryMirror:
    """A MirrorReader over a commit graph. ``failing`` names methods that git cannot answer; every call is recorded."""

    commits: Iterable[MemoryCommit] = ()
    named_refs: Mapping[str, str] = field(default_factory=dict)
    listed_notes: Sequence[Note] = ()
    range_patches: Mapping[tuple[str, str], str] = field(default_factory=dict)
    failing: Collection[str] = ()
    calls: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._graph = {commit.sha: commit for commit in self.commits}

    def refs(self) -> Mapping[str, str]:
        self._called("refs")
        return dict(sorted(self.named_refs.items()))

    def commit_exists(self, sha: str) -> bool:
        self.calls.append(("commit_exists", sha))
        return sha in self._graph

    def first_parent(self, sha: str) -> str | None:
        self._called("first_parent", sha)
        parents = self._commit(sha).parents
        return parents[0] if parents else None

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        self._called("is_ancestor", ancestor, descendant)
        self._commit(ancestor)
        return ancestor in self._history(descendant)

    def committer_time(self, sha: str) -> int:
        return self._graph[sha].time if sha in self._graph else 0

    def push_commits(self, before: str, after: str, forced: bool, limit: int) -> Sequence[str]:
        if forced or before not in self._graph or after not in self._graph:
            return [after]
        brought = self._history(after) - self._history(before)
        newest = sorted(brought, key=self.committer_time, reverse=True)[:limit]
        return list(reversed(newest)) or [after]

    def prepare(self, shas: Iterable[str]) -> None:
        self.calls.append(("prepare", *shas))

    def commit_patches(self, shas: Iterable[str]) -> Iterator[str | MirrorError]:
        for sha in shas:
            try:
                self._called("commit_patch", sha)
                patch = self._commit(sha).patch
            except MirrorError as error:
                yield error
            else:
                yield patch

    def reference_patch(self, base: str, head: str) -> str:
        self._called("reference_patch", base, head)
        self._commit(base), self._commit(head)
        return self.range_patches.get((base, head), f"diff --git a/{base[:7]} b/{head[:7]}\n")

    def notes(self) -> Iterator[Note]:
        return iter(sorted(self.listed_notes, key=lambda note: note.annotated))

    def _called(self, *call: str) -> None:
        self.calls.append(call)
        if call[0] in self.failing:
            raise MirrorError(f"{call[0]}: git could not answer")

    def _commit(self, sha: str) -> MemoryCommit:
        if sha not in self._graph:
            raise MirrorError(f"expected commit {sha}, got a missing object")
        return self._graph[sha]

    def _history(self, sha: str) -> set[str]:
        seen: set[str] = set()
        queue = [sha]
        while queue:
            current = queue.pop()
            if current not in seen:
                seen.add(current)
                queue.extend(self._commit(current).parents)
        return seen


class MemoryMirrors:
    """A MirrorStore over a dict of mirrors; ``opened`` lists the keys asked for."""

    def __init__(self, mirrors: Mapping[RepositoryKey, MirrorReader] | None = None) -> None:
        self._mirrors = dict(mirrors or {})
        self.opened: list[RepositoryKey] = []

    def keys(self, org_id: str) -> list[RepositoryKey]:
        return sorted((key for key in self._mirrors if key.org_id == org_id), key=lambda key: key.sort_key)

    def open(self, key: RepositoryKey) -> MirrorReader | None:
        self.opened.append(key)
        return self._mirrors.get(key)

    def revisions(self, org_id: str) -> Mapping[str, Mapping[str, str]]:
        return {key_text(key): self._mirrors[key].refs() for key in self.keys(org_id)}

    def fingerprint(self, keys: Iterable[RepositoryKey]) -> str | None:
        present = [(key, self._mirrors[key]) for key in sorted(keys, key=lambda k: k.sort_key) if key in self._mirrors]
        said = [(key, vars(mirror) | {"calls": None}) for key, mirror in present]
        failures = sum(1 for _, mirror in present if isinstance(mirror, MemoryMirror) and mirror.failing)
        return f"{said!r} {failures}"

    def locked(self, keys: Iterable[RepositoryKey]) -> AbstractContextManager[None]:
        return nullcontext()
