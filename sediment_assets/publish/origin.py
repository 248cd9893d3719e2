"""What a completion record says of the evidence a generation was made from, for every kind of generation."""

from typing import TypedDict

from sediment_assets import __version__
from sediment_assets.ci.policy import CI_POLICY
from sediment_assets.publish.record import digest_of, spelled_instant
from sediment_assets.rollouts.source import RolloutSource


class Origin(TypedDict):
    """Fields of ``GenerationRecord`` that its source, the policies and the program decide."""

    org_id: str
    policy_digest: str
    ci_policy_digest: str
    bundle_digest: str | None
    as_of: str | None
    quarantine_revision: int
    mirror_revisions_digest: str
    program_version: str


def origin_of(source: RolloutSource) -> Origin:
    """Return what a generation of this source is made from."""
    return Origin(
        org_id=source.org_id,
        policy_digest=source.policy.digest,
        ci_policy_digest=CI_POLICY.digest,
        bundle_digest=source.bundle_digest,
        as_of=spelled_instant(source.as_of),
        quarantine_revision=source.quarantine_revision,
        mirror_revisions_digest=digest_of(source.mirror_revisions),
        program_version=__version__,
    )
