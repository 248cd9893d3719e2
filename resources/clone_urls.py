"""Resource: which clone URLs a mirror may be fetched from (mirrors.md §3), and the sync that obeys it.

What fetches is imported by who fetches: the days' runs do not.
"""

from typing import TYPE_CHECKING

import dagster as dg

from resources.evidence_store import EvidenceStore
from sediment_assets.facts.scalars import normal_org_id

if TYPE_CHECKING:
    from sediment_assets.adapters.mirror_jobs import KnownRepositories
    from sediment_assets.adapters.mirror_run import MirrorSync


class CloneUrls(dg.ConfigurableResource):  # type: ignore[type-arg]  # generic over its own value, as Dagster documents
    """The operator's policy. Empty ``allowed_hosts`` means every host that is not internal."""

    development: bool = False
    allowed_hosts: list[str] = []  # noqa: RUF012  # a field of the resource, copied for each

    def sync(self, evidence: EvidenceStore) -> "MirrorSync":
        """Return a sync of the evidence's mirrors.

        :raises MirrorError: when their base is not there; a sync would clone everything into the mount point.
        """
        from sediment_assets.adapters.mirror_run import MirrorSync
        from sediment_assets.mirrors.clone_url import CloneUrlPolicy

        policy = CloneUrlPolicy(self.development, frozenset(self.allowed_hosts))
        return MirrorSync(evidence.mirror_base(), evidence.database_url, policy)

    @staticmethod
    def known(evidence: EvidenceStore) -> "KnownRepositories":
        """Return the repositories that visible Pushes name."""
        from sediment_assets.adapters.mirror_jobs import KnownRepositories

        return KnownRepositories.read(evidence.database_url, normal_org_id(evidence.org_id))
