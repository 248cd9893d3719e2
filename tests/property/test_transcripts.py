"""Properties of transcripts: every format tells one conversation alike and whole; nothing that is written breaks it."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.capture.contract import Translated
from sediment_assets.facts.json_values import JsonValue
from tests.profiles import examples
from tests.transcript_samples import SAMPLES
from tests.transcript_writers import WRITERS, Step
from tests.transcripts import INSTANT, only_session, remainders, segments, spoken, translate_files

Writer = Callable[[Sequence[Step]], list[Any]]


@st.composite
def conversations(draw: st.DrawFn) -> list[Step]:
    """A few steps; the model always says something, and the user speaks when no tool answers."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, 6))):
        tools = draw(st.integers(0, 3))
        said = draw(st.booleans()) or not tools
        must_hear = not steps or not steps[-1].tools
        heard = f"heard {number}" if must_hear or draw(st.booleans()) else ""
        thought = f"thought {number}" if draw(st.booleans()) else ""
        steps.append(Step(heard, f"said {number}" if said else "", thought, tools, number))
    return steps


def expected(steps: Sequence[Step]) -> list[tuple[list[str], list[str]]]:
    """Input and output of each call."""
    history: list[str] = []
    found = []
    for step in steps:
        history += [f"user: {step.heard}"] if step.heard else []
        parts = [f"<{step.thought}>"] if step.thought else []
        parts += [step.said] if step.said else []
        output = "assistant: " + " + ".join(parts + [f"Bash({call_id})" for call_id in step.call_ids])
        found.append((list(history), [output]))
        history += [output, *(f"tool: {call_id}=result of {call_id}" for call_id in step.call_ids)]
    return found


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
@given(steps=conversations())
@settings(max_examples=examples(30))
def test_every_format_tells_the_conversation_whole_and_in_one_segment(writer: Writer, steps: list[Step]) -> None:
    told = only_session(translate_files(writer(steps), instant=INSTANT))
    assert [(spoken(call.input_messages), spoken(call.output_messages)) for call in told] == expected(steps)
    assert segments(told) == [len(steps)]
    parts = sum(len(message.parts) for message in (*told[-1].input_messages, *told[-1].output_messages))
    answers = sum(step.tools for step in steps[:-1])
    assert parts == sum(bool(step.heard) + step.parts for step in steps) + answers


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
@given(steps=conversations(), data=st.data())
@settings(max_examples=examples(15))
def test_a_conversation_told_in_slices_and_told_again_is_the_same(
    writer: Writer, steps: list[Step], data: st.DataObject
) -> None:
    records = writer(steps)
    whole = translate_files(records, instant=INSTANT)
    again = translate_files(records, records, instant=INSTANT)
    assert only_session(again) == only_session(whole)
    cut = data.draw(st.integers(0, len(records)))
    if writer.__name__ == "claude_code":
        slices = translate_files(records[:cut], records[cut:], instant=INSTANT)
        assert only_session(slices) == only_session(whole)


JUNK: list[JsonValue] = [
    *(None, True, 0, -1, 10**30, float("nan"), "", "x", "\ud800", "\0"),
    *([], {}, [[]], [{}], ["a"], {"type": []}, {"type": {}}, {"a": {"b": 1}}, {"role": []}),
]


def paths(value: JsonValue, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All places in a value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in paths(item, (*path, key)))]


def mutated(records: list[Any], path: tuple[Any, ...], junk: JsonValue, is_removed: bool) -> None:
    """Replace what is at a place, or take it away."""
    holder: Any = records
    for key in path[:-1]:
        holder = holder[key]
    if is_removed:
        del holder[path[-1]]
    else:
        holder[path[-1]] = copy.deepcopy(junk)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__)
@given(steps=conversations(), data=st.data())
@settings(max_examples=examples(40))
def test_records_changed_at_will_never_break_it_and_lose_no_words(
    writer: Writer, steps: list[Step], data: st.DataObject
) -> None:
    records = copy.deepcopy(writer(steps))
    for _ in range(data.draw(st.integers(1, 3))):
        places = [path for path in paths(records) if path]
        if places:
            mutated(
                records,
                data.draw(st.sampled_from(places)),
                data.draw(st.sampled_from(JUNK)),
                data.draw(st.booleans()),
            )
    told = translate_files(records, instant=INSTANT, settings={"session": "mine"})
    refused = {place.partition(".")[0] for place, _, _ in remainders(told)}
    messages = [
        message
        for one in told
        if isinstance(one, Translated)
        for message in (*one.fact.model_dump()["input_messages"], *one.fact.model_dump()["output_messages"])
    ]
    kept = str(messages)
    for number, record in enumerate(records, 1):
        words = _words(record)
        assert f"f1:{number}" in refused or all(repr(word)[1:-1] in kept for word in words), (number, words)


def _words(record: JsonValue) -> list[str]:
    """What a record of the conversation itself says: words of the writers, wherever they stand."""
    found: list[str] = []
    for path in paths(record):
        value: Any = record
        for key in path:
            value = value[key]
        if isinstance(value, str) and value.startswith(("heard ", "said ", "thought ", "result of ")):
            found.append(value)
    return found


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_say_something(name: str) -> None:
    told = translate_files(SAMPLES[name], instant=INSTANT, settings={"session": "mine"})
    assert any(isinstance(one, Translated) for one in told)


@pytest.mark.parametrize("name", SAMPLES)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_nothing_in_any_place_breaks_a_translation(name: str, data: st.DataObject) -> None:
    records = copy.deepcopy(SAMPLES[name])
    places = st.sampled_from([path for path in paths(records) if path])
    mutated(records, data.draw(places), data.draw(st.sampled_from(JUNK)), data.draw(st.booleans()))
    stated: dict[str, Any] = data.draw(st.sampled_from([{}, {"instant": INSTANT, "settings": {"session": "mine"}}]))
    for one in translate_files(records, **stated):
        assert one.place.startswith("f1:")
