"""Rows of target ``sediment``: one task per Rollout, one rollout per Segment (targets.md §6.2, §6.3)."""

from typing import Literal

from pydantic import MISSING, Field

from sediment_assets.ci.resolution import CIResolution
from sediment_assets.targets.rows import shared


class SedimentTaskRow(shared.RowModel):
    """What was asked, the patch that answered it, and the CI evidence for or against that patch."""

    instance_id: shared.TaskInstanceId
    recipe_id: shared.RecipeId = "rlvr_ci"
    recipe_version: shared.RecipeVersion = 1
    reward_source: shared.TaskRewardSource
    repo: shared.Repo
    base_commit: shared.BaseCommit
    problem_statement: shared.ProblemStatement
    reference_patch: shared.ReferencePatchText
    verification: shared.OptionalVerification = MISSING
    verifier_results: shared.SelectedOutcomes
    ci_resolution: shared.SelectedResolution
    attribution_source: shared.RowAttributionSource
    split: shared.RowSplit
    provenance: shared.RowProvenance
    session_commit_observation_ids: shared.SelectedObservationIds
    repository_identity: shared.RowRepositoryIdentity
    schema_id: Literal["https://sediment.so/schemas/training-rows/sediment-rlvr-task/v3.json"] = Field(
        default="https://sediment.so/schemas/training-rows/sediment-rlvr-task/v3.json",
        description="Identity of this row's JSON Schema.",
    )
    schema_version: Literal[3] = Field(default=3, description="Version of this row's shape.")


class SedimentRolloutRow(shared.RowModel):
    """One Segment of a Session with all CI evidence of that Session; the reward may be unknown."""

    instance_id: shared.SegmentInstanceId
    recipe_id: shared.RecipeId = "rlvr_ci"
    recipe_version: shared.RecipeVersion = 1
    reward_source: shared.OptionalRewardSource = MISSING
    ci_resolution: shared.OptionalResolution = MISSING
    org_id: shared.RowOrgId
    session_id: shared.RowSessionId
    segment_index: shared.SegmentIndex
    turns: tuple[shared.TurnRow, ...] = Field(description="All Turns of the Segment, in call order.")
    verifier_results: shared.AllOutcomes
    ci_resolutions: tuple[CIResolution, ...] = Field(
        description="Resolutions of all commits of the Session, null verdicts included, by commit sort key."
    )
    attribution_source: shared.RowAttributionSource
    split: shared.RowSplit
    provenance: shared.RowProvenance
    session_commit_observation_ids: shared.ResolvedObservationIds
    repository_identity: shared.RowRepositoryIdentity
    schema_id: Literal["https://sediment.so/schemas/training-rows/sediment-rlvr-rollout/v4.json"] = Field(
        default="https://sediment.so/schemas/training-rows/sediment-rlvr-rollout/v4.json",
        description="Identity of this row's JSON Schema.",
    )
    schema_version: Literal[4] = Field(default=4, description="Version of this row's shape.")
