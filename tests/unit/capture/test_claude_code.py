"""Claude Code transcripts → InferenceCalls: one per response, histories that grow, Sessions that stay apart."""

from typing import Any

import pytest

from sediment_assets.facts.instants import parse_instant
from tests.transcripts import (
    INSTANT,
    SESSION,
    ClaudeFile,
    calls,
    only_session,
    remainders,
    segments,
    spoken,
    text,
    tool_result,
    tool_use,
    translate_files,
    two_turns,
)


def test_each_response_is_one_call_with_what_came_before_it() -> None:
    first, second = only_session(translate_files(two_turns()))
    assert spoken(first.input_messages) == ["user: fix it"]
    assert spoken(first.output_messages) == ["assistant: looking + Bash(t1)"]
    assert spoken(second.input_messages) == ["user: fix it", "assistant: looking + Bash(t1)", "tool: t1=ok"]
    assert segments([first, second]) == [2]
    assert (first.session_id, first.model, first.model_call_id) == (SESSION, "claude-x", "msg_000000000001")
    assert first.observed_at == parse_instant("2026-01-02T03:00:02Z")


def test_what_the_transcript_does_not_hold_stays_absent() -> None:
    call = only_session(translate_files(two_turns()))[0]
    assert (call.user_id, call.model_provider, call.input_tokens, call.duration_ms) == (None, None, None, None)
    assert call.gateway_provider == "unknown"
    assert call.raw["transcript"] == "claude-code"
    assert [record["uuid"] for record in call.raw["records"]] == ["u2"]


def test_lines_of_one_message_are_one_call_with_the_last_complete_usage() -> None:
    file = ClaudeFile()
    file.user("go")
    usage = {"input_tokens": 3, "cache_read_input_tokens": 900, "output_tokens": 1}
    file.assistant("msg_000000000001", {"type": "thinking", "thinking": "hm", "signature": "s"}, usage=usage)
    file.assistant("msg_000000000001", text("I will"), usage={**usage, "output_tokens": 7})
    file.assistant("msg_000000000001", tool_use("t1"), usage={"input_tokens": 3}, stop_reason="tool_use")
    (call,) = only_session(translate_files(file))
    assert spoken(call.output_messages) == ["assistant: <hm> + I will + Bash(t1)"]
    assert call.output_messages[0].finish_reason == "tool_use"
    assert (call.input_tokens, call.output_tokens) == (3, 7)


def test_answers_between_the_lines_of_a_message_follow_it() -> None:
    file = ClaudeFile()
    file.user("go")
    file.assistant("msg_000000000001", tool_use("t1"))
    file.user([tool_result("t1", "one")])
    file.assistant("msg_000000000001", tool_use("t2"))
    file.user([tool_result("t2", "two")])
    file.assistant("msg_000000000002", text("done"))
    first, second = only_session(translate_files(file))
    assert spoken(first.output_messages) == ["assistant: Bash(t1) + Bash(t2)"]
    assert spoken(second.input_messages)[1:] == ["assistant: Bash(t1) + Bash(t2)", "tool: t1=one", "tool: t2=two"]
    assert segments([first, second]) == [2]


def test_a_short_message_id_may_be_a_constant_so_what_follows_the_user_is_another_response() -> None:
    file = ClaudeFile()
    for words in ("one", "two"):
        file.user(words)
        file.assistant("chatcmpl-1", text(f"{words} "))
        file.assistant("chatcmpl-1", text("done"))
    first, second = only_session(translate_files(file))
    assert spoken(first.output_messages) == ["assistant: one done"]
    assert spoken(second.input_messages) == ["user: one", "assistant: one done", "user: two"]
    assert spoken(second.output_messages) == ["assistant: two done"]
    assert segments([first, second]) == [2]


def test_answers_of_parallel_calls_are_kept_though_one_path_of_parents_leads_past_them() -> None:
    file = ClaudeFile()
    file.user("go")
    one = file.assistant("msg_000000000001", tool_use("t1"))
    two = file.assistant("msg_000000000001", tool_use("t2"))
    file.user([tool_result("t1", "one")], parentUuid=one)
    last = file.user([tool_result("t2", "two")], parentUuid=two)
    file.assistant("msg_000000000002", text("done"), parentUuid=last)
    first, second = only_session(translate_files(file))
    assert spoken(second.input_messages)[2:] == ["tool: t1=one", "tool: t2=two"]
    assert segments([first, second]) == [2]


