"""The whole derivation, step by step as in derivation.md §4: Facts and mirrors to Rollouts, one Session at a time."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Final

from sediment_assets.ci.resolution import CIResolutions, resolve_outcomes
from sediment_assets.derive.attribution import Attribution, all_sessions_bound, attribute_by_similarity
from sediment_assets.derive.attribution_memo import AttributionMemo, remembered_attribution
from sediment_assets.derive.bindings import Bindings, bind_notes, bind_observations
from sediment_assets.derive.fact_reader import FactReader, SessionWindow, StoredSession
from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy
from sediment_assets.derive.provenance import ROLLOUT_VERSION, Provenance
from sediment_assets.derive.split import split_of
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import AttributionSource, CommitRef, Rollout, Segment
from sediment_assets.rollouts.scope import WHOLE_ORGANIZATION, CohortScope
from sediment_assets.rollouts.segments import project_session


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a derivation knows of the whole organization before it looks at the first Session."""

    org_id: str
    as_of: datetime | None
    quarantine_revision: int
    resolver: RepositoryResolver
    bindings: Bindings
    attribution: Attribution
    ci: CIResolutions
    skipped: Counter[str]
    """Organization-wide counters: observations, mirrors, notes, Pushes, commits, sections, files, CI runs."""


def gather_evidence(
    facts: FactReader, mirrors: MirrorStore, policy: DerivationPolicy, memo: AttributionMemo | None = None
) -> Evidence:
    """Do the organization-wide steps (derivation.md §4, steps 1–6).

    ``memo`` spares the similarity fallback over evidence that it has seen; nothing else changes.

    :raises MirrorError: when a mirror that exists cannot be read at all.
    """
    as_of = facts.as_of()
    revision = facts.quarantine_revision()
    resolver = facts.resolver()
    bindings = Bindings()
    bind_observations(facts.observations(), resolver, bindings)
    attribution = Attribution({}, Counter())
    ci = resolve_outcomes((), resolver, revision)
    if next(facts.session_ids_with_calls(), None) is not None:
        bind_notes(mirrors, resolver, bindings)
        if not all_sessions_bound(facts.session_ids_with_calls(), bindings):
            attribution = (
                attribute_by_similarity(facts, mirrors, resolver, bindings, policy)
                if memo is None
                else remembered_attribution(facts, mirrors, resolver, bindings, policy, memo)
            )
        ci = resolve_outcomes(facts.ci_outcomes(), resolver, revision)
    skipped = Counter(bindings.skipped)
    skipped.update(attribution.skipped)
    skipped.update({str(reason): count for reason, count in ci.skipped.items()})
    return Evidence(facts.org_id, as_of, revision, resolver, bindings, attribution, ci, skipped)


