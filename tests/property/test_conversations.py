"""Histories translated with a memory of the ones before are those translated by themselves."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.capture import conversations, model_requests
from sediment_assets.capture.conversations import Conversations
from sediment_assets.capture.model_requests import ModelRequests
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.json_values import encode_stored

WORDS = st.sampled_from(["", "a", "é\ud800"])
NUMBERS = st.sampled_from([None, True, 1, 1.0, 0.0, -0.0, 2**70, float("nan"), float("inf")])
ARGUMENTS = st.permutations(["a", "b"]).flatmap(lambda keys: st.fixed_dictionaries(dict.fromkeys(keys, NUMBERS)))
BLOCKS = st.permutations([("type", "image"), ("source", "x")]).map(lambda members: [dict(members)])
"""A result of text alone, which keeps the order of its keys."""
USUAL = st.one_of(
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "assistant"]), WORDS),
    st.builds(lambda value: {"role": "tool", "tool_call_id": "t", "content": value}, ARGUMENTS | BLOCKS | WORDS),
    st.builds(
        lambda value, text: {
            "role": "assistant",
            "content": [{"type": "text", "text": text}, {"type": "tool_use", "id": "t", "name": "f", "input": value}],
        },
        ARGUMENTS,
        WORDS,
    ),
    st.builds(
        lambda value: {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t", "content": value}, {"type": "text", "text": "x"}],
        },
        ARGUMENTS,
    ),  # two messages
)
ITEM = st.just({"type": "function_call_output", "call_id": "t", "output": "x"})
"""Grouped with its neighbours."""
MESSAGES = st.one_of(*[USUAL] * 5, ITEM, st.just({"role": 1}))
"""Of which the last is refused."""


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, list[Any]]]:
    """Lists of two conversations that grow, change, end or are told again, by the same values or by equal ones."""
    lists: dict[str, list[Any]] = {key: draw(st.lists(USUAL, min_size=2, max_size=4)) for key in ("s1", "s2")}
    told = list(lists.items())
    for _ in range(draw(st.integers(1, 8))):
        key = draw(st.sampled_from(["s1", "s2"]))
        values = lists[key]
        match draw(st.sampled_from(["grow", "grow", "cut", "swap", "equal"])):
            case "grow":
                values = values + draw(st.lists(MESSAGES, min_size=1, max_size=2))
            case "cut":
                values = values[: draw(st.integers(0, len(values)))]
            case "swap" if values:
                position = draw(st.integers(0, len(values) - 1))
                values = [*values[:position], draw(MESSAGES), *values[position + 1 :]]
            case _:
                values = copy.deepcopy(values)
        lists[key] = values
        told.append((key, values))
    return told


def outcome(reader: Conversations, key: str, values: list[Any]) -> list[str] | str:
    try:
        return [encode_stored(message.model_dump()) for message in reader.read(key, values, "messages", [])]
    except RefusedError as error:
        return str(error)


@pytest.mark.parametrize("remembered", [0, 5000, 2**20])
@given(histories())
def test_memory_changes_nothing(remembered: int, told: list[tuple[str, list[Any]]]):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conversations, "REMEMBERED", remembered)
        reader = Conversations()
        for key, values in told:
            assert outcome(reader, key, values) == outcome(Conversations(), key, values)


@pytest.mark.parametrize(
    ("known", "value"),
    [
        ([{"type": "image", "source": "x"}], [{"source": "x", "type": "image"}]),
        ({"a": [{"b": "x", "c": "y"}]}, {"a": [{"c": "y", "b": "x"}]}),
        ({"a": float("nan")}, {"a": None}),
        ({"a": float("inf")}, {"a": float("-inf")}),
    ],
)
def test_a_result_that_is_only_told_alike_is_another(known: Any, value: Any):
    reader = Conversations()
    for content in (known, value, known):
        told = [{"role": "tool", "tool_call_id": "t", "content": content}]
        assert outcome(reader, "s1", told) == outcome(Conversations(), "s1", told)


TEXTS = st.fixed_dictionaries({"type": st.just("text"), "text": WORDS}, optional={"cache_control": st.just({"a": 1})})
SYSTEMS = (
    st.none() | WORDS | TEXTS | st.lists(TEXTS | st.just({"type": "image", "source": "x"}), max_size=2) | st.just(1)
)
"""System prompts beside the messages, with a block that is left out, and one that refuses the request."""


def asked(reader: ModelRequests, key: str, system: Any, where: str) -> tuple[Any, list[str]]:
    left_out: list[str] = []
    body = {"messages": [{"role": "user", "content": "x"}], "system": system}
    try:
        return [message.model_dump() for message in reader.read(key, body, where, left_out)], left_out
    except RefusedError as error:
        return str(error), left_out


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.sampled_from("vw")), max_size=9), st.data())
def test_system_prompts_that_are_kept_change_nothing(calls: list[tuple[str, int, str]], data: st.DataObject):
    systems = [data.draw(SYSTEMS) for _ in range(4)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_requests, "SYSTEM_PROMPTS", 1)
        reader = ModelRequests()
        for key, which, where in calls:
            system = copy.deepcopy(systems[which])
            assert asked(reader, key, system, where) == asked(ModelRequests(), key, system, where)


def test_a_system_prompt_told_again_is_the_same_object():
    reader = ModelRequests()
    body = {"messages": [{"role": "user", "content": "x"}], "system": [{"type": "text", "text": "Be brief."}]}
    first, again, other = (reader.read(key, copy.deepcopy(body), "w", [])[0] for key in ("a", "a", "b"))
    assert first is again
    assert first is not other
