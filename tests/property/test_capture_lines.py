"""Lines parsed with a memory of the lists they repeat have the values of lines parsed one by one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.adapters import capture_lines, capture_members
from sediment_assets.adapters.capture_lines import GrowingLines
from sediment_assets.capture.json_text import parse_json
from sediment_assets.facts.json_limits import JsonError
from tests.property.strategies import captured

TEXTS = st.sampled_from(
    [
        "",
        "x",
        'say "hi", [1, {',
        '"messages": [',
        '"trace_id": "t"',
        "\\",
        "é\ud800",
        "1" * 20,
        '], "rest": ',
        '"}], "rest": {"',
    ]
)
ELEMENTS = st.one_of(captured, TEXTS, st.builds(lambda text, value: {"content": text, "value": value}, TEXTS, captured))
LISTS = st.lists(ELEMENTS, max_size=5)
MEMBERS = st.sampled_from(
    [{}, {"n": 1}, {"a": [1, {}], "b": "}"}, {"n": 2**70}, {"model_parameters": {"n": 1}}, [{"n": 1}], "{", None]
)
"""Values of members that are repeated; sometimes no object, sometimes one inside the other."""
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": ")])


@st.composite
def lines(draw: st.DrawFn) -> list[bytes]:
    """Lines of a few conversations whose lists grow, change, end, or stand where they are not expected."""
    lists: list[list[Any]] = [draw(LISTS), draw(LISTS)]
    written = []
    for _ in range(draw(st.integers(1, 8))):
        index = draw(st.integers(0, 1))
        values = lists[index]
        change = draw(st.sampled_from(["grow", "grow", "grow", "cut", "swap", "same"]))
        if change == "grow":
            values = values + draw(LISTS)
        elif change == "cut":
            values = values[: draw(st.integers(0, len(values)))]
        elif change == "swap" and values:
            values = [*values[:-1], draw(ELEMENTS), draw(ELEMENTS)]
        lists[index] = values
        record: dict[str, Any] = {draw(st.sampled_from(["trace_id", "session_id", "other"])): f"t{index}"}
        record |= {"note": draw(TEXTS), "messages": values}
        members = {"rest": draw(captured), "model_parameters": draw(MEMBERS), "model_map_information": draw(MEMBERS)}
        record |= {name: members[name] for name in draw(st.permutations(list(members)))[draw(st.integers(0, 2)) :]}
        shape = draw(
            st.sampled_from(["plain"] * 6 + ["inside", "twice", "again", "first", "broken", "list", "comma", "behind"])
        )
        line = json.dumps(record, separators=draw(SEPARATORS), ensure_ascii=draw(st.booleans()))
        match shape:
            case "inside":
                line = f'{{"trace_id": "t{index}", "log": {line}}}'
            case "twice":
                line = f'{line[:-1]}, "messages": {json.dumps(draw(LISTS))}}}'
            case "again":
                line = f'{line[:-1]}, "model_parameters": {json.dumps(draw(MEMBERS))}}}'
            case "comma":
                position = draw(st.integers(0, len(line)))
                line = f"{line[:position]}{draw(st.sampled_from([',', ']', '}', ' ', '1]', '[']))}{line[position:]}"
            case "behind":
                line = f"{line}{draw(st.sampled_from(['}', ' ', ',', line]))}"
            case "first":
                line = f'{{"messages": {json.dumps(values)}, {line[1:]}'
            case "broken":
                line = line[: draw(st.integers(0, len(line)))]
            case "list":
                line = f'["trace_id": "t{index}", {line}]'
        written.append(line.encode("utf-8", "surrogatepass") + draw(st.sampled_from([b"\n", b"\r\n", b""])))
    return written


def outcome(parse: Any, line: bytes) -> str:
    try:
        return repr(parse(line))
    except JsonError as error:
        return f"error: {error}"


@pytest.fixture(autouse=True)
def every_line_is_worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_lines, "_WORTH_SHARING", 0)
    monkeypatch.setattr(capture_lines, "REMEMBERED_BYTES", 300)
    monkeypatch.setattr(capture_members, "_WORTH_KEEPING", 2)
    monkeypatch.setattr(capture_members, "_SPELLINGS", 2)


@given(lines())
def test_memory_changes_no_value_and_no_error(given_lines: list[bytes]):
    growing = GrowingLines()
    for line in given_lines:
        assert outcome(growing.parse, line) == outcome(parse_json, line)


@given(
    st.lists(
        st.sampled_from([str(2**63), str(2**64), "9" * 18, "1" * 19, '"' + "1" * 30 + '"', "1e300", "-1e19", "0.1"]),
        max_size=4,
    )
)
def test_integers_are_exact_wherever_they_stand(numbers: list[str]):
    text = f"[{','.join(numbers)}]"
    for data in (text.encode(), text, (text + " " * 70_000).encode()):
        assert repr(parse_json(data)) == repr(json.loads(text))


@pytest.mark.parametrize(
    "first",
    [
        b'{"trace_id":"t","messages":[1],"messages":[2]}',
        b'{"trace_id":"t","messages" :[2],"log":{"messages":[1]}}',
        b'{"trace_id":"t","log":{"messages":[1]},"messages":[2]}',
    ],
)
def test_a_list_that_is_not_the_lines_own_is_not_remembered(first: bytes):
    growing = GrowingLines()
    growing.parse(first)
    assert growing.parse(b'{"trace_id":"t","messages":[1,3]}')["messages"] == [1, 3]


@pytest.mark.parametrize(
    "rest",
    [
        b'"m\\u0065ssages":[7]}',
        b'"messages":[7]}',
        b'"model_parameters":{"a":2},"model_parameter\\u0073":3}',
        b'"log":{"model_parameters":{"a":1}},"model_parameters":4}',
        b'"log":"\\"model_parameters\\":{"}',
        b'"model_parameters":{"a":1}]}',
        b'"model_parameters":{"a":1},}',
        b'"model_parameters":{"a":1} "x":1}',
        b',"model_parameters":{"a":1}}',
        b'"x":[2],"y":{"a":1}',
        b'[3],"model_parameters":{"a":1}}',
        b'"x":12',
    ],
)
def test_names_are_read_as_ever_wherever_else_they_stand(rest: bytes):
    growing = GrowingLines()
    for new in (b"", b',{"n":2}', b',{"n":3}'):
        growing.parse(b'{"trace_id":"t","messages":[{"n":1}%b],"model_parameters":{"a":1},"x":[1]}' % new)
        line = b'{"trace_id":"t","messages":[{"n":1}%b],%b' % (new, rest)
        assert outcome(growing.parse, line) == outcome(parse_json, line)


@pytest.mark.parametrize(
    "line",
    [
        b'{"trace_id":"t","messages":[12]}',
        b'{"trace_id":"t","messages":[1,],"x":1}',
        b'{"trace_id":"t","messages":[1,2],[3],"x":1}',
        b'{"trace_id":"t","messages":[1,2],"":[3],"x":1}',
        b'{"trace_id":"t","messages":[1, ]}',
        b'{"trace_id":"t","messages":[1] 1"x":1}',
        b'{"trace_id":"t","messages":[1]1"x":1}',
        b'{"trace_id":"t","messages":[1',
        b'{"trace_id":"t","messages":[',
        b'{"trace_id":"t","messages":[1,',
        b'{"trace_id":"t","messages":[1 2]}',
        b'{"trace_id":"t","a":12"messages":[1]}',
        b'{"trace_id":"t",,"messages":[1]}',
        b'{"trace_id":"t", , "messages":[1]}',
        b'["trace_id":"t","messages":[1]}',
        b'"trace_id":"t","messages":[1]}',
        b'{"trace_id":"t","messages":[1]}}',
        b'{"trace_id":"t","messages":[1]]}',
        b'{"trace_id":"t","messages":[1]},{"x":1}',
    ],
)
@pytest.mark.parametrize("known", [b'{"trace_id":"t","messages":[1]}', b'{"trace_id":"t","messages":[1],"x":1}', b"1"])
def test_what_is_cut_or_put_together_is_refused_as_ever(known: bytes, line: bytes):
    growing = GrowingLines()
    growing.parse(known)
    assert outcome(growing.parse, line) == outcome(parse_json, line)


def test_marks_that_move_leave_the_elements_before_them_shared():
    growing = GrowingLines()
    first = growing.parse(b'{"trace_id":"t","messages":[{"a":1},{"b":[2]},{"c":3,"mark":1}],"x":1}')
    second = growing.parse(b'{"trace_id":"t","messages":[{"a":1},{"b":[2]},{"c":3},{"d":4,"mark":1}],"x":1}')
    assert second["messages"] == [{"a": 1}, {"b": [2]}, {"c": 3}, {"d": 4, "mark": 1}]
    assert [second["messages"][index] is first["messages"][index] for index in range(3)] == [True, True, False]


def test_a_member_that_is_repeated_is_the_same_object_until_it_changes_with_every_line():
    growing = GrowingLines()
    lines = [b'{"trace_id":"t","messages":[1],"model_parameters":{"n":%d,"m":[]}}' % number for number in range(30)]
    values = [[growing.parse(line)["model_parameters"] for _ in range(2)] for line in lines]
    assert [(one, two) for one, two in values if one is not two] == []
    for line in lines:
        growing.parse(line)
    assert growing.parse(lines[-1])["model_parameters"] is not growing.parse(lines[-1])["model_parameters"]


def test_what_is_shared_is_the_same_object():
    growing = GrowingLines()
    first = growing.parse(b'{"trace_id":"t","messages":[{"a":1},{"b":2}],"x":1}')
    second = growing.parse(b'{"trace_id":"t","messages":[{"a":1},{"b":2},{"c":3}],"x":1}')
    assert second == {"trace_id": "t", "messages": [{"a": 1}, {"b": 2}, {"c": 3}], "x": 1}
    assert second["messages"][1] is first["messages"][1]
