"""From a Session's Facts to its rows, link by link: calls, commits, CI outcomes, the selected verdict, the targets.

Everything is taken from the derivation and the projection themselves; here it is only laid out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sediment_assets.ci.resolution import CIResolution
from sediment_assets.ci.runs import group_runs, run_key
from sediment_assets.derive.attribution import minutes_away
from sediment_assets.derive.fact_reader import FactReader, StoredSession
from sediment_assets.derive.policy import DerivationPolicy
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.push import Push
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.lineage.answers import Answer, answers
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.repositories.keys import CommitKey, LegacyKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.derivation import Evidence
from sediment_assets.rollouts.models import AttributionSource, Rollout
from sediment_assets.targets.rollout_evidence import RolloutEvidence, commit_keys, resolve_rollout
from sediment_assets.targets.verification_commands import VerificationCommands


class Presence(StrEnum):
    """What the mirror of a commit's repository knows of it."""

    PRESENT = "in the mirror"
    ABSENT = "not in the mirror"
    NO_MIRROR = "no mirror"


@dataclass(frozen=True, slots=True)
class CallLink:
    """One InferenceCall, and the Segment and decisions that it led to."""

    inference_call_id: str
    observed_at: datetime
    segment: int
    decisions: tuple[DeveloperDecision, ...]


@dataclass(frozen=True, slots=True)
class UnusedOutcome:
    """A visible CI outcome on one of the Session's commits that counts for nothing, and why."""

    outcome: CIOutcome
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommitLink:
    """One commit of a Rollout: how it was found, what CI said."""

    key: CommitKey
    repo: str
    committed_at: int
    """Unix seconds of the committer date; 0 when it cannot be read."""
    presence: Presence
    found_by: tuple[str, ...]
    outcomes: tuple[CIOutcome, ...]
    unused: tuple[UnusedOutcome, ...]
    resolution: CIResolution | None
    selected: bool
    """Whether its verdict is the one that rewards the Rollout."""


@dataclass(frozen=True, slots=True)
class SessionChain:
    """One Session, from its Facts to what the targets make of it."""

    rollout: Rollout
    calls: tuple[CallLink, ...]
    commits: tuple[CommitLink, ...]
    pushes_near: tuple[Push, ...]
    """For a Session without commits: Pushes whose commits were compared with what its calls wrote."""
    without_mirror: tuple[str, ...]
    """For a Session without commits: repositories that Pushes name and that have no mirror, so no note was seen."""
    answers: tuple[Answer, ...]


def build_chain(
    rollout: Rollout,
    session: StoredSession,
    facts: FactReader,
    evidence: Evidence,
    mirrors: MirrorStore,
    commands: VerificationCommands,
    policy: DerivationPolicy,
) -> SessionChain:
    """Lay out a derived Rollout.

    :raises MirrorError: when a mirror cannot be read at all.
    """
    resolver = evidence.resolver
    ci = resolve_rollout(rollout, resolver)
    selected = RolloutEvidence(rollout, ci, resolver).selected
    resolutions = {resolution.commit_key: resolution for resolution in ci.resolutions}
    keys = commit_keys(rollout, resolver)
    on_commits = _outcomes_on(facts, {key.commit_sha for key in keys})
    commits = tuple(
        CommitLink(
            key,
            resolver.label(key.repository),
            _committer_time(mirrors, key),
            _presence(mirrors, key),
            found_by(key, rollout, evidence),
            tuple(one for one in rollout.terminal_outcomes if _is_on(one, key, resolver)),
            _unused(key, rollout, on_commits, resolver),
            resolutions.get(key),
            selected is not None and selected.commit_key == key,
        )
        for key in keys
    )
    return SessionChain(
        rollout,
        _calls(rollout, session),
        commits,
        () if keys else _pushes_near(session, facts, policy),
        () if keys else _without_mirror(facts, resolver, mirrors),
        answers(rollout, ci, resolver, mirrors, commands),
    )


