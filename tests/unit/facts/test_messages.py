"""Messages as plain JSON and as models (facts.md §3.1, §7)."""

import json

import pytest
from pydantic import ValidationError

from sediment_assets.facts.json_values import JsonError, encode_stored
from sediment_assets.facts.messages import Message, call_aliases, decode_messages
from sediment_assets.facts.model import explain_errors
from tests.builders import make_call, make_message, plain_message, reasoning_part, tool_call, tool_response

PARTS = ["hi", reasoning_part("hm"), tool_call(arguments={"b": 1, "a": {"d": 1, "c": 2}}), tool_response(result=None)]


def test_decode_messages_gives_declared_order_and_canonical_captured_objects():
    text = (
        '[{"finish_reason":"stop","parts":[{"arguments":{"b":[{"z":1,"y":2}],"a":0},"name":"n","id":"t","type":"tool_call"},'
        '{"result":{"b":1,"a":2},"id":"t","type":"tool_call_response"},{"content":"x","type":"text"},'
        '{"content":"y","type":"reasoning"}],"role":"assistant"}]'
    )
    assert json.dumps(decode_messages(text)) == json.dumps(
        [
            {
                "role": "assistant",
                "parts": [
                    {"type": "tool_call", "id": "t", "name": "n", "arguments": {"a": 0, "b": [{"y": 2, "z": 1}]}},
                    {"type": "tool_call_response", "id": "t", "result": {"a": 2, "b": 1}},
                    {"type": "text", "content": "x"},
                    {"type": "reasoning", "content": "y"},
                ],
                "finish_reason": "stop",
            }
        ]
    )


def test_decode_messages_fills_defaults_and_drops_unknown_keys():
    text = '[{"role":"u","x":1,"parts":[{"type":"tool_call","id":"t","name":"","x":1}]}]'
    part = {"type": "tool_call", "id": "t", "name": "", "arguments": {}}
    assert decode_messages(text) == [{"role": "u", "parts": [part], "finish_reason": None}]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "{}",
            "5",
            "null",
            "[5]",
            '["u"]',
            "[{}]",
            '[{"role":"u","parts":[{"type":"image"}]}]',
            "[",
            '[{"parts":[]}]',
        ),
        *('[{"role":1,"parts":[]}]', '[{"role":"u","parts":[],"finish_reason":1}]'),
        *('[{"role":"u","parts":[{"type":"text","content":NaN}]}]', '[{"role":"u","parts":[{"type":"text"}]}]'),
        '[{"role":"u","parts":[{"type":"tool_call_response","id":7,"result":1}]}]',
    ],
)
def test_decode_messages_refuses_other_shapes(text):
    with pytest.raises(JsonError, match="expected"):
        decode_messages(text)


def test_stored_messages_decode_to_what_the_model_holds():
    message = plain_message("assistant", *PARTS, finish_reason="stop")
    call = make_call(output_messages=[message])
    text = encode_stored(call.model_dump()["output_messages"])
    assert text == encode_stored([message])
    assert decode_messages(text) == [message]


def test_call_aliases_are_output_tool_call_ids_and_the_model_call_id():
    output = [
        plain_message("assistant", "x", tool_call(id="t1"), tool_call(id="t2")),
        plain_message("tool", tool_call(id="t1"), tool_response(id="t3")),
    ]
    assert call_aliases(output, "m1") == {"t1", "t2", "m1"}
    assert call_aliases(output, None) == {"t1", "t2"}
    assert call_aliases([], None) == frozenset()
    call = make_call(
        input_messages=[plain_message("u", tool_call(id="t0"))], output_messages=output, model_call_id="m1"
    )
    assert call.call_aliases == {"t1", "t2", "m1"}


def test_roles_contents_and_tool_names_are_any_text():
    message = make_message("", "", "\ud800\0", tool_call(id=" t ", name=""), finish_reason="")
    assert message.role == message.finish_reason == message.parts[0].content == message.parts[2].name == ""
    assert message.parts[1].content == "\ud800\0"
    assert message.parts[2].id == "t"


def test_captured_json_passes_through_untouched():
    arguments = {"b": [1.0, -0.0, 10**30, "\ud800"], "a": {"": None}}
    part = make_message("u", tool_call(arguments=arguments)).parts[0]
    assert part.arguments is arguments
    assert part.model_dump()["arguments"] is arguments


@pytest.mark.parametrize(
    ("part", "path"),
    [
        ({"content": "x"}, "parts[0]"),
        ({"type": "image"}, "parts[0]"),
        ({"type": "Text", "content": "x"}, "parts[0]"),
        ({"type": "text"}, "parts[0].content"),
        ({"type": "text", "content": None}, "parts[0].content"),
        ({"type": "reasoning", "content": 1}, "parts[0].content"),
        ({"type": "tool_call", "id": " ", "name": "n"}, "parts[0].id"),
        ({"type": "tool_call", "id": "t"}, "parts[0].name"),
        ({"type": "tool_call", "id": "t", "name": "n", "arguments": None}, "parts[0].arguments"),
        ({"type": "tool_call", "id": "t", "name": "n", "arguments": "{}"}, "parts[0].arguments"),
        ({"type": "tool_call_response", "id": "t"}, "parts[0].result"),
        ({"type": "tool_call_response", "id": "t", "result": (1,)}, "parts[0].result"),
        ({"type": "tool_call_response", "id": "t", "result": [{1: 2}]}, "parts[0].result"),
        ("x", "parts[0]"),
    ],
)
def test_a_part_is_refused_at_its_path(part, path):
    with pytest.raises(ValidationError) as caught:
        Message.model_validate({"role": "u", "parts": [part]})
    ((at, message),) = explain_errors(caught.value)
    assert at == path
    assert message.startswith("expected ")
    assert ", got " in message


@pytest.mark.parametrize("parts", [None, "x", {}])
def test_parts_are_required_and_an_array(parts):
    for plain in ({"role": "u"}, {"role": "u", "parts": parts}):
        with pytest.raises(ValidationError):
            Message.model_validate(plain)
