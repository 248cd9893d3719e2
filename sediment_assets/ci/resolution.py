"""CI runs to one verdict per commit (derivation.md §11, steps 5 and 6; targets.md §2).

The two record models are nested in target rows as they are, so their field order is key order. Grouping into
runs is ``runs.py``; which commit's verdict rewards a Rollout is ``selection.py``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cached_property

from pydantic import Field

from sediment_assets.ci.policy import CI_POLICY, CIResolutionPolicy
from sediment_assets.ci.runs import Attempt, CIRun, CISkip, CISkipReason, GroupedRuns, group_runs
from sediment_assets.derive.provenance import Provenance
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.vocabulary import CIProvider, CIResult
from sediment_assets.repositories.keys import CommitKey, IdentifiedKey, LegacyKey, RepositoryIdentity
from sediment_assets.repositories.resolver import RepositoryResolver


class Verdict(StrEnum):
    """What CI judged; every other CI result is no verdict (targets.md §2)."""

    PASSED = "passed"
    FAILED = "failed"


_VERDICTS = {CIResult.PASSED: Verdict.PASSED, CIResult.FAILED: Verdict.FAILED}


class CIWorkflowResolution(FrozenModel):
    """What one CI run, with all its attempts, says about its commit."""

    provider: CIProvider = Field(description="The CI system.")
    run_id: str = Field(description="The CI run, as the CI system names it.")
    workflow_id: str | None = Field(description="The workflow's id in the CI system; null when unknown.")
    workflow_name: str = Field(description="The workflow's display name; empty when unknown.")
    workflow_path: str | None = Field(
        description="File that defines the workflow, inside the repository; null when unknown."
    )
    branch: str = Field(description="Branch the CI run was started for; may be empty.")
    verdict: Verdict | None = Field(description="Result of the last attempt that passed or failed; null when none did.")
    reliability: float = Field(
        ge=0, le=1, description="How far the CI run is to be believed: 1.0 clean, 0.0 suspected flake."
    )
    suspected_flake: bool = Field(description="Whether the CI run both passed and failed.")
    source_outcome_ids: tuple[str, ...] = Field(description="All CI outcomes of the CI run, sorted.")
    verdict_outcome_id: str | None = Field(description="The CI outcome the verdict is from, if any.")
    non_verdict_outcome_ids: tuple[str, ...] = Field(description="CI outcomes that neither passed nor failed, sorted.")


class CIResolution(FrozenModel):
    """The judgement of one commit of one repository over all its CI runs."""

    org_id: str = Field(description="The organization.")
    repo: str = Field(description="Label `owner/name` of the repository; after a rename the smallest name ever seen.")
    commit_sha: str = Field(description="The commit judged.")
    verdict: Verdict | None = Field(
        description="The verdict all CI runs agree on; null when none has one, or two differ."
    )
    reliability: float | None = Field(
        ge=0, le=1, description="Smallest reliability of all CI runs; null without a verdict."
    )
    suspected_flake: bool = Field(description="Whether any CI run both passed and failed.")
    workflow_resolutions: tuple[CIWorkflowResolution, ...] = Field(
        description="One per CI run, by (provider, workflow_id, workflow_path, workflow_name, run_id)."
    )
    source_outcome_ids: tuple[str, ...] = Field(description="All CI outcomes considered, sorted.")
    verdict_outcome_ids: tuple[str, ...] = Field(
        description="CI outcomes the CI runs' verdicts are from, sorted; also when those disagree."
    )
    non_verdict_outcome_ids: tuple[str, ...] = Field(description="CI outcomes that neither passed nor failed, sorted.")
    provenance: Provenance = Field(description="CI resolution rules, quarantine state and CI policy.")
    repository_identity: RepositoryIdentity | None = Field(
        description="Identity of the repository; null when it is known by slug only."
    )

    @property
    def commit_key(self) -> CommitKey:
        """The commit judged, as other records name it."""
        identity = self.repository_identity
        if identity is None:
            return CommitKey(LegacyKey(self.org_id, self.repo), self.commit_sha)
        repository = IdentifiedKey(self.org_id, identity.provider, identity.host, identity.repository_id)
        return CommitKey(repository, self.commit_sha)

    @property
    def is_ambiguous(self) -> bool:
        """Whether two CI runs reached different verdicts."""
        return len({workflow.verdict for workflow in self.workflow_resolutions} - {None}) > 1


class CIResolutions:
    """The outcome of resolving one population of CI outcomes; records are made when they are asked for.

    A derivation asks for none of them: it needs ``kept`` and ``skipped``. ``skipped`` counts CI outcomes
    (repository reasons), CI runs (conflicting) and commits (ambiguous); it holds no zeros.
    """

    def __init__(
        self,
        grouped: GroupedRuns,
        resolver: RepositoryResolver,
        quarantine_revision: int,
        policy: CIResolutionPolicy,
    ) -> None:
        self._runs = grouped.runs
        self._resolver = resolver
        self._policy = policy
        self._provenance = Provenance(
            policy_version=policy.policy_version,
            quarantine_revision=quarantine_revision,
            policy_digest=policy.digest,
        )
        self.skipped: Counter[CISkipReason] = Counter(grouped.skipped)
        ambiguous = sum(len(_run_verdicts(runs)) > 1 for runs in self._runs.values())
        if ambiguous:
            self.skipped[CISkip.AMBIGUOUS_WORKFLOW_VERDICTS] = ambiguous

    @cached_property
    def kept(self) -> Mapping[CommitKey, tuple[str, ...]]:
        """Ids of the outcomes that count, per commit, ascending: a Rollout's terminal outcomes."""
        return {
            commit: tuple(sorted({attempt.outcome_id for run in runs for attempt in run.attempts}))
            for commit, runs in self._runs.items()
        }

    @cached_property
    def resolutions(self) -> tuple[CIResolution, ...]:
        """Every commit's resolution, by commit sort key."""
        return tuple(self.by_commit.values())

    @cached_property
    def by_commit(self) -> Mapping[CommitKey, CIResolution]:
        """Every commit's resolution; iterates by commit sort key."""
        commits = sorted(self._runs, key=lambda commit: commit.sort_key)
        return {commit: self._resolve(commit, self._runs[commit]) for commit in commits}

    def _resolve(self, commit: CommitKey, runs: list[CIRun]) -> CIResolution:
        workflows = sorted((_resolve_run(run, self._policy) for run in runs), key=_workflow_order)
        verdicts = _run_verdicts(runs)
        verdict = verdicts.pop() if len(verdicts) == 1 else None
        return CIResolution(
            org_id=commit.repository.org_id,
            repo=self._resolver.label(commit.repository),
            commit_sha=commit.commit_sha,
            verdict=verdict,
            # Over all CI runs, those without a verdict included.
            reliability=None if verdict is None else min(workflow.reliability for workflow in workflows),
            suspected_flake=any(workflow.suspected_flake for workflow in workflows),
            workflow_resolutions=tuple(workflows),
            source_outcome_ids=_union(workflow.source_outcome_ids for workflow in workflows),
            verdict_outcome_ids=_union(
                (workflow.verdict_outcome_id,) for workflow in workflows if workflow.verdict_outcome_id
            ),
            non_verdict_outcome_ids=_union(workflow.non_verdict_outcome_ids for workflow in workflows),
            provenance=self._provenance,
            repository_identity=commit.repository.identity,
        )


