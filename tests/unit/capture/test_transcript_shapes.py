"""Formats of transcripts are told by their records; what is none of them is named."""

from typing import Any

import pytest

from sediment_assets.capture.registry import SOURCES
from sediment_assets.capture.transcripts.others import described
from sediment_assets.capture.transcripts.shapes import Format, recognized
from tests.transcript_writers import WRITERS, Step
from tests.transcripts import ClaudeFile, calls, remainders, text, translate_files

STEPS = [Step("go", "done", "", 0)]
FORMATS = (
    Format.CLAUDE_CODE,
    Format.CODEX,
    Format.SWE_AGENT,
    Format.MINI_SWE_AGENT,
    Format.OPENHANDS,
    Format.OPENHANDS,
)


@pytest.mark.parametrize(("writer", "expected"), list(zip(WRITERS, FORMATS, strict=True)))
def test_every_format_is_told_by_its_first_record(writer: Any, expected: Format) -> None:
    assert recognized(writer(STEPS)[0]) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"type": "summary", "summary": "s", "leafUuid": "u"}, Format.CLAUDE_CODE),
        ({"type": "file-history-snapshot", "messageId": "m"}, Format.CLAUDE_CODE),
        ({"type": "system", "subtype": "init", "session_id": "s"}, Format.CLAUDE_CODE),
        ({"record_type": "state"}, Format.CODEX),
        ({"id": "i", "timestamp": "t", "instructions": None}, Format.CODEX),
        ({"trajectory": [{"action": "ls", "observation": "", "response": "", "thought": ""}]}, Format.SWE_AGENT),
        ({"trajectory_format": "mini-swe-agent-1", "messages": []}, Format.MINI_SWE_AGENT),
        ({"role": "system", "content": "You fix."}, Format.MINI_SWE_AGENT),
        ({"instance_id": "i", "history": None, "test_result": {}}, Format.OPENHANDS),
        ({"type": "user", "message": {}}, None),
        ({"type": "system"}, None),
        ({"type": "response_item"}, None),
        ({"history": []}, None),
        ({"messages": [{"role": "user", "content": "hi"}]}, None),
        ({"model": "gpt-x", "messages": [{"role": "user", "content": "hi"}]}, None),
        ([], None),
        (None, None),
        ("text", None),
    ],
)
def test_records_are_recognized_by_shape(value: Any, expected: Format | None) -> None:
    assert recognized(value) is expected


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"instance_id": "i", "model_patch": ""}, "a prediction (model_patch)"),
        ({"i-1": {"model_patch": ""}}, "predictions by instance"),
        ({"checkpoint_id": "c", "strategy": "s"}, "metadata of a checkpoint"),
        ({"v": 1, "id": "T-1", "messages": []}, "an Amp thread"),
        ({"version": 3, "requests": []}, "a Copilot chat session"),
        ({"projectHash": "h", "messages": []}, "a Gemini CLI session"),
        ({"role": "user", "message": {}}, "a Cursor session"),
        ({"type": "session_start", "id": "i"}, "a Factory Droid session"),
        ({"type": "metadata", "protocol_version": "1"}, "a Kimi CLI session"),
        ({"status": "done", "type": "user_input"}, "a Windsurf session"),
        ({"a": 1}, "an object with key a"),
        ({"a b\x1b": 1, "c": 2}, "an object with keys an unreadable name, c"),
        ({}, "an object with no keys"),
        ([1], "an array"),
        ("secret", "a string"),
        (1.5, "a number"),
        (None, "null, true or false"),
    ],
)
def test_others_are_named_and_never_shown(value: Any, words: str) -> None:
    assert described(value) == words
    assert remainders(translate_files([value])) == [
        ("f1:1", "unknown_shape", f"not a transcript that is read here: {words}")
    ]


def test_all_records_of_another_tool_are_named_after_it() -> None:
    told = translate_files([{"type": "noise"}, {"type": "session_start", "id": "i"}, {"type": "message"}])
    assert {detail for _, _, detail in remainders(told)} == {
        "not a transcript that is read here: a Factory Droid session"
    }


def test_noise_before_the_first_record_does_not_hide_the_format() -> None:
    file = ClaudeFile()
    file.user("go")
    file.assistant("msg_000000000001", text("done"))
    told = translate_files([{"silly": 1}, "noise", *file])
    assert len(calls(told)) == 1
    assert [place for place, reason, _ in remainders(told) if reason == "unknown_shape"] == ["f1:1", "f1:2"]


def test_files_of_several_formats_are_read_in_one_run() -> None:
    told = translate_files(*(writer(STEPS) for writer in WRITERS))
    assert {one.raw["transcript"] for found in calls(told).values() for one in found} == {"claude-code", "codex"}
    assert SOURCES["transcripts"].name == "transcripts"
