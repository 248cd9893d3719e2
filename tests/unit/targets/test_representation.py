"""The representation check (targets.md §8)."""

from datetime import UTC, datetime

import pytest

from sediment_assets.facts.json_values import MAX_DEPTH, encode_row
from sediment_assets.facts.vocabulary import CIResult
from sediment_assets.targets.representation import find_offence
from sediment_assets.targets.skips import RowSkip

NAN, INFINITY, LONE = float("nan"), float("inf"), "\ud800"
NUMBER, UNICODE = RowSkip.NON_FINITE_NUMBER, RowSkip.UNREPRESENTABLE_UNICODE


def nested(value, depth):
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("plain", "offence"),
    [
        ({"a": NAN}, NUMBER),
        ({"a": INFINITY}, NUMBER),
        ({"a": -INFINITY}, NUMBER),
        ({"a": ("x", [{"b": LONE}])}, UNICODE),
        ({"a": {LONE: 1}}, UNICODE),
        ({"a": "\udfff é"}, UNICODE),
        # The first offence in field order names the reason; within a field the walk goes depth first.
        ({"a": LONE, "b": NAN}, UNICODE),
        ({"a": NAN, "b": LONE}, NUMBER),
        ({"a": [[LONE], NAN]}, UNICODE),
        ({"a": [{"x": NAN}], "b": LONE}, NUMBER),
        # A key comes before its own value, but after the values of earlier keys.
        ({LONE: NAN}, UNICODE),
        ({"a": NAN, LONE: 1}, NUMBER),
        (nested(NAN, MAX_DEPTH), NUMBER),
    ],
)
def test_the_first_offence_decides(plain, offence):
    assert find_offence(plain) is offence


@pytest.mark.parametrize(
    "plain",
    [
        {"a": -0.0, "b": 1e22, "c": 10**4000, "d": 5e-324, "e": True, "f": None},
        {"a": "é \u2028 \U0001f600 \x00 \x7f"},
        {"a": datetime(2026, 1, 2, tzinfo=UTC), "b": CIResult.PASSED},
        [],
        nested("deep", MAX_DEPTH),
    ],
)
def test_what_has_an_exact_spelling_passes_and_encodes(plain):
    assert find_offence(plain) is None
    assert encode_row(plain)
