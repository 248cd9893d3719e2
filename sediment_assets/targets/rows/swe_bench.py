"""Rows of target ``swe-bench``: one task per Rollout whose verified commit passed (targets.md §6.4)."""

from typing import Annotated, Literal

from pydantic import MISSING, Field

from sediment_assets.ci.selection import RewardSource
from sediment_assets.targets.rows import shared


class SWEBenchMetadata(shared.RowModel):
    """Evidence and provenance of one task."""

    recipe_id: shared.RecipeId = "rlvr_ci"
    recipe_version: shared.RecipeVersion = 1
    reward_source: Annotated[
        Literal[RewardSource.RESOLVED_CI_PASS],
        Field(description="Always `resolved_ci_pass`: a patch that failed its CI is no solution."),
    ] = RewardSource.RESOLVED_CI_PASS
    verification: shared.OptionalVerification = MISSING
    verifier_results: shared.SelectedOutcomes
    ci_resolution: shared.SelectedResolution
    attribution_source: shared.RowAttributionSource
    split: shared.RowSplit
    provenance: shared.RowProvenance
    session_commit_observation_ids: shared.SelectedObservationIds
    repository_identity: shared.RowRepositoryIdentity
    schema_id: Literal["https://sediment.so/schemas/training-rows/swe-bench-task/v3.json"] = Field(
        default="https://sediment.so/schemas/training-rows/swe-bench-task/v3.json",
        description="Identity of this row's JSON Schema.",
    )
    schema_version: Literal[3] = Field(default=3, description="Version of this row's shape.")


class SWEBenchTaskRow(shared.RowModel):
    """One task in SWE-bench's column names. No test lists: none were captured, none are made up."""

    instance_id: shared.TaskInstanceId
    repo: shared.Repo
    base_commit: shared.BaseCommit
    problem_statement: shared.ProblemStatement
    patch: shared.ReferencePatchText
    metadata: SWEBenchMetadata = Field(description="Everything SWE-bench has no column for.")
