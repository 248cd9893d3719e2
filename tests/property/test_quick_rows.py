"""Property: rows of the organization-wide populations read the same fast and thoroughly (bundle.md §4.2)."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.bundle import population_records
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.population_records import (
    _IdentityRow,
    _parse_evidence,
    _parse_head,
    parse_evidence,
    parse_identity_row,
)
from sediment_assets.bundle.quick_rows import quick_call, quick_evidence, quick_identity
from sediment_assets.bundle.shapes import parse_record
from sediment_assets.derive.fact_reader import CallIdentity
from sediment_assets.facts.json_values import encode_canonical
from tests.builders import make_call

TIME = "2026-01-02T03:04:05+00:00"
IDENTITY = {
    "call_ids": ["t1", "t2"],
    "inference_call_id": "c1",
    "observed_at": TIME,
    "org_id": "acme",
    "session_id": "s1",
}
EVIDENCE = {
    "captured_at": TIME,
    "org_id": "acme",
    "repo": "acme/widget",
    "repository_host": "github.com",
    "repository_id": "42",
    "repository_provider": "github",
    "role": "repo",
    "source_fact_id": "p1",
    "source_push_id": None,
    "source_table": "pushes",
}
CALL = json.loads(encode_canonical(make_call(model_call_id="m1", user_id="ann").model_dump()))
del CALL["input_messages"], CALL["output_messages"]
ODD = st.sampled_from(
    [None, "", " a", "a\0", "\ud800", "é", "Acme", 1, 42, -1, 2**63, True, 1.0, [], ["t1", 1], ["t1 "], {}, {"k": []}]
)
OTHER = st.sampled_from(
    ["pushes", "pull_request_merges", "session_commit_observations", "head_repo", "42", "042", "github", "GitHub.com"]
)
TIMES = st.sampled_from(
    ["2026-01-02T03:04:05.1234567Z", "2026-01-02T03:04:05+01:00", "2026-01-02", "2026-01-02T03:04:05", "x"]
)


def changed(row: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The row with a few values, keys or orders changed."""
    values = st.dictionaries(st.sampled_from([*row, "new"]), ODD | OTHER | TIMES, max_size=3)
    return st.builds(
        lambda other, without, order: {k: (row | other)[k] for k in order if k in row | other and k != without},
        values,
        st.sampled_from([None] * 8 + sorted(row)),
        st.permutations([*row, "new"]),
    )


def outcome(parse: Any, value: dict[str, Any]) -> Any:
    try:
        return parse(value)
    except BundleError as error:
        return str(error)


@given(changed(IDENTITY))
def test_an_identity_reads_the_same_fast_and_thoroughly(value: dict[str, Any]) -> None:
    thorough = outcome(lambda value: CallIdentity(**dict(parse_record(_IdentityRow, value))), value)
    assert outcome(parse_identity_row, value) == thorough
    assert quick_identity(value) in (None, thorough)


@given(changed(EVIDENCE))
def test_evidence_reads_the_same_fast_and_thoroughly(value: dict[str, Any]) -> None:
    thorough = outcome(_parse_evidence, value)
    assert outcome(parse_evidence, value) == thorough
    assert quick_evidence(value, population_records._parse_evidence) in (None, thorough)


@given(changed(CALL))
def test_a_call_reads_the_same_fast_and_thoroughly(value: dict[str, Any]) -> None:
    thorough = outcome(_parse_head, value)
    quick = quick_call(value, _parse_head)
    assert quick is None or (quick == thorough and repr(quick) == repr(thorough))


def test_ordinary_rows_are_read_fast() -> None:
    assert quick_call(CALL, _parse_head) == _parse_head(CALL)
    assert quick_identity(IDENTITY) == parse_identity_row(IDENTITY)
    assert quick_evidence(EVIDENCE, _parse_evidence) == _parse_evidence(EVIDENCE)
