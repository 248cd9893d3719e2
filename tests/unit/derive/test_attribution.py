"""Which Pushes, windows and commits the Jaccard fallback looks at (derivation.md §9, steps 1–5)."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from sediment_assets.derive.attribution import attribute_by_similarity
from sediment_assets.derive.bindings import Bindings
from sediment_assets.derive.policy import DEFAULT_POLICY, MatchingPolicy
from sediment_assets.repositories.keys import CommitKey, LegacyKey
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import IDENTITY, ORG, ZERO_SHA
from tests.histories import IDENTIFIED, LEGACY, added, sha
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors
from tests.unit.derive.attribution_cases import (
    CHAIN,
    LONG_AGO,
    MICROSECOND,
    NOON,
    TEXT,
    attribute,
    commits,
    minutes,
    push,
    say,
    won,
)

# --- steps 1 and 2: Pushes and the pool


def test_a_push_that_does_not_resolve_counts_under_its_reason() -> None:
    found = attribute(
        say(TEXT),
        push(push_id="p1"),
        push(push_id="p2", repo=""),
        push(push_id="p3", repo="acme/claimed"),
        push(push_id="p4", repo="acme/claimed", after_sha=sha(2), **IDENTITY),
        history=commits(added("a.py", TEXT)),
    )
    assert found.skipped == {
        "repository_identity_absent": 1,
        "repository_identity_unresolved": 1,
        "mirror_absent": 1,
    }
    assert won(found) == {"of-c1": {sha(1)}}


@pytest.mark.parametrize("calls", [[], [say(TEXT)]])
def test_without_a_push_that_resolves_nothing_else_is_counted(calls: list[Any]) -> None:
    assert not attribute(*calls).skipped
    assert attribute(*calls, push(repo="")).skipped == {"repository_identity_absent": 1}


def test_without_any_call_in_reach_all_resolving_pushes_count_at_once() -> None:
    found = attribute(
        say(TEXT, observed_at=LONG_AGO), push(push_id="p1"), push(push_id="p2"), push(push_id="p3", repo="")
    )
    assert found.skipped == {"no_inference_call_candidates": 2, "repository_identity_absent": 1}


@pytest.mark.parametrize(
    ("observed_at", "reached"),
    [
        (minutes(-10080) - MICROSECOND, False),
        (minutes(-10080), True),
        (minutes(90 + 10), True),
        (minutes(90 + 10) + MICROSECOND, False),
    ],
)
def test_pool_reaches_from_the_longest_lookback_of_the_first_push_to_the_grace_of_the_last(
    observed_at: datetime, reached: bool
) -> None:
    found = attribute(
        say(TEXT, observed_at=observed_at),
        push(push_id="p1"),
        push(push_id="p2", captured_at=minutes(90)),
        push(push_id="p0", repo="", captured_at=minutes(-9000)),
        mirrors=MemoryMirrors(),
    )
    assert ("mirror_absent" in found.skipped) is reached
    assert ("no_inference_call_candidates" in found.skipped) is not reached


# --- step 3: mirrors and windows


def test_each_push_without_a_mirror_counts() -> None:
    found = attribute(say(TEXT), push(push_id="p1"), push(push_id="p2"), mirrors=MemoryMirrors())
    assert found.skipped == {"mirror_absent": 2}
    assert not found.commits_of_session


EDGES = [(-60, -1, False), (-60, 0, True), (10, 0, True), (10, 1, False)]
NOTE_EDGES = [(-10080, -1, False), (-10080, 0, True), (10, 0, True), (10, 1, False)]


@pytest.mark.parametrize(("minute", "microseconds", "matches"), EDGES)
def test_wide_window_includes_both_ends(minute: int, microseconds: int, matches: bool) -> None:
    call = say(TEXT, observed_at=minutes(minute) + microseconds * MICROSECOND)
    found = attribute(call, say("x", "near"), push(), history=commits(added("a.py", TEXT)))
    assert won(found) == ({"of-c1": {sha(1)}} if matches else {})
    assert found.skipped == ({} if matches else {"no_match": 1})


@pytest.mark.parametrize(("minute", "microseconds", "matches"), NOTE_EDGES)
def test_note_window_includes_both_ends(minute: int, microseconds: int, matches: bool) -> None:
    call = say(TEXT, observed_at=minutes(minute) + microseconds * MICROSECOND)
    history = commits(added("a.py", TEXT))
    found = attribute(call, say("x", "near"), push(), history=history, noted=[("of-c1", sha(1))])
    assert won(found) == ({"of-c1": {sha(1)}} if matches else {})


def test_windows_follow_each_push() -> None:
    """A later Push sees later calls, and no longer those it has left behind."""
    history = commits(added("a.py", "a b c"), added("a.py", "d e f"), added("a.py", "a b c"))
    found = attribute(
        say("a b c", "early"),
        say("d e f", "late", observed_at=minutes(100)),
        push(sha(1), push_id="p1"),
        push(sha(2), push_id="p2", captured_at=minutes(100), before_sha=sha(1)),
        push(sha(3), push_id="p3", captured_at=minutes(100), before_sha=sha(2)),
        history=history,
    )
    assert won(found) == {"of-early": {sha(1)}, "of-late": {sha(2)}}
    assert found.skipped == {"no_match": 1}


@pytest.mark.parametrize(("minute", "microseconds", "matches"), EDGES)
def test_wide_window_of_a_later_push_includes_both_ends(minute: int, microseconds: int, matches: bool) -> None:
    """Whether an earlier Push has seen the call or not, and however far the windows lie apart."""
    call = say("d e f", observed_at=minutes(minute) + microseconds * MICROSECOND)
    history = commits(added("a.py", "a b c"), added("a.py", "d e f"))
    for earlier in (-1, -60, -200):
        first, second = push(sha(1), push_id="p1", captured_at=minutes(earlier)), push(sha(2), push_id="p2")
        found = attribute(call, say("x", "near"), first, second, history=history)
        assert won(found) == ({"of-c1": {sha(2)}} if matches else {})


class CountedFacts(MemoryFacts):
    """Keeps the ids of all calls it gave out as candidates."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.given: list[str] = []

    def candidate_calls(self, *arguments: Any) -> Any:
        for call in super().candidate_calls(*arguments):
            self.given.append(call.inference_call_id)
            yield call


