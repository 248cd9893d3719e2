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
    monkeypatch.setattr(prepared_facts, "_RECENT", 2)


@given(
    st.lists(MESSAGES, min_size=4, max_size=6),
    st.lists(RAWS, min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.integers(0, 2), st.booleans()), min_size=1, max_size=8),
)
def test_memory_changes_nothing(
    messages: list[Message], raws: list[dict[str, Any]], calls: list[tuple[int, int, int, bool]]
):
    facts = PreparedFacts()
    prepared = []
    for number, (length, end, which, is_other) in enumerate(calls):
        sent = messages[:length] + messages[length + 1 : end] if is_other else messages[:end]
        update = {
            "input_messages": tuple(sent),
            "output_messages": tuple(messages[length:end]),
            "raw": raws[which % len(raws)],
        }
        call = make_call(inference_call_id=f"c{number}").model_copy(update=update)
        prepared.append((prepare_fact(call), facts.prepare(call)))
    for expected, got in prepared:  # rows may be asked for when others have gone on
        line = got.line()
        assert line.row == expected.row
        assert line.aliases == expected.aliases
        assert line.redactions == got.redactions
        assert dict(got.redactions) == {reason: count for reason, count in expected.redactions.items() if count}
    said = {(one.row["input_messages"], one.row["output_messages"]) for one, _ in prepared}
    assert len({got.messages for _, got in prepared}) == len(said)


def test_other_facts_are_prepared_as_ever():
    prepared = PreparedFacts().prepare(make_push())
    assert (prepared.line(), prepared.messages) == (prepare_fact(make_push()), b"")
