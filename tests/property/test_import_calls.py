"""Property: reading a call after its Session's history is the same as reading it alone (facts.md §7, §9)."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from sediment_assets.adapters.fact_store.import_calls import CallLines
from sediment_assets.adapters.fact_store.import_lines import LineError, prepare_line
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.messages import Message, is_stored_message
from tests.builders import make_call, plain_message, reasoning_part, text_part, tool_call, tool_response
from tests.fact_files import fact_line
from tests.profiles import examples

SECRET = "A" * 16
ORDINARY = [
    text_part("Go."),
    text_part("é😀\ud800\x7f\0\u2028"),
    text_part('"input_messages":[{"role":"x"}]'),
    text_part(f"Bearer {SECRET} and sk-{SECRET}"),
    text_part('{"api_key": "hunter2"}'),
    text_part("hunter2\n[redacted_credential]"),
    reasoning_part(f"api_key={SECRET}"),
    tool_call("t1", "Edit", {"z": [1.0, float("nan")], "a": {"input_messages": []}}),
    tool_response("t1", {"deep": [[[[None]]]], "n": 10**30}),
    tool_response("t2", f"sk-{SECRET}"),
    tool_response("t3", {"cost": [1.5e-05, 1e16], "nested": json.loads("[" * 300 + "]" * 300)}),
    {"type": "tool_call", "id": "t4", "name": "no arguments", "unknown": 1},
]
RARE = [
    tool_call("t2", "Run", {"api_key": "hunter2"}),
    tool_call("t3", "Run", {"authorization": "Bearer [redacted_credential]"}),
    {"type": "image"},
    {"type": "tool_call", "id": "", "name": "x"},
]
# Mostly ordinary, or hardly any line would be read the fast way.
parts = st.sampled_from(ORDINARY * 8 + RARE)
messages = st.builds(
    lambda role, content, finish: plain_message(role, *content, finish_reason=finish),
    st.sampled_from(["user", "assistant", "\ud800"]),
    st.lists(parts, max_size=2),
    st.sampled_from([None, "stop"]),
)
ODD_SPELLINGS = ["spaced", "utf-8", "sorted", "cut", "twice", "comma", "semicolon", "last", "last comma", "raw first"]
spellings = st.sampled_from(["canonical"] * 8 + ODD_SPELLINGS)


def spell(values: dict, spelling: str) -> bytes:
    """One of several ways to write the same call, some of them wrong."""
    line = fact_line(make_call(), **values)
    match spelling:
        case "spaced":
            return json.dumps(json.loads(line)).encode() + b"\n"
        case "utf-8":
            return json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")).encode(
                "utf-8", "surrogatepass"
            )
        case "sorted":
            return json.dumps(json.loads(line), sort_keys=True, separators=(",", ":")).encode() + b"\n"
        case "cut":
            return line[: len(line) * 2 // 3]
        case "twice":
            return line.replace(b'"raw":', b'"input_messages":[],"raw":')
        case "comma":
            return line.replace(b'],"output_messages"', b',],"output_messages"')
        case "semicolon":
            return line.replace(b'],"output_messages"', b'];"output_messages"')
        case "last" | "last comma":
            fields = json.loads(line)
            fields["input_messages"] = fields.pop("input_messages")
            last = json.dumps(fields, separators=(",", ":")).encode()
            return last if spelling == "last" else last[:-1] + b",}"
        case "raw first":
            fields = json.loads(line)
            return json.dumps(
                {"raw": fields.pop("raw") | {"n": [2**70, 1e-7]}, **fields}, separators=(",", ":")
            ).encode()
    return line


@st.composite
def lines(draw):
    """Lines of a few Sessions whose calls repeat, extend, fork and cut their histories, in any order."""
    histories = draw(st.lists(st.lists(messages, min_size=1, max_size=6), min_size=1, max_size=2))
    drawn = []
    for n in range(draw(st.integers(1, 8))):
        which = draw(st.integers(0, len(histories) - 1))
        length = draw(st.integers(0, 6))
        history = histories[which][:length]
        answers = draw(st.lists(messages, max_size=1))
        if draw(st.booleans()):  # the answer that a longer history repeats, its finish reason kept or not
            reason = draw(st.sampled_from([None, "stop", 'a"b']))
            answers = [answer | {"finish_reason": reason} for answer in histories[which][length : length + 1]]
        if draw(st.booleans()):
            history = [*history, draw(messages)]
        values = {
            "inference_call_id": f"c{n}",
            "session_id": draw(st.sampled_from([f"s{which}"] * 5 + [None])),
            "input_messages": history,
            "output_messages": answers,
            "raw": draw(st.sampled_from([{}, {"input_messages": [1]}, {"x-api-key": "hunter2"}, {"t": "hunter2"}])),
        }
        drawn.append(spell(values, draw(spellings)))
    return drawn


def outcome(prepare, line: bytes):
    try:
        prepared = prepare(line)
    except LineError as error:
        return str(error)
    return prepared.row, prepared.aliases, {reason: n for reason, n in prepared.redactions.items() if n}


@settings(max_examples=examples(200))
@given(lines())
def test_a_line_reads_the_same_whatever_was_read_before(drawn):
    reader = CallLines()
    for line in drawn:
        alone = outcome(lambda text: prepare_line("inference_calls", text), line)
        assert outcome(reader.prepare, line) == alone


ODD_VALUES = [None, 1, "", " padded ", "\0", "\ud800", [], {}, True, "text", "tool_call", "tool_call_response"]


@given(messages, st.data())
def test_a_message_in_stored_shape_is_one_that_the_model_leaves_as_it_is(message: dict, data: st.DataObject):
    message = json.loads(json.dumps(message))
    places = [message, *message["parts"]]
    changed = data.draw(st.sampled_from(places))
    if data.draw(st.booleans()):
        changed[data.draw(st.sampled_from([*changed, "new"]))] = data.draw(st.sampled_from(ODD_VALUES))
    if data.draw(st.booleans()):
        changed.pop(data.draw(st.sampled_from([*changed])), None)
    try:
        stored = encode_stored(Message.model_validate(message).model_dump())
    except ValidationError:
        stored = None
    if is_stored_message(message):
        assert stored == encode_stored(message)
    else:
        assert stored != encode_stored(message)


@pytest.mark.parametrize("spelling", ODD_SPELLINGS)
@pytest.mark.parametrize("is_warm", [True, False])
def test_an_odd_spelling_reads_as_it_does_alone(spelling: str, is_warm: bool):
    history = [plain_message("user", "Go."), plain_message("assistant", tool_call("t1"))]
    reader = CallLines()
    if is_warm:
        reader.prepare(spell({"input_messages": history}, "canonical"))
    line = spell({"input_messages": [*history, plain_message("user", "On.")]}, spelling)
    assert outcome(reader.prepare, line) == outcome(lambda text: prepare_line("inference_calls", text), line)
