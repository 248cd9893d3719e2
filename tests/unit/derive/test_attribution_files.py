"""Which Session a file of a commit goes to, and what is counted (derivation.md §9, steps 6–8, §9.1)."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from sediment_assets.derive.attribution import attribute_by_similarity
from sediment_assets.derive.bindings import Bindings
from sediment_assets.derive.policy import DEFAULT_POLICY, MatchingPolicy
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import ORG, ZERO_SHA, plain_message, reasoning_part, tool_call
from tests.histories import BINARY, EMPTY_FILE, LEGACY, MALFORMED, MODE_CHANGE, RENAME, added, deleted, sha
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryMirror, MemoryMirrors
from tests.unit.derive.attribution_cases import (
    CHAIN,
    TEXT,
    attribute,
    commits,
    minutes,
    push,
    say,
    won,
)

# --- steps 6 and 7: diffs and their counters (§9.1)


@pytest.mark.parametrize("after", [ZERO_SHA, sha(99)])
def test_a_commit_whose_diff_fails_counts(after: str) -> None:
    found = attribute(say(TEXT), push(after), push(after, push_id="p2"), history=CHAIN)
    assert found.skipped == {"commit_diff_unavailable": 1}


def test_a_diff_that_git_cannot_make_counts_per_commit_and_the_next_is_tried() -> None:
    mirror = MemoryMirror(CHAIN, failing=["commit_patch"])
    found = attribute(say(TEXT), push(before_sha=sha(1), after_sha=sha(3)), mirrors=MemoryMirrors({LEGACY: mirror}))
    assert found.skipped == {"commit_diff_unavailable": 2}


OTHER = "nothing like it"


@pytest.mark.parametrize(
    ("patch", "counters"),
    [
        (added("README.md", TEXT), {"no_code_diff": 1}),
        ("", {"no_code_diff": 1}),
        (EMPTY_FILE, {"no_code_diff": 1}),
        (deleted("a.py", TEXT), {"no_code_diff": 1}),
        (RENAME, {"no_code_diff": 1}),
        (MODE_CHANGE, {"no_code_diff": 1}),
        (added("blank.py", " \n\t\n"), {"no_code_diff": 1}),
        (added("uv.lock.py", TEXT), {"no_code_diff": 1}),
        (BINARY, {"unsupported_diff_section": 1}),
        (BINARY + added("README.md", TEXT), {"unsupported_diff_section": 1}),
        (added("a.py", OTHER) + added("b.py", OTHER), {"no_match": 2}),
        (added("a.py", OTHER) + BINARY, {"no_match": 1, "unsupported_diff_section": 1}),
        (MALFORMED, {"malformed_diff_section": 1}),
        (
            BINARY + BINARY.replace("x.png", "y.png") + MALFORMED,
            {"unsupported_diff_section": 2, "malformed_diff_section": 1},
        ),
        (added("a.py", TEXT), {}),
        (added("a.py", TEXT) + added("b.py", OTHER), {"no_match": 1}),
        (added("a.py", TEXT) + added("README.md", OTHER), {}),
    ],
)
def test_content_of_a_commit_decides_its_counters(patch: str, counters: dict[str, int]) -> None:
    assert attribute(say(TEXT), push(), history=commits(patch)).skipped == Counter(counters)


# --- step 8: candidates and floors


@pytest.mark.parametrize(
    ("text", "matches"),
    [("a b c d e f g", True), ("a b c d e f", False), ("a b c d e f g k", False), ("A_B a b c d e f g h i j", True)],
)
def test_a_candidate_without_note_needs_seven_tenths(text: str, matches: bool) -> None:
    found = attribute(say(text), push(), history=commits(added("a.py", TEXT)))
    assert won(found) == ({"of-c1": {sha(1)}} if matches else {})


def test_three_fifths_are_enough_for_a_noted_session_only() -> None:
    call, history = say("def add a b return"), commits(added("a.py", "return a b"))
    assert won(attribute(call, push(), history=history)) == {}
    assert won(attribute(call, push(), history=history, noted=[("of-c1", sha(1))])) == {"of-c1": {sha(1)}}


def test_a_note_on_another_commit_does_not_lower_the_floor() -> None:
    call, history = say("def add a b return"), commits(added("a.py", "return a b"))
    assert won(attribute(call, push(), history=history, noted=[("of-c1", sha(2))])) == {}


def test_a_noted_session_wins_over_a_better_one_without_note() -> None:
    found = attribute(
        say("a b c d", "noted"), say(TEXT, "better"), push(), history=commits(added("a.py", TEXT)),
        noted=[("of-noted", sha(1))],
    )  # fmt: skip
    assert won(found) == {"of-noted": {sha(1)}}


@pytest.mark.parametrize("minute", [-10_080, -100, -61, -60, -1, 10])
def test_calls_of_a_noted_session_count_wherever_in_its_window_they_lie(minute: int) -> None:
    """Its other calls lie before, inside and after the shorter window that all calls share."""
    others = [say("x", f"x{at}", session_id="of-noted", observed_at=minutes(at)) for at in (-10_080, -200, -5, 11)]
    found = attribute(
        *others, say("a b c d", "winner", session_id="of-noted", observed_at=minutes(minute)), push(),
        history=commits(added("a.py", "a b c d e f")), noted=[("of-noted", sha(1))],
    )  # fmt: skip
    assert won(found) == {"of-noted": {sha(1)}}


def test_a_noted_session_below_its_floor_leaves_the_file_to_others() -> None:
    found = attribute(
        say("a b", "noted"), say(TEXT, "better"), push(), history=commits(added("a.py", TEXT)),
        noted=[("of-noted", sha(1))],
    )  # fmt: skip
    assert won(found) == {"of-better": {sha(1)}}


def test_a_session_noted_elsewhere_can_win_and_the_runner_up_gets_nothing() -> None:
    found = attribute(
        say(TEXT, "best"), say("a b c d e f g h i", "second"), push(), history=commits(added("a.py", TEXT)),
        noted=[("of-best", sha(2))],
    )  # fmt: skip
    assert won(found) == {"of-best": {sha(1)}}


def test_a_floor_of_zero_still_needs_a_common_token() -> None:
    nothing = replace(DEFAULT_POLICY, git_notes=MatchingPolicy(0, 10080), jaccard=MatchingPolicy(0.0, 60))
    history = commits(added("a.py", TEXT))
    found = attribute(say("x y"), push(), history=history, noted=[("of-c1", sha(1))], policy=nothing)
    assert found.skipped == {"no_match": 1}
    assert won(attribute(say("x a"), push(), history=history, policy=nothing)) == {"of-c1": {sha(1)}}


@pytest.mark.parametrize(
    ("one", "other", "winner"),
    [
        (say(TEXT, "a", observed_at=minutes(1)), say(TEXT, "b", observed_at=minutes(0)), "of-b"),
        (say(TEXT, "b"), say(TEXT, "a"), "of-a"),
        (say("a b c d e f g h i", "a"), say(TEXT, "b", observed_at=minutes(1)), "of-b"),
    ],
)
def test_highest_score_then_earliest_then_smallest_id_wins(one: Any, other: Any, winner: str) -> None:
    history = commits(added("a.py", TEXT))
    assert won(attribute(one, other, push(), history=history)) == {winner: {sha(1)}}
    assert won(attribute(other, one, push(), history=history)) == {winner: {sha(1)}}


def test_one_call_may_win_many_files_and_one_commit_many_sessions() -> None:
    found = attribute(
        say("a b c", "one"),
        say("d e f", "two"),
        push(before_sha=sha(1), after_sha=sha(3)),
        history=commits("", added("a.py", "a b c") + added("b.py", "d e f"), added("a.py", "a b c")),
    )
    assert won(found) == {"of-one": {sha(2), sha(3)}, "of-two": {sha(2)}}


def test_reasoning_and_tool_names_are_no_part_of_what_is_compared() -> None:
    history = commits(added("a.py", TEXT))
    thinking = [plain_message("assistant", reasoning_part(TEXT), tool_call(TEXT, TEXT, {TEXT: 1}))]
    assert won(attribute(say("", output_messages=thinking), push(), history=history)) == {}
    writing = [plain_message("assistant", reasoning_part("x"), tool_call("t", "Write", {"content": [TEXT], "n": 1}))]
    assert won(attribute(say("", output_messages=writing), push(), history=history)) == {"of-c1": {sha(1)}}


class AskedFacts(MemoryFacts):
    """Keeps the Sessions it was asked for."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.asked: list[Any] = []

    def candidate_calls(self, start: datetime, end: datetime, session_ids: Any = None) -> Any:
        self.asked.append(session_ids)
        return super().candidate_calls(start, end, session_ids)


def test_readers_are_only_asked_for_sessions_that_have_calls() -> None:
    """A note may name a Session by text that no database accepts, such as a lone surrogate or U+0000."""
    reader = AskedFacts(ORG, [say(TEXT, observed_at=minutes(-100)), say("x", "near"), push()])
    bindings = Bindings()
    for name in ("\ud800", "\0", "of-c1"):
        bindings.bind(name, CommitKey(LEGACY, sha(1)))
    resolver = RepositoryResolver.build(ORG, reader.evidence(), reader.renames())
    mirrors = MemoryMirrors({LEGACY: MemoryMirror(commits(added("a.py", TEXT)))})
    found = attribute_by_similarity(reader, mirrors, resolver, bindings, DEFAULT_POLICY)
    assert won(found) == {"of-c1": {sha(1)}}
    assert {frozenset(asked) for asked in reader.asked if asked is not None} == {frozenset({"of-c1"})}
