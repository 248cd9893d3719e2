"""The leading fields of repository-scoped Facts and their cross-field rules (facts.md §4)."""

from typing import Self

from pydantic import Field, model_validator

from sediment_assets.facts.expected import shown
from sediment_assets.facts.model import Fact
from sediment_assets.facts.scalars import ForgeHost, ProviderRepositoryId, SchemaVersion1Or2
from sediment_assets.facts.vocabulary import ForgeProvider


class RepositoryFact(Fact):
    """A Fact about a repository: *identified* when its three identity fields are set, *legacy* when all are null."""

    schema_version: SchemaVersion1Or2 = Field(default=2, description="Version of the Fact's shape: 1 or 2.")
    repository_provider: ForgeProvider | None = Field(
        default=None, description="The forge of an identified repository; null for a legacy one."
    )
    repository_host: ForgeHost | None = Field(
        default=None, description="The forge's host name; null for a legacy repository."
    )
    repository_id: ProviderRepositoryId | None = Field(
        default=None,
        description="The forge's own id of the repository, as text; null for a legacy repository.",
    )

    @model_validator(mode="after")
    def _identity_is_whole(self) -> Self:
        triple = (self.repository_provider, self.repository_host, self.repository_id)
        absent = triple.count(None)
        if absent not in (0, 3):
            got = ", ".join(shown(part) for part in triple)
            raise ValueError(
                f"expected repository_provider, repository_host and repository_id all set or all null, got {got}"
            )
        if not absent and self.schema_version == 1:
            raise ValueError("expected schema_version 2 for a Fact with repository identity, got 1")
        provider = getattr(self, "provider", None)
        if not absent and isinstance(provider, ForgeProvider) and provider is not self.repository_provider:
            raise ValueError(
                f"expected provider equal to repository_provider, got {shown(provider)} and {shown(triple[0])}"
            )
        return self

    @property
    def is_identified(self) -> bool:
        """Whether the Fact itself names the repository by the forge's id."""
        return self.repository_id is not None
