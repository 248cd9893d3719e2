"""Messages that are log records of their own: however they are split, mixed, lost or exported again, each is stored
once or counted, and what is stored is what was said.
"""

from collections import Counter, defaultdict
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.capture.contract import Document, Record, Remainder, Translated, Untranslated
from sediment_assets.capture.sources.exchanges import SOURCE
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import equal
from tests.gateway_payloads import Json, function_call
from tests.unit.capture.event_cases import (
    STATED,
    choice,
    failed_span,
    logs,
    sent,
    span,
    traces,
    translate_within,
)

WORDS = st.sampled_from(["a", "b c", "é", "\ud800"])
MESSAGES = st.one_of(
    st.tuples(st.just("user"), st.builds(lambda text: {"content": text}, WORDS)),
    st.tuples(st.just("tool"), st.builds(lambda text: {"id": "t1", "content": text}, WORDS)),
    st.tuples(st.just("tool"), st.just({"id": "t2"})),
    st.tuples(st.just("assistant"), st.just({"tool_calls": [function_call()]})),
)
ANSWERS = st.sampled_from(["one", "none", "failed", "two"])
CALLS = st.lists(st.tuples(st.lists(MESSAGES, max_size=4), ANSWERS, st.booleans()), min_size=1, max_size=4)
Call = tuple[list[tuple[str, Json | None]], str, bool]


def records_of(number: int, call: Call) -> list[Json]:
    """Every log record and span of a call, spans marked by their kind."""
    messages, answer, has_span = call
    told = sent(*messages, call=number)
    told += [choice(call=number, index=index) for index in range({"one": 1, "two": 2}.get(answer, 0))]
    if answer == "failed":
        told.append(failed_span(number))
    elif has_span:
        told.append(span(number))
    return told


def batches_of(records: list[Json], random: Random) -> list[Json]:
    """Split records into batches, each of logs or of spans."""
    batches: list[Json] = []
    while records:
        size = random.randint(1, 4)
        batch, records = records[:size], records[size:]
        batches += [
            logs(*(one for one in batch if "kind" not in one)),
            traces(*(one for one in batch if "kind" in one)),
        ]
    return [batch for batch in batches if "spanId" in str(batch)]


def translate(batches: list[Json]) -> list[Translated | Untranslated]:
    documents = [Document(f"f{n}", [Record(f"f{n}:1", value)]) for n, value in enumerate(batches)]
    return list(SOURCE.translate(documents, STATED))


def count(batches: list[Json]) -> int:
    return sum(str(batch).count("'spanId'") for batch in batches)


def stored(outcomes: list[Translated | Untranslated]) -> dict[str, Json]:
    return {one.fact.fact_id: one.fact.model_dump() for one in outcomes if isinstance(one, Translated)}


@given(CALLS, st.integers(0, 2**32))
def test_each_record_is_told_once_and_the_order_of_records_changes_nothing(calls: list[Call], seed: int):
    random = Random(seed)
    records = [record for number, call in enumerate(calls) for record in records_of(number, call)]
    told = translate(batches_of(list(records), random))
    random.shuffle(records)
    batches = batches_of(records, random)
    outcomes = translate(batches)
    assert stored(outcomes) == stored(told)
    places = Counter(place for one in outcomes for place in (one.place, *getattr(one, "others", ())))
    assert set(places.values()) <= {1}
    assert places.total() == count(batches) == len(records)
    facts = [one.fact for one in outcomes if isinstance(one, Translated) and isinstance(one.fact, InferenceCall)]
    messages = sum(len(fact.input_messages) + len(fact.output_messages) for fact in facts)
    refused = [one for one in outcomes if isinstance(one, Untranslated) and "logRecords" in one.place]
    assert messages + len(refused) == sum("kind" not in record for record in records)
    complete = [
        (messages, answer)
        for messages, answer, _ in calls
        if messages and (answer == "one" or (answer == "failed" and any(has_words(body) for _, body in messages)))
    ]
    assert len(facts) == len(complete)


def has_words(body: Any) -> bool:
    return "content" in body or "tool_calls" in body


@given(CALLS, st.integers(0, 2**32), st.integers(0, 30_000))
def test_each_record_is_told_once_however_short_memory_is(calls: list[Call], seed: int, limit: int):
    random = Random(seed)
    records = [record for number, call in enumerate(calls) for record in records_of(number, call)]
    random.shuffle(records)
    outcomes = translate_within(limit, *batches_of(records, random))
    places = Counter(place for one in outcomes for place in (one.place, *getattr(one, "others", ())))
    assert set(places.values()) <= {1}
    assert places.total() == len(records)
    ids = [one.fact.fact_id for one in outcomes if isinstance(one, Translated)]
    assert len(ids) == len(set(ids))


@given(CALLS, st.integers(0, 2**32))
def test_exports_that_come_again_change_nothing(calls: list[Call], seed: int):
    random = Random(seed)
    records = [record for number, call in enumerate(calls) for record in records_of(number, call)]
    batches = batches_of(records, random)
    once = translate(batches)
    again = translate(batches + random.sample(batches, random.randint(1, len(batches)))) if batches else once
    assert stored(again) == stored(once)
    refused: dict[Remainder, int] = defaultdict(int)
    for one in again:
        if isinstance(one, Untranslated):
            refused[one.reason] += 1
    other = [one for one in once if isinstance(one, Untranslated)]
    assert sum(refused.values()) - refused[Remainder.REPEATED] == len(other)
    assert equal([one.reason.value for one in other if one.reason is Remainder.REPEATED], [])
