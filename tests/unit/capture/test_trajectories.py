"""Trajectories of SWE-agent and mini-swe-agent → InferenceCalls."""

from typing import Any

import pytest

from sediment_assets.facts.instants import parse_instant
from tests.transcripts import INSTANT, calls, only_session, remainders, segments, spoken, translate_files
from tests.unit.capture.trajectory_cases import STATED, chat_call

# SWE-agent


def swe_trajectory(**values: Any) -> dict[str, Any]:
    """Two steps, the first with a native tool call; told twice, as SWE-agent does."""
    history = [
        {"role": "system", "content": "You fix.", "agent": "main", "message_type": "system_prompt"},
        {"role": "user", "content": "Issue: x", "agent": "main", "message_type": "observation"},
        {"role": "assistant", "content": "look", "agent": "main", "action": "ls", "tool_calls": [chat_call("c1")]},
        {"role": "tool", "content": "a.py\r\n\x1b[0m", "agent": "main", "tool_call_ids": ["c1"]},
        {"role": "assistant", "content": "submit", "agent": "main", "action": "submit"},
    ]
    steps = [
        {"action": "ls", "observation": "a.py", "response": "look", "thought": "look", "execution_time": 0.5},
        {"action": "submit", "observation": "", "response": "submit", "thought": "submit"},
    ]
    return {"history": history, "trajectory": steps, "info": {"exit_status": "submitted"}, **values}


def test_a_swe_agent_trajectory_is_told_by_its_history_once() -> None:
    told = translate_files([swe_trajectory()], **STATED)
    first, second = only_session(told)
    assert spoken(first.input_messages) == ["system: You fix.", "user: Issue: x"]
    assert spoken(second.input_messages)[2:] == ["assistant: look + bash(c1)", "tool: c1=a.py\r\n\x1b[0m"]
    assert segments([first, second]) == [2]
    assert remainders(told) == []
    assert first.raw["step"] == {"action": "ls", "thought": "look", "execution_time": 0.5}


@pytest.mark.parametrize(
    ("values", "session"),
    [
        ({"instance_id": "i-1"}, "i-1"),
        ({"instance_id": "i-1", "trajectory_id": "t-1"}, "t-1"),
        ({"replay_config": {"problem_statement": {"id": "p-1"}}}, "p-1"),
        ({"replay_config": '{"problem_statement": {"id": "p-1"}}'}, "p-1"),
        ({"replay_config": "{"}, "mine"),
        ({}, "mine"),
    ],
)
def test_a_swe_agent_trajectory_belongs_to_the_instance_it_names(values: dict[str, Any], session: str) -> None:
    assert set(calls(translate_files([swe_trajectory(**values)], **STATED))) == {session}


def test_a_trajectory_that_names_no_instance_or_no_time_is_refused() -> None:
    assert [reason for _, reason, _ in remainders(translate_files([swe_trajectory()], instant=INSTANT))] == [
        "no_session"
    ]
    reasons = [reason for _, reason, _ in remainders(translate_files([swe_trajectory(instance_id="i")]))]
    assert (reasons.count("no_instant"), set(reasons)) == (2, {"no_instant", "no_evidence"})


def test_a_demonstration_is_heard_and_not_said() -> None:
    trajectory = swe_trajectory()
    trajectory["history"].insert(1, {"role": "assistant", "content": "as shown", "agent": "main", "is_demo": True})
    found = only_session(translate_files([trajectory], **STATED))
    assert len(found) == 2
    assert spoken(found[0].input_messages)[1] == "assistant: as shown"


def test_the_messages_that_were_really_sent_are_the_input() -> None:
    trajectory = swe_trajectory()
    trajectory["trajectory"][1]["query"] = [
        {"role": "system", "content": [{"type": "text", "text": "You fix.", "cache_control": {}}]},
        {"role": "user", "content": "Issue: x"},
        trajectory["history"][2],
        {"role": "tool", "content": "(elided)", "tool_call_ids": ["c1"]},
    ]
    found = only_session(translate_files([trajectory], **STATED))
    assert spoken(found[1].input_messages)[3] == "tool: c1=(elided)"
    trajectory["trajectory"][1]["query"][3] = trajectory["history"][3]
    assert segments(only_session(translate_files([trajectory], **STATED))) == [2]


def test_another_agent_of_a_trajectory_has_a_session_of_its_own() -> None:
    trajectory = swe_trajectory(instance_id="i")
    trajectory["history"] += [
        {"role": "user", "content": "review", "agent": "reviewer"},
        {"role": "assistant", "content": "good", "agent": "reviewer"},
    ]
    sessions = calls(translate_files([trajectory], instant=INSTANT))
    assert {name: segments(found) for name, found in sessions.items()} == {"i": [2], "i/reviewer": [1]}


