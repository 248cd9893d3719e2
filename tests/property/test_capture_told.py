"""Calls that one run tells twice are found by digests that go on from one another, as by comparing whole calls."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.adapters import capture_told
from sediment_assets.adapters.capture_told import ToldFacts
from sediment_assets.adapters.fact_store.import_lines import prepare_fact
from sediment_assets.capture.contract import Untranslated
from tests.builders import make_call, plain_message

CALLS = st.tuples(
    st.sampled_from(["c1", "c2", "c3"]),
    st.sampled_from(["s1", "s2"]),
    st.lists(st.sampled_from(["a", "b", "é", "]"]), max_size=4),
)


@pytest.fixture(autouse=True, params=[0, 2**20])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_told, "_HISTORIES", request.param)


@given(st.lists(CALLS, max_size=12))
def test_a_call_told_again_is_the_first_one_or_contradicts_it(calls: list[tuple[str, str, list[str]]]):
    told = ToldFacts()
    first: dict[str, tuple[str, list[str]]] = {}
    for number, (call_id, session_id, texts) in enumerate(calls):
        fact = make_call(
            inference_call_id=call_id,
            session_id=session_id,
            input_messages=[plain_message("user", text) for text in texts],
        )
        found = told.is_new(fact, f"line {number}", prepare_fact(fact))
        if call_id not in first:
            assert found is True
            first[call_id] = (session_id, texts)
        elif first[call_id] == (session_id, texts):
            assert found is False
        else:
            assert isinstance(found, Untranslated)