def _pushes_near(session: StoredSession, facts: FactReader, policy: DerivationPolicy) -> tuple[Push, ...]:
    """Return the Pushes whose wide window holds a call of the Session (derivation.md §9, step 3)."""
    instants = [call.observed_at for call in session.calls]

    def is_near(push: Push) -> bool:
        start = minutes_away(push.captured_at, -policy.jaccard.lookback_window_minutes)
        end = minutes_away(push.captured_at, policy.post_push_grace_period_minutes)
        return any(start <= instant <= end for instant in instants)

    return tuple(filter(is_near, facts.pushes()))


def _without_mirror(facts: FactReader, resolver: RepositoryResolver, mirrors: MirrorStore) -> tuple[str, ...]:
    resolved = map(resolver.fact, facts.pushes())
    labels = {one.key: one.label for one in resolved if not isinstance(one, RepositoryReason)}
    return tuple(sorted(label for key, label in labels.items() if mirrors.open(key) is None))


def _calls(rollout: Rollout, session: StoredSession) -> tuple[CallLink, ...]:
    observed = {call.inference_call_id: call.observed_at for call in session.calls}
    return tuple(
        CallLink(turn.inference_call_id, observed[turn.inference_call_id], index, turn.decisions)
        for index, segment in enumerate(rollout.segments)
        for turn in segment
    )


def found_by(commit: CommitKey, rollout: Rollout, evidence: Evidence) -> tuple[str, ...]:
    """Say what binds a Session to a commit: observations, the note of a legacy mirror, or similar text."""
    if rollout.attribution_source is AttributionSource.JACCARD:
        return ("similar text in a pushed commit",)
    bindings = evidence.bindings
    observed = [one for key, one in bindings.observations.get(rollout.session_id, ()) if key == commit]
    # Only notes bind to a commit of a repository known by slug; its observations are listed, and bind nothing.
    notes = ("Git note",) if isinstance(commit.repository, LegacyKey) else ()
    return (*notes, *map(_observation_text, observed))


def _observation_text(observation: SessionCommitObservation) -> str:
    return f"SessionCommitObservation {observation.observation_id}"


def _presence(mirrors: MirrorStore, key: CommitKey) -> Presence:
    mirror = mirrors.open(key.repository)
    if mirror is None:
        return Presence.NO_MIRROR
    return Presence.PRESENT if mirror.commit_exists(key.commit_sha) else Presence.ABSENT


def _committer_time(mirrors: MirrorStore, key: CommitKey) -> int:
    mirror = mirrors.open(key.repository)
    return 0 if mirror is None else mirror.committer_time(key.commit_sha)


def _is_on(outcome: CIOutcome, key: CommitKey, resolver: RepositoryResolver) -> bool:
    resolved = resolver.fact(outcome)
    return not isinstance(resolved, RepositoryReason) and CommitKey(resolved.key, outcome.commit_sha) == key


def _outcomes_on(facts: FactReader, shas: Iterable[str]) -> Mapping[str, Sequence[CIOutcome]]:
    """Return the outcomes of every CI run that touches one of these commits, by commit; whole runs, to judge them."""
    wanted = set(shas)
    if not wanted:
        return {}
    touching = {run_key(outcome) for outcome in facts.ci_outcomes() if outcome.commit_sha in wanted}
    found: dict[str, list[CIOutcome]] = {}
    for outcome in facts.ci_outcomes():
        if run_key(outcome) in touching:
            found.setdefault("\0".join(run_key(outcome)), []).append(outcome)
    return found


def _unused(
    key: CommitKey, rollout: Rollout, runs: Mapping[str, Sequence[CIOutcome]], resolver: RepositoryResolver
) -> tuple[UnusedOutcome, ...]:
    """Judge each run again, alone, and take what of this commit it lost."""
    used = {outcome.outcome_id for outcome in rollout.terminal_outcomes}
    unused = []
    for run in runs.values():
        reasons = tuple(str(reason) for reason in group_runs(run, resolver).skipped)
        unused += [
            UnusedOutcome(outcome, reasons)
            for outcome in run
            if outcome.commit_sha == key.commit_sha and outcome.outcome_id not in used and reasons
        ]
    return tuple(unused)
