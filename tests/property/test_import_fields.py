"""Property: a line judged field by field reads as its model reads it (facts.md §1–7, §9)."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.fact_store import import_fields
from sediment_assets.adapters.fact_store.import_calls import CallLines
from sediment_assets.adapters.fact_store.import_fields import ordinary_row
from sediment_assets.adapters.fact_store.import_lines import (
    LineError,
    PreparedLine,
    parse_line,
    prepare_fact,
    prepare_line,
)
from sediment_assets.adapters.fact_store.stored_rows import JSON_COLUMNS
from sediment_assets.facts.model import Fact
from tests.builders import IDENTITY, make_call, make_decision, make_observation, make_outcome, make_push, make_rename
from tests.fact_files import fact_line
from tests.profiles import examples

RAW = {"action": "completed", "run": {"id": 1, "ratio": 0.5, "name": "é😀"}, "none": None}
FACTS = [
    make_call(raw=RAW, input_tokens=7, model_call_id="m1"),
    make_decision(raw=RAW, edit_retention_score=0.5),
    make_outcome(raw=RAW, reason="Line 7 failed.", pr_number=3),
    make_outcome(raw=RAW, **IDENTITY),
    make_push(),
    make_push(**IDENTITY),
    make_observation(**IDENTITY),
    make_rename(),
]
SECRET = "A" * 16
TEXTS = ["", " ", " padded ", "\0", "\ud800", "é", "A/b", "acme", "Acme", "\u212a", "x" * 65, "0" * 40, "F" * 64, "42"]
ENUMS = ["github", "gitlab", "github_actions", "passed", "failed", "litellm", "cursor", "agent"]
INSTANTS = ["2026-01-02T03:04:05.1234567Z", "2026-01-02 03:04+01:00", "2026-01-02", "9999-12-31T23:59:59-01:00", 1.5e9]
NUMBERS = [
    0,
    1,
    2,
    True,
    False,
    -1,
    0.0,
    -0.0,
    1.0,
    0.25,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    float("nan"),
    "7",
    "1_0",
    "on",
]
ODD_VALUES = [None, [], {}, [1], *TEXTS, *ENUMS, *INSTANTS, *NUMBERS, f"sk-{SECRET}", f"Bearer {SECRET}"]
ODD = st.sampled_from(ODD_VALUES)
RAWS = st.sampled_from(
    [1e16, 1e-5, -0.0, 2**64, -(2**70), float("inf"), "\ud800", "\0", "é\u2028", {"api_key": "x"}, f"api_key={SECRET}"]
)


@st.composite
def lines(draw: st.DrawFn) -> tuple[str, list[bytes]]:
    """Lines of one table, most of them with a few values, keys or spellings changed."""
    fact = draw(st.sampled_from(FACTS))
    drawn = []
    for _ in range(draw(st.integers(1, 3))):
        names = list(type(fact).model_fields)
        changes: dict[str, Any] = draw(st.dictionaries(st.sampled_from([*names, "new"]), ODD, max_size=2))
        if draw(st.booleans()):
            changes["raw"] = {"a": draw(RAWS), "b": [draw(RAWS)]}
        if draw(st.integers(0, 4)) == 0:
            changes[draw(st.sampled_from(names))] = ...
        line = fact_line(fact, **changes)
        match draw(st.sampled_from(["as stored"] * 4 + ["spaced", "sorted", "twice", "cut", "utf-8", "no object"])):
            case "spaced":
                line = json.dumps(json.loads(line)).encode() + b"\r\n"
            case "sorted":
                line = json.dumps(json.loads(line), sort_keys=True).encode()
            case "twice":
                line = b'{"org_id":"other","raw":{"first":1},' + line[1:]
            case "cut":
                line = line[:-3]
            case "utf-8":
                line = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "surrogatepass")
            case "no object":
                line = draw(st.sampled_from([b"[]", b"null\n", b"\n", b"\xef\xbb\xbf" + line]))
        drawn.append(line)
    return type(fact).TABLE.value, drawn


def thoroughly(table: str, line: bytes) -> PreparedLine:
    fact = parse_line(table, line)
    assert isinstance(fact, Fact)
    return prepare_fact(fact)


def outcome(prepare: Callable[[bytes], PreparedLine], line: bytes) -> Any:
    try:
        prepared = prepare(line)
    except LineError as error:
        return str(error)
    # Spelled out, or true would equal 1, and -0.0 0.0.
    row = {name: (type(value), repr(value)) for name, value in prepared.row.items()}
    return row, prepared.aliases, {reason: n for reason, n in prepared.redactions.items() if n}


@settings(max_examples=examples(400))
@given(lines())
def test_a_line_reads_the_same_field_by_field_and_as_a_model(case: tuple[str, list[bytes]]):
    table, drawn = case
    prepare = CallLines().prepare if table == "inference_calls" else lambda line: prepare_line(table, line)
    for line in drawn:
        assert outcome(prepare, line) == outcome(lambda text: thoroughly(table, text), line)


@pytest.mark.parametrize("fact", FACTS)
def test_every_field_takes_and_refuses_what_it_does_in_the_model(fact: Fact):
    table = fact.TABLE.value
    prepare = CallLines().prepare if table == "inference_calls" else lambda line: prepare_line(table, line)
    for name in set(type(fact).model_fields) - set(JSON_COLUMNS):
        for value in ODD_VALUES:
            line = fact_line(fact, **{name: value})
            assert outcome(prepare, line) == outcome(lambda text: thoroughly(table, text), line)


@pytest.mark.parametrize("fact", [make_push(), make_outcome(), make_observation()])
def test_an_identity_is_whole_and_of_the_facts_forge(fact: Fact):
    table = fact.TABLE.value
    pools = {name: [None, value] for name, value in IDENTITY.items()} | {"schema_version": [1, 2]}
    if "provider" in type(fact).model_fields:
        pools["provider"] = ["github", "gitlab", "github_actions"]
    for values in product(*pools.values()):
        line = fact_line(fact, **dict(zip(pools, values, strict=True)))
        assert outcome(lambda text: prepare_line(table, text), line) == outcome(
            lambda text: thoroughly(table, text), line
        )


@pytest.mark.parametrize("fact", FACTS[1:-1])
def test_an_ordinary_line_needs_no_model(fact: Fact):
    assert ordinary_row(fact.TABLE, fact_line(fact)) is not None


@pytest.mark.parametrize("model", import_fields._MODELS.values())
def test_rules_across_fields_are_those_of_the_repository_alone(model: type[Fact]):
    rules = model.__pydantic_decorators__
    assert set(rules.model_validators) <= {"_identity_is_whole"}
    assert not rules.field_validators
