"""Rows of target ``nemo-gym``: one rollout per Segment, with a reward when CI decided (targets.md §6.5)."""

from typing import Literal

from pydantic import MISSING, Field

from sediment_assets.targets.rows import shared


class NemoGymCreateParams(shared.RowModel):
    """What the first call of the Segment was given."""

    input: tuple[shared.MessageRow, ...] = Field(description="New messages of the Segment's first Turn.")


class NemoGymResponse(shared.RowModel):
    """What happened in the Segment."""

    turns: tuple[shared.TurnRow, ...] = Field(
        description="All Turns of the Segment, in call order; the first one repeats the input."
    )


class NemoGymMetadata(shared.RowModel):
    """Identity, evidence and provenance of one Segment."""

    instance_id: shared.SegmentInstanceId
    recipe_id: shared.RecipeId = "rlvr_ci"
    recipe_version: shared.RecipeVersion = 1
    reward_source: shared.OptionalRewardSource = MISSING
    org_id: shared.RowOrgId
    session_id: shared.RowSessionId
    segment_index: shared.SegmentIndex
    verification: shared.OptionalVerification = MISSING
    verifier_results: shared.AllOutcomes
    ci_resolution: shared.OptionalResolution = MISSING
    attribution_source: shared.RowAttributionSource
    split: shared.RowSplit
    provenance: shared.RowProvenance
    session_commit_observation_ids: shared.SelectedObservationIds
    repository_identity: shared.RowRepositoryIdentity
    schema_id: Literal["https://sediment.so/schemas/training-rows/nemo-gym-rollout/v4.json"] = Field(
        default="https://sediment.so/schemas/training-rows/nemo-gym-rollout/v4.json",
        description="Identity of this row's JSON Schema.",
    )
    schema_version: Literal[4] = Field(default=4, description="Version of this row's shape.")


class NemoGymRolloutRow(shared.RowModel):
    """One Segment in NeMo Gym's top-level names."""

    responses_create_params: NemoGymCreateParams = Field(description="The Segment's opening input.")
    response: NemoGymResponse = Field(description="The Segment's Turns.")
    reward: float | MISSING = Field(
        default=MISSING,
        description="1.0 when CI passed, 0.0 when it failed. Omitted when no commit has a verdict.",
    )
    metadata: NemoGymMetadata = Field(description="Everything NeMo Gym has no field for.")
