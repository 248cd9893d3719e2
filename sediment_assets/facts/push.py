"""Push: one received push of one ref (facts.md §4.2)."""

from typing import ClassVar

from pydantic import Field

from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.repository_fields import RepositoryFact
from sediment_assets.facts.scalars import Bool, CommitSha, Id, OrgId, RepoSlug, Text
from sediment_assets.facts.vocabulary import FactTable, ForgeProvider


class Push(RepositoryFact):
    """One push: a ref moved from one commit to another. There is no ``raw``."""

    TABLE: ClassVar[FactTable] = FactTable.PUSHES
    KEY: ClassVar[str] = "push_id"

    push_id: Id = Field(default_factory=new_id, description="The Fact's id.")
    org_id: OrgId = Field(description="The organization the Fact belongs to.")
    provider: ForgeProvider = Field(description="The forge that reported the push.")
    repo: RepoSlug = Field(description="The repository's owner/name; empty when unknown.")
    clone_url: Text = Field(description="Where the repository can be cloned from; may be empty.")
    ref: Id = Field(description="The whole ref, e.g. refs/heads/main.")
    before_sha: CommitSha = Field(description="The commit before; all zeros when the push created the branch.")
    after_sha: CommitSha = Field(description="The commit after; all zeros when the push deleted the branch.")
    forced: Bool = Field(default=False, description="Whether history was rewritten.")
    captured_at: Instant = Field(default_factory=now, description="When the push was captured.")
