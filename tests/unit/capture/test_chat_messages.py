"""The same conversation in the words of any API gives equal messages."""

from typing import Any

import pytest

from sediment_assets.capture.chat_messages import assistant_message, chat_messages, system_messages
from sediment_assets.capture.conversations import Conversations
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.json_values import equal
from tests.builders import plain_message, reasoning_part, tool_call, tool_response
from tests.gateway_payloads import Json, function_call


def plain(values: list[Any], *, are_items: bool = False) -> list[Json]:
    left_out: list[str] = []
    messages = Conversations().read("s1", values, "messages", left_out, are_items=are_items)
    assert left_out == []
    return [message.model_dump(mode="python") for message in messages]


def same(got: list[Json], *expected: Json) -> bool:
    return equal(got, list(expected))


BIG = 10_000_000_000_000_000_001
ARGUMENTS = {"path": "a.py", "line": 3}
TEXT = '{"path": "a.py", "line": 3}'
CONVERSATION = (
    plain_message("system", "Be brief."),
    plain_message("user", "Fix it.", "Please."),
    plain_message(
        "assistant", reasoning_part("Hm."), "On it.", tool_call("t1", "edit", ARGUMENTS), tool_call("t2", "run")
    ),
    plain_message("tool", tool_response("t1", "ok")),
    plain_message("tool", tool_response("t2", "failed")),
    plain_message("user", "Again."),
)
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Fix it."}, {"type": "text", "text": "Please."}]},
    {
        "role": "assistant",
        "content": "On it.",
        "reasoning_content": "Hm.",
        "tool_calls": [{"index": 1} | function_call("t1", "edit", TEXT), function_call("t2", "run", "")],
        "function_call": None,
    },
    {"role": "tool", "tool_call_id": "t1", "content": "ok", "name": "edit"},
    {"role": "tool", "tool_call_id": "t2", "content": [{"type": "text", "text": "failed"}]},
    {"role": "user", "content": "Again."},
]
ANTHROPIC = [
    {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]},
    {"role": "user", "content": [{"type": "text", "text": "Fix it."}, {"type": "text", "text": "Please."}]},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "", "signature": "x"},
            {"type": "thinking", "thinking": "Hm.", "signature": "y"},
            {"type": "redacted_thinking", "data": "zzz"},
            {"type": "text", "text": "On "},
            {"type": "text", "text": "it."},
            {"type": "tool_use", "id": "t1", "name": "edit", "input": ARGUMENTS},
            {"type": "tool_use", "id": "t2", "name": "run", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "ok", "is_error": False},
            {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "text", "text": "failed"}]},
            {"type": "text", "text": "Again."},
        ],
    },
]
ITEMS = [
    {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be brief."}]},
    {"role": "user", "content": [{"type": "input_text", "text": "Fix it."}, {"type": "input_text", "text": "Please."}]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "x"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "On it.", "annotations": []}]},
    {"type": "function_call", "id": "fc_1", "call_id": "t1", "name": "edit", "arguments": TEXT, "status": "completed"},
    {"type": "function_call", "id": "fc_2", "call_id": "t2", "name": "run", "arguments": "null"},
    {"type": "function_call_output", "call_id": "t1", "output": "ok"},
    {"type": "function_call_output", "call_id": "t2", "output": [{"type": "input_text", "text": "failed"}]},
    {"role": "user", "content": "Again."},
]
CONVENTION = [
    {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
    {"role": "user", "parts": [{"type": "text", "content": "Fix it."}, {"type": "text", "content": "Please."}]},
    {
        "role": "assistant",
        "parts": [
            {"type": "reasoning", "content": "Hm."},
            {"type": "text", "content": "On it."},
            {"type": "tool_call", "id": "t1", "name": "edit", "arguments": ARGUMENTS},
            {"type": "tool_call", "id": "t2", "name": "run", "arguments": None},
        ],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "t1", "response": "ok"}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "t2", "result": "failed"}]},
    {"role": "user", "parts": [{"type": "text", "content": "Again."}]},
]
SDK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Fix it."}, {"type": "text", "text": "Please."}]},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "Hm."},
            {"type": "text", "text": "On it."},
            {"type": "tool-call", "toolCallId": "t1", "toolName": "edit", "input": ARGUMENTS},
            {"type": "tool-call", "toolCallId": "t2", "toolName": "run", "args": {}},
        ],
    },
    {
        "role": "tool",
        "content": [
            {"type": "tool-result", "toolCallId": "t1", "toolName": "edit", "output": {"type": "text", "value": "ok"}},
            {"type": "tool-result", "toolCallId": "t2", "toolName": "run", "result": "failed"},
        ],
    },
    {"role": "user", "content": "Again."},
]


