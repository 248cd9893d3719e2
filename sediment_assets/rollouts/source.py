"""Where an export gets its Rollouts from: a derivation that is running, or a derived bundle on disk."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Protocol

from sediment_assets.derive.policy import DerivationPolicy
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout


class RolloutSource(Protocol):
    """The Rollouts of one organization with what they were derived from. The same rows come of either kind."""

    @property
    def org_id(self) -> str:
        """The organization."""
        ...

    @property
    def policy(self) -> DerivationPolicy:
        """The derivation policy; its ``split_enabled`` decides the file names."""
        ...

    @property
    def resolver(self) -> RepositoryResolver:
        """Repository identity over the organization's evidence."""
        ...

    @property
    def as_of(self) -> datetime | None:
        """Latest capture instant of the evidence, None without any."""
        ...

    @property
    def quarantine_revision(self) -> int:
        """The organization's quarantine revision in the snapshot."""
        ...

    @property
    def mirror_revisions(self) -> Mapping[str, Mapping[str, str]]:
        """The refs of every mirror that was there (mirrors.md §4)."""
        ...

    @property
    def bundle_digest(self) -> str | None:
        """SHA-256 of a bundle's ``manifest.json``; None for a running derivation."""
        ...

    def rollouts(self) -> Iterator[Rollout]:
        """Yield the Rollouts, ascending by session_id. To be consumed once."""
        ...

    @property
    def skipped(self) -> Counter[str]:
        """The derivation's ``rollout`` counters; complete once ``rollouts()`` is exhausted."""
        ...

    @property
    def fragmented(self) -> Counter[str]:
        """Segment boundaries by reason; complete once ``rollouts()`` is exhausted."""
        ...
