"""Property: a call is written after its Session's history as it is written alone (bundle.md §2)."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.bundle.call_writing import CallWriter
from sediment_assets.bundle.encoding import encode_line
from sediment_assets.derive.fact_reader import FullCall
from sediment_assets.errors import SedimentError
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.messages import decode_messages
from tests.builders import make_call, plain_message, tool_call, tool_response
from tests.profiles import examples
from tests.property.strategies import stored_texts

MESSAGES = st.sampled_from(
    [
        plain_message("user", "go"),
        plain_message("user", 'C:\\ "quoted", {"input_messages":[]} é\u2028\U0001f600\ud800\x7f'),
        plain_message("a", tool_call(arguments={"n": 2**70, "f": 1e-07, "z": -0.0, "input_messages": [], "a": "\\"})),
        plain_message("tool", tool_response(result=[1, 1.0, True, None, float("nan"), {"b": 1, "a": 2}])),
        plain_message("tool", tool_response(result=json.loads("[" * 300 + "]" * 300))),
        plain_message(""),
    ]
)


@st.composite
def calls(draw: st.DrawFn) -> list[tuple[InferenceCall, str]]:
    """Calls of two Sessions whose histories grow, shrink and change, with the stored text of their input."""
    made = []
    histories: dict[str, list[Any]] = {"s1": [], "s2": []}
    for number in range(draw(st.integers(1, 8))):
        session = draw(st.sampled_from(sorted(histories)))
        kept = histories[session][: draw(st.sampled_from([0, 1, 99, 99, 99]))]
        histories[session] = [*kept, *draw(st.lists(MESSAGES, max_size=3))]
        call = make_call(inference_call_id=f"c{number}", session_id=session, raw={"input_messages": [1], "é": "\\"})
        text = encode_stored(histories[session])
        if draw(st.integers(0, 9)) == 0:
            text = draw(
                stored_texts(histories[session])
                | st.sampled_from([f"{text[:-1]},]", f"{text[:-1]}, ]", "[", f"{text}]", "{}", '""'])
            )
        made.append((call, text))
    return made


def outcome(write: Any) -> Any:
    try:
        return write()
    except SedimentError as error:
        return str(error)


@settings(max_examples=examples(300))
@given(calls())
def test_a_call_is_written_after_its_history_as_it_is_alone(made: list[tuple[InferenceCall, str]]) -> None:
    writer = CallWriter()
    for call, text in made:

        def read(text: str, call: InferenceCall = call) -> InferenceCall:
            return InferenceCall.model_validate(call.model_dump() | {"input_messages": decode_messages(text)})

        full = FullCall(call.session_id, text, read)
        alone = outcome(lambda full=full: encode_line(full.fact().model_dump()))
        assert outcome(lambda full=full: writer.line(full)) == alone


@pytest.mark.parametrize(
    ("word", "read_by_the_model"), [("plain \x7f", [0, 0, 0, 0]), ("half a pair \ud800", [1, 1, 2, 0])]
)
def test_a_growing_history_is_read_once_and_by_the_model_only_where_it_is_unusual(
    word: str, read_by_the_model: list[int]
) -> None:
    history = [plain_message("user", f"{word} {n}") for n in range(4)]
    seen: list[str] = []

    def read(text: str) -> InferenceCall:
        seen.append(text)
        return make_call(input_messages=json.loads(text))

    writer = CallWriter()
    for length in (1, 2, 4, 4):
        writer.line(FullCall("s1", encode_stored(history[:length]), read))
    assert [len(json.loads(text)) for text in seen] == read_by_the_model


@pytest.mark.parametrize("text", ["{}", '""', "null", "0"])
def test_what_is_no_list_of_messages_is_refused(text: str) -> None:
    def read(text: str) -> InferenceCall:
        return make_call(input_messages=decode_messages(text))

    with pytest.raises(SedimentError, match="expected a list of messages"):
        CallWriter().line(FullCall("s1", text, read))
