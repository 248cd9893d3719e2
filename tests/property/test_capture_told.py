"""Calls that one run tells twice are found by digests that go on from one another, as by comparing whole calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.adapters.capture_told import ToldFacts
from sediment_assets.adapters.fact_store import prepared_facts
from sediment_assets.adapters.fact_store.prepared_facts import PreparedFacts
from sediment_assets.capture.contract import Untranslated
from tests.builders import make_call, make_message, tool_response

MESSAGES = {text: make_message("user", text) for text in ["a", "b", "é", "]"]}
MESSAGES["secret"] = make_message("tool", tool_response(result={"api_key": "hunter2"}))
"""Of which the last is prepared the thorough way."""
CALLS = st.tuples(
    st.sampled_from(["c1", "c2", "c3"]),
    st.sampled_from(["s1", "s2"]),
    st.sampled_from([[], ["a"], ["]"], ["a", "b"], ["a", "b", "é"], ["b", "a"], ["a", "secret"]]),
    st.sampled_from([0, 1200]),
)


@pytest.fixture(autouse=True, params=[0, 2**20])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_facts, "REMEMBERED_BYTES", request.param)


@given(st.lists(CALLS, max_size=12))
def test_a_call_told_again_is_the_first_one_or_contradicts_it(calls: list[tuple[str, str, list[str], int]]):
    told, facts = ToldFacts(), PreparedFacts()
    first: dict[str, tuple[str, list[str]]] = {}
    for number, (call_id, session_id, texts, brackets) in enumerate(calls):
        fact = make_call(inference_call_id=call_id, session_id=session_id).model_copy(
            update={
                "input_messages": tuple(MESSAGES[text] for text in texts),
                "raw": {"x": [[]] * brackets},  # too many for the quick way; what a call says does not depend on it
            }
        )
        found = told.is_new(fact, f"line {number}", facts.prepare(fact))
        if call_id not in first:
            assert found is True
            first[call_id] = (session_id, texts)
        elif first[call_id] == (session_id, texts):
            assert found is False
        else:
            assert isinstance(found, Untranslated)
