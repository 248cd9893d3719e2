"""RepositoryRename: an identified repository changed its name (facts.md §4.4)."""

from typing import ClassVar, Self

from pydantic import Field, model_validator

from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.expected import shown
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.model import Fact, field_error
from sediment_assets.facts.scalars import (
    ForgeHost,
    Id,
    OrgId,
    ProviderRepositoryId,
    RequiredRepoSlug,
    SchemaVersion1,
)
from sediment_assets.facts.vocabulary import FactTable, ForgeProvider


class RepositoryRename(Fact):
    """One rename or transfer of one identified repository."""

    TABLE: ClassVar[FactTable] = FactTable.REPOSITORY_RENAMES
    KEY: ClassVar[str] = "rename_id"

    schema_version: SchemaVersion1 = Field(default=1, description="Version of the Fact's shape: 1.")
    rename_id: Id = Field(default_factory=new_id, description="The Fact's id.")
    org_id: OrgId = Field(description="The organization the Fact belongs to.")
    repository_provider: ForgeProvider = Field(description="The forge.")
    repository_host: ForgeHost = Field(description="The forge's host name.")
    repository_id: ProviderRepositoryId = Field(description="The forge's own id of the repository, as text.")
    old_repo: RequiredRepoSlug = Field(description="The owner/name before.")
    new_repo: RequiredRepoSlug = Field(description="The owner/name after.")
    source_event_id: Id | None = Field(default=None, description="Id of the event that reported the rename.")
    occurred_at: Instant | None = Field(default=None, description="When the rename happened, if known.")
    captured_at: Instant = Field(default_factory=now, description="When the rename was captured.")

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        if self.old_repo == self.new_repo:
            raise field_error("new_repo", f"expected a name other than old_repo, got {shown(self.new_repo)}")
        return self