@pytest.mark.parametrize(
    ("values", "are_items"),
    [(OPENAI, False), (ANTHROPIC, False), (ITEMS, True), (ITEMS, False), (CONVENTION, False), (SDK, False)],
    ids=["openai", "anthropic", "responses", "responses, unannounced", "opentelemetry", "ai sdk"],
)
def test_every_telling_of_a_conversation_gives_the_same_messages(values: list[Any], are_items: bool):
    assert same(plain(values, are_items=are_items), *CONVERSATION)


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ({"content": None, "tool_calls": None}, []),
        ({"content": ""}, []),
        ({}, []),
        ({"content": [], "refusal": "No."}, [{"type": "text", "content": "No."}]),
        ({"content": [{"type": "refusal", "refusal": "No."}]}, [{"type": "text", "content": "No."}]),
        ({"content": ["a", {"text": "b"}]}, [{"type": "text", "content": "ab"}]),
        ({"reasoning_content": "", "thinking_blocks": [{"type": "thinking", "thinking": "x"}]}, [reasoning_part("x")]),
        ({"reasoning_content": "x", "thinking_blocks": [{"type": "thinking", "thinking": ""}]}, [reasoning_part("x")]),
        ({"reasoning_content": "x", "thinking_blocks": [{"type": "thinking", "thinking": "x"}]}, [reasoning_part("x")]),
        ({"reasoning": "x", "content": [{"type": "thinking", "thinking": "x"}]}, [reasoning_part("x")]),
        ({"reasoning": "x", "reasoning_details": [{"type": "reasoning.text", "text": "x"}]}, [reasoning_part("x")]),
        ({"tool_calls": [function_call(arguments="null")]}, [tool_call("t1", "edit")]),
        ({"tool_calls": [function_call(arguments={"n": 1})]}, [tool_call("t1", "edit", {"n": 1})]),
        (
            {"tool_calls": [{"id": "t1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]},
            [tool_call("t1", "sh", {"input": "ls"})],
        ),
        ({"tool_calls": [function_call(arguments=f'{{"n":{BIG}}}')]}, [tool_call("t1", "edit", {"n": BIG})]),
        ({"content": [{"type": "tool_use", "id": " t1 ", "name": "", "input": "{}"}]}, [tool_call("t1", "")]),
    ],
)  # fmt: skip
def test_an_assistants_message(message: Json, parts: list[Json]):
    for said in (
        chat_messages({"role": "assistant"} | message, "m", [])[0],
        assistant_message(message, "m", [], "stop"),
    ):
        assert same([said.model_dump() | {"finish_reason": None}], plain_message("assistant", *parts))


@pytest.mark.parametrize(
    ("content", "result"),
    [
        ("ok", "ok"),
        (None, None),
        ([{"type": "text", "text": "ok", "cache_control": {"type": "ephemeral"}}], "ok"),
        ([], []),
        (
            [{"type": "text", "text": "a", "cache_control": {}}, {"type": "image", "source": {"data": "x"}}],
            [{"type": "text", "text": "a"}, {"type": "image", "source": {"data": "x"}}],
        ),
        ({"any": ["json", 1]}, {"any": ["json", 1]}),
    ],
)
def test_a_tools_result_is_kept(content: Any, result: Any):
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content}
    for value in ({"role": "user", "content": [block]}, {"role": "tool", "tool_call_id": "t1", "content": content}):
        assert same(plain([value]), plain_message("tool", tool_response("t1", result)))


