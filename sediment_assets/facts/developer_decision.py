"""DeveloperDecision: a developer accepted or rejected an edit (facts.md §3.2)."""

from typing import ClassVar

from pydantic import Field

from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.json_fields import Json
from sediment_assets.facts.model import Fact
from sediment_assets.facts.scalars import Bool, CommitSha, Id, Identity, Nat63, OrgId, Score
from sediment_assets.facts.vocabulary import AgentHarness, FactTable, InteractionMode


class DeveloperDecision(Fact):
    """One decision of a developer about one edit of a Session."""

    TABLE: ClassVar[FactTable] = FactTable.DEVELOPER_DECISIONS
    KEY: ClassVar[str] = "decision_id"

    decision_id: Id = Field(default_factory=new_id, description="The Fact's id.")
    org_id: OrgId = Field(description="The organization the Fact belongs to.")
    session_id: Id = Field(description="The Session the decision belongs to.")
    user_id: Id | None = Field(default=None, description="The developer, if known.")
    agent_harness: AgentHarness = Field(description="The coding agent in which the decision was made.")
    file_path: Identity = Field(description="The edited file; empty when there is no path.")
    accepted: Bool = Field(description="Whether the edit was accepted.")
    explicit: Bool = Field(description="Whether the developer decided expressly, not by silence or settings.")
    interaction_mode: InteractionMode = Field(description="Whether an agent or the inline editor offered the edit.")
    commit_sha: CommitSha | None = Field(default=None, description="The commit checked out at the time, if known.")
    call_id: Id | None = Field(default=None, description="The tool call decided on, if known: a call alias.")
    edit_retention_score: Score | None = Field(
        default=None, description="Share of the edit still in the file later, from 0 to 1, if measured."
    )
    observation_delay_ms: Nat63 | None = Field(
        default=None, description="Milliseconds between the edit and the later look at the file, if any."
    )
    occurred_at: Instant = Field(description="When the developer decided, by the client's clock.")
    captured_at: Instant = Field(default_factory=now, description="When the decision was captured.")
    raw: Json = Field(default_factory=dict, description="The captured payload, unchanged.")
