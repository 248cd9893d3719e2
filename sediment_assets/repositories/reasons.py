"""Why a captured repository reference could not be tied to one repository (mirrors.md §8.5)."""

from sediment_assets.reasons import Reason


class RepositoryReason(Reason):
    """The closed vocabulary of repository failures. Unit: whatever was resolved (Fact, mirror, reference)."""

    IDENTITY_ABSENT = "repository_identity_absent", "references", "No repository name was captured."

    IDENTITY_UNRESOLVED = (
        "repository_identity_unresolved",
        "references",
        "The name cannot be tied to one repository: also claimed by an identified one, unsafe, undeclared.",
    )

    IDENTITY_CONFLICT = "repository_identity_conflict", "references", "The captured evidence contradicts itself."

    SOURCE_ABSENT = (
        "repository_source_absent",
        "references",
        "The Fact, or the Push it relies on, is not in the population.",
    )

    MIRROR_IDENTITY_UNRESOLVED = (
        "repository_mirror_identity_unresolved",
        "references",
        "The mirror to refresh cannot be proven; a derivation never gives this reason.",  # mirrors.md §8.6
    )
