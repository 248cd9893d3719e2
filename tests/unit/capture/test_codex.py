"""Codex rollouts → InferenceCalls: items make the history, events repeat them, counts belong to their responses."""

from typing import Any

import pytest

from sediment_assets.facts.instants import parse_instant
from tests.transcripts import INSTANT, calls, only_session, remainders, segments, spoken, translate_files

THREAD = "019c4b43-1451-7af3-be4c-000000000001"


class Rollout(list[dict[str, Any]]):
    """A rollout file; every line is a second later than the one before."""

    def __init__(self, thread: str | None = THREAD, **meta: Any) -> None:
        super().__init__()
        if thread is not None:
            self.line("session_meta", {"id": thread, "model_provider": "openai", **meta})
            self.line("turn_context", {"model": "gpt-x"})

    def line(self, kind: str, payload: dict[str, Any], **values: Any) -> None:
        stamp = f"2026-02-03T04:{len(self) // 60:02}:{len(self) % 60:02}.000Z"
        self.append({"timestamp": stamp, "type": kind, "payload": payload, **values})

    def item(self, kind: str, **payload: Any) -> None:
        self.line("response_item", {"type": kind, **payload})

    def event(self, kind: str, **payload: Any) -> None:
        self.line("event_msg", {"type": kind, **payload})

    def user(self, words: str) -> None:
        self.item("message", role="user", content=[{"type": "input_text", "text": words}])

    def assistant(self, words: str, **payload: Any) -> None:
        self.item("message", role="assistant", content=[{"type": "output_text", "text": words}], **payload)

    def call(self, call_id: str, arguments: str = '{"command": ["ls"]}') -> None:
        self.item("function_call", name="shell", arguments=arguments, call_id=call_id)

    def output(self, call_id: str, output: Any) -> None:
        self.item("function_call_output", call_id=call_id, output=output)

    def count(self, total: int, used: int, output: int) -> None:
        last = {"input_tokens": used, "output_tokens": output}
        self.event("token_count", info={"total_token_usage": {"total_tokens": total}, "last_token_usage": last})


def two_turns(**meta: Any) -> Rollout:
    rollout = Rollout(**meta)
    rollout.user("fix it")
    rollout.item("reasoning", summary=[{"type": "summary_text", "text": "hm"}], encrypted_content="x")
    rollout.call("call_1")
    rollout.count(110, 100, 10)
    rollout.output("call_1", "a.txt")
    rollout.assistant("done")
    rollout.count(330, 200, 20)
    return rollout


def test_items_that_stand_together_are_one_response() -> None:
    first, second = only_session(translate_files(two_turns()))
    assert spoken(first.input_messages) == ["user: fix it"]
    assert spoken(first.output_messages) == ["assistant: <hm> + shell(call_1)"]
    assert spoken(second.input_messages) == [
        "user: fix it",
        "assistant: <hm> + shell(call_1)",
        "tool: call_1=a.txt",
    ]
    assert segments([first, second]) == [2]
    assert (first.model, first.model_provider, first.session_id) == ("gpt-x", "openai", THREAD)
    assert first.observed_at == parse_instant("2026-02-03T04:00:04Z")


def test_each_response_has_its_own_count_once() -> None:
    rollout = two_turns()
    rollout.count(330, 200, 20)  # told again when the next turn begins
    rollout.user("more")
    rollout.assistant("more done")
    found = only_session(translate_files(rollout))
    assert [(call.input_tokens, call.output_tokens) for call in found] == [(100, 10), (200, 20), (None, None)]


def test_counts_of_rollouts_that_write_items_late_come_first() -> None:
    rollout = Rollout()
    rollout.user("fix it")
    rollout.count(110, 100, 10)
    rollout.call("call_1")
    rollout.output("call_1", "a.txt")
    rollout.count(330, 200, 20)
    rollout.assistant("done")
    found = only_session(translate_files(rollout))
    assert [(call.input_tokens, call.output_tokens) for call in found] == [(100, 10), (200, 20)]


