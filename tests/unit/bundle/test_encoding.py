"""Lines and manifests: the bytes of bundle.md §2, and what a reader tolerates of others."""

from hashlib import sha256

import pytest

from sediment_assets.bundle.encoding import decode_line, decode_manifest, encode_line, encode_manifest
from sediment_assets.bundle.errors import BundleError
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonError
from sediment_assets.facts.vocabulary import CIResult

IDENTITY = {
    "org_id": "acme",
    "session_id": "s1",
    "inference_call_id": "c1",
    "call_ids": ["t1"],
    "observed_at": parse_instant("2026-01-02T03:04:05Z"),
}
LINE = (
    rb'{"record_json":"{\"call_ids\":[\"t1\"],\"inference_call_id\":\"c1\",'
    rb'\"observed_at\":\"2026-01-02T03:04:05+00:00\",\"org_id\":\"acme\",\"session_id\":\"s1\"}"}' + b"\n"
)


def inner(line: bytes) -> str:
    """The text inside the envelope of a line without escapes beyond quotes and backslashes."""
    return line.decode()[len('{"record_json":"') : -len('"}\n')].replace('\\"', '"').replace("\\\\", "\\")


def test_the_worked_line():
    assert encode_line(IDENTITY) == LINE
    assert len(LINE) == 159


def test_the_worked_two_row_file():
    second = IDENTITY | {
        "inference_call_id": "c2", "call_ids": [], "observed_at": parse_instant("2026-01-02T03:04:10Z"),
    }  # fmt: skip
    data = LINE + encode_line(second)
    assert len(data) == 312
    assert sha256(data).hexdigest() == "a4e3265c73bd2574d1ce03b812f339daac63158d6c9bce8db8480d042dcd8fab"


def test_the_worked_tool_call():
    part = {"type": "tool_call", "id": "x", "name": "n", "arguments": {"k": 'é"\ud800\n', "f": float("nan")}}
    line = encode_line(part)
    assert line == (
        rb'{"record_json":"{\"arguments\":{\"f\":NaN,\"k\":\"\\u00e9\\\"\\ud800\\n\"},'
        rb'\"id\":\"x\",\"name\":\"n\",\"type\":\"tool_call\"}"}' + b"\n"
    )
    decoded = decode_line(line)
    assert decoded["arguments"]["k"] == 'é"\ud800\n'
    assert decoded["arguments"]["f"] != decoded["arguments"]["f"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('\b\f\n\r\t"\\/', '"\\b\\f\\n\\r\\t\\"\\\\/"'),
        ("\x00\x1f\x7f", '"\\u0000\\u001f\\u007f"'),
        ("é\u2028😀", '"\\u00e9\\u2028\\ud83d\\ude00"'),
        ("\udfff", '"\\udfff"'),
        ([True, False, None], "[true,false,null]"),
        (10**30, "1" + "0" * 30),
        ([1, 1.0, -0.0, 0.1, 0.0001, 1e-05], "[1,1.0,-0.0,0.1,0.0001,1e-05]"),
        ([1e15, 1e16], "[1000000000000000.0,1e+16]"),
        ([float("nan"), float("inf"), float("-inf")], "[NaN,Infinity,-Infinity]"),
        (parse_instant("2026-01-02T05:04:05.1+02:00"), '"2026-01-02T03:04:05.100000+00:00"'),
        (CIResult.PASSED, '"passed"'),
        ((1, ()), "[1,[]]"),
        ({"b": 1, "a": {"d": 1, "c": 2}, "é": 3, "Z": 4}, '{"Z":4,"a":{"c":2,"d":1},"b":1,"\\u00e9":3}'),
    ],
)
def test_how_values_are_spelled(value: object, text: str):
    assert inner(encode_line({"v": value})) == f'{{"v":{text}}}'


def test_two_surrogates_that_form_a_pair_become_one_character():
    assert decode_line(encode_line({"v": "\ud83d\ude00"})) == {"v": "😀"}


@pytest.mark.parametrize(
    "value", [{1, 2}, b"bytes", object(), {1: 2}, 10**4300], ids=["set", "bytes", "object", "number as key", "digits"]
)
def test_what_has_no_json_form_is_refused(value: object):
    with pytest.raises(JsonError):
        encode_line({"v": value})


