"""Target ``nemo-gym``: Rollout to one row per Segment, without any mirror (targets.md §5.2, §6.5, §6.6, §14)."""

from collections.abc import Iterator

from pydantic import MISSING

from sediment_assets.ci.selection import reward_source, reward_value
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.targets.representation import Spelled, spell_segment
from sediment_assets.targets.rollout_evidence import RolloutEvidence
from sediment_assets.targets.rows.nemo_gym import (
    NemoGymCreateParams,
    NemoGymMetadata,
    NemoGymResponse,
    NemoGymRolloutRow,
)
from sediment_assets.targets.skips import RolloutSkip, RolloutSkipped, Skipped
from sediment_assets.targets.verification_commands import VerificationCommands


def project_rollout(
    evidence: RolloutEvidence, commands: VerificationCommands
) -> Iterator[Spelled[NemoGymRolloutRow] | RolloutSkipped]:
    """Yield one row or skip per Segment, in order; missing CI evidence or commits skip nothing."""
    if not evidence.rollout.segments:
        yield Skipped(RolloutSkip.NO_SEGMENTS)
    for index, segment in enumerate(evidence.rollout.segments):
        yield spell_segment(_frame(evidence, commands, index), segment, _put_turns)


def _put_turns(plain: JsonObject, turns: list[JsonObject]) -> None:
    plain["response"]["turns"] = turns
    if turns:
        plain["responses_create_params"]["input"] = turns[0]["new_messages"]


def _frame(evidence: RolloutEvidence, commands: VerificationCommands, index: int) -> NemoGymRolloutRow:
    """Return the row of a Segment without its Turns."""
    reward = None if evidence.selected is None else reward_value(evidence.selected)
    return NemoGymRolloutRow(
        responses_create_params=NemoGymCreateParams(input=()),
        response=NemoGymResponse(turns=()),
        reward=MISSING if reward is None else reward,
        metadata=_metadata(evidence, commands, index),
    )


def _metadata(evidence: RolloutEvidence, commands: VerificationCommands, index: int) -> NemoGymMetadata:
    rollout, selected = evidence.rollout, evidence.selected
    source = None if selected is None else reward_source(selected)
    return NemoGymMetadata(
        instance_id=f"{rollout.org_id}-{rollout.session_id}-seg{index}",
        reward_source=MISSING if source is None else source,
        org_id=rollout.org_id,
        session_id=rollout.session_id,
        segment_index=index,
        verification=commands.row_for(_verification_repo(evidence)),
        verifier_results=evidence.all_outcomes,
        ci_resolution=MISSING if selected is None else selected,
        attribution_source=rollout.attribution_source,
        split=rollout.split,
        provenance=rollout.provenance,
        session_commit_observation_ids=evidence.selected_observation_ids,
        repository_identity=None if selected is None else selected.repository_identity,
    )


def _verification_repo(evidence: RolloutEvidence) -> str | None:
    """Return the slug whose command belongs to the row, None when evidence names not exactly one (targets.md §6.6).

    The selected label; else the one slug of the CI outcomes; else, without outcomes, the one slug of the commits. The
    fallbacks take slugs as those records spell them, so an unrewarded row can carry a command too.
    """
    if evidence.selected is not None:
        return evidence.selected.repo
    outcomes, commits = evidence.rollout.terminal_outcomes, evidence.rollout.commits
    slugs = {outcome.repo for outcome in outcomes} or {commit.repo for commit in commits}
    return next(iter(slugs)) if len(slugs) == 1 else None