class Derivation:
    """One derivation run over one snapshot of Facts and one set of locked mirrors.

    ``rollouts()`` streams; the counters are complete once it is exhausted. ``window`` restricts the Sessions, never the
    evidence: a partition's Rollouts equal those of the whole organization (design.md §5). ``memo`` spares time alone.
    """

    def __init__(
        self,
        facts: FactReader,
        mirrors: MirrorStore,
        policy: DerivationPolicy = DEFAULT_POLICY,
        *,
        scope: CohortScope = WHOLE_ORGANIZATION,
        window: SessionWindow | None = None,
        memo: AttributionMemo | None = None,
    ) -> None:
        self._facts = facts
        self._mirrors = mirrors
        self._scope = scope
        self._window = window
        self.policy = policy
        self.evidence = gather_evidence(facts, mirrors, policy, memo)
        self.provenance = Provenance(
            policy_version=ROLLOUT_VERSION,
            quarantine_revision=self.evidence.quarantine_revision,
            policy_digest=policy.digest,
        )
        self.session_skipped: Counter[str] = Counter()
        self.fragmented: Counter[str] = Counter()
        self.excluded: Counter[str] = Counter()

    @property
    def org_id(self) -> str:
        """The organization."""
        return self.evidence.org_id

    @property
    def resolver(self) -> RepositoryResolver:
        """Repository identity over the organization's evidence."""
        return self.evidence.resolver

    @property
    def as_of(self) -> datetime | None:
        """Latest capture instant of the evidence (facts.md §11.5)."""
        return self.evidence.as_of

    @property
    def quarantine_revision(self) -> int:
        """The organization's quarantine revision in the snapshot."""
        return self.evidence.quarantine_revision

    @property
    def bundle_digest(self) -> None:
        """A running derivation is no bundle."""
        return

    @cached_property
    def mirror_revisions(self) -> Mapping[str, Mapping[str, str]]:
        """The refs of every mirror of the organization (mirrors.md §4).

        :raises MirrorError: when the refs of any of them cannot be listed.
        """
        return self._mirrors.revisions(self.org_id)

    @property
    def skipped(self) -> Counter[str]:
        """All ``rollout`` counters so far: the organization's and those of the Sessions seen."""
        return self.evidence.skipped + self.session_skipped

    def rollouts(self) -> Iterator[Rollout]:
        """Yield the Rollouts in scope, ascending by session_id. To be consumed once."""
        for drafts in self._drafts():
            wanted = [outcome_id for draft in drafts for outcome_id in draft.outcome_ids]
            outcomes = self._facts.full_ci_outcomes(wanted) if wanted else {}
            for draft in drafts:
                yield self._rollout(draft, outcomes)

    def _drafts(self) -> Iterator[list["_Draft"]]:
        """Yield the Sessions in scope, a few at a time, so that their CI outcomes are read with one question."""
        drafts: list[_Draft] = []
        size = 0
        for session in self._facts.sessions(self._window):
            draft = self._draft(session)
            exclusion = self._scope.exclusion(session.calls)
            if exclusion is not None:
                self.excluded[exclusion] += 1
                continue
            drafts.append(draft)
            size += max(len(call.input_text) for call in session.calls)
            if len(drafts) == _DRAFTS or size >= _DRAFTS_SIZE:
                yield drafts
                drafts, size = [], 0
        if drafts:
            yield drafts

    def _draft(self, session: StoredSession) -> "_Draft":
        projected = project_session(session.calls, session.decisions)
        self.session_skipped.update(projected.skipped)
        self.fragmented.update(projected.fragmented)
        source, keys = self._attributed(session.session_id)
        commits = self._ordered(keys)
        kept = self.evidence.ci.kept
        ids = [outcome_id for commit in commits for outcome_id in kept.get(commit, ())]
        return _Draft(session.session_id, projected.segments, commits, source, ids)

    def _rollout(self, draft: "_Draft", outcomes: Mapping[str, CIOutcome]) -> Rollout:
        return Rollout(
            org_id=self.evidence.org_id,
            session_id=draft.session_id,
            segments=draft.segments,
            commits=tuple(self._commit_ref(commit) for commit in draft.commits),
            attribution_source=draft.attribution_source,
            terminal_outcomes=tuple(outcomes[outcome_id] for outcome_id in draft.outcome_ids),
            provenance=self.provenance,
            split=split_of(draft.session_id, self.policy.eval_fraction),
            session_commit_observations=self.evidence.bindings.observed(draft.session_id, set(draft.commits)),
        )

    def _attributed(self, session_id: str) -> tuple[AttributionSource, Collection[CommitKey]]:
        """Choose a Session's commits: proven bindings switch the fallback off (derivation.md §8)."""
        proven = self.evidence.bindings.commits_of_session.get(session_id)
        if proven:
            return AttributionSource.GIT_NOTES, proven
        return AttributionSource.JACCARD, self.evidence.attribution.commits_of_session.get(session_id, ())

    def _ordered(self, commits: Collection[CommitKey]) -> list[CommitKey]:
        """Order commits by committer time, 0 when it cannot be read, then by commit sort key (derivation.md §10)."""
        return sorted(commits, key=lambda commit: (self._committer_time(commit), commit.sort_key))

    def _committer_time(self, commit: CommitKey) -> int:
        mirror = self._mirrors.open(commit.repository)
        return mirror.committer_time(commit.commit_sha) if mirror is not None else 0

    def _commit_ref(self, commit: CommitKey) -> CommitRef:
        label = self.evidence.resolver.label(commit.repository)
        return CommitRef(label, commit.commit_sha, commit.repository.identity)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A Session on its way to a Rollout: projected, its CI outcomes known by id."""

    session_id: str
    segments: tuple[Segment, ...]
    commits: list[CommitKey]
    attribution_source: AttributionSource
    outcome_ids: list[str]


_DRAFTS: Final = 32
"""Most Sessions held at once …"""
_DRAFTS_SIZE: Final = 2**23
"""… and about how many characters of captured text."""