def test_a_failed_tools_result_says_so():
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "no such file", "is_error": True}
    expected = tool_response("t1", {"is_error": True, "content": "no such file"})
    assert same(plain([{"role": "user", "content": [block]}]), plain_message("tool", expected))


def test_blocks_between_results_stay_in_order_and_no_message_is_lost():
    text = {"type": "text", "text": "x"}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    messages = plain([{"role": "user", "content": [text, result, text, text]}, {"role": "user", "content": []}])
    assert same(
        messages,
        plain_message("user", "x"),
        plain_message("tool", tool_response("t1", "ok")),
        plain_message("user", "x", "x"),
        plain_message("user"),
    )


def test_typed_items_carry_their_members_as_arguments():
    items = [
        {"type": "apply_patch_call", "id": "a", "call_id": "t1", "status": "completed", "operation": {"diff": "+x"}},
        {"type": "shell_call", "id": "s", "call_id": "t2", "action": {"commands": ["ls"]}},
        {"type": "custom_tool_call", "call_id": "t3", "name": "sql", "input": "select 1"},
        {"type": "shell_call_output", "call_id": "t2", "output": [{"stdout": "a.py"}]},
    ]
    assert same(
        plain(items, are_items=True),
        plain_message(
            "assistant",
            tool_call("t1", "apply_patch", {"operation": {"diff": "+x"}}),
            tool_call("t2", "shell", {"action": {"commands": ["ls"]}}),
            tool_call("t3", "sql", {"input": "select 1"}),
        ),
        plain_message("tool", tool_response("t2", [{"stdout": "a.py"}])),
    )


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"role": "user", "content": [{"type": "image_url"}, "a"]}, "m.content[0]: content of type image_url"),
        ({"role": "assistant", "content": "a", "audio": {"id": "x"}}, "m.audio: content of type audio"),
        ({"role": "user", "content": [{"type": "<script>"}, "a"]}, "m.content[0]: content of type an unreadable name"),
        ({"role": "user", "content": [{"no": 1}, "a"]}, "m.content[0]: content of type none"),
    ],
)  # fmt: skip
def test_other_content_is_left_out_and_named(value: Json, left: str):
    left_out: list[str] = []
    (message,) = chat_messages(value, "m", left_out)
    assert left_out == [f"{left} is no part of a message"]
    assert [part.model_dump() for part in message.parts] == [{"type": "text", "content": "a"}]


def test_a_tool_that_the_provider_runs_is_left_out():
    left_out: list[str] = []
    items = [
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {}},
        {"type": "item_reference", "id": "r"},
    ]
    (message,) = Conversations().read("s1", items, "input", left_out, are_items=True)
    assert (message.role, message.parts) == ("assistant", ())
    assert len(left_out) == 2


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        ("x", "m: expected an object, got text"),
        ({"content": "x"}, "m.role: expected text, got null"),
        ({"role": "user", "content": 1}, "m.content: expected text or an array of blocks, got a number"),
        ({"role": "user", "content": [1]}, "m.content[0]: expected an object, got a number"),
        (
            {"role": "user", "content": [{"type": "text", "text": 1}]},
            "m.content[0].content: expected text, got a number",
        ),
        ({"role": "tool", "content": "x"}, "m.tool_call_id: expected a tool call's id, got null"),
        ({"role": "function", "name": "f", "content": "x"}, "m.tool_call_id: expected a tool call's id, got null"),
        (
            {"role": "assistant", "tool_calls": [function_call("")]},
            "m.tool_calls[0].id: expected a tool call's id, got text",
        ),
        (
            {"role": "assistant", "tool_calls": [function_call("a\0b")]},
            "m: parts[0].id: expected a non-blank string without U+0000 and surrogates",
        ),
        (
            {"role": "assistant", "tool_calls": [function_call(arguments='{"path": "a')]},
            "m.tool_calls[0].function.arguments: expected a JSON object in text, got text",
        ),
        (
            {"role": "assistant", "tool_calls": [function_call(arguments="[1]")]},
            "m.tool_calls[0].function.arguments: expected a JSON object, got an array",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "t1", "function": {"arguments": "{}"}}]},
            "m.tool_calls[0].name: expected text, got null",
        ),
        ({"role": "assistant", "tool_calls": {}}, "m.tool_calls: expected an array, got an object"),
        (
            {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}},
            "m.function_call: expected tool calls, which have ids, got an object",
        ),
    ],
)
def test_what_a_part_cannot_be_without_refuses_the_record(value: Any, detail: str):
    with pytest.raises(RefusedError) as refused:
        chat_messages(value, "m", [])
    assert refused.value.detail == detail


