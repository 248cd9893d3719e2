"""Claude Code's conversations over several files: sub-agents, resumed Sessions, slices and copies."""

from tests.transcripts import (
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


def test_sub_agents_inside_the_file_are_sessions_of_their_own() -> None:
    file = ClaudeFile()
    file.user("go")
    task = file.assistant("msg_000000000001", tool_use("t1", "Task"))
    side = {"isSidechain": True}
    root = file.user("search", parentUuid=None, **side)
    file.assistant("msg_000000000002", tool_use("t2"), **side)
    file.user([tool_result("t2", "found")], **side)
    file.assistant("msg_000000000003", text("here"), **side)
    file.user([tool_result("t1", "here")], parentUuid=task)
    file.assistant("msg_000000000004", text("done"))
    sessions = calls(translate_files(file))
    assert set(sessions) == {SESSION, f"{SESSION}/sidechain-{root}"}
    main, sub = sessions[SESSION], sessions[f"{SESSION}/sidechain-{root}"]
    assert (segments(main), segments(sub)) == ([2], [2])
    assert spoken(main[1].input_messages) == ["user: go", "assistant: Task(t1)", "tool: t1=here"]
    assert spoken(sub[0].input_messages) == ["user: search"]


def test_sub_agents_in_files_of_their_own_are_named_by_their_agent() -> None:
    sub = ClaudeFile(name="c", isSidechain=True, agentId="a0ad4f")
    sub.user("search")
    sub.assistant("msg_000000000003", text("here"))
    sessions = calls(translate_files(two_turns(), sub))
    assert {name: segments(found) for name, found in sessions.items()} == {SESSION: [2], f"{SESSION}/agent-a0ad4f": [1]}


def test_a_sub_agent_whose_file_has_a_session_id_of_its_own_keeps_it() -> None:
    sub = ClaudeFile(session="agent-a0ad4f", isSidechain=True, agentId="a0ad4f")
    sub.user("search")
    sub.assistant("msg_000000000003", text("here"))
    assert set(calls(translate_files(sub))) == {"agent-a0ad4f"}


def test_a_sub_agent_told_in_progress_lines_and_in_its_own_file_is_told_once() -> None:
    sub = ClaudeFile(name="c", isSidechain=True, agentId="a0ad4f")
    sub.user("search")
    sub.assistant("msg_000000000011", tool_use("s1"))
    sub.user([tool_result("s1", "found")])
    sub.assistant("msg_000000000012", text("here"))
    parent = two_turns()
    for number, line in enumerate(sub):
        inner = {key: line[key] for key in ("type", "message", "timestamp")} | {"uuid": f"p{number}"}
        parent.line("progress", data={"type": "agent_progress", "agentId": "a0ad4f", "message": inner})
    sub.user("and then?")
    sub.assistant("msg_000000000013", text("there"))
    sessions = calls(translate_files(parent, sub))
    own = sessions[f"{SESSION}/agent-a0ad4f"]
    assert segments(sessions[SESSION]) == [2]
    assert segments(own) == [3]
    assert spoken(own[2].input_messages)[:3] == ["user: search", "assistant: Bash(s1)", "tool: s1=found"]


def test_progress_lines_of_a_sub_agent_alone_tell_its_session_and_cut_nothing() -> None:
    parent = ClaudeFile()
    parent.user("go")
    parent.assistant("msg_000000000001", tool_use("t1", "Task"))
    for number, (kind, words) in enumerate((("user", "search"), ("assistant", "here"))):
        told = {"role": kind, "content": [text(words)], **({"id": "msg_000000000011"} if kind == "assistant" else {})}
        inner = {"type": kind, "message": told, "uuid": f"p{number}", "timestamp": "2026-01-02T03:00:09Z"}
        parent.line("progress", data={"type": "agent_progress", "agentId": "a0ad4f", "message": inner})
    parent.user([tool_result("t1", "here")])
    parent.assistant("msg_000000000002", text("done"))
    told_all = translate_files(parent)
    sessions = calls(told_all)
    assert {name: segments(found) for name, found in sessions.items()} == {SESSION: [2], f"{SESSION}/agent-a0ad4f": [1]}
    assert spoken(sessions[f"{SESSION}/agent-a0ad4f"][0].input_messages) == ["user: search"]
    assert remainders(told_all) == []


def test_records_repeated_in_a_later_file_are_told_once() -> None:
    first = two_turns()
    later = two_turns()
    later.user("more")
    later.assistant("msg_000000000003", text("more done"))
    told = translate_files(first, later)
    assert segments(only_session(told)) == [3]
    assert [reason for _, reason, _ in remainders(told)] == ["repeated"] * 4


def test_a_session_resumed_under_another_id_repeats_no_call_and_keeps_its_history() -> None:
    copied = two_turns(session="other")
    copied.user("more")
    copied.assistant("msg_000000000003", text("more done"))
    told = translate_files(two_turns(), copied)
    sessions = calls(told)
    assert segments(sessions[SESSION]) == [2]
    (resumed,) = sessions["other"]
    assert len(resumed.input_messages) == 5
    assert [reason for _, reason, _ in remainders(told)] == ["repeated"] * 2


def test_slices_without_a_common_line_join_at_the_parent() -> None:
    whole = two_turns()
    told = translate_files(whole[:2], whole[2:])
    assert segments(only_session(told)) == [2]
    assert remainders(told) == []


def test_a_response_split_over_two_files_is_one_call() -> None:
    file = ClaudeFile()
    file.user("go")
    file.assistant("msg_000000000001", text("I will"))
    file.assistant("msg_000000000001", tool_use("t1"))
    (call,) = only_session(translate_files(file[:2], file[2:]))
    assert spoken(call.output_messages) == ["assistant: I will + Bash(t1)"]


def test_a_slice_alone_begins_with_what_it_holds() -> None:
    told = translate_files(two_turns()[2:])
    (call,) = only_session(told)
    assert spoken(call.input_messages) == ["tool: t1=ok"]
