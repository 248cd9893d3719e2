"""Provenance: which rules, which quarantine state and which policy made a record (derivation.md §1.4)."""

from pydantic import Field

from sediment_assets.facts.model import FrozenModel

ROLLOUT_VERSION = "4"
"""Rollout implementation version, ``policy_version`` of every Rollout (derivation.md §1)."""


class Provenance(FrozenModel):
    """What a derived record depends on besides its Facts."""

    policy_version: str = Field(description="Version of the rules that made the record.")
    quarantine_revision: int = Field(
        description="The organization's quarantine revision in the run's snapshot; 0 without quarantine records."
    )
    policy_digest: str = Field(description="Lower-case hex SHA-256 of the resolved policy.")