def test_a_record_may_nest_deeper_than_what_it_captures():
    deep: object = 0
    for _ in range(1497):
        deep = [deep]
    record = {"segments": [[{"new_messages": deep}]]}
    assert decode_line(encode_line(record)) == record


@pytest.mark.parametrize(
    "line",
    [
        b'{"record_json":"{\\"a\\":1,\\"b\\":[]}"}\r\n',
        b'{"record_json":"{\\"a\\":1,\\"b\\":[]}"}',
        b' { "record_json" : "{ \\"b\\" :\\n [ ] ,\\t\\"a\\" : 1 }" } \n',
        b'{"record\\u005fjson":"{\\"\\\\u0061\\":1,\\"b\\":[]}"}\n',
    ],
    ids=["CRLF", "no final LF", "key order and spacing", "escapes"],
)
def test_other_spellings_are_the_same_record(line: bytes):
    assert decode_line(line) == {"a": 1, "b": []}


def test_raw_utf8_is_accepted():
    assert decode_line('{"record_json":"{\\"é\\":\\"😀\\"}"}\n'.encode()) == {"é": "😀"}


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"\n", "expected a record, got a blank line"),
        (b" \r\n", "expected a record, got a blank line"),
        (b"\xef\xbb\xbf" + LINE, "byte-order mark"),
        (b'{"record_json":"{\\"a\\":\\"\xff\\"}"}\n', "UTF-8"),
        (b'{"record_json":"{}","record_json":"{}"}\n', "expected distinct keys, got 'record_json' more than once"),
        (b'{"record_json":"{\\"a\\":1,\\"a\\":1}"}\n', "expected distinct keys, got 'a' more than once"),
        (b'{"record_json":"{\\"a\\":{\\"b\\":1,\\"b\\":2}}"}\n', "expected distinct keys, got 'b' more than once"),
        (b'{"record_json":{}}\n', "record_json: expected a string, got {}"),
        (b'{"record_json":null}\n', "record_json: expected a string, got null"),
        (b'{"record_json":"[]"}\n', "record_json: expected an object inside the string, got []"),
        (b'{"record_json":"{}","x":1}\n', "expected an object with the one key record_json, got the keys"),
        (b"{}\n", "expected an object with the one key record_json, got {}"),
        (b'["record_json"]\n', "expected an object with the one key record_json, got an array"),
        (b'{"record_json":"{}"} x\n', "expected JSON"),
        (b'{"record_json":"{} x"}\n', "expected JSON"),
        (b'{"record_json":"{\\"a\\":"}\n', "expected JSON"),
        (b'{"record_json":"' + b"[" * 20_000 + b'"}\n', "expected JSON"),
        (b'{"record_json":"{\\"a\\":' + b"[" * 2000 + b"]" * 2000 + b'}"}\n', "nested at most"),
        (b'{"record_json":"{\\"a\\":' + b"9" * 5000 + b'}"}\n', "integers of at most 4300 digits"),
    ],
)
def test_what_is_no_line_of_a_bundle(line: bytes, problem: str):
    with pytest.raises(BundleError) as refused:
        decode_line(line)
    assert problem in str(refused.value)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "expected JSON"),
        (b"[]", "expected an object, got []"),
        (b'{"a":1,"a":1}', "expected distinct keys"),
        (b'{"a":NaN}', "expected finite numbers"),
        (b'{"a":-Infinity}', "expected finite numbers"),
        (b'{"a":1e999}', "expected finite numbers"),
        (b"\xef\xbb\xbf{}", "byte-order mark"),
        (b"{} {}", "expected JSON"),
    ],
)
def test_what_is_no_manifest(data: bytes, problem: str):
    with pytest.raises(BundleError, match=r"^manifest\.json: ") as refused:
        decode_manifest(data)
    assert problem in str(refused.value)


def test_a_manifest_may_be_pretty_printed():
    assert decode_manifest(b'{\n  "b": 1,\r\n  "a": "\xc3\xa9"\n}\n\n') == {"a": "é", "b": 1}
    assert encode_manifest({"b": 1, "a": "é"}) == b'{"a":"\\u00e9","b":1}\n'
