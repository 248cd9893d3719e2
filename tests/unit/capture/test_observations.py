"""SessionCommitObservations from notes of pushed commits (mirrors.md §7.3)."""

import json
from dataclasses import replace
from datetime import UTC, datetime

from sediment_assets.capture.observations import MAX_COMMITS, observe_pushes, read_notes
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.reader import Note
from sediment_assets.mirrors.refresh import PushRange
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from tests.builders import IDENTITY, ORG, make_observation

KEY = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42")
A, B, C = "a" * 40, "b" * 40, "c" * 40


def note(sha: str, *session_ids: str, **changes) -> Note:
    sessions = [{"tool": "t", "session_id": session_id, "stamped_at": ""} for session_id in session_ids]
    return Note(sha, json.dumps({"v": 1, "sessions": sessions} | changes).encode())


def push(push_id: str = "p1", after: str = A, *, hour: int = 9, repo: str = "acme/widget") -> PushRange:
    return PushRange(push_id, repo, "0" * 40, after, False, datetime(2026, 3, 2, hour, tzinfo=UTC))


def commits_of(**ranges):
    asked = []

    def push_commits(before, after, forced, limit):
        asked.append(limit)
        return ranges.get(after[0], [after])

    push_commits.asked = asked
    return push_commits


def test_an_observation_has_its_pushs_repository_and_instant():
    [found] = observe_pushes(KEY, [push()], read_notes([note(A, "s1")]), commits_of())
    expected = make_observation(commit_sha=A, captured_at="2026-03-02T09:00:00Z", **IDENTITY)
    assert found.model_dump() == expected.model_dump() | {"observation_id": found.observation_id}


def test_the_first_push_that_brought_a_commit_is_its_source():
    pushes = [push("p1", A), push("p2", B, hour=10), push("p3", C, hour=11)]
    push_commits = commits_of(b=[A, B], c=[A, B, C])
    found = observe_pushes(KEY, pushes, read_notes([note(A, "s2", "s1"), note(C, "s1")]), push_commits)
    assert [(o.source_push_id, o.commit_sha[0], o.session_id) for o in found] == [
        ("p1", "a", "s1"), ("p1", "a", "s2"), ("p3", "c", "s1"),
    ]  # fmt: skip
    assert set(push_commits.asked) == {MAX_COMMITS} == {20}


def test_one_edge_has_one_id_whichever_push_and_name_shows_it():
    noted = read_notes([note(A, "s1")])
    ids = {
        observe_pushes(KEY, [push(push_id, hour=hour, repo=repo)], noted, commits_of())[0].observation_id
        for push_id, hour, repo in (("p1", 9, "acme/widget"), ("p2", 10, "acme/gadget"))
    }
    assert len(ids) == 1
    for key in (LegacyKey(ORG, "acme/widget"), replace(KEY, org_id="other")):
        ids.add(observe_pushes(key, [push()], noted, commits_of())[0].observation_id)
    ids.add(observe_pushes(KEY, [push()], read_notes([note(A, "s2")]), commits_of())[0].observation_id)
    ids.add(observe_pushes(KEY, [push(after=B)], read_notes([note(B, "s1")]), commits_of())[0].observation_id)
    assert len(ids) == 5


def test_a_legacy_push_gives_a_legacy_observation():
    [found] = observe_pushes(LegacyKey(ORG, "acme/widget"), [push()], read_notes([note(A, "s1")]), commits_of())
    assert not found.is_identified


def test_notes_of_another_shape_and_ids_no_fact_can_hold_are_counted():
    noted = read_notes([note(A, " s1 ", "s1", "", "\ud800"), note(B, "s", v=2), Note(C, None)])
    assert (noted.sessions, noted.notes, noted.unreadable, noted.invalid_ids) == ({A: ["s1"]}, 3, 2, 2)


def test_without_notes_no_push_is_looked_at():
    push_commits = commits_of()
    assert observe_pushes(KEY, [push()], read_notes([]), push_commits) == []
    assert push_commits.asked == []
