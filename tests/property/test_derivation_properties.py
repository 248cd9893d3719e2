"""Properties of the derivation over random organizations, and its agreement with the contract read naively."""

from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.derive.attribution import attribute_by_similarity
from sediment_assets.derive.bindings import Bindings, bind_notes, bind_observations
from sediment_assets.derive.fact_reader import SessionWindow, StoredCall
from sediment_assets.derive.scoring_text import scoring_text
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import equal
from sediment_assets.facts.messages import decode_messages
from sediment_assets.facts.push import Push
from sediment_assets.facts.quarantine import hidden_facts
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.rollouts.history import Continued, continuity
from sediment_assets.rollouts.models import Rollout
from sediment_assets.rollouts.scope import CohortScope
from sediment_assets.rollouts.segments import project_session
from tests.builders import ORG
from tests.profiles import examples
from tests.property import naive
from tests.property.strategies import (
    BASE,
    Population,
    conversations,
    message_lists,
    populations,
    respelled,
    stored_texts,
    written_populations,
)

derivations = settings(max_examples=examples(40))
small = settings(deadline=None)
MIDNIGHT = datetime(BASE.year, BASE.month, BASE.day, tzinfo=BASE.tzinfo)


def derive(population: Population, facts: Any = None, **options: Any) -> tuple[list[Rollout], Derivation]:
    derivation = Derivation(population.reader(facts), population.mirrors, population.policy, **options)
    return list(derivation.rollouts()), derivation


def visible(population: Population, kind: type[Any]) -> list[Any]:
    hidden = hidden_facts(enumerate(population.quarantine, 1))
    return [
        fact
        for fact in population.facts
        if isinstance(fact, kind) and (fact.org_id, fact.TABLE, fact.fact_id) not in hidden
    ]


# --- orders and windows


@derivations
@given(data=st.data(), population=populations())
def test_order_of_facts_does_not_matter(data: st.DataObject, population: Population) -> None:
    rollouts, derivation = derive(population)
    others, other = derive(population, data.draw(st.permutations(population.facts)))
    assert repr(others) == repr(rollouts)
    assert (other.skipped, other.fragmented) == (derivation.skipped, derivation.fragmented)
    assert other.evidence.as_of == derivation.evidence.as_of


@derivations
@given(population=populations(), users=st.none() | st.just(["u1"]))
def test_daily_windows_together_are_the_whole(population: Population, users: list[str] | None) -> None:
    scope = CohortScope.build(users=users)
    rollouts, derivation = derive(population, scope=scope)
    days = [MIDNIGHT + timedelta(days=day) for day in range(-1, 3)]
    parts = [derive(population, scope=scope, window=SessionWindow(start, end)) for start, end in pairwise(days)]
    together = sorted((rollout for part, _ in parts for rollout in part), key=lambda rollout: rollout.session_id)
    assert repr(together) == repr(rollouts)
    for counters in ("session_skipped", "fragmented", "excluded"):
        assert sum((getattr(part, counters) for _, part in parts), Counter()) == getattr(derivation, counters)
    assert all(part.evidence.skipped == derivation.evidence.skipped for _, part in parts)


@derivations
@given(population=populations())
def test_rollouts_and_their_parts_come_in_the_contracts_order(population: Population) -> None:
    rollouts, _ = derive(population)
    times = {f"{number:040x}": 100 * number for number in range(1, len(population.contents) + 1)}
    assert [rollout.session_id for rollout in rollouts] == sorted(
        {call.session_id for call in visible(population, InferenceCall)}
    )
    for rollout in rollouts:
        decided = [turn.decisions for segment in rollout.segments for turn in segment]
        assert all(list(found) == sorted(found, key=lambda d: (d.occurred_at, d.decision_id)) for found in decided)
        mirrored = {(key.slug if key.identity is None else key.identity) for key in population.mirrored}
        placed = [
            times.get(c.commit_sha, 0) if (c.repository_identity or c.repo) in mirrored else 0 for c in rollout.commits
        ]
        assert placed == sorted(placed)
        assert len(set(rollout.commits)) == len(rollout.commits)


# --- Sessions


@derivations
@given(population=populations())
def test_every_call_is_one_turn_and_every_decision_is_attached_subsumed_or_counted_once(
    population: Population,
) -> None:
    rollouts, derivation = derive(population)
    calls = visible(population, InferenceCall)
    turns = [turn for rollout in rollouts for segment in rollout.segments for turn in segment]
    assert [turn.inference_call_id for turn in turns] == [
        call.inference_call_id
        for call in sorted(calls, key=lambda call: (call.session_id, call.observed_at, call.inference_call_id))
    ]
    decisions = visible(population, DeveloperDecision)
    decisions = [one for one in decisions if one.session_id in {call.session_id for call in calls}]
    attached = [decision.decision_id for turn in turns for decision in turn.decisions]
    subsumed = [decision.decision_id for decision in decisions if naive.is_subsumed(decision, decisions)]
    assert len({*attached, *subsumed}) == len(attached) + len(subsumed)
    counted = derivation.session_skipped.total()
    assert len(attached) + len(subsumed) + counted == len(decisions)


