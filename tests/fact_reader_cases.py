"""What every FactReader must do (facts.md §8, §11): run over memory, SQLite and PostgreSQL.

A test class per implementation inherits ``FactReaderCases`` and ``FactContentCases``, and provides ``open_reader``.
"""

from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol

import pytest

from sediment_assets.derive.fact_reader import FactReader, SessionWindow
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.vocabulary import FactTable
from tests.builders import (
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
)
from tests.memory import OtherFact

# Code-point order; a locale's collation orders these otherwise, UTF-16 order the last two.
CODE_POINT_ORDER = ["B", "Z-1", "_", "a", "a b", "b", "z", "é", "\uffff", "😀"]


class OpenReader(Protocol):
    """Opens a reader of ``org_id`` over the given Facts and quarantine log."""

    def __call__(self, facts=(), quarantine=(), org_id="acme") -> AbstractContextManager[FactReader]: ...


def at(minutes: int) -> datetime:
    return parse_instant("2026-03-02T09:00:00Z") + timedelta(minutes=minutes)


def edit_observation(**values) -> OtherFact:
    defaults = {"table": FactTable.EDIT_OBSERVATIONS, "fact_id": "e1", "org_id": "acme", "captured_at": at(0)}
    return OtherFact(**defaults | values)


def pull_request(table: FactTable = FactTable.PULL_REQUEST_MERGES, **values) -> OtherFact:
    defaults = {"table": table, "fact_id": "m1", "org_id": "acme", "captured_at": at(0), "repo": "acme/widget"}
    return OtherFact(**defaults | {"head_repo": "fork/widget"} | values)


ONE_OF_EACH = {
    FactTable.INFERENCE_CALLS: make_call(observed_at=at(5)),
    FactTable.DEVELOPER_DECISIONS: make_decision(captured_at=at(5)),
    FactTable.EDIT_OBSERVATIONS: edit_observation(captured_at=at(5)),
    FactTable.CI_OUTCOMES: make_outcome(captured_at=at(5)),
    FactTable.PUSHES: make_push(captured_at=at(5)),
    FactTable.SESSION_COMMIT_OBSERVATIONS: make_observation(captured_at=at(5)),
    FactTable.PULL_REQUEST_MERGES: pull_request(captured_at=at(5)),
    FactTable.PULL_REQUEST_REVISIONS: pull_request(FactTable.PULL_REQUEST_REVISIONS, captured_at=at(5)),
    FactTable.REPOSITORY_RENAMES: make_rename(captured_at=at(5)),
}


