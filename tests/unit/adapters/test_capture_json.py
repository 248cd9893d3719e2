"""JSON of any layout as records: where each stands, and where a broken file broke."""

import io
import json
import math
from typing import Any

import pytest

from sediment_assets.adapters.capture_json import BrokenInputError, BrokenLine, read_json


def read(data: bytes) -> list[tuple[str, Any]]:
    return list(read_json(io.BytesIO(data), "f"))


@pytest.mark.parametrize(
    ("data", "records"),
    [
        (b"", []),
        (b" \r\n\n", []),
        (b'{"a":1}', [("f:1", {"a": 1})]),
        (b'{"a":1}\n\n{"b":2}\n', [("f:1", {"a": 1}), ("f:3", {"b": 2})]),
        (b'\xef\xbb\xbf{"a":1}\r\n{"b":2}\r\n', [("f:1", {"a": 1}), ("f:2", {"b": 2})]),
        (b'[1, "x", null,\n {"a": [1]}]', [("f#1", 1), ("f#2", "x"), ("f#3", None), ("f#4", {"a": [1]})]),
        (b"[]", []),
        (b"[[1],[2]]", [("f#1", [1]), ("f#2", [2])]),
        (b'{\n"a": 1\n}\n{\n"b": [{"x":1}\n]}\n', [("f:1", {"a": 1}), ("f:4", {"b": [{"x": 1}]})]),
        (b'{"a":1}{"b":2} {"c":3}\n', [("f:1", {"a": 1}), ("f:1 (2)", {"b": 2}), ("f:1 (3)", {"c": 3})]),
        (b'{"a":1}\n[2, 3]\n[4]\n', [("f:1", {"a": 1}), ("f#1", 2), ("f#2", 3), ("f#3", 4)]),
        (b"12\n", [("f:1", 12)]),
        (b'{"a":"]}\\"[{"}\n', [("f:1", {"a": ']}"[{'})]),
        (b'{"a":1,"a":2}', [("f:1", {"a": 2})]),
    ],
)
def test_each_layout_gives_its_values_and_their_places(data: bytes, records: list[tuple[str, Any]]):
    assert read(data) == records


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_named_with_its_remedy(encoding: str):
    with pytest.raises(BrokenInputError, match=r"f:1: expected JSON in UTF-8, got UTF-16: iconv"):
        read('\ufeff{"a":1}\r\n'.encode(encoding))


FORM = b"payload=%7B%22a%22%3A+%22x%26y%22%7D"


@pytest.mark.parametrize(
    ("data", "places"),
    [(FORM, ["f:1"]), (FORM + b"\r\n" + FORM + b"\n", ["f:1", "f:2"]), (b'{"a": "x&y"}\n' + FORM, ["f:1", "f:2"])],
)
def test_the_form_of_a_webhook_is_the_json_in_its_field(data: bytes, places: list[str]):
    assert read(data) == [(place, {"a": "x&y"}) for place in places]


@pytest.mark.parametrize("length", range(len("payload="), len(FORM)))
def test_a_form_that_was_cut_off_is_refused(length: int):
    with pytest.raises(BrokenInputError, match=r"f:2: payload of a form: expected JSON"):
        read(FORM + b"\n" + FORM[:length])


def test_values_are_exact():
    (_, value), (_, odd) = read(b'{"n":123456789012345678901234,"f":1.0,"z":-0.0}\n{"n":NaN,"s":"\\ud800"}\n')
    assert (value["n"], type(value["f"]), math.copysign(1, value["z"])) == (123456789012345678901234, float, -1)
    assert math.isnan(odd["n"])
    assert odd["s"] == "\ud800"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"a":1}\n{"b":2', r"f:2: expected JSON, got .* at character 6; the file ends there$"),
        (b'{"a":1}\nnope', r"f:2: expected JSON, .*; the file ends there$"),
        (b'{"a"', r"f:1: expected JSON, .*; the file ends there$"),
        (b'{\n"a": {\n', r"f:1: expected JSON, .*; the file ends there$"),
        (b'[{"a":1},\n{"b"', r"f#2: .* in a value that begins on line 2; the file ends there$"),
        (b'[{"a":1}', r"f:1: expected the array that begins on line 1 to end, got the file's end"),
        (b'\n[{"a":1},\n\n', r"f:4: expected the array that begins on line 2 to end"),
        (b"[1 2]", r"f#1: expected a comma or \] behind it"),
        (b"[1,]", r"f#2: expected JSON"),
        (b'{"a":1}x\n', r"f:1 \(2\): expected JSON"),
        (b"nope\n", r"f:1: expected JSON"),
        (b'"ab', r"f:1: expected JSON, .*; the file ends there"),
        (b'{"a":\xff}', r"f:1: expected JSON in UTF-8"),
        (b'\xff\xfe{\x00"', r"f:1: expected JSON in UTF-8"),
        (b"[" * 2000 + b"]" * 2000, r"f#1: expected JSON nested at most 1497 levels"),
    ],
)
def test_a_broken_file_says_where(data: bytes, message: str):
    with pytest.raises(BrokenInputError, match=message):
        read(data)


@pytest.mark.parametrize("line", [b'{"b":2\n', b'{"b":tru}\n', b"nope\n", b'} of a record"}\r\n', b"\xff\n"])
def test_a_whole_line_among_lines_that_is_no_json_is_refused_alone(line: bytes):
    (_, first), (place, broken), *others = read(b'{"a":1}\n' + line + b'{"c":3}\n{"d":4}\n')
    assert first == {"a": 1}
    assert place == "f:2"
    assert isinstance(broken, BrokenLine)
    assert others == [("f:3", {"c": 3}), ("f:4", {"d": 4})]


def test_a_log_that_was_cut_at_its_front_is_read_from_its_first_whole_line():
    (place, broken), *others = read(b'rest of a record"}\n{"a":1}\n{"b":2}\n')
    assert place == "f:1"
    assert isinstance(broken, BrokenLine)
    assert others == [("f:2", {"a": 1}), ("f:3", {"b": 2})]


def test_records_before_a_break_are_given_first():
    records = read_json(io.BytesIO(b'{"a":1}\n{"b"'), "f")
    assert next(records) == ("f:1", {"a": 1})
    with pytest.raises(BrokenInputError):
        next(records)


@pytest.mark.parametrize("spell", ["lines", "array", "pretty", "pretty array", "one line"])
def test_values_larger_than_what_is_read_at_once(spell: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sediment_assets.adapters.capture_json._CHUNK", 16)
    values = [{"n": number, "text": f'a "{number}" b]}},' * number} for number in range(40)]
    match spell:
        case "lines":
            text = "\n".join(map(json.dumps, values))
        case "array":
            text = json.dumps(values)
        case "pretty":
            text = "\n".join(json.dumps(value, indent=1) for value in values)
        case "pretty array":
            text = json.dumps(values, indent=1)
        case _:
            text = "".join(map(json.dumps, values))
    records = read(text.encode())
    assert [value for _, value in records] == values
    assert len({place for place, _ in records}) == len(values)


def test_memory_is_that_of_one_element(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sediment_assets.adapters.capture_json._CHUNK", 64)
    taken = 0

    class Counting(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            nonlocal taken
            data = super().read(size)
            taken += len(data)
            return data

    records = read_json(Counting(b"[" + b",".join([b'{"a":1}'] * 1000) + b"]"), "f")
    for _ in range(10):
        next(records)
    assert taken < 500
