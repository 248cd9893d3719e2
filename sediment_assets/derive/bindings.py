"""Proven bindings of Sessions to commits: SessionCommitObservations and Git notes (derivation.md §6–8)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field

from sediment_assets.derive.tally import AttributionSkip
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.mirrors.notes import note_sessions
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.repositories.keys import CommitKey, IdentifiedKey, LegacyKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver


@dataclass(slots=True)
class Bindings:
    """The note map of derivation.md §8, both ways, and the observations behind it.

    ``observations`` holds identified and legacy ones; only identified ones add a commit.
    """

    commits_of_session: defaultdict[str, set[CommitKey]] = field(default_factory=lambda: defaultdict(set))
    sessions_of_commit: defaultdict[CommitKey, set[str]] = field(default_factory=lambda: defaultdict(set))
    observations: defaultdict[str, list[tuple[CommitKey, SessionCommitObservation]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    skipped: Counter[str] = field(default_factory=Counter)

    def bind(self, session_id: str, commit: CommitKey) -> None:
        """Add one proven edge."""
        self.commits_of_session[session_id].add(commit)
        self.sessions_of_commit[commit].add(session_id)

    def observed(self, session_id: str, commits: Set[CommitKey]) -> tuple[SessionCommitObservation, ...]:
        """Return a Session's observations on these commits by (commit, captured_at, observation_id) (§10)."""
        found = [pair for pair in self.observations.get(session_id, ()) if pair[0] in commits]
        found.sort(key=lambda pair: (pair[0].sort_key, pair[1].captured_at, pair[1].observation_id))
        return tuple(observation for _, observation in found)


def bind_observations(
    observations: Iterable[SessionCommitObservation], resolver: RepositoryResolver, bindings: Bindings
) -> None:
    """Bind every observation that resolves; count the others under their reason (§7)."""
    for observation in observations:
        resolved = resolver.fact(observation)
        if isinstance(resolved, RepositoryReason):
            bindings.skipped[resolved] += 1
            continue
        commit = CommitKey(resolved.key, observation.commit_sha)
        bindings.observations[observation.session_id].append((commit, observation))
        if isinstance(resolved.key, IdentifiedKey):
            bindings.bind(observation.session_id, commit)


def bind_notes(mirrors: MirrorStore, resolver: RepositoryResolver, bindings: Bindings) -> None:
    """Bind the Sessions named by the notes of every legacy mirror, ascending by slug (§6)."""
    for key in mirrors.keys(resolver.org_id):
        mirror = mirrors.open(key) if isinstance(key, LegacyKey) else None
        if mirror is None or not isinstance(key, LegacyKey):
            continue
        resolved = resolver.reference(key.slug, None)
        if isinstance(resolved, RepositoryReason):
            bindings.skipped[resolved] += 1
            continue
        for note in mirror.notes():
            sessions = None if note.body is None else note_sessions(note.body)
            if sessions is None:
                bindings.skipped[AttributionSkip.NOTE_UNREADABLE] += 1
                continue
            for session in sessions:
                bindings.bind(session.session_id, CommitKey(resolved.key, note.annotated))


CommitsOfSession = Mapping[str, Set[CommitKey]]
"""session_id to the commits attributed to it."""
