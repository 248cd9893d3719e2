"""Trajectories of SWE-agent, mini-swe-agent and OpenHands → InferenceCalls."""

from typing import Any

import pytest

from sediment_assets.facts.instants import parse_instant
from tests.transcripts import INSTANT, calls, only_session, remainders, segments, spoken, translate_files

STATED: dict[str, Any] = {"settings": {"session": "mine"}, "instant": INSTANT}


def chat_call(call_id: str, name: str = "bash", arguments: str = '{"command": "ls"}') -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


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


# OpenHands, actions and observations


def completion(number: int, *call_ids: str, content: str = "look") -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "tool_calls": [chat_call(name) for name in call_ids]}
    return {
        "id": f"chatcmpl-000000000000000{number}",
        "created": 1767225600 + number,
        "model": "claude-x",
        "choices": [{"finish_reason": "tool_calls", "message": message}],
        "usage": {"prompt_tokens": number, "completion_tokens": 7},
    }


def event(number: int, source: str = "agent", **values: Any) -> dict[str, Any]:
    return {"id": number, "timestamp": f"2026-01-01T00:00:{number:02}.5", "source": source, "message": "", **values}


def metadata(call_id: str, answer: dict[str, Any]) -> dict[str, Any]:
    return {"tool_call_metadata": {"tool_call_id": call_id, "function_name": "bash", "model_response": answer}}


def openhands_events() -> list[dict[str, Any]]:
    one, two = completion(1, "c1", "c2"), completion(2, "c3", content="done")
    return [
        event(0, action="system", args={"content": "You fix."}),
        event(1, "user", action="message", args={"content": "Issue: x", "image_urls": None}),
        event(2, "user", action="recall", args={"query": "Issue: x"}),
        event(3, action="run", args={"command": "ls"}, **metadata("c1", one)),
        event(4, observation="run", cause=3, content="a.py", **metadata("c1", one)),
        event(5, action="run", args={"command": "ls"}, **metadata("c2", one)),
        event(6, observation="run", cause=5, content="b.py", **metadata("c2", one)),
        event(7, action="finish", args={}, **metadata("c3", two)),
    ]


def test_actions_of_one_completion_are_one_response() -> None:
    told = translate_files(openhands_events(), settings={"session": "mine"})
    first, second = only_session(told)
    assert spoken(first.input_messages) == ["system: You fix.", "user: Issue: x"]
    assert spoken(first.output_messages) == ["assistant: look + bash(c1) + bash(c2)"]
    assert spoken(second.input_messages)[3:] == ["tool: c1=a.py", "tool: c2=b.py"]
    assert segments([first, second]) == [2]
    assert (first.model, first.input_tokens, first.output_tokens) == ("claude-x", 1, 7)
    assert first.observed_at == parse_instant(1767225601)
    assert remainders(told) == [("f1:3", "no_evidence", "action/recall")]


def test_an_observation_whose_action_is_missing_still_tells_the_response() -> None:
    events = openhands_events()
    del events[3], events[4]
    found = only_session(translate_files(events, settings={"session": "mine"}))
    assert spoken(found[0].output_messages) == ["assistant: look + bash(c1) + bash(c2)"]
    assert segments(found) == [2]


@pytest.mark.parametrize("key", ["history", "trajectory", "events"])
def test_rows_and_downloads_hold_the_events(key: str) -> None:
    row = {"instance_id": "i-1", key: openhands_events(), "test_result": {"git_patch": ""}}
    assert {name: segments(found) for name, found in calls(translate_files([row])).items()} == {"i-1": [2]}


def test_events_in_files_of_their_own_are_one_conversation_in_the_order_of_their_numbers() -> None:
    files = [[one] for one in reversed(openhands_events())]
    told = translate_files(*files, settings={"session": "mine"})
    assert segments(only_session(told)) == [2]


def test_the_oldest_rows_hold_pairs() -> None:
    events = openhands_events()
    row = {"instance_id": "i-1", "history": [events[3:5], events[5:7]], "test_result": {}}
    assert segments(only_session(translate_files([row]))) == [1]


def test_a_row_without_its_history_has_lost_its_messages() -> None:
    row = {"instance_id": "i-1", "history": None, "test_result": {}}
    assert [reason for _, reason, _ in remainders(translate_files([row]))] == ["no_content"]


def test_actions_without_a_completion_are_tool_calls_of_their_own() -> None:
    events = [
        event(1, "user", action="message", args={"content": "go"}),
        event(2, action="run", args={"command": "ls", "thought": "look", "confirmation_state": "confirmed"}),
        event(3, "agent", observation="run", cause=2, content="a.py"),
        event(4, action="message", args={"content": "done"}),
    ]
    found = only_session(translate_files(events, **STATED))
    assert spoken(found[0].output_messages) == ["assistant: look + run(event-2)"]
    assert found[0].output_messages[0].parts[1].model_dump()["arguments"] == {"command": "ls"}
    assert spoken(found[1].input_messages)[-1] == "tool: event-2=a.py"
    assert segments(found) == [2]


