"""Exact JSON: the tables of facts.md §7, derivation.md §5 (equality) and bundle.md §2.2 (canonical text)."""

import json
import math
from datetime import UTC, datetime

import pytest

from sediment_assets.facts.json_values import (
    MAX_DEPTH,
    MAX_DERIVED_DEPTH,
    MAX_INTEGER_DIGITS,
    JsonError,
    canonical_order,
    decode,
    decode_captured,
    encode_canonical,
    encode_row,
    encode_stored,
    equal,
    walk,
)
from sediment_assets.facts.vocabulary import CIResult

NAN = float("nan")
INF = float("inf")


def arrays(depth):
    return "[" * depth + "]" * depth


def objects(depth):
    return '{"a":' * (depth - 1) + "{}" + "}" * (depth - 1)


def nested(depth):
    value = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e400", INF),
        ("-1e400", -INF),
        ("Infinity", INF),
        ("-Infinity", -INF),
        ("1.0", 1.0),
        ("1", 1),
        ("1e+22", 1e22),
        (str(10**30), 10**30),
        ("9" * MAX_INTEGER_DIGITS, int("9" * MAX_INTEGER_DIGITS)),
        ('"\\ud800\\u0000"', "\ud800\0"),
        ('"\\ud83d\\ude00"', "😀"),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{"\\udc00":null}', {"\udc00": None}),
        (" [ true , false , null ] ", [True, False, None]),
        (b'"\xc3\xa9"', "é"),
    ],
)
def test_decode(text, value):
    decoded = decode(text)
    assert decoded == value
    assert type(decoded) is type(value)


def test_decode_keeps_nan_and_negative_zero():
    assert math.isnan(decode("NaN"))
    assert math.copysign(1, decode("-0.0")) == -1


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("", "expecting value"),
        ("{'a':1}", "at character 1"),
        ("[1,]", "expected JSON, got"),
        ("[1]x", "extra data"),
        ('"\n"', "control character"),
        ("\ufeff1", "byte-order mark"),
        (b'"\xff"', "UTF-8"),
        (b'"\xed\xa0\x80"', "UTF-8"),
        ("1" * (MAX_INTEGER_DIGITS + 1), "4300 digits"),
        (arrays(MAX_DEPTH + 1), "1497 levels"),
        (objects(MAX_DEPTH + 1), "1497 levels"),
        (arrays(100_000), "1497 levels"),
        ("[" * 100_000, "expected JSON"),
    ],
    ids=lambda value: str(value[:20]),
)
def test_decode_refuses(text, got):
    with pytest.raises(JsonError, match=r"\Aexpected .+, got .+\Z") as caught:
        decode(text)
    assert got in str(caught.value).replace("Expecting", "expecting")


@pytest.mark.parametrize("text", [arrays(MAX_DEPTH), objects(MAX_DEPTH)], ids=["arrays", "objects"])
def test_nesting_up_to_the_limit_survives_every_spelling(text):
    value = decode_captured(text)
    assert encode_stored(value) == text
    assert encode_canonical(value) == text
    assert encode_row(value) == text.encode()
    assert equal(value, decode(text))


@pytest.mark.parametrize(
    ("encode", "limit"),
    [(encode_stored, MAX_DEPTH), (encode_canonical, MAX_DERIVED_DEPTH), (encode_row, MAX_DERIVED_DEPTH)],
)
def test_nesting_beyond_the_limit_is_an_error(encode, limit):
    encode(nested(limit))
    with pytest.raises(JsonError, match=f"at most {limit} levels"):
        encode(nested(limit + 1))


def test_a_wide_shallow_value_is_not_deep():
    text = "[" + ",".join(["[{}]"] * 2000) + "]"
    assert len(decode(text)) == 2000


def test_decode_captured_sorts_keys_by_code_point_at_every_depth():
    value = decode_captured('{"b":[{"z":1,"B":2}],"😀":0,"\\uffff":{"y":1,"x":2},"A":3}')
    assert json.dumps(value) == json.dumps(
        {"A": 3, "b": [{"B": 2, "z": 1}], "\uffff": {"x": 2, "y": 1}, "😀": 0}, sort_keys=False
    )


def test_canonical_order_changes_no_value():
    value = {"b": [1.0, -0.0, NAN], "a": None}
    assert equal(canonical_order(value), value)
    assert list(value) == ["b", "a"]


def test_stored_spelling_of_the_worked_example():
    content = 'é\ud800\0"\\/😀\x7f'
    message = {"role": "u", "parts": [{"type": "text", "content": content}], "finish_reason": None}
    expected = (
        r'[{"role":"u","parts":[{"type":"text","content":"\u00e9\ud800\u0000\"\\/\ud83d\ude00\u007f"}],'
        r'"finish_reason":null}]'
    )
    assert encode_stored([message]) == expected
    assert decode(expected) == [message]


def test_canonical_spelling_of_the_worked_example():
    part = {"type": "tool_call", "id": "x", "name": "n", "arguments": {"k": 'é"\ud800\n', "f": NAN}}
    assert encode_canonical(part) == (
        r'{"arguments":{"f":NaN,"k":"\u00e9\"\ud800\n"},"id":"x","name":"n","type":"tool_call"}'
    )