def test_overlapping_windows_read_each_call_once() -> None:
    calls = [say("x", f"c{number}", observed_at=minutes(10 * number)) for number in range(10)]
    pushes = [push(sha(n), push_id=f"p{n}", captured_at=minutes(30 * n)) for n in (1, 2, 3)]
    reader = CountedFacts(ORG, [*calls, *pushes])
    resolver = RepositoryResolver.build(ORG, reader.evidence(), reader.renames())
    mirrors = MemoryMirrors({LEGACY: MemoryMirror(commits(*[added("a.py", TEXT)] * 3))})
    attribute_by_similarity(reader, mirrors, resolver, Bindings(), DEFAULT_POLICY)
    in_pool, *in_windows = reader.given
    assert in_pool == "c0"
    assert in_windows == [call.inference_call_id for call in calls]


HUGE = 10**12
ENDLESS = replace(
    DEFAULT_POLICY,
    post_push_grace_period_minutes=HUGE,
    git_notes=MatchingPolicy(0, HUGE),
    jaccard=MatchingPolicy(0, HUGE),
)


def test_windows_larger_than_the_calendar_reach_every_call() -> None:
    found = attribute(
        say("a b", "c1", observed_at=LONG_AGO),
        say("c d", "c2", observed_at=NOON + timedelta(days=300)),
        push(sha(1), push_id="p1"),
        push(sha(2), push_id="p2", captured_at=minutes(1)),
        history=commits(added("a.py", "a b"), added("a.py", "c d")),
        policy=ENDLESS,
    )
    assert won(found) == {"of-c1": {sha(1)}, "of-c2": {sha(2)}}


# --- step 4: commits of a Push


@pytest.mark.parametrize(
    ("pushed", "reached"),
    [
        ({"before_sha": sha(2), "after_sha": sha(5)}, {3, 4, 5}),
        ({"before_sha": sha(2), "after_sha": sha(5), "forced": True}, {5}),
        ({"before_sha": ZERO_SHA, "after_sha": sha(5)}, {5}),
        ({"before_sha": sha(99), "after_sha": sha(5)}, {5}),
        ({"before_sha": sha(5), "after_sha": sha(2)}, {2}),
        ({"before_sha": sha(5), "after_sha": sha(5)}, {5}),
        ({"before_sha": sha(4), "after_sha": sha(5), "ref": "refs/tags/v1"}, {5}),
    ],
)
def test_commits_of_a_push(pushed: dict[str, Any], reached: set[int]) -> None:
    found = attribute(say(TEXT), push(**pushed), history=CHAIN)
    assert won(found) == {"of-c1": {sha(number) for number in reached}}


@pytest.mark.parametrize(("limit", "reached"), [(1, {5}), (2, {4, 5}), (20, {2, 3, 4, 5})])
def test_only_the_newest_commits_of_a_push_are_looked_at(limit: int, reached: set[int]) -> None:
    policy = replace(DEFAULT_POLICY, max_commits_per_push=limit)
    found = attribute(say(TEXT), push(before_sha=sha(1), after_sha=sha(5)), history=CHAIN, policy=policy)
    assert won(found) == {"of-c1": {sha(number) for number in reached}}


def test_commits_of_a_merged_side_branch_are_included() -> None:
    history = [
        MemoryCommit(sha(1), (), 1),
        MemoryCommit(sha(2), (sha(1),), 2, added("side.py", TEXT)),
        MemoryCommit(sha(3), (sha(1), sha(2)), 3, added("merge.py", "unlike anything")),
    ]
    found = attribute(say(TEXT), push(before_sha=sha(1), after_sha=sha(3)), history=history)
    assert won(found) == {"of-c1": {sha(2)}}


# --- step 5: once per commit


def test_a_commit_is_tried_by_its_earliest_push_only() -> None:
    history = commits(added("a.py", TEXT))
    found = attribute(
        say("x", "near"),
        say(TEXT, "late", observed_at=minutes(60)),
        push(push_id="p2", captured_at=minutes(60)),
        push(push_id="p1", captured_at=minutes(0)),
        history=history,
    )
    assert won(found) == {}
    assert found.skipped == {"no_match": 1}


def test_a_commit_of_another_repository_is_another_commit() -> None:
    other = LegacyKey(ORG, "acme/other")
    mirror = MemoryMirror(commits(added("a.py", TEXT)))
    found = attribute(
        say(TEXT),
        push(push_id="p1"),
        push(push_id="p2", repo="acme/other"),
        mirrors=MemoryMirrors({LEGACY: mirror, other: mirror}),
    )
    assert found.commits_of_session == {"of-c1": {CommitKey(LEGACY, sha(1)), CommitKey(other, sha(1))}}


def test_an_identified_push_is_looked_up_in_the_identified_mirror() -> None:
    mirrors = MemoryMirrors({IDENTIFIED: MemoryMirror(commits(added("a.py", TEXT))), LEGACY: MemoryMirror()})
    found = attribute(say(TEXT), push(**IDENTITY), mirrors=mirrors)
    assert found.commits_of_session == {"of-c1": {CommitKey(IDENTIFIED, sha(1))}}
