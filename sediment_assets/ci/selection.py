"""Which commit's verdict rewards a Rollout: the last-commit rule (targets.md §2)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from sediment_assets.ci.resolution import CIResolution, Verdict
from sediment_assets.ci.runs import CISkip
from sediment_assets.repositories.keys import CommitKey


class RewardSource(StrEnum):
    """Where a reward comes from: a resolved verdict, never anything else (targets.md §2)."""

    RESOLVED_CI_PASS = "resolved_ci_pass"
    RESOLVED_CI_FAIL = "resolved_ci_fail"


_SOURCES = {Verdict.PASSED: RewardSource.RESOLVED_CI_PASS, Verdict.FAILED: RewardSource.RESOLVED_CI_FAIL}
_REWARDS = {Verdict.PASSED: 1.0, Verdict.FAILED: 0.0}


def select_resolution(
    commits: Sequence[CommitKey], resolutions: Mapping[CommitKey, CIResolution]
) -> CIResolution | None:
    """Select the resolution of the last of a Rollout's commits that has a verdict, null when none has.

    A later commit whose result is ambiguous or without a verdict is passed over.
    """
    for commit in reversed(commits):
        resolution = resolutions.get(commit)
        if resolution is not None and resolution.verdict is not None:
            return resolution
    return None


def reward_source(resolution: CIResolution) -> RewardSource | None:
    """Name the source of the reward; null without a verdict. A flake that passed last is a pass."""
    return None if resolution.verdict is None else _SOURCES[resolution.verdict]


def reward_value(resolution: CIResolution) -> float | None:
    """Give the reward: 1.0 for passed, 0.0 for failed; null without a verdict."""
    return None if resolution.verdict is None else _REWARDS[resolution.verdict]


def resolution_counters(resolutions: Iterable[CIResolution]) -> Counter[CISkip]:
    """Count again, from stored resolutions, what resolving counted: ambiguous commits.

    Conflicting CI runs and unresolvable outcomes leave no trace in a resolution; a valid bundle has none of
    them (targets.md §5.3).
    """
    ambiguous = sum(resolution.is_ambiguous for resolution in resolutions)
    return Counter({CISkip.AMBIGUOUS_WORKFLOW_VERDICTS: ambiguous} if ambiguous else {})