def test_local_times_need_an_offset() -> None:
    events = [
        event(1, "user", action="message", args={"content": "go"}),
        event(2, action="message", args={"content": "done"}),
    ]
    settings = {"session": "mine"}
    assert "no_instant" in {reason for _, reason, _ in remainders(translate_files(events, settings=settings))}
    (call,) = only_session(translate_files(events, settings={**settings, "utc-offset": "+02:00"}))
    assert call.observed_at == parse_instant("2025-12-31T22:00:02.5Z")


def test_a_condensation_forgets_events_and_starts_a_new_history() -> None:
    events = openhands_events()
    args = {
        "forgotten_events_start_id": 3,
        "forgotten_events_end_id": 6,
        "forgotten_event_ids": None,
        "summary": "looked around",
        "summary_offset": 2,
    }
    events.insert(7, event(9, action="condensation", args=args))
    found = only_session(translate_files(events, settings={"session": "mine"}))
    assert spoken(found[1].input_messages) == ["system: You fix.", "user: Issue: x", "user: looked around"]
    assert segments(found) == [1, 1]


# OpenHands, the SDK's events


def sdk_event(number: int, kind: str, source: str = "agent", **values: Any) -> dict[str, Any]:
    return {"id": f"e{number}", "timestamp": f"2026-01-01T00:00:{number:02}Z", "source": source, "kind": kind, **values}


def sdk_action(number: int, call_id: str, response_id: str, thought: str = "") -> dict[str, Any]:
    return sdk_event(
        number,
        "ActionEvent",
        thought=[{"type": "text", "text": thought}] if thought else [],
        reasoning_content="hm" if thought else None,
        tool_call={"id": call_id, "name": "terminal", "arguments": '{"command": "ls"}'},
        tool_call_id=call_id,
        llm_response_id=response_id,
    )


def sdk_answer(number: int, call_id: str, words: str) -> dict[str, Any]:
    observation = {"content": [{"type": "text", "text": words}], "is_error": False}
    return sdk_event(number, "ObservationEvent", "environment", tool_call_id=call_id, observation=observation)


def sdk_events() -> list[dict[str, Any]]:
    state = {"id": "conv-1", "stats": {"usage_to_metrics": {"agent": {"model_name": "claude-x"}}}}
    said = {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    return [
        sdk_event(0, "ConversationStateUpdateEvent", "environment", key="full_state", value=state),
        sdk_event(1, "SystemPromptEvent", system_prompt={"type": "text", "text": "You fix."}, tools=[]),
        sdk_event(2, "MessageEvent", "user", llm_message={"role": "user", "content": "Issue: x"}),
        sdk_action(3, "c1", "0680149d625114e6a97f54b158714212", "look"),
        sdk_answer(4, "c1", "a.py"),
        sdk_action(5, "c2", "0680149d625114e6a97f54b158714212"),
        sdk_answer(6, "c2", "b.py"),
        sdk_event(7, "AgentErrorEvent", tool_call_id="c9", error="no such tool"),
        sdk_event(8, "MessageEvent", llm_message=said, llm_response_id="068014ab9c72170b40bca7fa74f68a89"),
    ]


def test_sdk_actions_of_one_response_are_one_call() -> None:
    told = translate_files(sdk_events())
    first, second = only_session(told)
    assert (first.session_id, first.model) == ("conv-1", "claude-x")
    assert first.model_call_id == "0680149d625114e6a97f54b158714212"
    assert spoken(first.input_messages) == ["system: You fix.", "user: Issue: x"]
    assert spoken(first.output_messages) == ["assistant: <hm> + look + terminal(c1) + terminal(c2)"]
    assert spoken(second.input_messages)[3:] == ["tool: c1=a.py", "tool: c2=b.py", "tool: c9=no such tool"]
    assert segments([first, second]) == [2]
    assert remainders(told) == [("f1:1", "no_evidence", "ConversationStateUpdateEvent/full_state")]


def test_what_the_sdk_added_to_a_message_and_summaries_of_reasoning_are_kept() -> None:
    events = sdk_events()
    events[2]["extended_content"] = [{"type": "text", "text": "a skill"}]
    events[3] |= {"reasoning_content": None, "responses_reasoning_item": {"summary": ["hm", "hm"]}}
    first = only_session(translate_files(events))[0]
    assert spoken(first.input_messages)[1] == "user: Issue: x + a skill"
    assert spoken(first.output_messages)[0].startswith("assistant: <hmhm> + look")


def test_an_sdk_condensation_starts_a_new_history() -> None:
    events = sdk_events()
    events.insert(
        8,
        sdk_event(
            9,
            "Condensation",
            "environment",
            forgotten_event_ids=["e3", "e4", "e5", "e6", "e7"],
            summary="looked around",
            summary_offset=3,
        ),
    )
    found = only_session(translate_files(events))
    assert spoken(found[1].input_messages) == ["system: You fix.", "user: Issue: x", "user: looked around"]
    assert segments(found) == [1, 1]


def test_an_unknown_kind_of_event_is_named() -> None:
    events = [*sdk_events(), sdk_event(10, "Telepathy")]
    assert remainders(translate_files(events))[-1][1:] == ("unknown_shape", "an event of kind Telepathy")
