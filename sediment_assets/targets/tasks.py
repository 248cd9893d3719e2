"""What the task rows of both task targets have in common: eligibility, patch, shared fields (targets.md §5.1, §6.6)."""

from dataclasses import dataclass

from pydantic import MISSING

from sediment_assets.ci.resolution import CIResolution
from sediment_assets.ci.selection import RewardSource, reward_source
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.targets.problem_statement import problem_statement
from sediment_assets.targets.reference_patch import ReferencePatch, reference_patch
from sediment_assets.targets.rollout_evidence import RolloutEvidence
from sediment_assets.targets.rows.shared import Verification
from sediment_assets.targets.skips import Skipped, TaskSkip
from sediment_assets.targets.verification_commands import VerificationCommands


@dataclass(frozen=True, slots=True)
class Task:
    """An eligible Rollout: everything a task row is written from."""

    evidence: RolloutEvidence
    resolution: CIResolution
    reward_source: RewardSource
    patch: ReferencePatch
    verification: Verification | MISSING

    @property
    def instance_id(self) -> str:
        """Name of the task; its suffix is the first commit, not the rewarded one (targets.md §6.6)."""
        rollout = self.evidence.rollout
        return f"{rollout.org_id}-{rollout.session_id}-{self.patch.first_commit[:7]}"

    @property
    def problem_statement(self) -> str:
        """What was asked (targets.md §4)."""
        return problem_statement(self.evidence.rollout.segments)


def eligible_task(
    evidence: RolloutEvidence, mirrors: MirrorStore, commands: VerificationCommands, *, passed_only: bool
) -> Task | Skipped[TaskSkip]:
    """Decide whether a Rollout gives a task, first hit wins (targets.md §5.1, steps 1 to 5).

    ``passed_only`` refuses a failed verdict before any mirror is opened.
    """
    if not evidence.rollout.commits:
        return Skipped(TaskSkip.NO_ATTRIBUTED_COMMIT)
    resolution = evidence.selected
    source = None if resolution is None else reward_source(resolution)
    if resolution is None or source is None:
        return Skipped(TaskSkip.MISSING_VERIFIER_EVIDENCE)
    if passed_only and source is not RewardSource.RESOLVED_CI_PASS:
        return Skipped(TaskSkip.FAILED_REFERENCE_PATCH)
    patch = reference_patch(evidence, resolution, mirrors)
    if isinstance(patch, Skipped):
        return patch
    return Task(evidence, resolution, source, patch, commands.row_for(resolution.repo))
