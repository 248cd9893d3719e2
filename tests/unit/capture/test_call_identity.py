"""Which records are one call: distinct ones that share an id stay distinct, whatever their order (facts.md §6)."""

from itertools import permutations
from typing import Any
from uuid import UUID, uuid5

import pytest

from sediment_assets.adapters.capture_run import check_capture, emit_capture, store_capture
from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.capture.contract import CaptureOptions, Document, Record, Translated
from sediment_assets.capture.ids import fact_id, is_unique_id
from sediment_assets.capture.registry import SOURCES
from sediment_assets.capture.tally import Tally
from sediment_assets.facts.inference_call import InferenceCall
from tests.builders import ORG
from tests.fact_files import store_content
from tests.gateway_payloads import SPAN, Json, chat_response, exchange, payload

UNIQUE = "chatcmpl-000000000001"


def outcomes(source: str, *values: Any) -> list[Any]:
    records = [Record(f"log:{number}", value) for number, value in enumerate(values, 1)]
    return list(SOURCES[source].translate([Document("log", records)], CaptureOptions(ORG)))


def calls(source: str, *values: Any) -> list[InferenceCall]:
    told = [one.fact for one in outcomes(source, *values) if isinstance(one, Translated)]
    assert len(told) == len(values)
    return [fact for fact in told if isinstance(fact, InferenceCall)]


def asked(text: str, session: str = "s1", id: str = "chatcmpl-1", **changes: Any) -> Json:  # noqa: A002
    return payload(id=id, trace_id=session, messages=[{"role": "user", "content": text}], **changes)


FAILED: Json = {"status": "failure", "response": None, "litellm_call_id": "LC"}
DISTINCT = {
    "one constant id": ("litellm", [asked("a"), asked("b"), asked("a", session="s2"), asked("a", startTime=1.5)]),
    "an answer from the cache": (
        "litellm",
        [
            asked("a", id=UNIQUE),
            asked("a", session="s2", id=UNIQUE, cache_hit=True, litellm_call_id="L2"),
            asked("a", session="s3", id=UNIQUE, cache_hit="True", litellm_call_id="L3"),
        ],
    ),
    "attempts of one request": (
        "litellm",
        [asked("a", **FAILED), asked("a", startTime=1772442001.0, **FAILED), asked("a", session="s2", **FAILED)],
    ),
    "exchanges with one constant id": (
        "exchanges",
        [
            exchange(response=chat_response(id="1")),
            exchange(response=chat_response({"role": "assistant", "content": "No."}, id="1")),
            exchange(response=chat_response(id="1"), session_id="s2"),
        ],
    ),
    "spans with one constant id": (
        "exchanges",
        [SPAN | {"attributes": SPAN["attributes"] | {"gen_ai.response.id": "1", "n": n}} for n in (1, 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("source", "records"), DISTINCT.values(), ids=DISTINCT)
def test_distinct_calls_with_one_id_are_calls_of_their_own_in_any_order(source: str, records: list[Json]):
    told = {fact.inference_call_id for fact in calls(source, *records)}
    assert len(told) == len(records)
    for order in permutations(records):
        assert {fact.inference_call_id for fact in calls(source, *order)} == told


def test_only_an_id_that_can_be_unique_is_stored_and_never_that_of_a_cached_answer():
    stored = [
        calls("litellm", record)[0].model_call_id
        for record in (asked("a", id=UNIQUE), asked("a"), asked("a", id=UNIQUE, cache_hit=True), asked("a", **FAILED))
    ]
    assert stored == [UNIQUE, None, None, None]


def test_a_call_without_a_unique_id_told_again_is_the_same_call():
    for record in (asked("a"), asked("a", **FAILED), asked("a", id=UNIQUE, cache_hit=True, litellm_call_id="L2")):
        first = record | {"startTime": 1772442000.1239}
        # A spend-log row: no litellm_call_id, times to the millisecond.
        row = {key: value for key, value in first.items() if key not in ("litellm_call_id", "id", "trace_id")}
        row |= {"request_id": record.get("litellm_call_id", record["id"]), "session_id": "s1", "spend": 0.1}
        row["startTime"] = "2026-03-02T09:00:00.123Z"
        one, again, as_row = calls("litellm", first, first, row)
        assert one.inference_call_id == again.inference_call_id == as_row.inference_call_id


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, False),
        ("chatcmpl-1", False),
        ("a" * 15, False),
        ("a" * 16, True),
        (f"resp_{'a' * 10}+/=", True),
        ("sixteen and more", False),
    ],
)
def test_an_id_can_be_unique_when_it_is_long(value: str | None, expected: bool):
    assert is_unique_id(value) is expected


CONTRADICTIONS = [
    asked("b", id=UNIQUE),
    asked("a", session="s2", id=UNIQUE),
    asked("a", id=UNIQUE, response=chat_response({"content": "x"})),
]
LISTED = "invalid_value: id: contradicts log:1: another call with this id"


@pytest.mark.parametrize("other", CONTRADICTIONS)
def test_another_call_under_a_unique_id_is_listed_not_lost(other: Json, tmp_path: Any):
    told = outcomes("litellm", asked("a", id=UNIQUE), other, asked("a", id=UNIQUE, endTime=1772442009))
    for end in (
        lambda tally: store_capture(writing_engine(f"sqlite:///{tmp_path}/facts.db"), told, tally),
        lambda tally: emit_capture(tmp_path / "out", told, tally),
        lambda tally: check_capture(told, tally),
    ):
        tally = Tally()
        (table,) = end(tally).tables
        assert tally.unexpected == [f"log:2: {LISTED}"]
        assert (table.read, table.present) == (2, 1)


def test_a_fact_told_twice_is_emitted_once_and_counted_as_present(tmp_path: Any):
    told = outcomes("litellm", asked("a"), asked("a"), asked("b"))
    (emitted,) = emit_capture(tmp_path / "out", told, Tally()).tables
    (checked,) = check_capture(told, Tally()).tables
    url = f"sqlite:///{tmp_path}/facts.db"
    (stored,) = store_capture(writing_engine(url), told, Tally()).tables
    assert len((tmp_path / "out" / "inference_calls.jsonl").read_text().splitlines()) == 2
    assert [(t.read, t.stored, t.present) for t in (emitted, checked, stored)] == [(3, 2, 1), (3, 0, 1), (3, 2, 1)]
    before = store_content(url)
    (again,) = store_capture(writing_engine(url), told, Tally()).tables
    assert (again.stored, again.present, store_content(url)) == (0, 3, before)


@pytest.mark.parametrize("number", range(40))
def test_ids_are_version_5_uuids_of_the_words(number: int):
    namespace = UUID("6b1f3a52-4c1e-5d0a-9d0e-3f6a4a0f2c11")
    assert fact_id(ORG, "litellm", "id", f"é{number}") == str(
        uuid5(namespace, f'["{ORG}","litellm","id","\\u00e9{number}"]')
    )
