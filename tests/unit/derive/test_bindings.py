"""Sessions bound to commits by observations and Git notes (derivation.md §6–7)."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from sediment_assets.derive.bindings import Bindings, bind_notes, bind_observations
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.mirrors.reader import Note
from sediment_assets.repositories.keys import CommitKey, LegacyKey, RepositoryKey
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import IDENTITY, ORG, REPO, SHA, make_observation, make_push, make_rename
from tests.histories import IDENTIFIED, LEGACY, make_note, sha
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryMirror, MemoryMirrors


def resolver_of(facts: Iterable[Any]) -> RepositoryResolver:
    reader = MemoryFacts(ORG, facts)
    return RepositoryResolver.build(ORG, reader.evidence(), reader.renames())


def noted(mirrors: Mapping[RepositoryKey, list[Note]], facts: Iterable[Any] = ()) -> Bindings:
    bindings = Bindings()
    store = MemoryMirrors({key: MemoryMirror(listed_notes=notes) for key, notes in mirrors.items()})
    bind_notes(store, resolver_of(facts), bindings)
    return bindings


def observed(*facts: Any) -> Bindings:
    bindings = Bindings()
    observations = MemoryFacts(ORG, facts).observations()
    bind_observations(observations, resolver_of(facts), bindings)
    return bindings


# --- notes (§6)


def test_notes_of_legacy_mirrors_bind_their_sessions_without_any_push() -> None:
    bindings = noted({LEGACY: [make_note(SHA, "s1", "s2"), make_note(sha(7), "s1")]})
    assert bindings.commits_of_session == {
        "s1": {CommitKey(LEGACY, SHA), CommitKey(LEGACY, sha(7))},
        "s2": {CommitKey(LEGACY, SHA)},
    }
    assert bindings.sessions_of_commit[CommitKey(LEGACY, SHA)] == {"s1", "s2"}
    assert not bindings.skipped


def test_notes_of_identified_mirrors_are_never_read() -> None:
    bindings = noted({IDENTIFIED: [make_note(SHA, "s1"), Note(sha(7), b"not a note")]})
    assert not bindings.commits_of_session
    assert not bindings.skipped


def test_a_legacy_mirror_whose_slug_does_not_resolve_counts_once_and_is_not_read() -> None:
    other = LegacyKey(ORG, "acme/other")
    notes = [make_note(SHA, "s1"), Note(sha(7), b"not a note")]
    bindings = noted({LEGACY: notes, other: [make_note(SHA, "s2")]}, [make_push(**IDENTITY)])
    assert bindings.commits_of_session == {"s2": {CommitKey(other, SHA)}}
    assert bindings.skipped == {"repository_identity_unresolved": 1}


def test_a_mirror_without_notes_counts_nothing() -> None:
    assert not noted({LEGACY: []}).skipped


@pytest.mark.parametrize("body", [None, b"", b"[]", b'{"v":2,"sessions":[]}'])
def test_each_unreadable_note_counts_once_and_the_others_still_bind(body: bytes | None) -> None:
    bindings = noted({LEGACY: [Note(sha(1), body), make_note(sha(2), "s1"), Note(sha(3), body)]})
    assert bindings.commits_of_session == {"s1": {CommitKey(LEGACY, sha(2))}}
    assert bindings.skipped == {"attribution_note_unreadable": 2}


def test_a_note_without_sessions_is_readable_and_binds_nothing() -> None:
    bindings = noted({LEGACY: [make_note(SHA)]})
    assert not bindings.commits_of_session
    assert not bindings.skipped


def test_a_session_id_in_a_note_is_never_trimmed() -> None:
    assert set(noted({LEGACY: [make_note(SHA, " s1 ")]}).commits_of_session) == {" s1 "}


def test_a_session_named_twice_in_a_note_is_bound_once() -> None:
    bindings = noted({LEGACY: [make_note(SHA, "s1", "s1")]})
    assert bindings.commits_of_session == {"s1": {CommitKey(LEGACY, SHA)}}


# --- observations (§7)

IDENTIFIED_PUSH = make_push(push_id="p7", **IDENTITY)


@pytest.mark.parametrize(
    ("push", "observation", "reason"),
    [
        (None, IDENTITY, "repository_source_absent"),
        (make_push(repo="acme/other"), {}, "repository_identity_conflict"),
        (make_push(), IDENTITY, "repository_identity_unresolved"),
        (make_push(**IDENTITY), {**IDENTITY, "repository_id": "43"}, "repository_identity_conflict"),
        (make_push(push_id="p2", **IDENTITY), {}, "repository_identity_unresolved"),
    ],
)
def test_an_observation_that_does_not_resolve_counts_under_its_reason(push: Any, observation: Any, reason: str) -> None:
    facts = [] if push is None else [push]
    bindings = observed(*facts, make_observation(**observation))
    assert bindings.skipped == {reason: 1}
    assert not bindings.commits_of_session
    assert not bindings.observations


@pytest.mark.parametrize("observation", [{}, IDENTITY])
def test_an_identified_observation_adds_its_commit(observation: Any) -> None:
    bindings = observed(make_push(**IDENTITY), make_observation(**observation))
    assert bindings.commits_of_session == {"s1": {CommitKey(IDENTIFIED, SHA)}}
    assert not bindings.skipped


@pytest.mark.parametrize("facts", [[], [make_push()]])
def test_a_legacy_observation_binds_but_adds_no_commit(facts: list[Any]) -> None:
    bindings = observed(*facts, make_observation())
    assert not bindings.commits_of_session
    assert not bindings.sessions_of_commit
    (listed,) = bindings.observed("s1", {CommitKey(LEGACY, SHA)})
    assert listed.observation_id == "ob1"


def ids(observations: Iterable[SessionCommitObservation]) -> list[str]:
    return [observation.observation_id for observation in observations]


def test_observations_of_one_commit_order_by_instant_then_id() -> None:
    bindings = observed(
        make_push(**IDENTITY),
        make_rename(),
        make_observation(observation_id="b", captured_at="2026-03-02T10:00:00Z"),
        make_observation(observation_id="a", captured_at="2026-03-02T11:00:00+01:00", repo=REPO),
        make_observation(observation_id="c", captured_at="2026-03-02T09:59:59.999999Z", repo="acme/gadget"),
    )
    assert ids(bindings.observed("s1", {CommitKey(IDENTIFIED, SHA)})) == ["c", "a", "b"]


def test_observations_order_by_commit_before_instant_and_only_the_commits_asked_for_are_listed() -> None:
    bindings = observed(
        IDENTIFIED_PUSH,
        make_observation(
            observation_id="late", commit_sha=sha(1), source_push_id="p7", captured_at="2026-03-02T12:00:00Z"
        ),
        make_observation(observation_id="early", commit_sha=sha(2), source_push_id="p7"),
        make_observation(observation_id="else", commit_sha=sha(3), source_push_id="p7"),
        make_observation(observation_id="other session", commit_sha=sha(1), source_push_id="p7", session_id="s2"),
        make_observation(observation_id="legacy", repo="acme/a", commit_sha=sha(1), source_push_id="none"),
    )
    commits = {
        CommitKey(IDENTIFIED, sha(1)),
        CommitKey(IDENTIFIED, sha(2)),
        CommitKey(LegacyKey(ORG, "acme/a"), sha(1)),
    }
    assert ids(bindings.observed("s1", commits)) == ["late", "early", "legacy"]
    assert bindings.observed("s3", commits) == ()
