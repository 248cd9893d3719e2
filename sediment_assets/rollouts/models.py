"""The canonical Rollout and its parts (bundle.md §4.2). Values only; rules live beside their chapter's module."""

from dataclasses import dataclass
from enum import StrEnum

from sediment_assets.derive.provenance import Provenance
from sediment_assets.derive.split import Split
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.messages import PlainMessage, PlainToolCall
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.repositories.keys import RepositoryIdentity


class AttributionSource(StrEnum):
    """How a Rollout's commits were found (derivation.md §8)."""

    GIT_NOTES = "git_notes"
    JACCARD = "jaccard"


@dataclass(frozen=True, slots=True)
class CommitRef:
    """One commit of a Rollout; ``repo`` is the repository's label, ``repository_identity`` null for a legacy one."""

    repo: str
    commit_sha: str
    repository_identity: RepositoryIdentity | None


@dataclass(frozen=True, slots=True)
class Turn:
    """One InferenceCall as projected (derivation.md §5). Captured objects have code-point key order."""

    new_messages: tuple[PlainMessage, ...]
    completion: str
    decisions: tuple[DeveloperDecision, ...]
    inference_call_id: str
    tool_calls: tuple[PlainToolCall, ...]


Segment = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Rollout:
    """One Session: Segments of Turns, its commits in order, and the CI outcomes and observations on them."""

    org_id: str
    session_id: str
    segments: tuple[Segment, ...]
    commits: tuple[CommitRef, ...]
    attribution_source: AttributionSource
    terminal_outcomes: tuple[CIOutcome, ...]
    provenance: Provenance
    split: Split
    session_commit_observations: tuple[SessionCommitObservation, ...]
