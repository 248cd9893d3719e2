"""What is stored about a Session, and what the quarantine log did: rules for every database."""

from collections.abc import Callable

import pytest
from sqlalchemy import Engine

from sediment_assets.adapters.fact_store.quarantine_log import quarantine_between
from sediment_assets.adapters.fact_store.session_trace import trace_session
from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from tests.builders import (
    OTHER_SHA,
    SHA,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
)

Store = Callable[..., Engine]
CALLS, OUTCOMES = FactTable.INFERENCE_CALLS, FactTable.CI_OUTCOMES

FACTS = [
    make_call(inference_call_id="C2"),  # code-point order puts capitals first
    make_call(inference_call_id="c1"),
    make_call(inference_call_id="other", session_id="s2"),
    make_call(inference_call_id="foreign", org_id="other"),
    make_decision(),
    make_push(),
    make_observation(),
    make_outcome(),
    make_outcome(outcome_id="o2", run_id="r2", commit_sha=OTHER_SHA),
]
LOG = [
    make_quarantine(quarantine_id="q1", fact_table=CALLS, fact_id="c1", reason="pasted é"),
    make_quarantine(quarantine_id="q2", fact_table=OUTCOMES, fact_id="o1"),
    make_quarantine(quarantine_id="q3", fact_table=OUTCOMES, fact_id="o1", action="release"),
    make_quarantine(quarantine_id="q4", org_id="other", fact_table=CALLS, fact_id="C2"),
]


class SessionTraceCases:
    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError

    def test_calls_decisions_and_observations_hidden_ones_included(self, store: Store):
        found = trace_session(store(FACTS, LOG), "ACME", "s1")
        assert [(one.table, one.fact_id, one.hidden_by and one.hidden_by.reason) for one in found] == [
            ("inference_calls", "C2", None),
            ("inference_calls", "c1", "pasted é"),
            ("developer_decisions", "d1", None),
            ("session_commit_observations", "ob1", None),
        ]
        assert found[1].hidden_by is not None
        assert found[1].hidden_by.revision == 1

    def test_outcomes_of_the_commits_that_are_named(self, store: Store):
        found = trace_session(store(FACTS, LOG), "acme", "nobody", [SHA])
        assert [(one.table, one.fact_id, one.hidden_by) for one in found] == [("ci_outcomes", "o1", None)]

    def test_the_last_action_between_two_revisions(self, store: Store):
        engine = store(FACTS, LOG)
        hide, release = QuarantineAction.QUARANTINE, QuarantineAction.RELEASE
        assert quarantine_between(engine, "acme", 0, 9) == {(CALLS, "c1"): hide, (OUTCOMES, "o1"): release}
        assert quarantine_between(engine, "acme", 1, 2) == {(OUTCOMES, "o1"): hide}
        assert quarantine_between(engine, "acme", 3, 9) == {}
