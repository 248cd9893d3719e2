"""Why evidence gave no row: the closed vocabularies of the targets and their typed tallies (targets.md §5).

CI reasons are ``ci/runs.py``'s and ``repositories/reasons.py``'s; here are the targets' own. The units differ, so
counts of different reasons are never summed; ``SkipUnit`` says what a count counts.
"""

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Generic, TypeVar

from sediment_assets.ci.runs import CISkip, CISkipReason
from sediment_assets.reasons import Reason
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.targets.registry import Population, Target


class RowSkip(Reason):
    """Why a complete row is withheld (targets.md §8); the first offence in field order wins."""

    NON_FINITE_NUMBER = "non_finite_number", "rows", "A float that is NaN or infinite: JSON cannot spell it."
    UNREPRESENTABLE_UNICODE = (
        "unrepresentable_unicode",
        "rows",
        "A key or value with a surrogate code point: UTF-8 cannot spell it.",
    )


class TaskSkip(Reason):
    """Why a Rollout gave no task row; first hit wins (targets.md §5.1)."""

    NO_ATTRIBUTED_COMMIT = "no_attributed_commit", "Rollouts", "No commit belongs to the Session."
    MISSING_VERIFIER_EVIDENCE = "missing_verifier_evidence", "Rollouts", "No commit of the Session has a verdict."
    FAILED_REFERENCE_PATCH = (
        "failed_reference_patch",
        "Rollouts",
        "The verified commit failed its CI: no solution to give away. Target `swe-bench` only.",
    )
    MIRROR_ABSENT = "mirror_absent", "Rollouts", "The verified commit's repository has no mirror."
    NO_COMMIT_IN_VERIFIER_REPO = (
        "no_commit_in_verifier_repo",
        "Rollouts",
        "The mirror has not the verified commit, or none of the Session's commits.",
    )
    DEGENERATE_COMMIT_RANGE = (
        "degenerate_commit_range",
        "Rollouts",
        "The Session's first commit is no ancestor of the verified one.",
    )
    ROOT_COMMIT_NO_BASE = (
        "root_commit_no_base",
        "Rollouts",
        "The Session's first commit has no parent to start from.",
    )
    REFERENCE_PATCH_UNAVAILABLE = (
        "reference_patch_unavailable",
        "Rollouts",
        "Git could not answer, or the patch does not rebuild the verified commit exactly.",
    )


class RolloutSkip(Reason):
    """Why a Rollout gave no rollout row at all (targets.md §5.2)."""

    NO_SEGMENTS = "no_segments", "Rollouts", "The Rollout has no Segment, which no valid bundle contains."


class SkipUnit(StrEnum):
    """What one count of a reason counts (targets.md §5.3)."""

    CI_RUN = "CI runs"
    COMMIT = "commits"
    CI_OUTCOME = "CI outcomes"
    ROLLOUT = "Rollouts"
    SEGMENT = "Segments"


SkipReason = CISkipReason | TaskSkip | RolloutSkip | RowSkip
"""Any reason that a target's tally may hold."""

R = TypeVar("R", bound=TaskSkip | RolloutSkip | RowSkip)

MAX_EXAMPLES: Final = 5
"""So many Sessions are kept for each reason, as examples; all of them are counted."""


@dataclass(frozen=True, slots=True)
class Skipped(Generic[R]):
    """A Rollout or Segment that gave no row. ``detail`` is for people, when there is more to say than the reason."""

    reason: R
    detail: str | None = None


TaskSkipped = Skipped[TaskSkip] | Skipped[RowSkip]
"""A Rollout without a task row."""
RolloutSkipped = Skipped[RolloutSkip] | Skipped[RowSkip]
"""A Segment without a rollout row, or a Rollout without Segments."""

_COMMON: tuple[SkipReason, ...] = (*RowSkip, *CISkip, *RepositoryReason)


def vocabulary(target: Target, population: Population) -> tuple[SkipReason, ...]:
    """Return every reason that can occur in a population's tally, its own first (targets.md §5.3)."""
    if population is Population.ROLLOUTS:
        return (*RolloutSkip, *_COMMON)
    if target is Target.SWE_BENCH:
        return (*TaskSkip, *_COMMON)
    return (*(reason for reason in TaskSkip if reason is not TaskSkip.FAILED_REFERENCE_PATCH), *_COMMON)


def unit_of(reason: SkipReason, population: Population) -> SkipUnit:
    """Return what a count of ``reason`` in the tally of ``population`` counts (targets.md §5.3)."""
    match reason:
        case RepositoryReason():  # of the references that a target resolves, only a CI outcome's is counted
            return SkipUnit.CI_OUTCOME
        case RowSkip():
            return SkipUnit.SEGMENT if population is Population.ROLLOUTS else SkipUnit.ROLLOUT
        case _:
            return SkipUnit(reason.unit)


@dataclass(slots=True)
class SkipTally(Generic[R]):
    """The skips of one population. Its type says which reasons of its own it takes beside the CI ones."""

    population: Population
    _counts: dict[SkipReason, int] = field(default_factory=dict, init=False)
    _examples: dict[SkipReason, list[str]] = field(default_factory=dict, init=False)

    def add(self, reason: R, session_id: str) -> None:
        """Count one skipped Rollout or row of a Session."""
        self._count(reason, 1, session_id)

    def add_ci(self, counters: Counter[CISkipReason], session_id: str) -> None:
        """Add the CI counters of one Rollout."""
        for reason, count in counters.items():
            if count:
                self._count(reason, count, session_id)

    def as_dict(self) -> dict[str, int]:
        """Return reason to count, in the order in which the reasons first occurred (targets.md §13)."""
        return {reason.value: count for reason, count in self._counts.items()}

    def examples(self) -> dict[str, tuple[str, ...]]:
        """Return reason to the first few Sessions that it was counted for, in the order of ``as_dict``."""
        return {reason.value: tuple(self._examples[reason]) for reason in self._counts}

    def _count(self, reason: SkipReason, count: int, session_id: str) -> None:
        self._counts[reason] = self._counts.get(reason, 0) + count
        known = self._examples.setdefault(reason, [])
        if len(known) < MAX_EXAMPLES and session_id not in known:
            known.append(session_id)
