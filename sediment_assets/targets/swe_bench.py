"""Target ``swe-bench``: Rollout to task row, passed verdicts only (targets.md §5.1, §6.4, §6.6)."""

from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.targets.representation import Spelled, spell
from sediment_assets.targets.rollout_evidence import RolloutEvidence
from sediment_assets.targets.rows.swe_bench import SWEBenchMetadata, SWEBenchTaskRow
from sediment_assets.targets.skips import Skipped, TaskSkipped
from sediment_assets.targets.tasks import eligible_task
from sediment_assets.targets.verification_commands import VerificationCommands


def project_task(
    evidence: RolloutEvidence, mirrors: MirrorStore, commands: VerificationCommands
) -> Spelled[SWEBenchTaskRow] | TaskSkipped:
    """Return the task row of a Rollout whose verified commit passed, or why there is none."""
    task = eligible_task(evidence, mirrors, commands, passed_only=True)
    if isinstance(task, Skipped):
        return task
    rollout, resolution = evidence.rollout, task.resolution
    metadata = SWEBenchMetadata(
        verification=task.verification,
        verifier_results=evidence.outcomes_of(resolution),
        ci_resolution=resolution,
        attribution_source=rollout.attribution_source,
        split=rollout.split,
        provenance=rollout.provenance,
        session_commit_observation_ids=evidence.selected_observation_ids,
        repository_identity=resolution.repository_identity,
    )
    return spell(
        SWEBenchTaskRow(
            instance_id=task.instance_id,
            repo=resolution.repo,
            base_commit=task.patch.base_commit,
            problem_statement=task.problem_statement,
            patch=task.patch.text,
            metadata=metadata,
        )
    )
