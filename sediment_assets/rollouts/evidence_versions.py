"""What a day's Rollouts are derived from, as one digest for each kind of evidence (design.md §5).

A Fact never changes and neither does a Git object, so ids and commit ids stand for what they name. Two equal digests
mean equal Rollouts and equal Reference patches under one policy and one program; the quarantine revision, which every
row repeats, is no evidence. No captured text is read for the Sessions themselves, so this costs a derivation's
organization-wide steps and little more.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from sediment_assets.derive.fact_reader import FactReader, SessionFacts, SessionWindow
from sediment_assets.facts.json_values import encode_canonical
from sediment_assets.mirrors.reader import MirrorError, MirrorStore
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.rollouts.derivation import Evidence


class EvidenceKind(StrEnum):
    """Kinds of evidence that can change a day: tables of Facts, and what the mirrors say."""

    INFERENCE_CALLS = "inference_calls"
    DEVELOPER_DECISIONS = "developer_decisions"
    CI_OUTCOMES = "ci_outcomes"
    SESSION_COMMIT_OBSERVATIONS = "session_commit_observations"
    PUSHES = "pushes"
    REPOSITORY_RENAMES = "repository_renames"
    COMMITS = "commits"


_Parts = Mapping[EvidenceKind, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class KindVersion:
    """One kind of evidence of one day: its digest, and how many Facts or commits it covers."""

    digest: str
    items: int


def session_parts(
    facts: FactReader, mirrors: MirrorStore, evidence: Evidence, window: SessionWindow | None = None
) -> Iterator[tuple[SessionFacts, _Parts]]:
    """Yield every Session of a window, or all, with what each kind of evidence says of it; absent kinds are empty."""
    states = _CommitStates(mirrors)
    for session in facts.session_facts(window):
        proven = evidence.bindings.commits_of_session.get(session.session_id)
        matched = evidence.attribution.commits_of_session.get(session.session_id, ())
        commits = sorted(proven or matched, key=lambda commit: commit.sort_key)
        kept = ((commit, evidence.ci.kept.get(commit, ())) for commit in commits)
        yield (
            session,
            {
                EvidenceKind.INFERENCE_CALLS: session.call_ids,
                EvidenceKind.DEVELOPER_DECISIONS: session.decision_ids,
                EvidenceKind.CI_OUTCOMES: [(commit.sort_key, id_) for commit, ids in kept for id_ in ids],
                EvidenceKind.SESSION_COMMIT_OBSERVATIONS: [
                    observation.observation_id
                    for observation in evidence.bindings.observed(session.session_id, set(commits))
                ],
                EvidenceKind.PUSHES: () if proven else [commit.sort_key for commit in commits],
                EvidenceKind.REPOSITORY_RENAMES: sorted(
                    {(commit.repository.sort_key, evidence.resolver.label(commit.repository)) for commit in commits}
                ),
                EvidenceKind.COMMITS: [(commit.sort_key, *states.of(commit)) for commit in commits],
            },
        )


class _CommitStates:
    """What the mirrors have of a commit: a mirror that appears later changes its order and its patch."""

    def __init__(self, mirrors: MirrorStore) -> None:
        self._mirrors = mirrors
        self._known: dict[CommitKey, tuple[str, ...]] = {}

    def of(self, commit: CommitKey) -> tuple[str, ...]:
        if commit not in self._known:
            self._known[commit] = self._find(commit)
        return self._known[commit]

    def _find(self, commit: CommitKey) -> tuple[str, ...]:
        mirror = self._mirrors.open(commit.repository)
        if mirror is None:
            return ("no mirror",)
        if not mirror.commit_exists(commit.commit_sha):
            return ("no commit",)
        try:
            parent = mirror.first_parent(commit.commit_sha)
        except MirrorError:
            return ("unreadable",)
        if parent is None:
            return ("root",)
        return ("parent",) if mirror.commit_exists(parent) else ("no parent",)


@dataclass(slots=True)
class DayVersions:
    """The versions of many days, while Sessions are added in ascending order; memory grows with the days alone."""

    _digests: dict[tuple[date, EvidenceKind], Any] = field(default_factory=dict)
    _items: dict[tuple[date, EvidenceKind], int] = field(default_factory=dict)

    def add(self, session: SessionFacts, parts: _Parts) -> None:
        """Take one Session into account."""
        day = day_of(session.first_observed_at)
        for kind, items in parts.items():
            if items:
                line = encode_canonical([session.session_id, *items])
                self._digests.setdefault((day, kind), sha256()).update(line.encode() + b"\n")
                self._items[day, kind] = self._items.get((day, kind), 0) + len(items)

    def days(self) -> dict[date, dict[EvidenceKind, KindVersion]]:
        """Return the version of every kind that says anything, by day."""
        found: dict[date, dict[EvidenceKind, KindVersion]] = {}
        for (day, kind), digest in self._digests.items():
            found.setdefault(day, {})[kind] = KindVersion(digest.hexdigest(), self._items[day, kind])
        return found


def day_of(instant: datetime) -> date:
    """Return the UTC day in which a Session belongs, given its first visible call's instant."""
    return instant.astimezone(UTC).date()


def evidence_version(versions: Mapping[EvidenceKind, KindVersion]) -> str:
    """Digest everything that a day is derived from; a day without evidence has a version, too."""
    plain = {kind.value: version.digest for kind, version in versions.items()}
    return sha256(encode_canonical(plain).encode()).hexdigest()


NO_EVIDENCE: Final = evidence_version({})
"""Version of a day without Sessions."""
