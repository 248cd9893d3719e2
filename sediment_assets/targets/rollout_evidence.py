"""What every target asks of one Rollout: its commits as keys, its CI evidence, what was selected (targets.md §2, §6.6).

Made once per Rollout and shared by its rows. Which commit is selected is ``ci/selection.py``'s rule.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from sediment_assets.ci.resolution import CIResolution, resolve_outcomes
from sediment_assets.ci.runs import CISkipReason
from sediment_assets.ci.selection import resolution_counters, select_resolution
from sediment_assets.errors import SedimentError
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout


class ForeignResolutionsError(SedimentError):
    """Stored CI resolutions that were not made from the Rollout's own CI outcomes."""


@dataclass(frozen=True, slots=True)
class RolloutCI:
    """One Rollout's CI resolutions, by commit sort key, and the counters of resolving it (targets.md §2)."""

    resolutions: tuple[CIResolution, ...]
    skipped: Counter[CISkipReason]


def resolve_rollout(rollout: Rollout, resolver: RepositoryResolver) -> RolloutCI:
    """Resolve the CI outcomes that a Rollout carries (targets.md §2)."""
    resolved = resolve_outcomes(rollout.terminal_outcomes, resolver, rollout.provenance.quarantine_revision)
    return RolloutCI(resolved.resolutions, resolved.skipped)


def stored_resolutions(
    rollout: Rollout, resolver: RepositoryResolver, resolutions: Mapping[CommitKey, CIResolution]
) -> RolloutCI:
    """Look the Rollout's commits up in the stored resolutions of its bundle, instead of resolving again.

    Raises:
        ForeignResolutionsError: together they do not rest on exactly the CI outcomes that the Rollout carries.
    """
    commits = sorted(set(commit_keys(rollout, resolver)), key=lambda commit: commit.sort_key)
    found = tuple(resolutions[commit] for commit in commits if commit in resolutions)
    used = {outcome_id for resolution in found for outcome_id in resolution.source_outcome_ids}
    if used != (carried := {outcome.outcome_id for outcome in rollout.terminal_outcomes}):
        raise ForeignResolutionsError(
            f"Session {rollout.session_id!r}: expected CI resolutions of its own {len(carried)} CI outcomes, got some "
            f"of {len(used)}, not all the same; use the resolutions made from the same bundle"
        )
    counters: Counter[CISkipReason] = Counter()
    for reason, count in resolution_counters(found).items():
        counters[reason] = count
    return RolloutCI(found, counters)


def commit_keys(rollout: Rollout, resolver: RepositoryResolver) -> tuple[CommitKey, ...]:
    """Return the Rollout's commits as keys, in Rollout order; one that does not resolve belongs to no repository."""
    references = ((commit, resolver.reference(commit.repo, commit.repository_identity)) for commit in rollout.commits)
    return tuple(
        CommitKey(resolved.key, commit.commit_sha)
        for commit, resolved in references
        if not isinstance(resolved, RepositoryReason)
    )


class RolloutEvidence:
    """One Rollout with everything that its rows derive from it."""

    def __init__(self, rollout: Rollout, ci: RolloutCI, resolver: RepositoryResolver) -> None:
        self.rollout = rollout
        self.ci = ci
        self.resolver = resolver
        self.commits = commit_keys(rollout, resolver)
        self.selected = select_resolution(
            self.commits, {resolution.commit_key: resolution for resolution in ci.resolutions}
        )
        """Resolution of the last commit with a verdict, None without any (targets.md §2)."""

    @cached_property
    def all_outcomes(self) -> tuple[CIOutcome, ...]:
        """Every CI outcome of the Rollout, by outcome_id as text (targets.md §6.6)."""
        return tuple(sorted(self.rollout.terminal_outcomes, key=lambda outcome: outcome.outcome_id))

    def outcomes_of(self, resolution: CIResolution) -> tuple[CIOutcome, ...]:
        """Return the CI outcomes behind one resolution, by outcome_id as text."""
        ids = set(resolution.source_outcome_ids)
        return tuple(outcome for outcome in self.all_outcomes if outcome.outcome_id in ids)

    @cached_property
    def selected_observation_ids(self) -> tuple[str, ...]:
        """Ids of the observations on the selected commit; empty when nothing was selected."""
        return () if self.selected is None else self._observation_ids({self.selected.commit_key})

    @cached_property
    def resolved_observation_ids(self) -> tuple[str, ...]:
        """Ids of the observations on any commit that has a resolution."""
        return self._observation_ids({resolution.commit_key for resolution in self.ci.resolutions})

    def _observation_ids(self, commits: Collection[CommitKey]) -> tuple[str, ...]:
        """Sorted distinct ids of the Rollout's observations on its commits among ``commits`` (targets.md §6.6)."""
        wanted = set(commits) & set(self.commits)
        return tuple(sorted({observation for observation, commit in self._observed if commit in wanted}))

    @cached_property
    def _observed(self) -> tuple[tuple[str, CommitKey], ...]:
        resolved = ((row, self.resolver.fact(row)) for row in self.rollout.session_commit_observations)
        return tuple(
            (row.observation_id, CommitKey(repository.key, row.commit_sha))
            for row, repository in resolved
            if not isinstance(repository, RepositoryReason)
        )