def test_a_system_prompt_beside_the_messages():
    (told,) = system_messages("Be brief.", "system", [])
    assert same([told.model_dump()], plain_message("system", "Be brief."))
    assert system_messages(None, "system", []) == system_messages("", "system", []) == []


class TestGrowingHistories:
    def test_what_was_there_before_is_the_same_object(self):
        conversations = Conversations()
        first = conversations.read("s1", OPENAI[:3], "messages", [])
        second = conversations.read("s1", OPENAI, "messages", [])
        assert all(a is b for a, b in zip(first, second, strict=False))
        assert len(second) == 6

    def test_what_is_left_out_is_told_once(self):
        conversations = Conversations()
        messages: list[Any] = [{"role": "user", "content": [{"type": "image_url"}]}]
        for told in (1, 0, 0):
            left_out: list[str] = []
            conversations.read("s1", messages, "messages", left_out)
            assert len(left_out) == told
            messages = [*messages, {"role": "assistant", "content": "x"}]

    def test_a_changed_history_is_translated_anew_from_the_change(self):
        conversations = Conversations()
        first = conversations.read("s1", OPENAI, "messages", [])
        changed = [OPENAI[0], {"role": "user", "content": "Other."}, *OPENAI[2:]]
        second = conversations.read("s1", changed, "messages", [])
        assert second[0] is first[0]
        assert second[1].parts != first[1].parts
        assert second[2] is not first[2]
        assert second[2:] == first[2:]

    @pytest.mark.parametrize(("before", "after"), [(1, True), (1, 1.0), (0.0, -0.0), (2**70, float(2**70))])
    def test_equal_numbers_of_other_kinds_are_not_taken_for_the_same(self, before: Any, after: Any):
        conversations = Conversations()
        for number in (before, after):
            use = {"type": "tool_use", "id": "t1", "name": "f", "input": {"n": number}}
            (message,) = conversations.read("s1", [{"role": "assistant", "content": [use]}], "messages", [])
            got = message.model_dump()["parts"][0]["arguments"]["n"]
            assert repr(got) == repr(number)

    def test_the_order_of_keys_in_arguments_is_each_records_own(self):
        conversations = Conversations()
        for arguments in ({"a": 1, "b": 2}, {"b": 2, "a": 1}):
            use = {"type": "tool_use", "id": "t1", "name": "f", "input": arguments}
            (message,) = conversations.read("s1", [{"role": "assistant", "content": [use]}], "messages", [])
            assert list(message.model_dump()["parts"][0]["arguments"]) == list(arguments)

    def test_forgetting_changes_nothing_but_time(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("sediment_assets.capture.conversations.REMEMBERED", 2000)
        conversations = Conversations()
        for number in range(1, 7):
            for session in ("s1", "s2", "s3"):
                assert conversations.read(session, OPENAI[:number], "messages", []) == Conversations().read(
                    session, OPENAI[:number], "messages", []
                )