class FactReaderCases:
    """The shared rules. Nothing here knows what is behind the reader."""

    def test_nothing_is_read_without_facts(self, open_reader: OpenReader):
        with open_reader() as facts:
            assert facts.org_id == "acme"
            assert facts.quarantine_revision() == 0
            assert facts.as_of() is None
            for read in (
                facts.evidence, facts.renames, facts.pushes, facts.observations, facts.ci_outcomes,
                facts.session_ids_with_calls, facts.first_calls, facts.sessions, facts.call_identities,
            ):  # fmt: skip
                assert list(read()) == []

    # --- as_of (facts.md §11.5)

    @pytest.mark.parametrize("table", ONE_OF_EACH)
    def test_as_of_is_the_latest_capture_of_any_table(self, open_reader: OpenReader, table: FactTable):
        others = [make_call(inference_call_id="c0", observed_at=at(1)), make_push(push_id="p0", captured_at=at(2))]
        others[1] = make_push(push_id="p0", after_sha="c" * 40, captured_at=at(2))
        with open_reader([*others, ONE_OF_EACH[table]]) as facts:
            assert facts.as_of() == at(5)

    @pytest.mark.parametrize("table", ONE_OF_EACH)
    def test_as_of_ignores_hidden_facts(self, open_reader: OpenReader, table: FactTable):
        fact = ONE_OF_EACH[table]
        first = make_call(inference_call_id="c0", observed_at=at(1))
        log = [make_quarantine(fact_table=table, fact_id=fact.fact_id)]
        with open_reader([first, fact], log) as facts:
            assert facts.as_of() == at(1)

    def test_as_of_ignores_when_things_happened(self, open_reader: OpenReader):
        decision = make_decision(occurred_at=at(60), captured_at=at(3))
        with open_reader([decision, make_rename(occurred_at=at(90), captured_at=at(2))]) as facts:
            assert facts.as_of() == at(3)

    def test_instants_keep_microseconds_and_compare_as_instants(self, open_reader: OpenReader):
        early = make_call(inference_call_id="c1", observed_at="2026-03-02T09:00:00.999999Z")
        late = make_call(inference_call_id="c2", observed_at="2026-03-02T11:00:01+02:00")
        with open_reader([late, early]) as facts:
            (session,) = facts.sessions()
            assert [call.inference_call_id for call in session.calls] == ["c1", "c2"]
            assert session.calls[0].observed_at.microsecond == 999999
            assert facts.as_of() == parse_instant("2026-03-02T09:00:01Z")

    # --- organization and quarantine (facts.md §8)

    def test_other_organizations_are_not_read(self, open_reader: OpenReader):
        theirs = [
            make_call(org_id="other", inference_call_id="x1"), make_push(org_id="other", push_id="x2"),
            make_outcome(org_id="other", outcome_id="x3"), make_observation(org_id="other", observation_id="x4"),
            make_rename(org_id="other", rename_id="x5"), make_decision(org_id="other", decision_id="x6"),
            pull_request(org_id="other", fact_id="x7"),
        ]  # fmt: skip
        log = [make_quarantine(org_id="other"), make_quarantine(org_id="other", quarantine_id="q2")]
        with open_reader([*theirs, make_call()], log) as facts:
            assert [session.session_id for session in facts.sessions()] == ["s1"]
            assert [call.fact().inference_call_id for call in facts.full_calls(["c1", "x1"])] == ["c1"]
            assert list(facts.session_ids_with_calls()) == ["s1"]
            assert [call.inference_call_id for call in facts.call_identities()] == ["c1"]
            assert facts.full_ci_outcomes(["x3"]) == {}
            for read in (facts.evidence, facts.renames, facts.pushes, facts.observations, facts.ci_outcomes):
                assert list(read()) == []
            assert facts.quarantine_revision() == 0

    def test_hidden_facts_vanish_from_every_read(self, open_reader: OpenReader):
        log = [
            make_quarantine(quarantine_id=f"q{n}", fact_table=table, fact_id=fact.fact_id)
            for n, (table, fact) in enumerate(ONE_OF_EACH.items())
        ]
        shown = make_call(inference_call_id="c9", session_id="s9")
        with open_reader([*ONE_OF_EACH.values(), shown], log) as facts:
            assert [session.session_id for session in facts.sessions()] == ["s9"]
            assert list(facts.full_calls(["c1"])) == []
            assert list(facts.session_ids_with_calls()) == ["s9"]
            assert [session_id for session_id, _ in facts.first_calls()] == ["s9"]
            assert [call.inference_call_id for call in facts.call_identities()] == ["c9"]
            assert [call.inference_call_id for call in facts.candidate_calls(at(0), at(99))] == ["c9"]
            assert facts.full_ci_outcomes(["o1"]) == {}
            for read in (facts.evidence, facts.renames, facts.pushes, facts.observations, facts.ci_outcomes):
                assert list(read()) == []

    def test_a_hidden_decision_leaves_its_session(self, open_reader: OpenReader):
        kept = make_decision(decision_id="d2", file_path="b.py", call_id="t2")
        log = [make_quarantine(fact_table="developer_decisions", fact_id="d1")]
        with open_reader([make_call(), make_decision(), kept], log) as facts:
            (session,) = facts.sessions()
            assert [decision.decision_id for decision in session.decisions] == ["d2"]

    @pytest.mark.parametrize(
        ("actions", "visible"),
        [
            (["quarantine"], False),
            (["quarantine", "release"], True),
            (["release", "quarantine"], False),
            (["quarantine", "release", "quarantine"], False),
            (["quarantine", "quarantine", "release"], True),
        ],
    )
    def test_the_latest_record_of_a_fact_decides(self, open_reader: OpenReader, actions: list[str], visible: bool):
        # recorded_at runs backwards: append order decides, not the clock.
        log = [
            make_quarantine(quarantine_id=f"q{n}", action=action, recorded_at=at(-n))
            for n, action in enumerate(actions)
        ]
        with open_reader([make_call()], log) as facts:
            assert [call.inference_call_id for call in facts.call_identities()] == (["c1"] if visible else [])

    def test_a_record_hides_its_own_fact_only(self, open_reader: OpenReader):
        log = [
            make_quarantine(quarantine_id="q1", fact_table="pushes", fact_id="c1"),
            make_quarantine(quarantine_id="q2", org_id="other", fact_id="c1"),
            make_quarantine(quarantine_id="q3", fact_id="ghost"),
        ]
        with open_reader([make_call(), make_push()], log) as facts:
            assert [call.inference_call_id for call in facts.call_identities()] == ["c1"]
            assert [push.push_id for push in facts.pushes()] == ["p1"]

    def test_revision_is_the_organizations_latest_with_gaps_releases_and_ghosts(self, open_reader: OpenReader):
        log = [
            make_quarantine(quarantine_id="q1"),
            make_quarantine(quarantine_id="q2", org_id="other"),
            make_quarantine(quarantine_id="q3", action="release", fact_id="ghost"),
            make_quarantine(quarantine_id="q4", org_id="other"),
        ]
        with open_reader([], log) as facts:
            assert facts.quarantine_revision() == 3
        with open_reader([], log, org_id="other") as facts:
            assert facts.quarantine_revision() == 4

    # --- Sessions

    def test_sessions_come_by_code_point_whatever_the_collation(self, open_reader: OpenReader):
        calls = [make_call(inference_call_id=f"c{s}", session_id=s) for s in reversed(CODE_POINT_ORDER)]
        decisions = [make_decision(decision_id=f"d{s}", session_id=s) for s in CODE_POINT_ORDER]
        with open_reader([*calls, *decisions]) as facts:
            assert list(facts.session_ids_with_calls()) == CODE_POINT_ORDER
            assert [session_id for session_id, _ in facts.first_calls()] == CODE_POINT_ORDER
            sessions = list(facts.sessions())
            assert [session.session_id for session in sessions] == CODE_POINT_ORDER
            assert [[d.session_id for d in session.decisions] for session in sessions] == [
                [s] for s in CODE_POINT_ORDER
            ]

    def test_ties_within_a_session_go_by_code_point_of_the_id(self, open_reader: OpenReader):
        calls = [make_call(inference_call_id=i) for i in reversed(CODE_POINT_ORDER)]
        decisions = [make_decision(decision_id=i, call_id=i) for i in reversed(CODE_POINT_ORDER)]
        with open_reader([*calls, *decisions, make_call(inference_call_id="0", observed_at=at(1))]) as facts:
            (session,) = facts.sessions()
            assert [call.inference_call_id for call in session.calls] == [*CODE_POINT_ORDER, "0"]
            assert [decision.decision_id for decision in session.decisions] == CODE_POINT_ORDER
            assert [call.inference_call_id for call in facts.call_identities()] == [*CODE_POINT_ORDER, "0"]
            assert [call.inference_call_id for call in facts.candidate_calls(at(0), at(0))] == CODE_POINT_ORDER

    def test_session_facts_are_the_ids_of_the_same_sessions(self, open_reader: OpenReader):
        calls = [
            make_call(inference_call_id=call, session_id=session, observed_at=at(minutes))
            for call, session, minutes in (
                ("c1", "b", 5),
                ("c2", "b", 1),
                ("c3", "é", 3),
                ("c0", "b", 5),
                ("c4", "Z", 9),
            )
        ]
        decisions = [
            make_decision(decision_id=decision, session_id=session, occurred_at=at(minutes))
            for decision, session, minutes in (("d1", "b", 9), ("d2", "b", 8), ("d3", "a", 1), ("d4", "é", 2))
        ]
        hidden = [make_quarantine(fact_table=FactTable.INFERENCE_CALLS, fact_id="c2")]
        with open_reader([*calls, *decisions], hidden) as reader:
            for window in (None, SessionWindow(at(4), at(6))):
                expected = [
                    (
                        session.session_id,
                        session.calls[0].observed_at,
                        tuple(call.inference_call_id for call in session.calls),
                        tuple(decision.decision_id for decision in session.decisions),
                    )
                    for session in reader.sessions(window)
                ]
                found = [
                    (facts.session_id, facts.first_observed_at, facts.call_ids, facts.decision_ids)
                    for facts in reader.session_facts(window)
                ]
                assert found == expected
            assert [session[0] for session in expected] == ["b"]

    def test_decisions_of_sessions_without_calls_are_passed_over(self, open_reader: OpenReader):
        decisions = [make_decision(decision_id=f"d{s}", session_id=s) for s in ("a", "b", "c", "d")]
        calls = [make_call(inference_call_id=f"c{s}", session_id=s) for s in ("b", "d", "e")]
        with open_reader([*decisions, *calls]) as facts:
            found = [(s.session_id, [d.decision_id for d in s.decisions]) for s in facts.sessions()]
            assert found == [("b", ["db"]), ("d", ["dd"]), ("e", [])]

    # --- windows (design.md §5)

    def test_a_session_is_in_the_window_of_its_first_call(self, open_reader: OpenReader):
        calls = [
            make_call(inference_call_id="a1", session_id="a", observed_at=at(-1)),
            make_call(inference_call_id="a2", session_id="a", observed_at=at(5)),
            make_call(inference_call_id="b1", session_id="b", observed_at=at(0)),
            make_call(inference_call_id="b2", session_id="b", observed_at=at(99)),
            make_call(inference_call_id="c1", session_id="c", observed_at=at(10)),
        ]
        decisions = [make_decision(decision_id=f"d{s}", session_id=s) for s in "abc"]
        with open_reader([*calls, *decisions]) as facts:
            found = list(facts.sessions(SessionWindow(at(0), at(10))))
            assert [(s.session_id, len(s.calls), len(s.decisions)) for s in found] == [("b", 2, 1)]
            assert [s.session_id for s in facts.sessions(SessionWindow(at(-9), at(0)))] == ["a"]
            assert [s.session_id for s in facts.sessions(SessionWindow(at(10), at(11)))] == ["c"]

    def test_a_hidden_first_call_moves_its_session_to_a_later_window(self, open_reader: OpenReader):
        calls = [make_call(), make_call(inference_call_id="c2", observed_at=at(20))]
        with open_reader(calls, [make_quarantine()]) as facts:
            assert list(facts.sessions(SessionWindow(at(0), at(10)))) == []
            (session,) = facts.sessions(SessionWindow(at(20), at(30)))
            assert [call.inference_call_id for call in session.calls] == ["c2"]

    # --- calls

    def test_candidate_calls_include_both_ends(self, open_reader: OpenReader):
        calls = [make_call(inference_call_id=f"c{n}", session_id=f"s{-n}", observed_at=at(n)) for n in range(5)]
        with open_reader(calls) as facts:
            found = list(facts.candidate_calls(at(1), at(3)))
            assert [call.inference_call_id for call in found] == ["c1", "c2", "c3"]
            expected = encode_stored(calls[1].model_dump()["output_messages"])
            assert (found[0].session_id, found[0].observed_at, found[0].output_text) == ("s-1", at(1), expected)

    def test_any_number_of_sessions_can_be_named_for_candidates(self, open_reader: OpenReader):
        calls = [make_call(inference_call_id=f"c{n}", session_id=f"s{n}") for n in range(4)]
        others = [f"other-{n}" for n in range(70_000)]  # more than a query may name on either database
        with open_reader(calls) as facts:
            for wanted, found in ((["s3", "s1"], ["c1", "c3"]), ([*others, "s2"], ["c2"]), ([], [])):
                candidates = facts.candidate_calls(at(0), at(9), session_ids=wanted)
                assert [call.inference_call_id for call in candidates] == found

    def test_sessions_of_calls_come_in_the_order_of_identities(self, open_reader: OpenReader):
        calls = [
            make_call(inference_call_id=name, session_id=f"s{n}", observed_at=at(n % 3))
            for n, name in enumerate(CODE_POINT_ORDER)
        ]
        with open_reader(reversed(calls)) as facts:
            identities = [(found.inference_call_id, found.session_id) for found in facts.call_identities()]
            assert list(facts.call_sessions()) == identities
            assert len(identities) == len(calls)

    def test_a_store_says_which_one_it_is(self, open_reader: OpenReader):
        with open_reader([make_call()]) as facts:
            assert facts.store_state()
            assert facts.store_state() == facts.store_state()
