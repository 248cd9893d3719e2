"""The evidence a resolver stands on: which rows count, and which contradict each other (mirrors.md §8.2–8.3).

Rows stream in, in any order, and only four fields of each are kept, with slugs and identities shared: an
organization has hundreds of thousands of rows and a handful of repositories. What the kept rows mean is
``resolver.py``; renames are ``renames.py``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.scalars import (
    normal_forge_host,
    normal_id,
    normal_provider_repository_id,
    normal_repo_slug,
)
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, RepositoryEvidence
from sediment_assets.repositories.keys import IdentifiedKey

SourceKey = tuple[EvidenceTable, str, EvidenceRole]
"""Names one evidence row: its table, Fact id and role (mirrors.md §8.2)."""

_PULL_REQUEST_TABLES = (EvidenceTable.PULL_REQUEST_MERGES, EvidenceTable.PULL_REQUEST_REVISIONS)
_ROLES = frozenset(
    [(table, EvidenceRole.REPO) for table in EvidenceTable]
    + [(table, EvidenceRole.HEAD_REPO) for table in _PULL_REQUEST_TABLES]
)


class RepositoryEvidenceError(SedimentError):
    """A repository evidence row is not in normal form; nothing can be resolved on such a population."""


@dataclass(slots=True)
class Source:
    """What the population keeps of one evidence row; ``identity`` is the row's own triple, not its Push's."""

    repo: str
    identity: IdentifiedKey | None
    captured_at: datetime
    source_push_id: str | None


class EvidencePopulation:
    """Every distinct evidence row of one organization, with the slugs that rows claim or make unsafe.

    ``claims`` maps a slug to the identities seen with it, by rows of every kind, conflicting ones included.
    ``unsafe`` holds the slugs of conflicting sources. ``latest`` is the latest capture instant, else the
    earliest representable one. All three grow with ``add``.
    """

    def __init__(self, org_id: str, as_of: datetime | None = None) -> None:
        self.org_id = org_id
        self.latest = datetime.min.replace(tzinfo=UTC)
        self._as_of = as_of
        self.claims: dict[str, set[IdentifiedKey]] = {}
        self.unsafe: set[str] = set()
        self._sources: dict[tuple[EvidenceTable, EvidenceRole], dict[str, Source]] = {k: {} for k in _ROLES}
        self._conflicting: set[SourceKey] = set()
        self._slugs: dict[str, str] = {}
        self._identities: dict[tuple[str, str, str], IdentifiedKey] = {}

    def add(self, row: RepositoryEvidence) -> None:
        """Take in one row; rows of other organizations and rows after the boundary do not exist (step 1).

        A second row with the same key is a copy when every field agrees (instants in UTC); otherwise the
        source is *conflicting*: it stays known by key, but counts no more (mirrors.md §8.3, steps 2, 4, 5).

        Raises:
            RepositoryEvidenceError: the row is not in normal form.
        """
        if row.org_id != self.org_id:
            return
        if row.captured_at.tzinfo is None:
            raise _malformed(row, "captured_at: expected an instant with an offset")
        if self._as_of is not None and row.captured_at > self._as_of:
            return
        _check_shape(row)
        self.latest = max(self.latest, row.captured_at)
        source = Source(self._slug(row), self._identity(row), row.captured_at, row.source_push_id)
        if source.repo and source.identity is not None:
            self.claims.setdefault(source.repo, set()).add(source.identity)
        kept = self._sources[row.source_table, row.role].setdefault(row.source_fact_id, source)
        if kept != source:
            self._conflicting.add((row.source_table, row.source_fact_id, row.role))
            self.unsafe.update((kept.repo, source.repo))

    def get(self, key: SourceKey) -> Source | None:
        """Give the row named by ``key``, null when unknown; of a conflicting source, any one copy."""
        table, fact_id, role = key
        return self._sources[table, role].get(fact_id)

    def is_conflicting(self, key: SourceKey) -> bool:
        """Whether the copies of this source contradict each other."""
        return key in self._conflicting

    def sources(self) -> Iterator[tuple[SourceKey, Source]]:
        """Every source once, conflicting ones included, in no particular order."""
        for (table, role), rows in self._sources.items():
            for fact_id, source in rows.items():
                yield (table, fact_id, role), source

    def _slug(self, row: RepositoryEvidence) -> str:
        shared = self._slugs.get(row.repo)
        if shared is None:
            _require_normal(row, "repo", normal_repo_slug)
            shared = self._slugs[row.repo] = row.repo
        return shared

    def _identity(self, row: RepositoryEvidence) -> IdentifiedKey | None:
        triple = (row.repository_provider, row.repository_host, row.repository_id)
        provider, host, repository_id = triple
        if provider is None or host is None or repository_id is None:
            if triple != (None, None, None):
                raise _malformed(row, "repository_provider, _host, _id: expected all or none")
            return None
        shared = self._identities.get((provider, host, repository_id))
        if shared is None:
            _require_normal(row, "repository_host", normal_forge_host)
            _require_normal(row, "repository_id", normal_provider_repository_id)
            shared = IdentifiedKey(self.org_id, ForgeProvider(provider), host, repository_id)
            self._identities[provider, host, repository_id] = shared
        return shared


def _check_shape(row: RepositoryEvidence) -> None:
    """Check the fields whose values rows do not share (mirrors.md §8.2)."""
    if (row.source_table, row.role) not in _ROLES:
        raise _malformed(row, "role: expected repo, or head_repo of a pull-request table")
    _require_normal(row, "source_fact_id", normal_id)
    is_observation = row.source_table == EvidenceTable.SESSION_COMMIT_OBSERVATIONS
    if is_observation != (row.source_push_id is not None):
        raise _malformed(row, "source_push_id: expected exactly on session_commit_observations")
    if is_observation:
        _require_normal(row, "source_push_id", normal_id)


def _require_normal(row: RepositoryEvidence, field: str, normal: Callable[[object], str]) -> None:
    value = getattr(row, field)
    try:
        expected = normal(value)
    except ValueError as error:
        raise _malformed(row, f"{field}: {error}") from None
    if expected != value:
        raise _malformed(row, f"{field}: expected {shown(expected)}, got {shown(value)}")


def _malformed(row: RepositoryEvidence, problem: str) -> RepositoryEvidenceError:
    place = f"repository evidence {row.source_table} {shown(row.source_fact_id)} {row.role}"
    return RepositoryEvidenceError(f"{place}: {problem}; repair or quarantine that Fact")
