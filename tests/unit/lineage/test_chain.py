"""The chain of one Session: what binds its commits, which CI outcomes count for nothing, and what was near."""

from dataclasses import replace

import pytest

from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.lineage.chain import Presence, SessionChain, build_chain
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import IDENTITY, ORG, OTHER_SHA, SHA, make_observation, make_outcome, make_push
from tests.generation_states import RETRY, WAS, State, at, note
from tests.memory import MemoryFacts


def chain_of(state: State, session_id: str = "s1") -> SessionChain:
    facts, mirrors = MemoryFacts(ORG, state.facts, state.quarantine), state.mirrors()
    derivation = Derivation(facts, mirrors)
    (rollout,) = [one for one in derivation.rollouts() if one.session_id == session_id]
    (session,) = [one for one in facts.sessions() if one.session_id == session_id]
    return build_chain(rollout, session, facts, derivation.evidence, mirrors, VerificationCommands(), DEFAULT_POLICY)


def test_a_noted_commit_with_its_attempts_and_the_verdict_that_counts():
    chain = chain_of(WAS.plus(RETRY, make_push(captured_at=at(3)), make_observation(captured_at=at(4))))
    (commit,) = chain.commits
    assert commit.found_by == ("Git note", "SessionCommitObservation ob1")
    assert [outcome.outcome_id for outcome in commit.outcomes] == ["o1", "o2"]
    assert commit.resolution is not None
    assert (commit.resolution.verdict, commit.selected, commit.presence) == ("failed", True, Presence.PRESENT)
    assert [(call.inference_call_id, call.segment) for call in chain.calls] == [("c1", 0)]


@pytest.mark.parametrize(
    ("extra", "unused"),
    [
        (
            {"outcome_id": "o9", "result": "failed"},
            {"o1": "conflicting_run_identity", "o9": "conflicting_run_identity"},
        ),
        ({"outcome_id": "o9", "run_attempt": 2, "repo": ""}, {"o1": "repository_identity_absent"}),
    ],
    ids=["a run that contradicts itself", "a run with an outcome of no repository"],
)
def test_outcomes_that_count_for_nothing_say_why(extra: dict[str, object], unused: dict[str, str]):
    (commit,) = chain_of(WAS.plus(make_outcome(captured_at=at(10), **extra))).commits
    found = {one.outcome.outcome_id: reason for one in commit.unused for reason in one.reasons}
    assert unused.items() <= found.items()
    assert (commit.outcomes, commit.resolution, commit.selected) == ((), None, False)


def test_an_earlier_commit_is_selected_when_the_last_has_no_verdict():
    state = replace(WAS, notes=(note(SHA, "s1"), note(OTHER_SHA, "s1")))
    chain = chain_of(state.plus(make_outcome(outcome_id="x", run_id="r9", commit_sha=OTHER_SHA, result="cancelled")))
    assert [(commit.key.commit_sha, commit.selected) for commit in chain.commits] == [(SHA, True), (OTHER_SHA, False)]


def test_similar_text_is_named_as_what_found_a_commit():
    chain = chain_of(replace(WAS, notes=()).plus(make_push(after_sha=SHA, captured_at=at(6))))
    assert [commit.found_by for commit in chain.commits] == [("similar text in a pushed commit",)]
    assert chain.pushes_near == ()


def test_a_session_without_commits_names_the_pushes_near_its_calls():
    near, far = make_push(captured_at=at(6)), make_push(push_id="p9", captured_at="2026-03-09T09:00:00Z")
    chain = chain_of(WAS.plus(near, far), "s2")
    assert chain.commits == ()
    assert [push.push_id for push in chain.pushes_near] == [near.push_id]


def test_a_commit_whose_repository_has_no_mirror_says_so():
    pushed = make_push(captured_at=at(3), **IDENTITY)
    state = replace(WAS, mirrored=False).plus(pushed, make_observation(captured_at=at(4), **IDENTITY))
    (commit,) = chain_of(state).commits
    assert (commit.presence, commit.committed_at) == (Presence.NO_MIRROR, 0)
    assert commit.found_by == ("SessionCommitObservation ob1",)