def resolve_outcomes(
    outcomes: Iterable[CIOutcome],
    resolver: RepositoryResolver,
    quarantine_revision: int,
    policy: CIResolutionPolicy = CI_POLICY,
) -> CIResolutions:
    """Resolve CI outcomes of one organization to verdicts (derivation.md §11).

    Reads ``outcomes`` once and keeps no outcome; ``raw`` is never looked at. Used twice: over all outcomes of
    an organization, and over one Rollout's. ``quarantine_revision`` goes into the provenance.
    """
    return CIResolutions(group_runs(outcomes, resolver), resolver, quarantine_revision, policy)


def _resolve_run(run: CIRun, policy: CIResolutionPolicy) -> CIWorkflowResolution:
    last = _verdict_attempt(run)
    non_verdicts = tuple(sorted(attempt.outcome_id for attempt in run.attempts if attempt.result not in _VERDICTS))
    is_flake = {CIResult.PASSED, CIResult.FAILED} <= {attempt.result for attempt in run.attempts}
    return CIWorkflowResolution(
        provider=run.provider,
        run_id=run.run_id,
        workflow_id=run.workflow_id or None,
        workflow_name=run.workflow_name,
        workflow_path=run.workflow_path or None,
        branch=run.branch,
        verdict=None if last is None else _VERDICTS[last.result],
        reliability=_reliability(policy, last is not None, is_flake, bool(non_verdicts)),
        suspected_flake=is_flake,
        source_outcome_ids=tuple(sorted(attempt.outcome_id for attempt in run.attempts)),
        verdict_outcome_id=None if last is None else last.outcome_id,
        non_verdict_outcome_ids=non_verdicts,
    )


def _reliability(policy: CIResolutionPolicy, has_verdict: bool, is_flake: bool, has_non_verdict: bool) -> float:
    if not has_verdict:
        return policy.non_verdict_reliability
    reliability = policy.suspected_flake_reliability if is_flake else policy.clean_reliability
    return min(reliability, policy.non_verdict_reliability) if has_non_verdict else reliability


def _verdict_attempt(run: CIRun) -> Attempt | None:
    """Give the last attempt that passed or failed; a later attempt without a verdict does not erase it."""
    return next((attempt for attempt in reversed(run.attempts) if attempt.result in _VERDICTS), None)


def _run_verdicts(runs: Iterable[CIRun]) -> set[Verdict]:
    """Collect the distinct verdicts of a commit's CI runs: one is the commit's verdict, two are ambiguous."""
    last_attempts = map(_verdict_attempt, runs)
    return {_VERDICTS[attempt.result] for attempt in last_attempts if attempt is not None}


def _workflow_order(workflow: CIWorkflowResolution) -> tuple[str, ...]:
    """Order of a commit's CI runs; run ids compare as text."""
    return (
        workflow.provider.value,
        workflow.workflow_id or "",
        workflow.workflow_path or "",
        workflow.workflow_name,
        workflow.run_id,
    )


def _union(groups: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(sorted({outcome_id for group in groups for outcome_id in group}))
