"""Which repository a captured name means: one resolver for derivation, validation, export (mirrors.md §8).

A slug alone never joins an identified repository: names move between repositories, provider ids do not.
Every join between Facts, commits and mirrors goes through here. Which rows count, and which contradict each
other, is ``population.py`` and ``renames.py``.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from sediment_assets.facts.push import Push
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.scalars import normal_repo_slug
from sediment_assets.repositories.evidence import (
    EvidenceFact,
    EvidenceRole,
    EvidenceTable,
    RepositoryEvidence,
    project_evidence,
)
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryIdentity, RepositoryKey
from sediment_assets.repositories.population import EvidencePopulation, Source, SourceKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.renames import RenameNames, read_renames

REPOSITORY_IDENTITY_VERSION = "1"
"""Version of the rules in this package (derivation.md §1)."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """One proven repository: its key, the slug that derived rows show, its identity (null if legacy)."""

    key: RepositoryKey
    label: str
    identity: RepositoryIdentity | None


class RepositoryResolver:
    """Resolves the names of one organization's Facts; a pure function of what it was built from.

    ``rename_skipped`` counts conflicting rename ids (mirrors.md §8.3). ``as_of`` is the boundary: the one
    given, else the latest capture instant, else the earliest representable one (§8.5).
    """

    def __init__(self, population: EvidencePopulation, renames: RenameNames, as_of: datetime) -> None:
        self.org_id = population.org_id
        self.as_of = as_of
        self.rename_skipped = Counter[RepositoryReason]()
        if renames.conflicting:
            self.rename_skipped[RepositoryReason.IDENTITY_CONFLICT] = renames.conflicting
        self._population = population
        self._unsafe = population.unsafe | renames.unsafe
        self._claims = {slug: set(claimants) for slug, claimants in population.claims.items()}
        for slug, claimants in renames.claims.items():
            self._claims.setdefault(slug, set()).update(claimants)
        self._names = {key: set(slugs) for key, slugs in renames.names.items()}
        self._learn_names()
        self._identified = {key: Resolved(key, min(names), key.identity) for key, names in self._names.items()}
        self._legacy: dict[str, Resolved] = {}

    @classmethod
    def build(
        cls,
        org_id: str,
        evidence: Iterable[RepositoryEvidence],
        renames: Iterable[RepositoryRename],
        as_of: datetime | None = None,
    ) -> "RepositoryResolver":
        """Build from visible evidence and renames, in any order; each iterable is read once.

        Rows of other organizations and rows captured after ``as_of`` do not exist (mirrors.md §8.3, step 1).

        Raises:
            RepositoryEvidenceError: an evidence row that counts is not in normal form.
        """
        population = EvidencePopulation(org_id, as_of)
        for row in evidence:
            population.add(row)
        visible = [
            rename for rename in renames if rename.org_id == org_id and (as_of is None or rename.captured_at <= as_of)
        ]
        latest = max((rename.captured_at for rename in visible), default=population.latest)
        boundary = max(latest, population.latest) if as_of is None else as_of
        return cls(population, read_renames(visible), boundary)

    def reference(self, repo: str, identity: RepositoryIdentity | None = None) -> Resolved | RepositoryReason:
        """Resolve a slug, with or without the identity it was captured with (mirrors.md §8.5).

        A slug never seen before is accepted as a legacy repository; an undeclared name of an identified
        repository is not.
        """
        try:
            slug = normal_repo_slug(repo)
        except ValueError:
            return RepositoryReason.IDENTITY_UNRESOLVED
        if identity is None:
            return self._resolve(slug, None)
        return self._resolve(slug, IdentifiedKey(self.org_id, identity.provider, identity.host, identity.repository_id))

    def source(
        self, table: EvidenceTable, fact_id: str, role: EvidenceRole = EvidenceRole.REPO
    ) -> Resolved | RepositoryReason:
        """Resolve one evidence row of the population by its key (mirrors.md §8.5)."""
        key = (table, fact_id, role)
        source = self._population.get(key)
        if source is None:
            return RepositoryReason.SOURCE_ABSENT
        return self._resolve_source(key, source)

    def fact(self, fact: EvidenceFact) -> Resolved | RepositoryReason:
        """Resolve a Fact, which must be exactly the one that the population knows (mirrors.md §8.5).

        A Fact captured after the boundary is therefore absent.
        """
        row = project_evidence(fact)
        key = (row.source_table, row.source_fact_id, row.role)
        source = self._population.get(key)
        if source is None:
            return RepositoryReason.SOURCE_ABSENT
        if row.org_id != self.org_id or not _same_content(source, row):
            return RepositoryReason.IDENTITY_CONFLICT
        return self._resolve_source(key, source)

    def pushed(self) -> set[RepositoryKey]:
        """Return the repositories that Pushes resolve to: those whose mirrors a derivation may read (mirrors.md §4)."""
        pushes = (item for item in self._population.sources() if item[0][0] == EvidenceTable.PUSHES)
        resolved = (self._resolve_source(*item) for item in pushes)
        return {repository.key for repository in resolved if isinstance(repository, Resolved)}

    def refresh_target(self, push: Push) -> Resolved | RepositoryReason:
        """Prove which repository's mirror a Push may refresh (mirrors.md §8.6).

        Stricter than ``fact``: two identities that share the slug both stop refreshing, because the clone URL
        behind the slug may by now serve either.
        """
        resolved = self.fact(push)
        if isinstance(resolved, RepositoryReason) or isinstance(resolved.key, LegacyKey):
            return resolved  # a legacy slug resolves only when it is neither claimed nor unsafe
        if push.repo in self._unsafe or self._claims[push.repo] != {resolved.key}:
            return RepositoryReason.MIRROR_IDENTITY_UNRESOLVED
        return resolved

    def label(self, key: RepositoryKey) -> str:
        """Give the *representative label*: the smallest slug ever observed for it (mirrors.md §8.1).

        Raises:
            KeyError: no name was ever tied to this identified repository.
        """
        return key.slug if isinstance(key, LegacyKey) else self._identified[key].label

    @cached_property
    def skipped(self) -> Counter[RepositoryReason]:
        """Failing sources of the whole population by reason; a conflicting source counts once per key."""
        results = (self._resolve_source(key, source) for key, source in self._population.sources())
        return Counter(result for result in results if isinstance(result, RepositoryReason))

    def _learn_names(self) -> None:
        """Collect the names, and the claims of observations that inherit an identity (mirrors.md §8.4)."""
        for key, source in self._population.sources():
            identity = self._effective_identity(key, source)
            if isinstance(identity, IdentifiedKey) and source.repo:
                self._names.setdefault(identity, set()).add(source.repo)
                self._claims.setdefault(source.repo, set()).add(identity)

    def _effective_identity(self, key: SourceKey, source: Source) -> IdentifiedKey | RepositoryReason | None:
        """Whom a source speaks of: null means legacy. An observation follows its Push (mirrors.md §8.4)."""
        if self._population.is_conflicting(key):
            return RepositoryReason.IDENTITY_CONFLICT
        if source.source_push_id is None:
            return source.identity
        push_key = (EvidenceTable.PUSHES, source.source_push_id, EvidenceRole.REPO)
        if self._population.is_conflicting(push_key):
            return RepositoryReason.IDENTITY_CONFLICT
        push = self._population.get(push_key)
        if push is None:
            return None if source.identity is None else RepositoryReason.SOURCE_ABSENT
        if push.identity is None:
            if source.identity is not None:
                return RepositoryReason.IDENTITY_UNRESOLVED
            return None if source.repo == push.repo else RepositoryReason.IDENTITY_CONFLICT
        if source.identity not in (None, push.identity):
            return RepositoryReason.IDENTITY_CONFLICT
        return push.identity

    def _resolve_source(self, key: SourceKey, source: Source) -> Resolved | RepositoryReason:
        identity = self._effective_identity(key, source)
        if isinstance(identity, RepositoryReason):
            return identity
        return self._resolve(source.repo, identity)

    def _resolve(self, slug: str, key: IdentifiedKey | None) -> Resolved | RepositoryReason:
        """Apply the rules of mirrors.md §8.5 to a slug in normal form; first match wins."""
        if slug == "":
            return RepositoryReason.IDENTITY_ABSENT
        if key is not None:
            if slug in self._names.get(key, ()):
                return self._identified[key]
            return RepositoryReason.IDENTITY_UNRESOLVED
        if slug in self._claims or slug in self._unsafe:
            return RepositoryReason.IDENTITY_UNRESOLVED
        resolved = self._legacy.get(slug)
        if resolved is None:
            resolved = self._legacy[slug] = Resolved(LegacyKey(self.org_id, slug), slug, None)
        return resolved


def _same_content(source: Source, row: RepositoryEvidence) -> bool:
    """Whether a projection equals the population's row with the same key; instants compare in UTC."""
    own = source.identity
    return (
        source.repo == row.repo
        and source.captured_at == row.captured_at
        and source.source_push_id == row.source_push_id
        and (own and (own.provider, own.host, own.repository_id))
        == (row.repository_id and (row.repository_provider, row.repository_host, row.repository_id))
    )
