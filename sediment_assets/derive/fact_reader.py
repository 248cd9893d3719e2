"""The port through which a derivation reads Facts: one read-only snapshot of one organization.

Everything returned is visible (not quarantined) and belongs to ``org_id`` (facts.md §8, §11). Adapters implement it
over a database; tests implement it in memory. Orders are by UTC instant and code point, never by a database collation.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.push import Push
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.repositories.evidence import RepositoryEvidence
from sediment_assets.repositories.resolver import RepositoryResolver


@dataclass(frozen=True, slots=True)
class StoredCall:
    """One InferenceCall as stored, without ``raw``; its messages are still the stored JSON text (facts.md §7).

    Text, because a call repeats its Session's whole history: equal text is equal value, so most of it is never parsed.
    """

    inference_call_id: str
    session_id: str
    user_id: str | None
    model_call_id: str | None
    observed_at: datetime
    input_text: str
    output_text: str


@dataclass(frozen=True, slots=True)
class StoredSession:
    """One Session: its calls by (observed_at, inference_call_id) and its decisions by (occurred_at, decision_id)."""

    session_id: str
    calls: tuple[StoredCall, ...]
    decisions: tuple[DeveloperDecision, ...]


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """Which Facts one Session consists of, by id: calls and decisions in the order of ``StoredSession``.

    A Fact never changes, so these ids stand for everything captured of the Session.
    """

    session_id: str
    first_observed_at: datetime
    call_ids: tuple[str, ...]
    decision_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FullCall:
    """One InferenceCall with ``raw``, read when it is asked for; captured objects in code-point key order."""

    session_id: str
    input_text: str
    """The stored text of its input messages (``StoredCall``)."""
    read: Callable[[str], InferenceCall]
    """Validates the Fact again, with these input messages (stored text) in place of its own."""

    def fact(self, input_text: str | None = None) -> InferenceCall:
        """Return the Fact; with other input messages, if given. Raises SedimentError when it is not valid."""
        return self.read(self.input_text if input_text is None else input_text)


@dataclass(frozen=True, slots=True)
class CandidateCall:
    """One call as a candidate of the Jaccard fallback (derivation.md §9): its output only."""

    inference_call_id: str
    session_id: str
    observed_at: datetime
    output_text: str


@dataclass(frozen=True, slots=True)
class CallIdentity:
    """Identity and sorted aliases of one InferenceCall (bundle.md §4.2)."""

    inference_call_id: str
    org_id: str
    session_id: str
    observed_at: datetime
    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """Sessions whose first visible call lies in ``[start, end)``: one partition of the asset graph (design.md §5)."""

    start: datetime
    end: datetime


class FactReader(Protocol):
    """One consistent, read-only view of one organization's visible Facts."""

    @property
    def org_id(self) -> str:
        """The normalised organization."""
        ...

    def quarantine_revision(self) -> int:
        """Largest revision among the organization's quarantine records, 0 if none (facts.md §8)."""
        ...

    def as_of(self) -> datetime | None:
        """Latest capture instant over all visible Facts, null without any (facts.md §11.5)."""
        ...

    def store_state(self) -> str:
        """What tells this store from another, in which the ids of the same Facts might stand for other contents."""
        ...

    def visible_ids(self, table: FactTable) -> Iterator[str]:
        """Ids of a table's Facts by (capture instant, id): read from an index, where there is one."""
        ...

    def evidence(self) -> Iterator[RepositoryEvidence]:
        """Repository evidence of every repository-bearing Fact, by (captured_at, table, id, role)."""
        ...

    def renames(self) -> Iterator[RepositoryRename]:
        """RepositoryRenames by (captured_at, rename_id)."""
        ...

    def resolver(self) -> RepositoryResolver:
        """Repository identity over the visible evidence and renames up to ``as_of``; the same object each time."""
        ...

    def pushes(self) -> Iterator[Push]:
        """Pushes by (captured_at, push_id)."""
        ...

    def observations(self) -> Iterator[SessionCommitObservation]:
        """SessionCommitObservations by (captured_at, observation_id)."""
        ...

    def ci_outcomes(self) -> Iterator[CIOutcome]:
        """CI outcomes by (captured_at, outcome_id), with an empty ``raw``: a projection for resolving verdicts."""
        ...

    def full_ci_outcomes(self, outcome_ids: Collection[str]) -> Mapping[str, CIOutcome]:
        """The named CI outcomes with their ``raw``, captured objects in code-point key order."""
        ...

    def session_ids_with_calls(self) -> Iterator[str]:
        """Every session_id with a visible call, ascending by code point, whatever the window."""
        ...

    def first_calls(self) -> Iterator[tuple[str, datetime]]:
        """Every session_id with a visible call, and when its first one was observed; ascending by session_id."""
        ...

    def count_sessions(self, window: SessionWindow) -> int:
        """How many Sessions begin in the window."""
        ...

    def sessions(self, window: SessionWindow | None = None) -> Iterator[StoredSession]:
        """Sessions with a visible call, ascending by session_id; one at a time in memory."""
        ...

    def session_facts(self, window: SessionWindow | None = None) -> Iterator[SessionFacts]:
        """The same Sessions as ``sessions``, each as the ids of its Facts."""
        ...

    def candidate_calls(
        self, start: datetime, end: datetime, session_ids: Collection[str] | None = None
    ) -> Iterator[CandidateCall]:
        """Calls observed in ``[start, end]``, by (observed_at, inference_call_id); of these Sessions only, if given."""
        ...

    def call_identities(self) -> Iterator[CallIdentity]:
        """Every call's identity, by (observed_at, inference_call_id)."""
        ...

    def call_sessions(self) -> Iterator[tuple[str, str]]:
        """Every call's id and its session_id, in the order of ``call_identities``: read from an index."""
        ...

    def full_calls(self, inference_call_ids: Iterable[str]) -> Iterator[FullCall]:
        """The named calls, complete with ``raw``, in the order named; one at a time or a few in memory."""
        ...
