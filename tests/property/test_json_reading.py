"""The fast way to read captured JSON gives what the standard library's decoder gives, type for type (facts.md §7)."""

import json

from hypothesis import example, given
from hypothesis import strategies as st

from sediment_assets.facts.json_values import JsonError, canonical_order, decode_captured
from sediment_assets.facts.messages import decode_messages
from tests.property.test_json_spellings import VALUES

DIGITS = st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
TEXTS = st.lists(
    st.sampled_from([*list('{}[],:"\\ \n'), "1", "e5", "true", "NaN", '"a"', "\\u0000", "\\ud800", "é", "\ufeff"])
)


def spelled(value: object) -> str:
    """Tells -0.0 from 0.0, 1 from 1.0 and True, and one key order from another."""
    return repr(value)


@given(VALUES, st.booleans())
def test_any_value_reads_as_written(value, ascii_only):
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert spelled(decode_captured(text)) == spelled(canonical_order(json.loads(text)))


@given(DIGITS)
@example("9223372036854775807")
@example("9223372036854775808")
@example("18446744073709551615")
@example("18446744073709551616")
@example("-9223372036854775809")
@example("-0")
@example("-0.0")
@example("1e400")
@example("9007199254740993.0")
def test_any_number_reads_as_python_reads_it(digits):
    text = f'{{"b":[{digits}],"a":{digits}}}'
    assert spelled(decode_captured(text)) == spelled(canonical_order(json.loads(text)))


@given(TEXTS.map("".join))
def test_any_text_is_json_or_not_as_the_standard_library_says(text):
    try:
        expected = spelled(canonical_order(json.loads(text)))
    except ValueError:
        expected = "no JSON"
    try:
        assert spelled(decode_captured(text)) == expected
    except JsonError:
        assert expected == "no JSON"


@given(VALUES, VALUES)
def test_messages_carry_captured_values_as_written(arguments, result):
    parts = [
        {"type": "tool_call", "id": "1", "name": "", "arguments": {"x": arguments}},
        {"type": "tool_call_response", "id": "1", "result": result},
    ]
    text = json.dumps([{"role": "assistant", "parts": parts, "finish_reason": None}])
    (message,) = decode_messages(text)
    call, response = message["parts"]
    assert spelled(call["arguments"]) == spelled(canonical_order(json.loads(text))[0]["parts"][0]["arguments"])
    assert spelled(response["result"]) == spelled(canonical_order(json.loads(text))[0]["parts"][1]["result"])