def test_a_count_ends_a_response_that_nothing_was_heard_after() -> None:
    rollout = Rollout()
    rollout.user("fix it")
    rollout.assistant("I will look")
    rollout.count(110, 100, 10)
    rollout.call("call_1")
    rollout.count(330, 200, 20)
    found = only_session(translate_files(rollout))
    assert [spoken(call.output_messages) for call in found] == [
        ["assistant: I will look"],
        ["assistant: shell(call_1)"],
    ]
    assert segments(found) == [2]


@pytest.mark.parametrize("comes_first", [True, False])
def test_events_that_items_tell_as_well_are_repetitions(comes_first: bool) -> None:
    rollout = Rollout()
    if comes_first:
        rollout.event("user_message", message="fix it\n")
    rollout.user("fix it")
    if not comes_first:
        rollout.event("user_message", message="fix it\n")
    rollout.call("call_1")
    rollout.event("exec_command_end", call_id="call_1", stdout="a.txt")
    rollout.output("call_1", "a.txt")
    rollout.event("agent_message", message="done")
    rollout.assistant("done")
    told = translate_files(rollout)
    assert segments(only_session(told)) == [2]
    repeated = [detail.partition(":")[0] for _, reason, detail in remainders(told) if reason == "repeated"]
    assert sorted(repeated) == ["event_msg/agent_message", "event_msg/exec_command_end", "event_msg/user_message"]


def test_a_message_that_only_an_event_tells_is_missing() -> None:
    rollout = two_turns()
    rollout.event("user_message", message="never an item")
    assert remainders(translate_files(rollout))[-1] == (
        "f1:10",
        "no_content",
        "event_msg/user_message that no response_item tells",
    )


def test_instructions_that_the_session_states_come_first() -> None:
    found = only_session(translate_files(two_turns(base_instructions={"text": "You are Codex."})))
    assert spoken(found[0].input_messages) == ["system: You are Codex.", "user: fix it"]


def test_compaction_starts_the_history_that_it_names() -> None:
    rollout = two_turns(base_instructions={"text": "You are Codex."})
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fix it, in short"}]}]
    rollout.line("compacted", {"message": "", "replacement_history": [*history, {"type": "compaction"}]})
    rollout.assistant("going on")
    rollout.line("compacted", {"message": "what happened"})
    rollout.assistant("still going on")
    found = only_session(translate_files(rollout))
    assert spoken(found[2].input_messages) == ["system: You are Codex.", "user: fix it, in short"]
    assert spoken(found[3].input_messages) == ["system: You are Codex.", "user: what happened"]
    assert segments(found) == [2, 1, 1]


def test_going_back_takes_the_last_turns_out() -> None:
    rollout = Rollout()
    rollout.user("<environment_context>…</environment_context>")
    rollout.user("one")
    rollout.assistant("1")
    rollout.user("two")
    rollout.assistant("2")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.user("three")
    rollout.assistant("3")
    found = only_session(translate_files(rollout))
    assert spoken(found[2].input_messages)[1:] == ["user: one", "assistant: 1", "user: three"]


def test_a_fork_repeats_no_response_and_keeps_its_history() -> None:
    parent = Rollout()
    parent.user("fix it")
    parent.assistant("done", id="msg_0000000000000001")
    fork = Rollout("019c4b43-1451-7af3-be4c-000000000002", forked_from_id=THREAD)
    fork += parent
    fork.user("otherwise")
    fork.assistant("done otherwise", id="msg_0000000000000002")
    told = translate_files(parent, fork)
    sessions = calls(told)
    assert len(sessions[THREAD]) == 1
    (own,) = sessions["019c4b43-1451-7af3-be4c-000000000002"]
    assert spoken(own.input_messages) == ["user: fix it", "assistant: done", "user: otherwise"]
    assert ("f2:6", "repeated", "response of another Session") in remainders(told)
    assert ("f2:3", "no_evidence", "session_meta of a copied or resumed history") in remainders(told)


