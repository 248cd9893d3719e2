"""What every FactReader must do (facts.md §8, §11): run over memory, SQLite and PostgreSQL.

A test class per implementation inherits ``FactReaderCases`` and provides the fixture ``open_reader``.
"""

from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Protocol

import pytest

from sediment_assets.derive.fact_reader import FactReader, SessionWindow
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, project_evidence
from tests.builders import (
    IDENTITY,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
    plain_message,
    tool_call,
    tool_response,
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

    def test_message_text_is_handed_on_as_stored(self, open_reader: OpenReader):
        odd = plain_message("u\ud800", "é\0😀\x7f", tool_call("t1", "Edit", {"z": 1.0, "a": [float("nan"), 10**30]}))
        call = make_call(input_messages=[odd], output_messages=[odd], model_call_id="m1", user_id=None)
        with open_reader([call]) as facts:
            (session,) = facts.sessions()
            (stored,) = session.calls
            text = (
                '[{"role":"u\\ud800","parts":[{"type":"text","content":"\\u00e9\\u0000\\ud83d\\ude00\\u007f"},'
                '{"type":"tool_call","id":"t1","name":"Edit","arguments":{"z":1.0,"a":[NaN,'
                '1000000000000000000000000000000]}}],"finish_reason":null}]'
            )
            assert stored.input_text == stored.output_text == text
            assert (stored.user_id, stored.model_call_id) == (None, "m1")

    def test_decisions_are_complete_with_captured_objects_in_code_point_order(self, open_reader: OpenReader):
        decision = make_decision(
            raw={"é": 1, "b": {"d": 1, "c": [{"z": "\ud800", "a": None}]}, "a": -0.0},
            edit_retention_score=0.25, observation_delay_ms=2**63 - 1, commit_sha="f" * 64, user_id="u",
        )  # fmt: skip
        with open_reader([make_call(), decision]) as facts:
            (session,) = facts.sessions()
            (found,) = session.decisions
            assert found == decision
            assert encode_stored(found.raw) == '{"a":-0.0,"b":{"c":[{"a":null,"z":"\\ud800"}],"d":1},"\\u00e9":1}'

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

    def test_identities_carry_sorted_aliases(self, open_reader: OpenReader):
        output = [
            plain_message("assistant", tool_call("b"), tool_call("a"), tool_call("b")),
            plain_message("x", tool_call("é")),
        ]
        calls = [
            make_call(output_messages=output, model_call_id="B"),
            make_call(inference_call_id="c2", input_messages=output, observed_at=at(1)),
            make_call(inference_call_id="c3", session_id="s0", model_call_id="m", observed_at=at(-1)),
        ]
        with open_reader(calls) as facts:
            found = [(c.inference_call_id, c.session_id, c.call_ids) for c in facts.call_identities()]
            assert found == [("c3", "s0", ("m",)), ("c1", "s1", ("B", "a", "b", "é")), ("c2", "s1", ())]
            assert {identity.org_id for identity in facts.call_identities()} == {"acme"}

    def test_complete_calls_have_raw_and_captured_objects_in_code_point_order(self, open_reader: OpenReader):
        output = [
            plain_message(
                "assistant",
                tool_call("t", "n", {"z": {"b": 1, "a": 2}, "a": 1}),
                tool_response("t", [{"b": 1, "a": 2}]),
            )
        ]
        call = make_call(output_messages=output, raw={"b": "\0", "a": float("inf")}, input_tokens=0, model=None)
        with open_reader([call, make_call(inference_call_id="c2", session_id="s2")]) as facts:
            (full,) = facts.full_calls(["c1"])
            found = full.fact()
            assert found == call
            assert (full.session_id, full.fact("[]").input_messages) == ("s1", ())
            dumped = found.model_dump()
            assert encode_stored(dumped["raw"]) == '{"a":Infinity,"b":"\\u0000"}'
            parts = dumped["output_messages"][0]["parts"]
            assert encode_stored(parts[0]["arguments"]) == '{"a":1,"z":{"a":2,"b":1}}'
            assert encode_stored(parts[1]["result"]) == '[{"a":2,"b":1}]'

    def test_complete_calls_come_in_the_order_named(self, open_reader: OpenReader):
        calls = [make_call(inference_call_id=f"c{n}", observed_at=at(n)) for n in range(40)]
        wanted = [f"c{n * 7 % 40}" for n in range(40)]
        with open_reader(calls) as facts:
            found = facts.full_calls(iter([*wanted[:20], "unknown", *wanted[20:]]))
            assert [call.fact().inference_call_id for call in found] == wanted
            assert list(facts.full_calls([])) == []

    # --- repository-scoped Facts

    def test_captured_facts_come_by_instant_then_code_point(self, open_reader: OpenReader):
        ids = reversed(CODE_POINT_ORDER)
        facts_in = []
        for n, i in enumerate(ids):
            sha = f"{n:040x}"
            facts_in += [
                make_push(push_id=i, after_sha=sha), make_outcome(outcome_id=i, run_id=i),
                make_observation(observation_id=i, commit_sha=sha), make_rename(rename_id=i),
            ]  # fmt: skip
        facts_in.append(make_push(push_id="0", ref="refs/heads/x", captured_at=at(1)))
        with open_reader(facts_in) as facts:
            assert [push.push_id for push in facts.pushes()] == [*CODE_POINT_ORDER, "0"]
            assert [outcome.outcome_id for outcome in facts.ci_outcomes()] == CODE_POINT_ORDER
            assert [observation.observation_id for observation in facts.observations()] == CODE_POINT_ORDER
            assert [rename.rename_id for rename in facts.renames()] == CODE_POINT_ORDER

    def test_repository_facts_come_back_whole(self, open_reader: OpenReader):
        push = make_push(clone_url="a\0b\ud800'\"", forced=True, **IDENTITY)
        observation = make_observation(schema_version=1)
        rename = make_rename(source_event_id="e", occurred_at=None)
        with open_reader([push, observation, rename]) as facts:
            assert list(facts.pushes()) == [push]
            assert list(facts.observations()) == [observation]
            assert list(facts.renames()) == [rename]

    def test_ci_outcomes_are_slim_and_full_ones_have_raw(self, open_reader: OpenReader):
        outcome = make_outcome(
            **IDENTITY, run_attempt=None, workflow_name="C\0I\ud800", workflow_path="", run_url="u", reason="",
            provider_result="x", error_type="y", source_event_type="z", source_spec_version="1", pr_number=2**63 - 1,
            raw={"b": [1, 1.0, True], "a": "\udfff"},
        )  # fmt: skip
        with open_reader([outcome]) as facts:
            assert list(facts.ci_outcomes()) == [outcome.model_copy(update={"raw": {}})]
            found = facts.full_ci_outcomes(["o1", "unknown"])
            assert found == {"o1": outcome}
            assert encode_stored(found["o1"].raw) == '{"a":"\\udfff","b":[1,1.0,true]}'

    def test_any_number_of_outcomes_can_be_named(self, open_reader: OpenReader):
        outcomes = [make_outcome(outcome_id=f"o{n}", run_id=f"r{n}") for n in range(3)]
        wanted = [f"missing-{n}" for n in range(1200)] + ["o2", "o0"]
        with open_reader(outcomes) as facts:
            assert sorted(facts.full_ci_outcomes(wanted)) == ["o0", "o2"]
            assert facts.full_ci_outcomes([]) == {}

    # --- ids

    def test_ids_of_each_table(self, open_reader: OpenReader):
        with open_reader(ONE_OF_EACH.values()) as facts:
            for table, fact in ONE_OF_EACH.items():
                assert list(facts.visible_ids(table)) == [fact.fact_id]

    def test_ids_of_hidden_facts_are_not_given(self, open_reader: OpenReader):
        log = [
            make_quarantine(quarantine_id=f"q-{table}", fact_table=table, fact_id=fact.fact_id)
            for table, fact in ONE_OF_EACH.items()
        ]
        with open_reader(ONE_OF_EACH.values(), log) as facts:
            assert [list(facts.visible_ids(table)) for table in ONE_OF_EACH] == [[]] * len(ONE_OF_EACH)

    def test_ids_are_ordered_by_capture_then_code_point(self, open_reader: OpenReader):
        calls = [make_call(inference_call_id=name, observed_at=at(1)) for name in CODE_POINT_ORDER]
        early = make_call(inference_call_id="~", observed_at=at(0))
        with open_reader([*reversed(calls), early]) as facts:
            assert list(facts.visible_ids(FactTable.INFERENCE_CALLS)) == ["~", *CODE_POINT_ORDER]

    def test_a_store_says_which_one_it_is(self, open_reader: OpenReader):
        with open_reader([make_call()]) as facts:
            assert facts.store_state()
            assert facts.store_state() == facts.store_state()

    # --- evidence (mirrors.md §8.2)

    def test_evidence_has_a_row_per_fact_and_role_in_order(self, open_reader: OpenReader):
        facts_in = [
            make_push(push_id="z"), make_push(push_id="A", repo="", ref="r2", **IDENTITY),
            make_outcome(outcome_id="z"), make_observation(observation_id="z"),
            pull_request(fact_id="z", identity=IDENTITY), make_call(), make_decision(), make_rename(),
            pull_request(FactTable.PULL_REQUEST_REVISIONS, fact_id="z", head_identity=IDENTITY, repo=""),
            make_outcome(outcome_id="early", run_id="r0", captured_at=at(-1)),
        ]  # fmt: skip
        with open_reader(facts_in) as facts:
            rows = list(facts.evidence())
        assert [(row.source_table, row.source_fact_id, row.role) for row in rows] == [
            (EvidenceTable.CI_OUTCOMES, "early", EvidenceRole.REPO),
            (EvidenceTable.CI_OUTCOMES, "z", EvidenceRole.REPO),
            (EvidenceTable.PULL_REQUEST_MERGES, "z", EvidenceRole.HEAD_REPO),
            (EvidenceTable.PULL_REQUEST_MERGES, "z", EvidenceRole.REPO),
            (EvidenceTable.PULL_REQUEST_REVISIONS, "z", EvidenceRole.HEAD_REPO),
            (EvidenceTable.PULL_REQUEST_REVISIONS, "z", EvidenceRole.REPO),
            (EvidenceTable.PUSHES, "A", EvidenceRole.REPO),
            (EvidenceTable.PUSHES, "z", EvidenceRole.REPO),
            (EvidenceTable.SESSION_COMMIT_OBSERVATIONS, "z", EvidenceRole.REPO),
        ]
        identified = {(row.source_table, row.role) for row in rows if row.repository_id == "42"}
        assert identified == {
            (EvidenceTable.PULL_REQUEST_MERGES, EvidenceRole.REPO),
            (EvidenceTable.PULL_REQUEST_REVISIONS, EvidenceRole.HEAD_REPO),
            (EvidenceTable.PUSHES, EvidenceRole.REPO),
        }
        assert [row.repo for row in rows if row.role is EvidenceRole.HEAD_REPO] == ["fork/widget"] * 2
        assert [row.source_push_id for row in rows] == [None] * 8 + ["p1"]

    def test_evidence_equals_the_projection_of_the_fact(self, open_reader: OpenReader):
        facts_in = [make_push(**IDENTITY), make_outcome(), make_observation(**IDENTITY)]
        with open_reader(facts_in) as facts:
            assert sorted(facts.evidence(), key=repr) == sorted(map(project_evidence, facts_in), key=repr)
