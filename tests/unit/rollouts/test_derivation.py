"""The whole derivation: its steps, a Rollout's parts, orders and counters (derivation.md §4, §8, §10, §13, §14)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.derive.tally import sorted_counts
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.reader import Note
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryKey
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.rollouts.models import Rollout
from tests.builders import (
    IDENTITY,
    ORG,
    SHA,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
    plain_message,
)
from tests.histories import LEGACY, MALFORMED, added, make_note, sha
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors

TEXT = "a b c d e f g h i j"
NOON = parse_instant("2026-03-02T12:00:00Z")
Mirrors = Mapping[RepositoryKey, MemoryMirror]


def derive(
    facts: Sequence[Any], mirrors: Mirrors | None = None, **options: Any
) -> tuple[dict[str, Rollout], dict[str, int]]:
    """Return the Rollouts by Session, in the order they came, and the ``skipped`` counters."""
    derivation = Derivation(MemoryFacts(ORG, facts, options.pop("quarantine", ())), MemoryMirrors(mirrors), **options)
    rollouts = {rollout.session_id: rollout for rollout in derivation.rollouts()}
    return rollouts, sorted_counts(derivation.skipped)


def call_of(session_id: str, text: str = TEXT, **values: Any) -> Any:
    """The call ``of-<session>`` at noon, whose output is one text."""
    output = [plain_message("assistant", text)]
    defaults = {"inference_call_id": f"of-{session_id}", "observed_at": NOON, "output_messages": output}
    return make_call(session_id=session_id, **{**defaults, **values})


def shas(rollout: Rollout) -> list[tuple[str, str]]:
    return [(commit.repo, commit.commit_sha) for commit in rollout.commits]


def identified(repository_id: str) -> dict[str, str]:
    return {**IDENTITY, "repository_id": repository_id}


# --- order of a run (§4)

BROKEN_OBSERVATION = make_observation(observation_id="broken", source_push_id="gone", **IDENTITY)


def everything_countable(*, calls: Sequence[Any]) -> tuple[dict[str, Rollout], dict[str, int]]:
    """One thing to count for every organization-wide step."""
    facts = [
        *calls,
        BROKEN_OBSERVATION,
        make_push(push_id="p1", repo="acme/noted", after_sha=sha(9), captured_at=NOON),
        make_outcome(outcome_id="o1", repo=""),
        make_decision(call_id=None, session_id="without calls"),
    ]
    mirror = MemoryMirror(listed_notes=[Note(sha(1), b"?"), make_note(sha(2), "noted")])
    return derive(facts, {LegacyKey(ORG, "acme/noted"): mirror})


def test_without_any_call_only_observations_are_counted() -> None:
    rollouts, skipped = everything_countable(calls=[])
    assert not rollouts
    assert skipped == {"repository_source_absent": 1}


def test_fallback_is_not_run_when_notes_bind_every_session_with_calls() -> None:
    rollouts, skipped = everything_countable(calls=[call_of("noted")])
    assert list(rollouts) == ["noted"]
    assert skipped == {
        "repository_source_absent": 1, "attribution_note_unreadable": 1, "repository_identity_absent": 1,
    }  # fmt: skip


def test_fallback_runs_over_the_whole_organization_when_one_session_is_unbound() -> None:
    rollouts, skipped = everything_countable(calls=[call_of("noted"), call_of("other")])
    assert list(rollouts) == ["noted", "other"]
    assert skipped == {
        "repository_source_absent": 1, "attribution_note_unreadable": 1, "repository_identity_absent": 1,
        "commit_diff_unavailable": 1,
    }  # fmt: skip


def test_sessions_without_calls_give_nothing_and_their_decisions_are_not_counted() -> None:
    facts = [call_of("b"), make_decision(session_id="a", call_id=None), make_decision(session_id="b", call_id=None)]
    rollouts, skipped = derive(facts)
    assert list(rollouts) == ["b"]
    assert skipped == {"missing_decision_call_id": 1}


def test_rollouts_come_by_session_in_code_point_order_commits_or_not() -> None:
    rollouts, _ = derive(
        [call_of(name, inference_call_id=f"c-{name}") for name in ("é", "a", "Z", "a b", "😀", "\uffff")]
    )
    assert list(rollouts) == ["Z", "a", "a b", "é", "\uffff", "😀"]
    assert all(not rollout.commits for rollout in rollouts.values())


def test_hidden_facts_take_no_part_and_the_revision_is_in_the_provenance() -> None:
    log = [
        make_quarantine(quarantine_id="q1", org_id="other"),
        make_quarantine(quarantine_id="q2", fact_id="of-a"),
        make_quarantine(quarantine_id="q3", fact_id="of-b"),
        make_quarantine(quarantine_id="q4", fact_id="of-b", action="release"),
        make_quarantine(quarantine_id="q5", org_id="other"),
    ]
    rollouts, _ = derive([call_of("a"), call_of("b")], quarantine=log)
    assert list(rollouts) == ["b"]
    assert rollouts["b"].provenance.quarantine_revision == 4


def test_provenance_and_split() -> None:
    policy = replace(DEFAULT_POLICY, eval_fraction=0.5)
    rollouts, _ = derive([call_of("s7"), call_of("s1")], policy=policy)
    assert [rollout.split for rollout in rollouts.values()] == ["train", "eval"]
    assert rollouts["s1"].provenance.model_dump() == {
        "policy_version": "4",
        "quarantine_revision": 0,
        "policy_digest": policy.digest,
    }
    assert {rollout.org_id for rollout in rollouts.values()} == {ORG}


# --- which commits belong to a Session (§8)

FIRST = MemoryCommit(sha(1), (), 100, added("a.py", TEXT))
PUSH = make_push(after_sha=sha(1), captured_at=NOON)


def test_a_note_in_any_repository_switches_jaccard_commits_off_for_its_session_alone() -> None:
    other = LegacyKey(ORG, "acme/other")
    mirrors = {LEGACY: MemoryMirror([FIRST]), other: MemoryMirror(listed_notes=[make_note(sha(5), "noted")])}
    noted, plain = call_of("noted"), call_of("plain", observed_at=NOON + timedelta(minutes=1))
    rollouts, _ = derive([noted, plain, PUSH], mirrors)
    assert rollouts["noted"].attribution_source == "git_notes"
    assert shas(rollouts["noted"]) == [("acme/other", sha(5))]
    # The earlier call of the noted Session won the commit, though its own Rollout does not list it.
    assert rollouts["plain"].attribution_source == "jaccard"
    assert shas(rollouts["plain"]) == []


def test_sessions_without_note_get_the_commits_their_calls_won() -> None:
    rollouts, skipped = derive([call_of("a"), call_of("b", "x"), PUSH], {LEGACY: MemoryMirror([FIRST])})
    assert shas(rollouts["a"]) == [("acme/widget", sha(1))]
    assert shas(rollouts["b"]) == []
    assert {rollout.attribution_source for rollout in rollouts.values()} == {"jaccard"}
    assert skipped == {}


def test_an_identified_observation_is_a_note_and_a_legacy_one_is_not() -> None:
    facts = [
        call_of("a"), call_of("b", "x"),
        make_push(repo="acme/id", **IDENTITY),
        make_observation(observation_id="o1", repo="acme/id", session_id="a"),
        make_observation(observation_id="o2", repo="acme/leg", session_id="b", source_push_id="none"),
    ]  # fmt: skip
    rollouts, _ = derive(facts)
    assert (rollouts["a"].attribution_source, shas(rollouts["a"])) == ("git_notes", [("acme/id", SHA)])
    assert (rollouts["b"].attribution_source, shas(rollouts["b"])) == ("jaccard", [])


# --- assembling (§10)


def test_worked_example_of_commit_and_observation_order() -> None:
    c0, c1, c2, c3 = sha(10), sha(11), sha(23), sha(22)
    times = {c0: 500, c1: 100, c2: 300, c3: 300}
    history = [MemoryCommit(commit, (), time) for commit, time in times.items()]
    leg = LegacyKey(ORG, "acme/leg")
    seven = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "7")
    mirrors = {
        leg: MemoryMirror(history, listed_notes=[make_note(commit, "s1") for commit in times]),
        seven: MemoryMirror(history),
    }

    def sighting(name: str, repo: str, commit: str, push: str, second: int) -> Any:
        at = parse_instant("2026-03-02T00:00:00Z") + timedelta(seconds=second)
        return make_observation(observation_id=name, repo=repo, commit_sha=commit, source_push_id=push, captured_at=at)

    facts = [
        call_of("s1"),
        make_push(push_id="p7", repo="acme/id", **identified("7")),
        make_push(push_id="p10", repo="acme/nomirror", **identified("10")),
        sighting("legacy", "acme/leg", c1, "none", 1),
        sighting("seven c2", "acme/id", c2, "p7", 600),
        sighting("seven c1 later", "acme/id", c1, "p7", 630),
        sighting("seven c1", "acme/id", c1, "p7", 610),
        sighting("ten c2", "acme/nomirror", c2, "p10", 900),
    ]
    rollout = derive(facts, mirrors)[0]["s1"]
    assert shas(rollout) == [
        ("acme/nomirror", c2), ("acme/id", c1), ("acme/leg", c1), ("acme/id", c2), ("acme/leg", c3),
        ("acme/leg", c2), ("acme/leg", c0),
    ]  # fmt: skip
    assert [commit.repository_identity and commit.repository_identity.repository_id for commit in rollout.commits] == [
        "10", "7", None, "7", None, None, None,
    ]  # fmt: skip
    assert [observation.observation_id for observation in rollout.session_commit_observations] == [
        "ten c2", "seven c1", "seven c1 later", "seven c2", "legacy",
    ]  # fmt: skip


def test_a_commit_that_no_mirror_knows_comes_first() -> None:
    notes = [make_note(sha(1), "s1"), make_note(sha(2), "s1")]
    mirrors = {LEGACY: MemoryMirror([MemoryCommit(sha(1), (), 1)], listed_notes=notes)}
    assert shas(derive([call_of("s1")], mirrors)[0]["s1"]) == [("acme/widget", sha(2)), ("acme/widget", sha(1))]


def test_commits_carry_the_smallest_name_of_their_repository() -> None:
    facts = [
        call_of("s1"),
        make_push(repo="z/w", **IDENTITY),
        make_rename(old_repo="z/w", new_repo="a/new"),
        make_rename(rename_id="n2", old_repo="a/new", new_repo="m/newest", captured_at="2026-03-05T00:00:00Z"),
        make_observation(repo="z/w"),
    ]
    assert shas(derive(facts)[0]["s1"]) == [("a/new", SHA)]


def test_a_commit_noted_and_observed_twice_is_listed_once() -> None:
    facts = [call_of("s1"), make_push(**IDENTITY), *(make_observation(observation_id=name) for name in "ab")]
    rollout = derive(facts)[0]["s1"]
    assert len(rollout.commits) == 1
    assert len(rollout.session_commit_observations) == 2


def test_outcomes_are_all_those_of_the_commits_by_commit_then_id() -> None:
    history = [MemoryCommit(sha(1), (), 200), MemoryCommit(sha(2), (), 100)]
    mirrors = {LEGACY: MemoryMirror(history, listed_notes=[make_note(sha(1), "s1"), make_note(sha(2), "s1")])}

    def outcome(name: str, commit: int, **values: Any) -> Any:
        return make_outcome(outcome_id=name, commit_sha=sha(commit), **{"run_id": name, "raw": {"of": name}, **values})

    facts = [
        call_of("s1"),
        outcome("late rerun", 1, run_id="r1", run_attempt=2, result="failed", captured_at="2026-03-01T00:00:00Z"),
        outcome("early attempt", 1, run_id="r1", run_attempt=1, result="passed"),
        outcome("cancelled", 1, result="cancelled"),
        outcome("z on two", 2),
        outcome("disagrees", 2, result="failed"),
        outcome("same sha elsewhere", 1, repo="acme/other"),
        outcome("another commit", 3),
        outcome("conflict a", 2, run_id="r9"),
        outcome("conflict b", 2, run_id="r9", result="failed"),
    ]
    rollouts, skipped = derive(facts, mirrors)
    assert [outcome.outcome_id for outcome in rollouts["s1"].terminal_outcomes] == [
        "disagrees", "z on two", "cancelled", "early attempt", "late rerun",
    ]  # fmt: skip
    assert all(outcome.raw == {"of": outcome.outcome_id} for outcome in rollouts["s1"].terminal_outcomes)
    assert skipped == {"ambiguous_workflow_verdicts": 1, "conflicting_run_identity": 1}


def test_observations_of_a_jaccard_rollout_are_listed_too() -> None:
    facts = [
        call_of("s1"), PUSH,
        make_observation(observation_id="on it", commit_sha=sha(1)),
        make_observation(observation_id="elsewhere", commit_sha=sha(2)),
        make_observation(observation_id="other session", commit_sha=sha(1), session_id="s2"),
    ]  # fmt: skip
    rollout = derive(facts, {LEGACY: MemoryMirror([FIRST])})[0]["s1"]
    assert rollout.attribution_source == "jaccard"
    assert [observation.observation_id for observation in rollout.session_commit_observations] == ["on it"]


# --- counters and their units (§14)


def test_one_unresolvable_slug_counts_for_mirror_push_observation_and_outcome() -> None:
    facts = [
        call_of("s1"),
        make_push(push_id="legacy", captured_at=NOON),
        make_observation(source_push_id="legacy"),
        make_outcome(),
        make_push(push_id="identified", captured_at=NOON, **IDENTITY),
    ]
    _, skipped = derive(facts, {LEGACY: MemoryMirror(listed_notes=[make_note(SHA, "s1")])})
    assert skipped == {"repository_identity_unresolved": 4, "mirror_absent": 1}


def test_pushes_are_not_counted_when_the_fallback_does_not_run() -> None:
    facts = [
        call_of("s1"),
        make_push(push_id="absent", repo=""),
        make_push(repo="acme/id", **IDENTITY),
        make_observation(repo="acme/id"),
        make_outcome(repo=""),
    ]
    assert derive(facts)[1] == {"repository_identity_absent": 1}
    assert derive([*facts, call_of("s2")])[1]["repository_identity_absent"] == 2


def test_counters_of_every_stage_add_up_by_their_own_units() -> None:
    history = [
        MemoryCommit(sha(1), (), 1, MALFORMED + MALFORMED),
        MemoryCommit(sha(2), (sha(1),), 2, added("a.py", "x") + added("b.py", "y")),
        MemoryCommit(sha(3), (sha(2),), 3, added("c.md", "z")),
    ]
    facts = [
        call_of("s1"),
        make_push(after_sha=sha(3), before_sha=sha(1), captured_at=NOON),
        make_push(push_id="p0", after_sha=sha(1), captured_at=NOON),
        make_decision(decision_id="d1", call_id=None),
        make_decision(decision_id="d2", call_id="nobody"),
        make_decision(decision_id="d3", call_id="nobody"),
        *(make_outcome(outcome_id=name, commit_sha=name * 40, branch=name) for name in "abc"),
    ]
    _, skipped = derive(facts, {LEGACY: MemoryMirror(history)})
    assert skipped == {
        "malformed_diff_section": 2, "no_match": 2, "no_code_diff": 1, "missing_decision_call_id": 1,
        "unmatched_decision_call_id": 2, "conflicting_run_identity": 1,
    }  # fmt: skip


def test_an_alias_of_another_session_is_not_ambiguous() -> None:
    facts = [
        call_of("s1", model_call_id="m"),
        call_of("s2", model_call_id="m"),
        make_decision(call_id="m", session_id="s1"),
    ]
    rollouts, skipped = derive(facts)
    assert [len(rollout.segments[0][0].decisions) for rollout in rollouts.values()] == [1, 0]
    assert skipped == {}


# --- a window of Sessions (design.md §5)


@pytest.mark.parametrize(("start", "end", "sessions"), [(0, 1, ["a"]), (1, 2, ["b"]), (0, 2, ["a", "b"]), (2, 9, [])])
def test_a_window_selects_sessions_by_their_first_call_and_never_evidence(
    start: int, end: int, sessions: list[str]
) -> None:
    later = NOON + timedelta(days=1)
    facts = [
        call_of("a", "x"),
        call_of("a", "y", inference_call_id="a2", observed_at=later),
        call_of("b", observed_at=later),
        make_push(after_sha=sha(1), captured_at=later),
        make_decision(session_id="a", call_id=None),
        make_outcome(repo=""),
    ]
    mirrors = {LEGACY: MemoryMirror([FIRST])}
    midnight = parse_instant("2026-03-02T00:00:00Z")
    window = SessionWindow(midnight + timedelta(days=start), midnight + timedelta(days=end))
    rollouts, skipped = derive(facts, mirrors, window=window)
    whole, _ = derive(facts, mirrors)
    assert rollouts == {name: whole[name] for name in sessions}
    of_sessions = {"missing_decision_call_id": 1} if "a" in sessions else {}
    assert skipped == {"repository_identity_absent": 1} | of_sessions
