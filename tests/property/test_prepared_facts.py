"""Facts prepared with a memory of what repeats itself are those prepared one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.adapters.fact_store import prepared_facts
from sediment_assets.adapters.fact_store.import_lines import prepare_fact
from sediment_assets.adapters.fact_store.prepared_facts import PreparedFacts
from sediment_assets.facts.messages import Message
from tests.builders import make_call, make_message, make_push, tool_call, tool_response
from tests.property.strategies import captured

TOKEN = "A" * 20
TEXTS = st.sampled_from(["", "plain", f"Bearer {TOKEN}", f"sk-{TOKEN}", "hunter2", "é\ud800\x7f😀"])
MESSAGES = st.one_of(
    st.builds(lambda role, text: make_message(role, text), st.sampled_from(["user", "assistant", ""]), TEXTS),
    st.builds(lambda value: make_message("assistant", tool_call(arguments={"a": value, "text": "x"})), captured),
    st.builds(lambda value: make_message("tool", tool_response(result=value)), captured),
    st.just(make_message("tool", tool_response(result={"api_key": "hunter2"}))),
)
RAWS = st.dictionaries(st.sampled_from(["a", "api_key", "é", "tools"]), captured | TEXTS, max_size=3)


@pytest.fixture(autouse=True)
def small_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_facts, "REMEMBERED_BYTES", 4000)
    monkeypatch.setattr(prepared_facts, "_WORTH_KEEPING", 4)


@given(st.lists(MESSAGES, min_size=1, max_size=8), st.lists(st.tuples(st.integers(0, 8), RAWS), min_size=1, max_size=8))
def test_memory_changes_nothing(messages: list[Message], calls: list[tuple[int, dict[str, Any]]]):
    facts = PreparedFacts()
    for number, (length, raw) in enumerate(calls):
        call = make_call(inference_call_id=f"c{number}").model_copy(
            update={"input_messages": tuple(messages[:length]), "output_messages": tuple(messages[length:]), "raw": raw}
        )
        expected, got = prepare_fact(call), facts.prepare(call)
        assert got.row == expected.row
        assert got.aliases == expected.aliases
        assert dict(got.redactions) == {reason: count for reason, count in expected.redactions.items() if count}


def test_other_facts_are_prepared_as_ever():
    assert PreparedFacts().prepare(make_push()) == prepare_fact(make_push())
