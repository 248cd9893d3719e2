"""Objects of one mirror through one ``git cat-file --batch``: commits, trees, blobs (mirrors.md §5).

Commits are parsed here and kept, so that existence, parents, committer times and ancestry cost one read each.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sediment_assets.adapters.git_process import Conversation, Git

_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_COMMIT = re.compile(rb"tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)(?:author .*\n)?(?:committer (.*)\n)?")
_DATE = re.compile(rb"[^<]*<[^>]*>(?:.*>)?\s*([0-9]+)\s+[+-][0-9]+")
_TAG = re.compile(rb"object ([0-9a-f]+)\ntype ([a-z]+)\n")
_BATCH = 60  # ids in one question: with 64 digits each they fit the smallest pipe
_KEPT_COMMITS = 50_000


@dataclass(frozen=True, slots=True)
class GitObject:
    """One object as stored; ``data`` is None when it is larger than asked for, or of another kind."""

    oid: str
    kind: str
    size: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Commit:
    """What the derivation needs of a commit; ``committer_time`` is 0 when the committer line is unreadable."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    committer_time: int


class GitObjects:
    """Reader of one mirror's objects."""

    def __init__(self, git: Git, grafted: frozenset[str] = frozenset()) -> None:
        self._conversation = Conversation(git, "cat-file", "--batch")
        self._grafted = grafted
        self._commits: dict[str, Commit] = {}

    def read(self, name: str, *kinds: str) -> GitObject | None:
        """Return one object, None when it is missing; its data only when it is of one of ``kinds``.

        ``name`` is a whole object id, or an expression of our own: never captured text.
        """
        [found] = self.read_many([name], kinds)
        return found

    def read_many(
        self, names: Sequence[str], kinds: Sequence[str], limit: int | None = None
    ) -> Iterator[GitObject | None]:
        """Return objects in the order asked for, None for each missing one; no data beyond ``limit`` bytes."""
        for start in range(0, len(names), _BATCH):
            part = names[start : start + _BATCH]
            question = "".join(f"{name}\n" for name in part).encode()
            with self._conversation.question(question):
                answers = [self._answer(kinds, limit) for _ in part]
            yield from answers

    def _answer(self, kinds: Sequence[str], limit: int | None) -> GitObject | None:
        header = self._conversation.line().split(b" ")
        if header[-1] in (b"missing", b"ambiguous"):
            return None
        if len(header) != 3 or not header[2].isdigit():
            raise self._conversation.error("an answer without an object")
        oid, kind, size = header[0].decode(), header[1].decode(), int(header[2])
        data = None
        if kind in kinds and (limit is None or size <= limit):
            data = self._conversation.exactly(size)
        else:
            self._conversation.discard(size)
        self._conversation.discard(1)
        return GitObject(oid, kind, size, data)

    def contents(self, oids: Sequence[str], kind: str) -> list[bytes]:
        """Return the bytes of objects of this kind, in the order asked for; ids come from other objects.

        :raises MirrorError: when the mirror lacks one of them.
        """
        contents = []
        for oid, found in zip(oids, self.read_many(oids, [kind]), strict=True):
            if found is None or found.data is None:
                raise self._conversation.error(f"no {kind} {oid}")
            contents.append(found.data)
        return contents

    def prepare(self, shas: Iterable[str]) -> None:
        """Read these commits and their first parents with a few questions, so that ``commit`` knows them."""
        wanted = self._unknown(shas)
        self._read_commits(wanted)
        known = (self._commits.get(sha) for sha in wanted)
        self._read_commits(
            self._unknown(commit.parents[0] for commit in known if commit is not None and commit.parents)
        )

    def _unknown(self, shas: Iterable[str]) -> list[str]:
        return [sha for sha in dict.fromkeys(shas) if sha not in self._commits and _OBJECT_ID.fullmatch(sha)]

    def _read_commits(self, shas: Sequence[str]) -> None:
        for sha, found in zip(shas, self.read_many(shas, ["commit"]), strict=True):
            if found is not None and found.kind == "commit" and found.oid == sha:
                self._keep(sha, self._parse_commit(found))

    def commit(self, sha: str) -> Commit:
        """Return a commit, or the commit that an annotated tag leads to.

        :raises MirrorError: when the object is missing or leads to something else.
        """
        known = self._commits.get(sha)
        if known is not None:
            return known
        found = self._object(sha, "commit", "tag")
        while found is not None and found.kind == "tag":
            match = _TAG.match(found.data or b"")
            found = self._object(match[1].decode(), "commit", "tag") if match else None
        commit = self._parse_commit(found) if found is not None and found.kind == "commit" else None
        if commit is None:
            raise self._conversation.error(f"no commit {sha[:64]!r}")
        self._keep(sha, commit)
        return commit

    def _keep(self, sha: str, commit: Commit | None) -> None:
        if len(self._commits) >= _KEPT_COMMITS:
            self._commits.clear()
        if commit is not None:
            self._commits[sha] = commit

    def _object(self, oid: str, *kinds: str) -> GitObject | None:
        if _OBJECT_ID.fullmatch(oid) is None:
            return None
        found = self.read(oid, *kinds)
        # git completes abbreviations: 40 digits are one in a repository of 64-digit ids.
        return found if found is not None and found.oid == oid else None

    def _parse_commit(self, found: GitObject) -> Commit | None:
        match = _COMMIT.match(found.data or b"")
        if match is None:
            return None
        tree, parents, committer = match.groups()
        ids = () if found.oid in self._grafted else tuple(parents.decode().split()[1::2])
        return Commit(found.oid, tree.decode(), ids, _committer_time(committer))

    def close(self) -> None:
        """End the process; a later read starts another."""
        self._conversation.close()


def _committer_time(line: bytes | None) -> int:
    """Read the seconds of a committer line, as ``%ct`` does: the digits behind the last ``>``, before a zone."""
    match = _DATE.match(line or b"")
    try:
        return int(match[1]) if match else 0
    except ValueError:  # more digits than Python converts
        return 0