def test_going_back_leaves_the_other_branch_out() -> None:
    file = ClaudeFile()
    start = file.user("go")
    answered = file.assistant("msg_000000000001", text("which?"))
    file.user("the left one")
    file.assistant("msg_000000000002", text("left"))
    file.user("the right one", parentUuid=answered)
    file.assistant("msg_000000000003", text("right"))
    file.user("start over", parentUuid=None)
    file.assistant("msg_000000000004", text("over"))
    told = only_session(translate_files(file))
    assert spoken(told[2].input_messages) == ["user: go", "assistant: which?", "user: the right one"]
    assert spoken(told[3].input_messages) == ["user: start over"]
    assert segments(told) == [2, 1, 1]
    assert start == "u1"


@pytest.mark.parametrize("has_boundary", [True, False])
def test_compaction_starts_a_new_history(has_boundary: bool) -> None:
    file = two_turns()
    if has_boundary:
        file.line("system", subtype="compact_boundary", parentUuid=None, logicalParentUuid="u4")
    file.user(
        "This session is being continued",
        isCompactSummary=True,
        isVisibleInTranscriptOnly=True,
        **({} if has_boundary else {"parentUuid": None}),
    )
    file.assistant("msg_000000000003", text("going on"))
    told = only_session(translate_files(file))
    assert spoken(told[2].input_messages) == ["user: This session is being continued"]
    assert segments(told) == [2, 1]


def test_lost_lines_do_not_cut_the_conversation() -> None:
    file = two_turns()
    del file[2]["parentUuid"]
    file[3]["parentUuid"] = "lost"
    assert segments(only_session(translate_files(file))) == [2]


def test_times_that_run_backwards_do_not_reorder() -> None:
    file = two_turns()
    file[3]["timestamp"] = "2026-01-02T02:00:00Z"
    first, second = only_session(translate_files(file))
    assert spoken(first.output_messages) == ["assistant: looking + Bash(t1)"]
    assert second.observed_at == parse_instant("2026-01-02T03:00:03Z")


def test_calls_of_one_instant_are_a_microsecond_apart() -> None:
    file = two_turns()
    for line in file:
        line["timestamp"] = "2026-01-02T03:00:00Z"
    found = only_session(translate_files(file))
    assert segments(found) == [2]
    assert [call.observed_at.microsecond for call in found] == [0, 1]


def test_time_may_end_with_the_calendar() -> None:
    file = two_turns()
    for line in file:
        line["timestamp"] = "9999-12-31T23:59:59.999999Z"
    assert len(only_session(translate_files(file))) == 2


def test_a_response_without_a_time_needs_the_operators() -> None:
    file = two_turns()
    for line in file:
        line["timestamp"] = "yesterday"
    assert {reason for _, reason, _ in remainders(translate_files(file))} == {"no_instant", "no_evidence"}
    found = only_session(translate_files(file, instant=INSTANT))
    assert segments(found) == [2]
    assert found[0].observed_at == INSTANT


def test_what_the_tool_wrote_itself_is_no_response() -> None:
    file = ClaudeFile()
    file.user("go")
    file.assistant("a", text("API Error: 529"), isApiErrorMessage=True, model="<synthetic>")
    file.assistant("b", text("No response requested."), model="<synthetic>")
    file.user("again")
    file.assistant("msg_000000000001", text("done"))
    told = translate_files(file)
    (call,) = only_session(told)
    assert spoken(call.input_messages) == ["user: go", "assistant: No response requested.", "user: again"]
    assert remainders(told) == [("f1:2", "no_evidence", "assistant/api-error: written by the tool")]


@pytest.mark.parametrize(
    ("line", "reason", "detail"),
    [
        ({"type": "summary", "summary": "s", "leafUuid": "u9"}, "no_evidence", "summary"),
        ({"type": "system", "subtype": "turn_duration", "uuid": "s1"}, "no_evidence", "system/turn_duration"),
        ({"type": "progress", "data": {"type": "bash_progress"}}, "no_evidence", "progress/bash_progress"),
        ({"type": "attachment", "attachment": {"type": "file"}}, "no_evidence", "attachment/file"),
        ({"type": "brand-new"}, "unknown_shape", "a record of type brand-new"),
        ({"type": {"a": 1}}, "unknown_shape", "a record of type unreadable"),
        ("massive error", "unknown_shape", "a string"),
        ({"silly": "this"}, "unknown_shape", "an object with key silly"),
        ({"type": "user", "message": "error"}, "invalid_value", "message: expected an object, got text"),
        ({"type": "user", "message": {"contenst": []}}, "no_content", "message.content is missing"),
    ],
)
def test_other_lines_are_counted_by_their_kind(line: Any, reason: str, detail: str) -> None:
    file: list[Any] = list(two_turns())
    told = translate_files([*file[:2], line, *file[2:]])
    assert remainders(told) == [("f1:3", reason, detail)]
    assert segments(only_session(told)) == [2]


