"""Lines of calls read after a history give what they give alone, or the same error (bundle.md §2.3, §4)."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.bundle.call_lines import CallLines
from sediment_assets.bundle.encoding import decode_line, encode_line
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.population_records import parse_call
from tests.builders import make_call, plain_message, tool_call, tool_response

MESSAGES = st.sampled_from(
    [
        plain_message("user", "go"),
        plain_message("user", 'C:\\ "quoted", {"input_messages":[]} é\u2028\U0001f600\ud800'),
        plain_message(
            "assistant", "ok", tool_call(arguments={"n": 2**70, "f": 1e-07, "z": -0.0, "input_messages": []})
        ),
        plain_message("assistant", tool_call(id=" padded ")),
        plain_message("assistant", tool_call(arguments={"deep": json.loads("[" * 300 + "]" * 300)})),
        plain_message("tool", tool_response(result=[1, 1.0, True, None, float("nan"), {"b": 1, "a": 2}])),
        plain_message(""),
    ]
)
HISTORIES = st.lists(MESSAGES, max_size=5)


@st.composite
def lines(draw: st.DrawFn) -> list[bytes]:
    """Calls of two Sessions whose histories grow, shrink and change, in several spellings."""
    made = []
    histories: dict[str, list[Any]] = {"s1": [], "s2": []}
    for number in range(draw(st.integers(1, 8))):
        session = draw(st.sampled_from(["s1", "s2"]))
        kept = histories[session][: draw(st.sampled_from([0, 1, 99, 99, 99]))]
        histories[session] = [*kept, *draw(HISTORIES)]
        call = make_call(inference_call_id=f"c{number}", session_id=session, output_messages=[plain_message("a", "x")])
        plain = call.model_dump() | {"input_messages": histories[session]}
        made.append(draw(respelled(encode_line(plain))))
    return made


def respelled(line: bytes) -> st.SearchStrategy[bytes]:
    text = json.loads(line)["record_json"]
    start = line.find(b"input_messages")
    return st.sampled_from(
        [line] * 6
        + [
            json.dumps({"record_json": text}).encode() + b"\n",
            line.replace(b"parts", b"\\u0070arts"),
            line[:-1],
            json.dumps({"record_json": json.dumps(json.loads(text))}).encode() + b"\n",
            line.replace(b'\\"role\\":', b'\\"role\\":\\"x\\",\\"role\\":', 1),
            line.replace(b'\\"raw\\":', b'\\"input_messages\\":[],\\"raw\\":', 1),
            line[: start + 40] + b"~" + line[start + 41 :],
        ]
    )


def outcome(parse: Any) -> Any:
    try:
        return parse()
    except BundleError as error:
        return str(error)


@settings(max_examples=300, deadline=None)
@given(lines())
def test_a_line_reads_the_same_after_a_history_as_alone(made: list[bytes]) -> None:
    calls = CallLines()
    for line in made:
        alone = outcome(lambda line=line: parse_call(decode_line(line)))
        assert outcome(lambda line=line: calls.parse(line)) == alone


@settings(max_examples=300, deadline=None)
@given(HISTORIES, st.data())
def test_any_changed_byte_of_a_continued_line_gives_what_it_gives_alone(
    history: list[Any], data: st.DataObject
) -> None:
    calls = CallLines()
    first, second = (
        encode_line(make_call(inference_call_id=name).model_dump() | {"input_messages": messages})
        for name, messages in (("c1", history), ("c2", [*history, plain_message("user", "next")]))
    )
    outcome(lambda: calls.parse(first))
    position = data.draw(st.integers(0, len(second) - 1))
    changed = second[:position] + bytes([data.draw(st.integers(1, 255)) ^ second[position]]) + second[position + 1 :]
    assert outcome(lambda: calls.parse(changed)) == outcome(lambda: parse_call(decode_line(changed)))
