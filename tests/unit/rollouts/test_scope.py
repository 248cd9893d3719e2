"""Which finished Rollouts a cohort keeps (derivation.md §12)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from sediment_assets.facts.instants import parse_instant
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.rollouts.models import Rollout
from sediment_assets.rollouts.scope import CohortScope, ScopeError
from tests.builders import ORG, make_call, make_decision
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryMirrors

NOON = parse_instant("2026-03-02T12:00:00Z")
HOUR, MICROSECOND = timedelta(hours=1), timedelta(microseconds=1)


def calls(*users: str | None, start: datetime = NOON) -> list[Any]:
    """One Session's calls, an hour apart, of these users."""
    return [
        make_call(inference_call_id=f"c{number}", user_id=user, observed_at=start + number * HOUR)
        for number, user in enumerate(users)
    ]


def derive(facts: Sequence[Any], scope: CohortScope) -> tuple[Derivation, list[Rollout]]:
    derivation = Derivation(MemoryFacts(ORG, facts), MemoryMirrors(), scope=scope)
    return derivation, list(derivation.rollouts())


def exclusion(facts: Sequence[Any], **scope: Any) -> str | None:
    """The reason why the one Session is excluded."""
    derivation, kept = derive(facts, CohortScope.build(**scope))
    assert sum(derivation.excluded.values()) + len(kept) == 1
    return next(iter(derivation.excluded), None)


@pytest.mark.parametrize(
    ("users", "reason"),
    [
        (["a", "a"], None),
        (["a", "b"], None),
        (["a", "c"], "mixed_user_rollout"),
        (["c", "c"], "rollout_user_scope"),
        ([None, None], "rollout_user_scope"),
        (["a", None], "mixed_user_rollout"),
        (["A", "a "], "mixed_user_rollout"),
    ],
)
def test_every_turn_must_be_of_the_listed_users(users: list[str | None], reason: str | None) -> None:
    assert exclusion(calls(*users), users=["a", "b"]) == reason


def test_unknown_is_a_user_like_any_other() -> None:
    assert exclusion(calls("unknown"), users=["unknown"]) is None
    assert exclusion(calls(None), users=["unknown"]) == "rollout_user_scope"


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        ({"since": NOON}, None),
        ({"since": NOON + 2 * HOUR}, None),
        ({"since": NOON + 2 * HOUR + MICROSECOND}, "rollout_time_scope"),
        ({"until": NOON + MICROSECOND}, None),
        ({"until": NOON}, "rollout_time_scope"),
        ({"since": NOON + HOUR, "until": NOON + HOUR + MICROSECOND}, None),
        ({"since": NOON + MICROSECOND, "until": NOON + HOUR}, "rollout_time_scope"),
        ({}, None),
    ],
)
def test_one_turn_from_since_until_before_until_is_enough(scope: dict[str, datetime], reason: str | None) -> None:
    assert exclusion(calls("a", "a", "a"), **scope) == reason


def test_since_and_until_are_instants_whatever_their_offset() -> None:
    since = datetime.fromisoformat("2026-03-02T14:00:00+02:00")
    assert exclusion(calls("a"), since=since) is None


def test_users_are_tested_before_time() -> None:
    late = NOON + 9 * HOUR
    assert exclusion(calls("c"), users=["a"], since=late) == "rollout_user_scope"
    assert exclusion(calls("a", "c"), users=["a"], since=late) == "mixed_user_rollout"
    assert exclusion(calls("a", "a"), users=["a"], since=late) == "rollout_time_scope"


def test_a_kept_rollout_is_whole() -> None:
    _, (rollout,) = derive(calls("a", "a", "a"), CohortScope.build(since=NOON + HOUR, until=NOON + 2 * HOUR))
    assert [turn.inference_call_id for segment in rollout.segments for turn in segment] == ["c0", "c1", "c2"]


def test_scope_changes_no_counter_but_its_own() -> None:
    facts = [*calls("a", "a"), make_decision(call_id=None), make_call(session_id="s2", inference_call_id="c9")]
    whole, everything = derive(facts, CohortScope.build())
    scoped, nothing = derive(facts, CohortScope.build(users=["nobody"]))
    assert len(everything) == 2
    assert not nothing
    assert scoped.skipped == whole.skipped == {"missing_decision_call_id": 1}
    assert scoped.fragmented == whole.fragmented == {"prior_output_not_replayed": 1}
    assert scoped.excluded == {"rollout_user_scope": 2}
    assert not whole.excluded
    assert scoped.evidence.as_of == whole.evidence.as_of


def test_users_are_trimmed_distinct_and_sorted() -> None:
    assert CohortScope.build(users=[" b", "a\u00a0", "b"]).users == ("a", "b")


@pytest.mark.parametrize("users", [[], [""], ["a", " \t"]])
def test_no_user_at_all_or_a_blank_one_is_refused(users: list[str]) -> None:
    with pytest.raises(ScopeError, match="expected at least one user id and no blank ones"):
        CohortScope.build(users=users)


@pytest.mark.parametrize("until", [NOON, NOON - MICROSECOND])
def test_since_must_be_before_until(until: datetime) -> None:
    with pytest.raises(ScopeError, match="expected an instant before --until"):
        CohortScope.build(since=NOON, until=until)