def test_messages_that_no_response_follows_are_counted() -> None:
    file = two_turns()
    file.user("bye")
    assert remainders(translate_files(file)) == [("f1:5", "no_evidence", "a message that no response follows")]


def test_a_queued_message_is_heard() -> None:
    file = ClaudeFile()
    file.user("go")
    file.line("attachment", attachment={"type": "queued_command", "prompt": "and quick"})
    file.assistant("msg_000000000001", text("done"))
    assert spoken(only_session(translate_files(file))[0].input_messages) == ["user: go", "user: and quick"]


def test_tool_calls_without_ids_are_named_by_their_record() -> None:
    file = ClaudeFile()
    file.user("go")
    nameless = {"type": "tool_use", "name": "Bash", "input": {}}
    uuid = file.assistant("msg_000000000001", text("ok"), nameless)
    file.user([{"type": "tool_result", "content": "fine"}])
    file.assistant("msg_000000000002", text("done"))
    told = only_session(translate_files(file))
    assert spoken(told[1].input_messages)[1:] == [f"assistant: ok + Bash({uuid}#1)", f"tool: {uuid}#1=fine"]


def test_short_ids_are_not_taken_for_a_providers() -> None:
    """Two hand-written files may both hold ``msg_1``; only real ids are the same wherever they occur."""
    files = []
    for session in ("one", "two"):
        file = ClaudeFile(session=session)
        file.user("go")
        file.assistant("msg_1", text("done"))
        files.append(file)
    sessions = calls(translate_files(*files))
    assert {name: found[0].model_call_id for name, found in sessions.items()} == {"one": None, "two": None}


def test_an_id_used_again_for_other_words_is_another_response() -> None:
    file = ClaudeFile()
    for words in ("one", "two"):
        file.user("go")
        file.assistant("msg_1", text(words))
        file.assistant("msg_2", text(f"{words} more"))
    assert segments(only_session(translate_files(file))) == [4]


def test_pictures_are_left_out_and_said_to_be() -> None:
    file = ClaudeFile()
    file.user([text("look"), {"type": "image", "source": {}}])
    file.assistant("msg_000000000001", text("done"))
    told = translate_files(file)
    assert spoken(only_session(told)[0].input_messages) == ["user: look"]
    assert [(place, detail) for place, _, detail in remainders(told)] == [
        ("f1:1", "message.content[1]: content of type image is no part of a message")
    ]


def web_export() -> dict[str, Any]:
    return {
        "loglines": [
            {"type": line["type"], "timestamp": line["timestamp"], "message": line["message"]} for line in two_turns()
        ]
    }


def test_a_web_export_needs_a_stated_session() -> None:
    assert {reason for _, reason, _ in remainders(translate_files([web_export()]))} == {"no_session"}
    told = translate_files([web_export()], settings={"session": "mine"})
    assert {name: segments(found) for name, found in calls(told).items()} == {"mine": [2]}
    assert set(calls(translate_files([{**web_export(), "sessionId": "own"}]))) == {"own"}
    assert set(calls(translate_files([{**web_export()}], session_keys=("message.nowhere",)))) == set()


def test_the_sdks_stream_is_read_with_and_without_its_envelope() -> None:
    stream: list[dict[str, Any]] = [
        {"type": "user", "message": {"role": "user", "content": "go"}, "session_id": "default"},
        {"type": "system", "subtype": "init", "session_id": "s-1", "tools": []},
        {
            "type": "assistant",
            "message": {"id": "msg_000000000001", "role": "assistant", "content": [tool_use("t1", "Task")]},
            "session_id": "s-1",
            "parent_tool_use_id": None,
        },
        {
            "type": "user",
            "message": {"role": "user", "content": "search"},
            "session_id": "s-1",
            "parent_tool_use_id": "t1",
        },
        {
            "type": "assistant",
            "message": {"id": "msg_000000000002", "role": "assistant", "content": [text("here")]},
            "session_id": "s-1",
            "parent_tool_use_id": "t1",
        },
        {"type": "result", "subtype": "success", "session_id": "s-1"},
    ]
    bare = translate_files(stream[1:], instant=INSTANT)
    assert {name: segments(found) for name, found in calls(bare).items()} == {"s-1": [1], "s-1/t1": [1]}
    held = {"metadata": {}, "messages": [{"direction": "recv", "message": record} for record in stream]}
    told = calls(translate_files([held], instant=INSTANT))
    assert spoken(told["s-1"][0].input_messages) == ["user: go"]
    assert spoken(told["s-1/t1"][0].input_messages) == ["user: search"]


def test_the_same_records_give_the_same_facts() -> None:
    once, twice = (translate_files(two_turns()) for _ in range(2))
    assert once == twice