def test_attempts_are_sessions_of_their_own_and_the_chosen_one_is_told_once() -> None:
    attempts = [swe_trajectory(), swe_trajectory()]
    held = {"instance_id": "i", "attempts": attempts, "history": attempts[1]["history"], "trajectory": []}
    told = translate_files([held], instant=INSTANT)
    assert {name: segments(found) for name, found in calls(told).items()} == {
        "i/attempt-1": [2],
        "i/attempt-2": [2],
    }
    assert remainders(told) == [("f1:1", "repeated", "history: that of the attempt that was chosen")]


def test_the_model_is_what_the_configuration_names_unless_nobody_answered() -> None:
    for name, model in (("gpt-x", "gpt-x"), ("replay", None)):
        config = {"agent": {"model": {"name": name}}}
        found = only_session(translate_files([swe_trajectory(replay_config=config)], **STATED))
        assert found[0].model == model


def test_a_trajectory_without_history_has_lost_its_messages() -> None:
    trajectory = swe_trajectory()
    del trajectory["history"]
    ((_, reason, _),) = remainders(translate_files([trajectory], **STATED))
    assert reason == "no_content"


def test_trajectories_of_one_session_stay_behind_each_other() -> None:
    other = swe_trajectory()
    other["history"][2]["content"] = "look elsewhere"
    other["history"][4]["content"] = "submit elsewhere"
    assert segments(only_session(translate_files([swe_trajectory()], [other], **STATED))) == [2, 2]


# mini-swe-agent


def test_the_oldest_mini_trajectories_are_bare_lists() -> None:
    bare = [
        {"role": "system", "content": "You fix."},
        {"role": "user", "content": "Issue: x"},
        {"role": "assistant", "content": "```bash\nls\n```"},
        {"role": "user", "content": "<output>a.py</output>"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "diff"},
    ]
    told = translate_files(bare, **STATED)
    assert segments(only_session(told)) == [2]
    assert remainders(told) == [("f1:6", "no_evidence", "a message that no response follows")]
    assert {reason for _, reason, _ in remainders(translate_files(bare))} == {"no_session"}


def mini_trajectory(**values: Any) -> dict[str, Any]:
    answer = {
        "id": "chatcmpl-0000000000000001",
        "model": "claude-x",
        "choices": [{"finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 6},
    }
    messages = [
        {"role": "system", "content": "You fix."},
        {"role": "user", "content": "Issue: x"},
        {
            "role": "assistant",
            "content": "look",
            "tool_calls": [chat_call("c1")],
            "extra": {"response": answer, "timestamp": 1767225600.5},
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py", "extra": {"timestamp": 1767225601.0}},
        {"role": "assistant", "content": "done", "timestamp": 1767225602.25},
        {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}},
    ]
    info = {"exit_status": "Submitted", "config": {"model": {"model_name": "openai/gpt-x"}}}
    return {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1", "instance_id": "i-1", **values}


def test_todays_mini_trajectories_say_when_and_what_the_provider_answered() -> None:
    told = translate_files([mini_trajectory()])
    first, second = only_session(told)
    assert segments([first, second]) == [2]
    assert (first.session_id, first.model, first.input_tokens, first.output_tokens) == ("i-1", "claude-x", 5, 6)
    assert (first.model_call_id, first.output_messages[0].finish_reason) == ("chatcmpl-0000000000000001", "tool_calls")
    assert first.observed_at == parse_instant("2026-01-01T00:00:00.500Z")
    assert (second.model, second.model_call_id) == ("openai/gpt-x", None)
    assert remainders(told) == [("f1:1.messages[5]", "no_evidence", "exit: what was submitted, sent to nobody")]


def test_mini_trajectories_of_the_responses_api_hold_its_items() -> None:
    said = {
        "object": "response",
        "id": "resp_0000000000000001",
        "model": "gpt-x",
        "output": [
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        ],
        "extra": {"timestamp": 1767225600},
    }
    messages = [
        {"role": "user", "content": "go"},
        said,
        {"type": "function_call_output", "call_id": "c1", "output": "a.py"},
        {"role": "assistant", "content": "done"},
    ]
    found = only_session(translate_files([mini_trajectory(messages=messages)]))
    assert spoken(found[0].output_messages) == ["assistant: <hm> + bash(c1)"]
    assert spoken(found[1].input_messages)[-1] == "tool: c1=a.py"
    assert segments(found) == [2]