def test_a_file_told_twice_is_told_once() -> None:
    told = translate_files(two_turns(), two_turns())
    assert segments(only_session(told)) == [2]
    assert [detail for _, reason, detail in remainders(told) if reason == "repeated"] == [
        "response_item/message told before",
        "response_item/reasoning told before",
        "response_item/function_call told before",
        "response_item/function_call_output told before",
        "response_item/message told before",
    ]


def test_rollouts_behind_each_other_in_one_file_are_sessions_of_their_own() -> None:
    second = Rollout("other")
    second.user("hello")
    second.assistant("hi")
    sessions = calls(translate_files([*two_turns(), *second]))
    assert {name: segments(found) for name, found in sessions.items()} == {THREAD: [2], "other": [1]}


@pytest.mark.parametrize(
    ("output", "result"),
    [
        ("plain", "plain"),
        ({"type": "input_text", "text": "in an object"}, {"type": "input_text", "text": "in an object"}),
        ([{"type": "input_text", "text": "in a list"}], "in a list"),
    ],
)
def test_outputs_are_kept_as_text_objects_or_lists(output: Any, result: Any) -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.call("call_1")
    rollout.output("call_1", output)
    rollout.assistant("done")
    answered = only_session(translate_files(rollout))[1].input_messages[-1]
    assert answered.role == "tool"
    assert answered.parts[0].model_dump() == {"type": "tool_call_response", "id": "call_1", "result": result}


def test_arguments_hold_nothing_that_codex_added_for_itself() -> None:
    rollout = Rollout()
    rollout.user("go")
    rollout.item(
        "custom_tool_call",
        call_id="call_1",
        name="apply_patch",
        input="*** Begin Patch",
        status="completed",
        metadata={"turn_id": "t"},
        internal_chat_message_metadata_passthrough={"turn_id": "t"},
    )
    (call,) = only_session(translate_files(rollout))
    assert call.output_messages[0].parts[0].model_dump()["arguments"] == {"input": "*** Begin Patch"}


def test_older_rollouts_have_bare_items_and_one_time() -> None:
    bare: list[Any] = [
        {"id": "old-1", "timestamp": "2025-07-01T00:00:00Z", "instructions": None, "git": {}},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]
    found = only_session(translate_files(bare))
    assert (segments(found), found[0].session_id) == ([2], "old-1")
    assert [call.observed_at.microsecond for call in found] == [0, 1]
    whole = {"session": {"id": "old-0", "timestamp": "2025-04-01T00:00:00Z"}, "items": bare[2:]}
    assert {name: segments(found) for name, found in calls(translate_files([whole])).items()} == {"old-0": [2]}


def test_a_rollout_without_its_first_line_names_no_session() -> None:
    told = translate_files(two_turns()[1:])
    assert {reason for _, reason, _ in remainders(told)} == {"no_session", "no_evidence"}
    stated = translate_files(two_turns()[1:], settings={"session": "mine"})
    assert {name: segments(found) for name, found in calls(stated).items()} == {"mine": [2]}


def test_times_that_cannot_be_read_need_the_operators() -> None:
    rollout = two_turns()
    for line in rollout:
        line["timestamp"] = "[trimmed]"
    assert "no_instant" in {reason for _, reason, _ in remainders(translate_files(rollout))}
    assert segments(only_session(translate_files(rollout, instant=INSTANT))) == [2]


def test_a_recording_of_the_screen_is_refused() -> None:
    line = {"ts": "2025-08-10T03:12:26.500Z", "dir": "to_tui", "kind": "app_event", "variant": "Redraw"}
    ((_, reason, detail),) = remainders(translate_files([line]))
    assert (reason, detail.partition(": ")[2].partition(" (")[0]) == (
        "unknown_shape",
        "a recording of Codex's screen",
    )