FLOATS = [
    (1.0, "1.0"),
    (-0.0, "-0.0"),
    (0.1, "0.1"),
    (0.0001, "0.0001"),
    (0.00001, "1e-05"),
    (1e-7, "1e-07"),
    (1e15, "1000000000000000.0"),
    (1e16, "1e+16"),
    (1e22, "1e+22"),
    (5e-324, "5e-324"),
    (1.7976931348623157e308, "1.7976931348623157e+308"),
]


@pytest.mark.parametrize(("number", "text"), FLOATS)
def test_floats_have_one_spelling_everywhere(number, text):
    assert encode_stored(number) == text
    assert encode_canonical(number) == text
    assert encode_row(number) == text.encode()
    # Beside an integer that only the slower encoder can write.
    assert encode_row([number, 10**30]) == f"[{text},{10**30}]".encode()


@pytest.mark.parametrize(("number", "token"), [(NAN, "NaN"), (INF, "Infinity"), (-INF, "-Infinity")])
def test_non_finite_floats_are_bare_tokens_in_facts_and_bundles_and_errors_in_rows(number, token):
    assert encode_stored({"a": number}) == f'{{"a":{token}}}'
    assert encode_canonical({"a": number}) == f'{{"a":{token}}}'
    for row in ({"a": number}, {"a": [10**30, number]}):
        with pytest.raises(JsonError, match="finite"):
            encode_row(row)


@pytest.mark.parametrize("encode", [encode_stored, encode_canonical, encode_row])
def test_integers_beyond_4300_digits_are_errors(encode):
    assert len(encode(10**4299)) == 4300
    with pytest.raises(JsonError, match="4300 digits"):
        encode([10**4300])


@pytest.mark.parametrize("text", ["\ud800", "a\udfff", "\udc00\ud800"])
def test_a_row_holds_no_surrogate(text):
    for row in ({"a": text}, {text: 1}, [10**30, text]):
        with pytest.raises(JsonError, match="surrogate"):
            encode_row(row)


@pytest.mark.parametrize("encode", [encode_stored, encode_canonical, encode_row])
@pytest.mark.parametrize("value", [b"x", {1, 2}, object, {1: 2}, {None: 1}, {"a": [{(): 1}]}, 1j], ids=repr)
def test_what_is_not_json_is_an_error(encode, value):
    with pytest.raises(JsonError, match="expected"):
        encode(value)
    with pytest.raises(JsonError, match="expected"):
        encode([10**30, value])


@pytest.mark.parametrize("encode", [encode_canonical, encode_row])
def test_an_instant_without_offset_is_an_error(encode):
    with pytest.raises(JsonError, match="offset"):
        encode({"at": datetime(2026, 1, 2)})  # noqa: DTZ001


def test_instants_enums_and_tuples_have_a_spelling():
    value = {"b": (CIResult.PASSED,), "at": datetime(2026, 1, 2, 3, 4, 5, 120_000, tzinfo=UTC)}
    assert encode_canonical(value) == '{"at":"2026-01-02T03:04:05.120000+00:00","b":["passed"]}'
    assert encode_row(value) == b'{"b":["passed"],"at":"2026-01-02T03:04:05.120000Z"}'
    assert encode_row({**value, "n": 10**30}) == (
        b'{"b":["passed"],"at":"2026-01-02T03:04:05.120000Z","n":1000000000000000000000000000000}'
    )


SEPARATORS = [chr(code) for code in range(0x110000) if len(f"a{chr(code)}b".splitlines()) > 1]


@pytest.mark.parametrize("extra", [1, 10**30], ids=["fast", "slow"])
def test_a_row_is_one_line_whoever_splits_it(extra):
    row = encode_row({"".join(SEPARATORS): SEPARATORS, "n": extra})
    assert len(row.decode().splitlines()) == 1
    assert decode(row) == {"".join(SEPARATORS): SEPARATORS, "n": extra}


def test_row_text_is_utf8_beyond_the_line_separators():
    assert encode_row({"é\u2028": "😀\u0085\x7f/"}) == '{"é\\u2028":"😀\\u0085\x7f/"}'.encode()


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True),
        ([1, 2], [2, 1], False),
        ([1], [1, 1], False),
        ({"a": None}, {}, False),
        (True, 1, False),
        (False, 0, False),
        ([{"a": True}], [{"a": 1}], False),
        (True, True, True),
        (1, 1.0, True),
        (0.0, -0.0, True),
        (2**53, float(2**53), True),
        (2**53 + 1, float(2**53), False),
        (10**23, 1e23, False),
        (NAN, float("nan"), True),
        (INF, INF, True),
        (INF, -INF, False),
        (NAN, "nan", False),
        (NAN, 0.0, False),
        ("é", "e\u0301", False),
        ("assistant", "Assistant", False),
        (None, False, False),
        (None, "", False),
        ([], {}, False),
        ([], None, False),
        ("1", 1, False),
        ([1], (1,), True),
        (10**400, INF, False),
    ],
)
def test_equality_table(left, right, same):
    assert equal(left, right) is same
    assert equal(right, left) is same
    assert equal([{"k": left}], [{"k": right}]) is same


def test_walk_yields_every_value_once():
    assert sorted(map(str, walk({"a": [1, {"b": 2}], "c": (3,)}))) == sorted(
        ["{'a': [1, {'b': 2}], 'c': (3,)}", "[1, {'b': 2}]", "1", "{'b': 2}", "2", "(3,)", "3"]
    )
