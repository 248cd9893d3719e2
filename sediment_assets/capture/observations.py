"""SessionCommitObservations from the notes of pushed commits (mirrors.md §7.3).

No ``Source``: what is translated is a mirror, not a file. Ids and instants come from the evidence, never from a clock:
the same Pushes and notes give the same Facts on every machine, whenever the mirror was fetched. An observation bears
its Push's ``captured_at``, so that a derivation's ``as_of`` does not move because somebody fetched.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sediment_assets.capture.ids import fact_id
from sediment_assets.facts.scalars import normal_id
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.mirrors.notes import note_sessions
from sediment_assets.mirrors.reader import Note
from sediment_assets.mirrors.refresh import PushRange
from sediment_assets.repositories.keys import IdentifiedKey, RepositoryKey

MAX_COMMITS = 20
"""Newest commits of a Push whose notes are looked at (mirrors.md §7.3)."""


@dataclass(frozen=True, slots=True)
class NotedSessions:
    """What the notes of one mirror say."""

    sessions: Mapping[str, Sequence[str]]
    """Commit to the ids of its Sessions, sorted; usable notes only."""
    notes: int
    """Notes in the ref."""
    unreadable: int
    """Notes of another shape, which name no Session."""
    invalid_ids: int
    """Session ids that no Fact can hold, dropped."""


def read_notes(notes: Iterable[Note]) -> NotedSessions:
    """Take every note of a mirror into account."""
    sessions: dict[str, list[str]] = {}
    count = unreadable = invalid = 0
    for note in notes:
        count += 1
        found = None if note.body is None else note_sessions(note.body)
        if found is None:
            unreadable += 1
            continue
        ids = [_session_id(session.session_id) for session in found]
        invalid += ids.count(None)
        if named := sorted({session_id for session_id in ids if session_id is not None}):
            sessions[note.annotated] = named
    return NotedSessions(sessions, count, unreadable, invalid)


def _session_id(text: str) -> str | None:
    try:
        return normal_id(text)
    except ValueError:
        return None


def observe_pushes(
    key: RepositoryKey,
    pushes: Iterable[PushRange],
    noted: NotedSessions,
    push_commits: Callable[[str, str, bool, int], Sequence[str]],
) -> list[SessionCommitObservation]:
    """Observe every noted commit at the first Push that brought it; ``pushes`` are in the order of capture.

    All Pushes are looked at each time, not only new ones: a note may reach the remote after its commit did.
    """
    if not noted.sessions:
        return []
    found: dict[tuple[str, str], SessionCommitObservation] = {}
    for push in pushes:
        for sha in push_commits(push.before_sha, push.after_sha, push.forced, MAX_COMMITS):
            for session_id in noted.sessions.get(sha, ()):
                if (sha, session_id) not in found:
                    found[sha, session_id] = _observation(key, push, sha, session_id)
    return list(found.values())


def _observation(key: RepositoryKey, push: PushRange, sha: str, session_id: str) -> SessionCommitObservation:
    return SessionCommitObservation(
        repository_provider=key.provider if isinstance(key, IdentifiedKey) else None,
        repository_host=key.host if isinstance(key, IdentifiedKey) else None,
        repository_id=key.repository_id if isinstance(key, IdentifiedKey) else None,
        # The natural key (facts.md §6), so that one edge has one id, whichever Push shows it first.
        observation_id=fact_id(*key.sort_key, "session_commit_observation", sha, session_id),
        org_id=key.org_id,
        repo=push.repo,
        commit_sha=sha,
        session_id=session_id,
        source_push_id=push.push_id,
        captured_at=push.captured_at,
    )
