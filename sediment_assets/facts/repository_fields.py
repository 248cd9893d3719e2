"""The leading fields of repository-scoped Facts and their cross-field rules (facts.md §4)."""

from typing import Self

from pydantic import Field, model_validator

from sediment_assets.facts.expected import shown
from sediment_assets.facts.model import Fact, field_error
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
        identity = (self.repository_provider, self.repository_host, self.repository_id)
        require_whole_identity(identity, self.schema_version, getattr(self, "provider", None))
        return self

    @property
    def is_identified(self) -> bool:
        """Whether the Fact itself names the repository by the forge's id."""
        return self.repository_id is not None


def require_whole_identity(
    identity: tuple[ForgeProvider | None, str | None, str | None], schema_version: int, provider: object
) -> None:
    """Refuse half an identity, one in version 1, and one of another forge than the Fact's ``provider``.

    Raises PydanticCustomError, a ValueError. A ``provider`` that is no forge says nothing.
    """
    absent = identity.count(None)
    if absent not in (0, 3):
        got = ", ".join(shown(part) for part in identity)
        names = "repository_provider, repository_host and repository_id"
        raise field_error("repository_id", f"expected {names} all set or all null, got {got}")
    if absent:
        return
    if schema_version == 1:
        raise field_error("schema_version", "expected the integer 2 with repository identity, got 1")
    if isinstance(provider, ForgeProvider) and provider is not identity[0]:
        raise field_error("provider", f"expected repository_provider ({shown(identity[0])}), got {shown(provider)}")
