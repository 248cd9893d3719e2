"""Ancestry and Push ranges by walking parsed commits, without a process per question (mirrors.md §5).

Both walks give up early and answer None when a git command is the better way; they never answer differently from it.
"""

import heapq
from collections.abc import Callable

from sediment_assets.adapters.git_objects import Commit
from sediment_assets.mirrors.reader import MirrorError

# So many commits cost about as much as starting one git process.
_ANCESTRY_STEPS = 64
_CHAIN_STEPS = 64
_WALK_STEPS = 64

Load = Callable[[str], Commit]
"""Read one commit by id; raises MirrorError when it is missing."""


def reaches(load: Load, descendant: Commit, ancestor: str) -> bool | None:
    """Whether ``ancestor`` is ``descendant`` or reachable from it; None when the walk is too long.

    Newest first by committer time: a hint for the order only, so wrong clocks cost steps, never the answer.
    """
    if descendant.sha == ancestor:
        return True
    seen = {descendant.sha}
    heap = [(-descendant.committer_time, descendant.sha)]
    while heap:
        _, sha = heapq.heappop(heap)
        for parent in load(sha).parents:
            if parent == ancestor:
                return True
            if parent not in seen:
                seen.add(parent)
                heapq.heappush(heap, (-load(parent).committer_time, parent))
        if len(seen) > _ANCESTRY_STEPS:
            return None
    return False


def commit_range(load: Load, before: str, after: str, limit: int) -> list[str] | None:
    """List ``before..after`` as ``git rev-list`` does, newest first and at most ``limit``.

    None when git has to be asked: the range is long, a commit is missing, ``after`` is a tag, or clocks were wrong.

    :raises MirrorError: when one of the two is no commit.
    """
    first, last = load(before), load(after)
    if last.sha != after:
        return None
    chain = _chain(load, first.sha, last, limit)
    return _Walk(load, first, last).listed(limit) if chain is None else chain


def _chain(load: Load, before: str, commit: Commit, limit: int) -> list[str] | None:
    """List the range when it is one chain of single parents; most are, and then clocks do not matter."""
    chain: list[str] = []
    while commit.sha != before:
        if len(commit.parents) != 1 or len(chain) == _CHAIN_STEPS:
            return None
        chain.append(commit.sha)
        commit = load(commit.parents[0])
    return chain[:limit]


class _Walk:
    """Commits by falling date from both ends of a range; those that ``before`` reaches are hidden.

    With every commit on the way later than its parents, a commit is known to be hidden before its turn comes, and the
    order is that of the dates, as git's is.
    """

    def __init__(self, load: Load, before: Commit, after: Commit) -> None:
        self._load = load
        self._hidden = {before.sha}
        self._seen = {before.sha}
        self._heap = [(-before.committer_time, before.sha)]
        self._wanted = 0  # commits in the heap that are not hidden
        self._push(after)

    def listed(self, limit: int) -> list[str] | None:
        """Return the commits that are not hidden; None when git has to be asked."""
        found: list[str] = []
        steps, beyond = 0, 0
        while self._heap and (self._wanted or beyond < _SLOP):
            beyond += not self._wanted
            steps += 1
            sha = self._next()
            if sha is None or steps > _WALK_STEPS:
                return None
            if sha not in self._hidden:
                self._wanted -= 1
                found.append(sha)
        return found[:limit]

    def _next(self) -> str | None:
        """Take the latest commit and add its parents; None when dates do not tell the order."""
        date, sha = heapq.heappop(self._heap)
        if self._heap and self._heap[0][0] == date:
            return None
        try:
            parents = [self._load(parent) for parent in self._load(sha).parents]
        except MirrorError:
            return None
        for parent in parents:
            if not 0 < parent.committer_time < -date:
                return None
            if sha in self._hidden and parent.sha not in self._hidden:
                self._hidden.add(parent.sha)
                self._wanted -= parent.sha in self._seen
            self._push(parent)
        return sha

    def _push(self, commit: Commit) -> None:
        if commit.sha not in self._seen:
            self._seen.add(commit.sha)
            self._wanted += commit.sha not in self._hidden
            heapq.heappush(self._heap, (-commit.committer_time, commit.sha))


_SLOP = 6
"""git itself looks at five more commits after the last that could be listed, in case clocks were wrong."""
