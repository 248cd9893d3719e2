"""What a repository, and a commit in it, is called inside one organization (mirrors.md §8.1).

Values only: which key a captured name means is decided in ``resolver.py``; where a key's mirror lies is
``mirrors/layout.py``. All parts are in normal form (facts.md §1); nothing here checks or repairs them.
"""

import json
from dataclasses import dataclass

from pydantic import Field

from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.scalars import ForgeHost, ProviderRepositoryId
from sediment_assets.facts.vocabulary import ForgeProvider


class RepositoryIdentity(FrozenModel):
    """A repository as its forge identifies it: survives renames, unlike a slug (bundle.md §4.1)."""

    provider: ForgeProvider = Field(description="The forge that issued the repository id.")
    host: ForgeHost = Field(description="Host name of the forge, lower-case, without a port.")
    repository_id: ProviderRepositoryId = Field(
        description="The forge's own id of the repository: a positive decimal number, as text."
    )


@dataclass(frozen=True, slots=True)
class IdentifiedKey:
    """A repository known by provider id."""

    org_id: str
    provider: ForgeProvider
    host: str
    repository_id: str

    @property
    def sort_key(self) -> tuple[str, ...]:
        """Text tuple that orders repositories: identified before legacy, ids as text (mirrors.md §8.1)."""
        return (self.org_id, "identified", self.provider.value, self.host, self.repository_id)

    @property
    def identity(self) -> RepositoryIdentity:
        """The key without its organization, as derived records carry it."""
        return RepositoryIdentity(provider=self.provider, host=self.host, repository_id=self.repository_id)


@dataclass(frozen=True, slots=True)
class LegacyKey:
    """A repository known by slug only."""

    org_id: str
    slug: str

    @property
    def sort_key(self) -> tuple[str, ...]:
        """Text tuple that orders repositories: identified before legacy (mirrors.md §8.1)."""
        return (self.org_id, "legacy", self.slug)

    @property
    def identity(self) -> None:
        """A legacy repository has no identity; derived records carry null."""
        return


RepositoryKey = IdentifiedKey | LegacyKey
"""One repository of one organization."""


@dataclass(frozen=True, slots=True)
class CommitKey:
    """One commit of one repository. The same sha in another repository is another commit."""

    repository: RepositoryKey
    commit_sha: str

    @property
    def sort_key(self) -> tuple[str, ...]:
        """The *commit sort key*: the repository's sort key, then the sha (derivation.md §3)."""
        return (*self.repository.sort_key, self.commit_sha)


def key_text(key: RepositoryKey) -> str:
    """Spell a key as in ``mirror_revisions``: the slug, or a compact JSON array (mirrors.md §4)."""
    if isinstance(key, LegacyKey):
        return key.slug
    return json.dumps(key.sort_key, separators=(",", ":"))
