"""Trajectories of OpenHands and of its SDK → InferenceCalls."""

from typing import Any

import pytest

from sediment_assets.facts.instants import parse_instant
from tests.transcripts import calls, only_session, remainders, segments, spoken, translate_files
from tests.unit.capture.trajectory_cases import STATED, chat_call

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
