"""What a FactReader hands on of each Fact, and in which order: the other half of ``fact_reader_cases.py``."""

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
from tests.fact_reader_cases import CODE_POINT_ORDER, ONE_OF_EACH, OpenReader, at, pull_request


class FactContentCases:
    """Rules about the content of Facts. Nothing here knows what is behind the reader."""

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
