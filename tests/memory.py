"""In-memory doubles of the core's ports, which pass the same tests as the real adapters."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import Any, TypeVar

from sediment_assets.derive.fact_reader import (
    CallIdentity,
    CandidateCall,
    FullCall,
    SessionFacts,
    SessionWindow,
    StoredCall,
    StoredSession,
)
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import canonical_order, encode_stored
from sediment_assets.facts.messages import decode_messages
from sediment_assets.facts.model import Fact
from sediment_assets.facts.push import Push
from sediment_assets.facts.quarantine import QuarantineRecord, hidden_facts, quarantine_revision
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, RepositoryEvidence, project_evidence
from sediment_assets.repositories.resolver import RepositoryResolver

F = TypeVar("F", bound=Fact)
NO_IDENTITY = {"repository_provider": None, "repository_host": None, "repository_id": None}


@dataclass(frozen=True)
class OtherFact:
    """A Fact of a kind without a model here: an edit observation, a pull-request merge or revision."""

    table: FactTable
    fact_id: str
    org_id: str
    captured_at: datetime
    repo: str = ""
    identity: Mapping[str, Any] = field(default_factory=lambda: NO_IDENTITY)
    head_repo: str = ""
    head_identity: Mapping[str, Any] = field(default_factory=lambda: NO_IDENTITY)


class MemoryFacts:
    """A FactReader over lists. The quarantine log's revisions are the records' positions, from 1."""

    def __init__(
        self, org_id: str, facts: Iterable[Fact | OtherFact] = (), quarantine: Sequence[QuarantineRecord] = ()
    ) -> None:
        self._log = list(enumerate(quarantine, 1))
        hidden = hidden_facts(self._log)
        self._org_id = org_id
        self._facts = [
            fact for fact in facts if fact.org_id == org_id and (org_id, _table_of(fact), fact.fact_id) not in hidden
        ]

    @property
    def org_id(self) -> str:
        return self._org_id

    def quarantine_revision(self) -> int:
        return quarantine_revision(self._log, self._org_id)

    def as_of(self) -> datetime | None:
        return max((fact.captured_at for fact in self._facts), default=None)

    def store_state(self) -> str:
        return "memory"

    def visible_ids(self, table: FactTable) -> Iterator[str]:
        mine = [fact for fact in self._facts if _table_of(fact) == table]
        return (fact.fact_id for fact in sorted(mine, key=lambda fact: (fact.captured_at, fact.fact_id)))

    def evidence(self) -> Iterator[RepositoryEvidence]:
        rows: list[RepositoryEvidence] = []
        for fact in self._facts:
            if isinstance(fact, Push | CIOutcome | SessionCommitObservation):
                rows.append(project_evidence(fact))
            elif isinstance(fact, OtherFact) and fact.table in _PULL_REQUESTS:
                rows.append(_pull_request_row(fact, EvidenceRole.REPO, fact.repo, fact.identity))
                rows.append(_pull_request_row(fact, EvidenceRole.HEAD_REPO, fact.head_repo, fact.head_identity))
        return iter(sorted(rows, key=lambda row: (row.captured_at, row.source_table, row.source_fact_id, row.role)))

    def renames(self) -> Iterator[RepositoryRename]:
        return iter(self._captured(RepositoryRename))

    def resolver(self) -> RepositoryResolver:
        return RepositoryResolver.build(self._org_id, self.evidence(), self.renames(), self.as_of())

    def pushes(self) -> Iterator[Push]:
        return iter(self._captured(Push))

    def observations(self) -> Iterator[SessionCommitObservation]:
        return iter(self._captured(SessionCommitObservation))

    def ci_outcomes(self) -> Iterator[CIOutcome]:
        return (outcome.model_copy(update={"raw": {}}) for outcome in self._captured(CIOutcome))

    def full_ci_outcomes(self, outcome_ids: Collection[str]) -> Mapping[str, CIOutcome]:
        wanted = set(outcome_ids)
        return {o.outcome_id: _ordered(o) for o in self._captured(CIOutcome) if o.outcome_id in wanted}

    def session_ids_with_calls(self) -> Iterator[str]:
        return iter(sorted({call.session_id for call in self._calls()}))

    def first_calls(self) -> Iterator[tuple[str, datetime]]:
        return ((session.session_id, session.calls[0].observed_at) for session in self.sessions())

    def count_sessions(self, window: SessionWindow) -> int:
        return sum(1 for _ in self.sessions(window))

    def sessions(self, window: SessionWindow | None = None) -> Iterator[StoredSession]:
        by_session = sorted(self._calls(), key=lambda call: call.session_id)
        for session_id, group in groupby(by_session, key=lambda call: call.session_id):
            calls = tuple(map(_stored_call, group))
            if window is None or window.start <= calls[0].observed_at < window.end:
                decisions = [d for d in self._all(DeveloperDecision) if d.session_id == session_id]
                decisions.sort(key=lambda decision: (decision.occurred_at, decision.decision_id))
                yield StoredSession(session_id, calls, tuple(map(_ordered, decisions)))

    def session_facts(self, window: SessionWindow | None = None) -> Iterator[SessionFacts]:
        for session in self.sessions(window):
            call_ids = tuple(call.inference_call_id for call in session.calls)
            decision_ids = tuple(decision.decision_id for decision in session.decisions)
            yield SessionFacts(session.session_id, session.calls[0].observed_at, call_ids, decision_ids)

    def candidate_calls(
        self, start: datetime, end: datetime, session_ids: Collection[str] | None = None
    ) -> Iterator[CandidateCall]:
        for call in self._calls():
            if start <= call.observed_at <= end and (session_ids is None or call.session_id in session_ids):
                stored = _stored_call(call)
                yield CandidateCall(call.inference_call_id, call.session_id, call.observed_at, stored.output_text)

    def call_identities(self) -> Iterator[CallIdentity]:
        for call in self._calls():
            aliases = tuple(sorted(call.call_aliases))
            yield CallIdentity(call.inference_call_id, call.org_id, call.session_id, call.observed_at, aliases)

    def call_sessions(self) -> Iterator[tuple[str, str]]:
        return ((call.inference_call_id, call.session_id) for call in self._calls())

    def full_calls(self, inference_call_ids: Iterable[str]) -> Iterator[FullCall]:
        calls = {call.inference_call_id: call for call in self._calls()}
        for call_id in inference_call_ids:
            if call_id in calls:
                call = calls[call_id]
                yield FullCall(call.session_id, _stored_call(call).input_text, partial(_call_with_input, call))

    def _all(self, kind: type[F]) -> list[F]:
        return [fact for fact in self._facts if isinstance(fact, kind)]

    def _captured(self, kind: type[F]) -> list[F]:
        return sorted(map(_ordered, self._all(kind)), key=lambda fact: (fact.captured_at, fact.fact_id))

    def _calls(self) -> list[InferenceCall]:
        return sorted(self._all(InferenceCall), key=lambda call: (call.observed_at, call.inference_call_id))


_PULL_REQUESTS = (FactTable.PULL_REQUEST_MERGES, FactTable.PULL_REQUEST_REVISIONS)


def _call_with_input(call: InferenceCall, input_text: str) -> InferenceCall:
    messages = {
        "input_messages": decode_messages(input_text),
        "output_messages": decode_messages(_stored_call(call).output_text),
    }
    return InferenceCall.model_validate(_ordered(call).model_dump() | messages)


def _table_of(fact: Fact | OtherFact) -> FactTable:
    return fact.table if isinstance(fact, OtherFact) else fact.TABLE


def _ordered(fact: F) -> F:
    """The Fact with captured objects in code-point key order, as readers give it."""
    raw = getattr(fact, "raw", None)
    return fact if raw is None else fact.model_copy(update={"raw": canonical_order(raw)})


def _stored_call(call: InferenceCall) -> StoredCall:
    plain = call.model_dump()
    return StoredCall(
        call.inference_call_id,
        call.session_id,
        call.user_id,
        call.model_call_id,
        call.observed_at,
        encode_stored(plain["input_messages"]),
        encode_stored(plain["output_messages"]),
    )


def _pull_request_row(
    fact: OtherFact, role: EvidenceRole, repo: str, identity: Mapping[str, Any]
) -> RepositoryEvidence:
    return RepositoryEvidence(
        source_table=EvidenceTable(fact.table),
        source_fact_id=fact.fact_id,
        role=role,
        org_id=fact.org_id,
        repo=repo,
        captured_at=fact.captured_at,
        source_push_id=None,
        **identity,
    )
