"""Target ``sediment``: Rollout to task row and rollout rows (targets.md §5, §6.2, §6.3, §6.6)."""

from collections.abc import Iterator

from pydantic import MISSING

from sediment_assets.ci.selection import RewardSource, reward_source
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.targets.representation import Spelled, spell, spell_segment
from sediment_assets.targets.rollout_evidence import RolloutEvidence
from sediment_assets.targets.rows.sediment import SedimentRolloutRow, SedimentTaskRow
from sediment_assets.targets.skips import RolloutSkip, RolloutSkipped, Skipped, TaskSkipped
from sediment_assets.targets.tasks import eligible_task
from sediment_assets.targets.verification_commands import VerificationCommands


def project_task(
    evidence: RolloutEvidence, mirrors: MirrorStore, commands: VerificationCommands
) -> Spelled[SedimentTaskRow] | TaskSkipped:
    """Return the task row of a Rollout, with a reward of either kind, or why there is none."""
    task = eligible_task(evidence, mirrors, commands, passed_only=False)
    if isinstance(task, Skipped):
        return task
    rollout, resolution = evidence.rollout, task.resolution
    return spell(
        SedimentTaskRow(
            instance_id=task.instance_id,
            reward_source=task.reward_source,
            repo=resolution.repo,
            base_commit=task.patch.base_commit,
            problem_statement=task.problem_statement,
            reference_patch=task.patch.text,
            verification=task.verification,
            verifier_results=evidence.outcomes_of(resolution),
            ci_resolution=resolution,
            attribution_source=rollout.attribution_source,
            split=rollout.split,
            provenance=rollout.provenance,
            session_commit_observation_ids=evidence.selected_observation_ids,
            repository_identity=resolution.repository_identity,
        )
    )


def project_rollout(evidence: RolloutEvidence) -> Iterator[Spelled[SedimentRolloutRow] | RolloutSkipped]:
    """Yield one row or skip per Segment, in order; missing CI evidence, commits or mirrors skip nothing."""
    if not evidence.rollout.segments:
        yield Skipped(RolloutSkip.NO_SEGMENTS)
    for index, segment in enumerate(evidence.rollout.segments):
        yield spell_segment(_frame(evidence, index), segment, _put_turns)


def _put_turns(plain: JsonObject, turns: list[JsonObject]) -> None:
    plain["turns"] = turns


def _frame(evidence: RolloutEvidence, index: int) -> SedimentRolloutRow:
    """Return the row of a Segment without its Turns."""
    rollout, selected = evidence.rollout, evidence.selected
    source: RewardSource | None = None if selected is None else reward_source(selected)
    return SedimentRolloutRow(
        instance_id=f"{rollout.org_id}-{rollout.session_id}-seg{index}",
        reward_source=MISSING if source is None else source,
        ci_resolution=MISSING if selected is None else selected,
        org_id=rollout.org_id,
        session_id=rollout.session_id,
        segment_index=index,
        turns=(),
        verifier_results=evidence.all_outcomes,
        ci_resolutions=evidence.ci.resolutions,
        attribution_source=rollout.attribution_source,
        split=rollout.split,
        provenance=rollout.provenance,
        session_commit_observation_ids=evidence.resolved_observation_ids,
        repository_identity=None if selected is None else selected.repository_identity,
    )
