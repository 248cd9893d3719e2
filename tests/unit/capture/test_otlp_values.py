"""What an OpenTelemetry attribute holds: whole numbers are text there, and not every text is one."""

from typing import Any

import pytest

from sediment_assets.capture.otlp.values import any_value, read_attributes

LOWEST = -(2**63)


@pytest.mark.parametrize(
    ("text", "value"),
    [("-5", -5), ("12", 12), (str(LOWEST), LOWEST), ("--5", "--5"), ("-", "-"), ("1e3", "1e3"), ("٣", "٣"), (7, 7)],
)
def test_only_a_whole_number_becomes_one(text: Any, value: object):
    assert any_value({"intValue": text}) == any_value({"int_value": text}) == value


@pytest.mark.parametrize(
    ("held", "value"),
    [
        ({"string_value": "a"}, "a"),
        ({"boolValue": False}, False),
        ({"doubleValue": 0.5}, 0.5),
        ({"value": "stringValue", "stringValue": "a", "intValue": None}, "a"),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"kvlist_value": {"values": []}}]}}, [1, {}]),
        ({"kvlistValue": {"values": [{"key": "a", "value": {"stringValue": "b"}}]}}, {"a": "b"}),
        ({"stringValue": None}, None),
        ({}, None),
        ({"path": "a.py"}, {"path": "a.py"}),
        ("plain", "plain"),
    ],
)
def test_a_value_is_what_it_holds_in_both_spellings_at_any_depth(held: Any, value: object):
    assert any_value(held) == value


def test_the_first_of_equal_keys_stays_and_what_has_no_key_is_left_out():
    pairs: list[Any] = [{"key": "a", "value": {"intValue": "1"}}, {"key": "a", "value": {"intValue": "2"}}, {}, "x"]
    assert read_attributes(pairs) == {"a": 1}
    assert read_attributes({"a": 1}) == {"a": 1}
    assert read_attributes("a") == {}
