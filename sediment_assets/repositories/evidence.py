"""Repository evidence: what each repository-bearing Fact says about repository identity (mirrors.md §8.2).

One row per Fact and role. Rows of the Facts modelled here come from ``project_evidence``; the two
pull-request tables have no Fact model, so an adapter makes their rows (roles ``repo`` and ``head_repo``)
straight from their columns. Which rows count is ``population.py``, what they mean together ``resolver.py``.
"""

from dataclasses import dataclass
from enum import StrEnum

from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.push import Push
from sediment_assets.facts.scalars import ForgeHost, Id, OrgId, ProviderRepositoryId, RepoSlug
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.facts.vocabulary import ForgeProvider


class EvidenceTable(StrEnum):
    """The Fact tables that carry repository evidence; each value is also a FactTable (mirrors.md §8.2)."""

    PUSHES = "pushes"
    CI_OUTCOMES = "ci_outcomes"
    SESSION_COMMIT_OBSERVATIONS = "session_commit_observations"
    PULL_REQUEST_MERGES = "pull_request_merges"
    PULL_REQUEST_REVISIONS = "pull_request_revisions"


class EvidenceRole(StrEnum):
    """Which repository of a Fact a row describes; ``head_repo`` only in the two pull-request tables."""

    REPO = "repo"
    HEAD_REPO = "head_repo"


@dataclass(frozen=True, slots=True)
class RepositoryEvidence:
    """One evidence row, fields in the order of bundle.md §4.2.

    A plain slotted record, because an organization has one or two per Fact: building one checks nothing.
    The field types state the normal form, so ``pydantic.TypeAdapter(RepositoryEvidence)`` validates rows
    that come from outside; the resolver refuses rows that are not in normal form.
    """

    source_table: EvidenceTable
    source_fact_id: Id
    role: EvidenceRole
    org_id: OrgId
    repo: RepoSlug
    repository_provider: ForgeProvider | None
    repository_host: ForgeHost | None
    repository_id: ProviderRepositoryId | None
    captured_at: Instant
    source_push_id: Id | None


EvidenceFact = Push | CIOutcome | SessionCommitObservation
"""A Fact that names a repository and is projected here."""


def project_evidence(fact: EvidenceFact) -> RepositoryEvidence:
    """Give the evidence row (role ``repo``) of a Fact (mirrors.md §8.2).

    Raises:
        TypeError: the Fact carries no repository evidence.
    """
    source_push_id: str | None = None
    match fact:
        case Push():
            table, fact_id = EvidenceTable.PUSHES, fact.push_id
        case CIOutcome():
            table, fact_id = EvidenceTable.CI_OUTCOMES, fact.outcome_id
        case SessionCommitObservation():
            table, fact_id = EvidenceTable.SESSION_COMMIT_OBSERVATIONS, fact.observation_id
            source_push_id = fact.source_push_id
        case _:
            raise TypeError(f"expected a Fact with repository evidence, got {type(fact).__name__}")
    return RepositoryEvidence(
        source_table=table,
        source_fact_id=fact_id,
        role=EvidenceRole.REPO,
        org_id=fact.org_id,
        repo=fact.repo,
        repository_provider=fact.repository_provider,
        repository_host=fact.repository_host,
        repository_id=fact.repository_id,
        captured_at=fact.captured_at,
        source_push_id=source_push_id,
    )
