"""CIOutcome: one terminal attempt of one CI run on one commit (facts.md §4.1; key order targets.md §6.1)."""

from typing import ClassVar

from pydantic import Field

from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.json_fields import Json
from sediment_assets.facts.repository_fields import RepositoryFact
from sediment_assets.facts.scalars import (
    BranchName,
    CIReason,
    CommitSha,
    Content,
    Id,
    OrgId,
    Pos63,
    RepoSlug,
    WorkflowName,
    WorkflowPath,
)
from sediment_assets.facts.vocabulary import CIProvider, CIResult, FactTable


class CIOutcome(RepositoryFact):
    """One terminal CI run attempt. It names no Session: it joins Rollouts by repository and commit."""

    TABLE: ClassVar[FactTable] = FactTable.CI_OUTCOMES
    KEY: ClassVar[str] = "outcome_id"

    outcome_id: Id = Field(default_factory=new_id, description="The Fact's id.")
    org_id: OrgId = Field(description="The organization the Fact belongs to.")
    provider: CIProvider = Field(description="The CI system.")
    run_id: Id = Field(description="The CI run's id, as its system spells it.")
    run_attempt: Pos63 | None = Field(default=None, description="The attempt of the CI run, from 1, if known.")
    repo: RepoSlug = Field(description="The repository's owner/name; empty when unknown.")
    commit_sha: CommitSha = Field(description="The commit the CI run judged.")
    branch: BranchName = Field(description="The branch, without refs/heads/; may be empty.")
    result: CIResult = Field(description="How the attempt ended.")
    workflow_name: WorkflowName = Field(default="", description="The workflow's name; may be empty.")
    workflow_id: Id | None = Field(default=None, description="The workflow's id, if known.")
    workflow_path: WorkflowPath | None = Field(default=None, description="The workflow's file, if known.")
    run_url: Content | None = Field(default=None, description="Where the CI run can be looked at.")
    provider_result: Content | None = Field(default=None, description="The result in the CI system's own words.")
    error_type: Content | None = Field(default=None, description="The kind of error, if reported.")
    reason: CIReason | None = Field(default=None, description="Why the attempt ended so, if reported.")
    source_event_type: Content | None = Field(default=None, description="Type of the event that reported the attempt.")
    source_spec_version: Content | None = Field(default=None, description="Version of that event's format.")
    source_event_id: Id | None = Field(default=None, description="Id of that event.")
    pr_number: Pos63 | None = Field(default=None, description="The pull request's number, if any.")
    captured_at: Instant = Field(default_factory=now, description="When the outcome was captured.")
    raw: Json = Field(default_factory=dict, description="The captured payload, unchanged.")