def stored(said: list[tuple[str, str]]) -> list[StoredCall]:
    """Calls of one Session from their stored (input, output) texts."""
    return [
        StoredCall(f"c{number}", "s1", None, None, BASE + timedelta(seconds=number), given, output)
        for number, (given, output) in enumerate(said)
    ]


@st.composite
def stored_conversations(draw: st.DrawFn) -> list[StoredCall]:
    """Calls of one Session whose texts say the same in many spellings."""
    return stored([(draw(stored_texts(given)), draw(stored_texts(said))) for given, said in draw(conversations())])


@small
@given(calls=stored_conversations())
def test_continuity_by_text_is_continuity_by_value(calls: list[StoredCall]) -> None:
    for previous, current in pairwise(calls):
        found = continuity(previous, decode_messages(previous.output_text), current)
        expected = naive.continuity(previous.input_text, previous.output_text, current.input_text)
        assert (None if isinstance(found, Continued) else found) == expected


@small
@given(data=st.data(), given_messages=message_lists, said=message_lists)
def test_a_history_said_otherwise_is_the_same_history(data: st.DataObject, given_messages: Any, said: Any) -> None:
    history = given_messages + said
    calls = stored([(data.draw(stored_texts(given_messages)), data.draw(stored_texts(said)))])
    calls += stored([(data.draw(stored_texts(data.draw(respelled(history)))), "[]")])
    found = continuity(calls[0], decode_messages(calls[0].output_text), calls[1])
    assert isinstance(found, Continued) or found == "prior_output_absent"


@small
@given(calls=stored_conversations())
def test_new_messages_of_a_segment_are_all_messages_of_its_last_call(calls: list[StoredCall]) -> None:
    by_id = {call.inference_call_id: call for call in calls}
    projected = project_session(calls, ())
    assert sum(map(len, projected.segments)) == len(calls)
    assert projected.fragmented.total() == len(projected.segments) - 1
    for segment in projected.segments:
        joined = [message for turn in segment for message in turn.new_messages]
        last = decode_messages(by_id[segment[-1].inference_call_id].input_text)
        assert equal(naive.history(joined), naive.history(last))
        for turn in segment:
            own = decode_messages(by_id[turn.inference_call_id].input_text)
            new = list(turn.new_messages)
            assert repr(new) == repr(own[len(own) - len(new) :])


@small
@given(output=message_lists)
def test_scoring_text_is_the_naive_one(output: Any) -> None:
    assert scoring_text(output) == naive.scoring_text(output)


# --- attribution


@settings(max_examples=examples(150))
@given(population=written_populations)
def test_attribution_is_the_naive_one(population: Population) -> None:
    reader, mirrors = population.reader(), population.mirrors
    resolver = RepositoryResolver.build(ORG, reader.evidence(), reader.renames())
    bindings = Bindings()
    bind_observations(reader.observations(), resolver, bindings)
    bind_notes(mirrors, resolver, bindings)
    found = attribute_by_similarity(reader, mirrors, resolver, bindings, population.policy)
    calls, pushes = visible(population, InferenceCall), visible(population, Push)
    won, skipped = naive.attribute(population, pushes, calls, resolver, dict(bindings.sessions_of_commit))
    assert {(session, commit) for session, commits in found.commits_of_session.items() for commit in commits} == won
    assert found.skipped == skipped


@derivations
@given(population=written_populations)
def test_commits_are_the_proven_ones_or_else_the_won_ones(population: Population) -> None:
    rollouts, derivation = derive(population)
    evidence = derivation.evidence
    sessions_of_commit = dict(evidence.bindings.sessions_of_commit)
    calls, pushes = visible(population, InferenceCall), visible(population, Push)
    won, skipped = naive.attribute(population, pushes, calls, evidence.resolver, sessions_of_commit)
    unproven = 0
    for rollout in rollouts:
        commits = {commit for commit, named in sessions_of_commit.items() if rollout.session_id in named}
        assert rollout.attribution_source == ("git_notes" if commits else "jaccard")
        if not commits:
            unproven += 1
            commits = {commit for session_id, commit in won if session_id == rollout.session_id}
        assert {(commit.repo, commit.commit_sha) for commit in rollout.commits} == {
            (evidence.resolver.label(commit.repository), commit.commit_sha) for commit in commits
        }
    assert evidence.attribution.skipped == (skipped if unproven else Counter())
