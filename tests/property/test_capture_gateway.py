"""Conversations through a gateway: no message is lost, each call goes on from the one before, whatever the API.

And arbitrary JSON: no source crashes on it, and each record is accounted for.
"""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.fact_store.import_lines import LineError
from sediment_assets.adapters.fact_store.prepared_facts import PreparedFacts
from sediment_assets.capture.contract import CaptureOptions, Document, Record, Translated, Untranslated
from sediment_assets.capture.registry import SOURCES
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import equal
from tests.builders import ORG
from tests.gateway_payloads import EXCHANGES, LITELLM, Json, function_call, payload

STATED = CaptureOptions(ORG, instant=parse_instant("2026-01-01T00:00:00Z"), settings={"session": "s1"})


def translate(name: str, values: list[Any]) -> list[Translated | Untranslated]:
    records = [Record(f"in:{number}", value) for number, value in enumerate(values)]
    return list(SOURCES[name].translate([Document("in", records)], STATED))


# --- conversations

WORDS = st.sampled_from(["", "a", "b c", " ", "é", "\ud800"])
CALLS = st.lists(
    st.tuples(st.sampled_from(["edit", "run", ""]), st.dictionaries(st.sampled_from("ab"), st.integers() | WORDS)),
    max_size=3,
)
TURNS = st.lists(
    st.tuples(WORDS, WORDS, CALLS, st.lists(st.sampled_from(["x", "y z"]), max_size=2)), min_size=1, max_size=5
)  # reasoning, words, calls of the assistant; what the user says after their results
Turn = tuple[str, str, list[tuple[str, Json]], list[str]]


def call_id(turn: int, index: int) -> str:
    return f"t{turn}.{index}"


def openai_answer(number: int, turn: Turn) -> Json:
    reasoning, words, calls, _ = turn
    return {
        "role": "assistant",
        "content": words or None,
        "reasoning_content": reasoning,
        "tool_calls": [
            function_call(call_id(number, index), name, json.dumps(arguments))
            for index, (name, arguments) in enumerate(calls)
        ]
        or None,
    }  # fmt: skip


def openai_rest(number: int, turn: Turn) -> list[Json]:
    results = [{"role": "tool", "tool_call_id": call_id(number, i), "content": f"r{i}"} for i in range(len(turn[2]))]
    said = [{"type": "text", "text": text} for text in turn[3]]
    return [*results, *([{"role": "user", "content": said}] if said else [])]


def anthropic_answer(number: int, turn: Turn) -> Json:
    reasoning, words, calls, _ = turn
    blocks: list[Json] = [{"type": "thinking", "thinking": reasoning, "signature": "s"}]
    blocks += [{"type": "text", "text": part} for part in (words[:1], words[1:])]  # words may come in several blocks
    for index, (name, arguments) in enumerate(calls):
        blocks.append({"type": "tool_use", "id": call_id(number, index), "name": name, "input": arguments})
    return {"role": "assistant", "content": blocks}


def anthropic_rest(number: int, turn: Turn) -> list[Json]:
    blocks: list[Json] = [
        {"type": "tool_result", "tool_use_id": call_id(number, i), "content": [{"type": "text", "text": f"r{i}"}]}
        for i in range(len(turn[2]))
    ]
    blocks += [{"type": "text", "text": text} for text in turn[3]]
    return [{"role": "user", "content": blocks}] if blocks else []


def counted(messages: list[Json]) -> int:
    """Messages that a history must give: one each, but every tool result and every run between them is one."""
    count = 0
    for message in messages:
        content = message["content"]
        blocks = content if isinstance(content, list) else []
        results = [isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks]
        if any(results):
            runs = sum(not is_result and (i == 0 or results[i - 1]) for i, is_result in enumerate(results))
            count += sum(results) + runs
        else:
            count += 1
    return count


def log_of(turns: list[Turn], history_answer: Any, history_rest: Any) -> list[Json]:
    """A gateway's log: requests in one API's shape, answers always in OpenAI's, as LiteLLM writes them."""
    messages: list[Json] = [{"role": "user", "content": "Go."}]
    records = []
    for number, turn in enumerate(turns):
        response = {"id": f"c{number}", "choices": [{"message": openai_answer(number, turn), "finish_reason": "stop"}]}
        times = {"startTime": 1772442000 + number, "endTime": 1772442000.5 + number}
        records.append(payload(id=f"c{number}", messages=list(messages), response=response, **times))
        messages += [history_answer(number, turn), *history_rest(number, turn)]
    return records


def history(messages: Any) -> list[Json]:
    return [{"role": message.role, "parts": [part.model_dump() for part in message.parts]} for message in messages]


@given(TURNS)
def test_calls_go_on_from_each_other_and_no_message_is_lost(turns: list[Turn]):
    told: list[list[InferenceCall]] = []
    for log in (log_of(turns, openai_answer, openai_rest), log_of(turns, anthropic_answer, anthropic_rest)):
        outcomes = translate("litellm", log)
        facts = [one.fact for one in outcomes if isinstance(one, Translated) and isinstance(one.fact, InferenceCall)]
        assert len(facts) == len(outcomes) == len(log)
        for record, fact in zip(log, facts, strict=True):
            assert len(fact.input_messages) == counted(record["messages"])
            assert len(fact.output_messages) == 1
        for before, after in pairwise(facts):
            sent = history((*before.input_messages, *before.output_messages))
            assert equal(history(after.input_messages)[: len(sent)], sent)
        told.append(facts)
    for openai, anthropic in zip(*told, strict=True):
        assert equal(history(openai.input_messages), history(anthropic.input_messages))


# --- anything

KEYS = sorted(
    {key for value in (*LITELLM, *EXCHANGES) for key in value}
    | {"attributes", "request", "role", "content", "type", "choices"}
)
SCALARS = [
    None,
    True,
    0,
    1,
    2**64,
    1.5,
    float("nan"),
    "",
    "x",
    "\0",
    "\ud800",
    "{}",
    "[",
    "2026-01-01",
    "assistant",
    "text",
]
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
@settings(max_examples=150)
@given(st.lists(VALUES, max_size=3))
def test_no_source_crashes_on_any_json_and_each_record_is_accounted_for(name: str, values: list[Any]):
    told = translate(name, values)
    places = [place for one in told for place in (one.place, *getattr(one, "others", ()))]
    for number in range(len(values)):
        assert any(place == f"in:{number}" or place.startswith((f"in:{number}.", f"in:{number}[")) for place in places)
    facts = PreparedFacts()
    for one in told:
        if isinstance(one, Translated):
            try:
                facts.prepare(one.fact)
            except LineError as error:
                assert "nested" in str(error)  # noqa: PT017  # only depth is left to be judged when a Fact is stored
