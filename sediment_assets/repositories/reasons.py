"""Why a captured repository reference could not be tied to one repository (mirrors.md §8.5)."""

from enum import StrEnum


class RepositoryReason(StrEnum):
    """The closed vocabulary of repository failures. Unit: whatever was resolved (Fact, mirror, reference)."""

    IDENTITY_ABSENT = "repository_identity_absent"
    """No repository name was captured."""

    IDENTITY_UNRESOLVED = "repository_identity_unresolved"
    """The name cannot be tied to one repository: also claimed by an identified one, unsafe, undeclared."""

    IDENTITY_CONFLICT = "repository_identity_conflict"
    """The captured evidence contradicts itself."""

    SOURCE_ABSENT = "repository_source_absent"
    """The Fact, or the Push it relies on, is not in the population."""

    MIRROR_IDENTITY_UNRESOLVED = "repository_mirror_identity_unresolved"
    """The mirror to refresh cannot be proven (mirrors.md §8.6); a derivation never gives this reason."""
