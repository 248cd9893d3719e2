"""Ancestry and Push ranges by walking parsed commits, without a process per question (mirrors.md §5).

Both walks give up early and answer None when a git command is the better way; they never answer differently from it.
"""

import heapq
from collections.abc import Callable

from sediment_assets.adapters.git_objects import Commit

# So many commits cost about as much as starting one git process.
_ANCESTRY_STEPS = 64
_CHAIN_STEPS = 64

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


def linear_range(load: Load, before: str, after: str, limit: int) -> list[str] | None:
    """List ``before..after``, newest first and at most ``limit``, when it is one chain of single parents.

    None when it is not: a merge, a root or too many steps before ``before`` is met, or ``after`` is a tag.
    """
    chain: list[str] = []
    commit = load(after)
    if commit.sha != after:
        return None
    while commit.sha != before:
        if len(commit.parents) != 1 or len(chain) == _CHAIN_STEPS:
            return None
        chain.append(commit.sha)
        commit = load(commit.parents[0])
    return chain[:limit]
