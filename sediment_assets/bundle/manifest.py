"""The manifest: what a bundle is, what it depends on, and the digests of its files (bundle.md §3, §5).

Values only; what a reader demands of a manifest is ``validate/manifest.py``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sediment_assets.bundle.encoding import RECORD_ENCODING, Population
from sediment_assets.derive.policy import DerivationPolicy
from sediment_assets.derive.provenance import ROLLOUT_VERSION
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.repositories.resolver import REPOSITORY_IDENTITY_VERSION
from sediment_assets.rollouts.scope import CohortScope

BUNDLE_VERSION: Final = 4
"""The one bundle version written and read here."""
COMPLETION_VERSION: Final = "5"
"""``policy_version`` of every Attributed completion."""
ABANDONMENT_VERSION: Final = "6"
"""``policy_version`` of every abandonment finding."""
IMPLEMENTATION_VERSIONS: Final[Mapping[str, str]] = {
    "abandonment": ABANDONMENT_VERSION,
    "attributed_completion": COMPLETION_VERSION,
    "attribution": "3",
    "repository_identity": REPOSITORY_IDENTITY_VERSION,
    "rollout": ROLLOUT_VERSION,
}
"""The rules whose results a bundle of this version holds; any other set is another bundle version."""
POPULATION_RULE: Final = "organization-through-as-of-v1"
"""Name of the rule for the identity and repository populations: everything visible, whatever the scope."""


@dataclass(frozen=True, slots=True)
class MemberFile:
    """One member file as stored: its lines, bytes and lower-case hex SHA-256."""

    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest's values. Counters belong to the whole run: scope narrows Rollouts, never ``skipped``."""

    org_id: str
    policy: DerivationPolicy
    scope: CohortScope
    quarantine_revision: int
    as_of: datetime | None
    mirror_revisions: Mapping[str, Mapping[str, str]]
    skipped: Mapping[str, int]
    excluded: Mapping[str, int]
    fragmented: Mapping[str, int]
    files: Mapping[Population, MemberFile]

    def plain(self) -> JsonObject:
        """Return the manifest with all its 17 keys, for ``encode_manifest``."""
        return {
            "bundle_schema_version": BUNDLE_VERSION,
            "record_encoding": RECORD_ENCODING,
            "identity_population": POPULATION_RULE,
            "repository_population": POPULATION_RULE,
            "org_id": self.org_id,
            "scope": {"since": self.scope.since, "until": self.scope.until, "users": self.scope.users},
            "policy": self.policy.plain(),
            "policy_digest": self.policy.digest,
            "implementation_versions": dict(IMPLEMENTATION_VERSIONS),
            "quarantine_revision": self.quarantine_revision,
            "as_of": self.as_of,
            "mirror_revisions": {key: dict(refs) for key, refs in self.mirror_revisions.items()},
            "counts": {name: file.rows for name, file in self.files.items()},
            "skipped": dict(self.skipped),
            "excluded": dict(self.excluded),
            "fragmented": dict(self.fragmented),
            "files": {
                name: {"path": name.file, "rows": file.rows, "bytes": file.bytes, "sha256": file.sha256}
                for name, file in self.files.items()
            },
        }
