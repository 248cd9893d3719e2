"""A RolloutSource over a list."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout
from tests.builders import ORG


@dataclass
class MemorySource:
    """Yields the given Rollouts once; the counters are known only afterwards, as of a running derivation."""

    given: Iterable[Rollout]
    resolver: RepositoryResolver
    policy: DerivationPolicy = DEFAULT_POLICY
    org_id: str = ORG
    as_of: datetime | None = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    quarantine_revision: int = 0
    mirror_revisions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    bundle_digest: str | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    fragmented: Counter[str] = field(default_factory=Counter)

    def rollouts(self) -> Iterator[Rollout]:
        yield from self.given
        self.skipped["no_match"] += 3
        self.fragmented["input_history_changed"] += 1
