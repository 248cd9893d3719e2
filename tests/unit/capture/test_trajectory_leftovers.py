"""What trajectories keep beside their messages: answers an agent could not use, pages of events, kinds nobody knows."""

from typing import Any

import pytest

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Remainder, Translated, Untranslated
from sediment_assets.capture.sources.transcripts import SOURCE
from tests.builders import ORG
from tests.captured import only_remainder, translate
from tests.transcripts import INSTANT

STATED: dict[str, Any] = {"settings": {"session": "mine"}, "instant": INSTANT}
ANSWER = "chatcmpl-00000000000000"


def answer(number: int, **message: Any) -> dict[str, Any]:
    return {"id": f"{ANSWER}{number}", "choices": [{"finish_reason": "stop", "message": message}], "model": "m"}


def complained(response: Any) -> dict[str, Any]:
    """A trajectory in which the second answer could not be used."""
    said = {"role": "assistant", "content": "Done."}
    return {
        "trajectory_format": "mini-swe-agent-1.1",
        "messages": [
            {"role": "user", "content": "Go."},
            {"role": "user", "content": "No tool call.", "extra": {"response": response}},
            {**said, "extra": {"response": answer(2, **said)}},
        ],
    }


def calls(told: list[Translated | Untranslated]) -> list[Any]:
    return [one.fact for one in told if isinstance(one, Translated)]


def test_an_answer_that_the_agent_could_not_use_is_a_call_and_no_history() -> None:
    told = translate(SOURCE, complained(answer(1, role="assistant", content="Let me think.")), **STATED)
    first, second = calls(told)
    assert (first.model_call_id, second.model_call_id) == (f"{ANSWER}1", f"{ANSWER}2")
    assert first.output_messages[0].parts[0].content == "Let me think."
    assert [message.parts[0].content for message in second.input_messages] == ["Go.", "No tool call."]
    assert first.observed_at < second.observed_at


def test_an_answer_of_the_responses_api_that_could_not_be_used_is_a_call_too() -> None:
    words = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me think."}]}
    first, _ = calls(translate(SOURCE, complained({"id": "resp_000000000000001", "output": [words]}), **STATED))
    assert first.output_messages[0].parts[0].content == "Let me think."


def test_a_broken_tool_call_is_named_and_the_complaint_about_it_is_kept() -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "bash", "arguments": '{"command": '}}
    told = translate(SOURCE, complained(answer(1, role="assistant", tool_calls=[call])), **STATED)
    (refused,) = [one for one in told if isinstance(one, Untranslated)]
    assert (refused.place, refused.reason) == ("in:1.messages[1]", Remainder.INVALID_VALUE)
    (fact,) = calls(told)
    assert len(fact.input_messages) == 2


@pytest.mark.parametrize(
    "value",
    [
        {"trajectory_format": "mini-swe-agent-1.1", "messages": []},
        {"history": [], "instance_id": "i", "test_result": {}},
        {"loglines": []},
    ],
)
def test_a_record_that_holds_nothing_is_said_to(value: dict[str, Any]) -> None:
    assert only_remainder(SOURCE, value, **STATED)[0] is Remainder.NO_CONTENT


def events(*more: dict[str, Any]) -> list[dict[str, Any]]:
    words = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    said = {"role": "assistant", "content": [{"type": "text", "text": "Done."}]}
    told = [
        {"kind": "MessageEvent", "source": "user", "llm_message": words},
        *more,
        {"kind": "MessageEvent", "source": "agent", "llm_message": said},
    ]
    return [{"id": f"e{number}", "timestamp": "2026-01-01T00:00:00", **event} for number, event in enumerate(told)]


def test_a_page_of_events_is_read_and_places_name_where_they_were() -> None:
    page = {"items": events({"kind": "PauseEvent", "source": "user"}), "next_page_id": None}
    told = translate(SOURCE, page, **STATED)
    assert len(calls(told)) == 1
    assert [one for one in told if isinstance(one, Untranslated)] == [
        Untranslated("in:1.items[1]", Remainder.NO_EVIDENCE, "PauseEvent")
    ]


def test_a_kind_of_event_that_nobody_knows_is_refused_by_name() -> None:
    told = translate(SOURCE, {"events": events({"kind": "BrandNewEvent", "source": "agent"})}, **STATED)
    assert [one for one in told if isinstance(one, Untranslated)] == [
        Untranslated("in:1.events[1]", Remainder.UNKNOWN_SHAPE, "an event of kind BrandNewEvent")
    ]


@pytest.mark.parametrize(
    "value", [{"version": 1, "entries": [{"sessionId": "s"}]}, {"agentType": "Explore", "description": "x"}]
)
def test_files_that_claude_code_keeps_beside_its_transcripts_are_no_evidence(value: dict[str, Any]) -> None:
    assert only_remainder(SOURCE, value, **STATED)[0] is Remainder.NO_EVIDENCE


def test_a_history_of_prompts_is_named() -> None:
    reason, detail = only_remainder(SOURCE, {"session_id": "s", "ts": 1, "text": "Go."}, **STATED)
    assert reason is Remainder.UNKNOWN_SHAPE
    assert "prompts that somebody typed" in detail


@pytest.mark.parametrize("name", ["chatcmpl-1", None])
def test_completions_of_openhands_with_a_constant_id_or_none_are_each_a_call(name: str | None) -> None:
    told: list[dict[str, Any]] = [{"source": "user", "action": "message", "args": {"content": "Go."}}]
    for number in (1, 2):
        call = {"id": f"t{number}", "type": "function", "function": {"name": "run", "arguments": "{}"}}
        completion = {"id": name, "choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [call]}}]}
        metadata = {"tool_call_id": f"t{number}", "model_response": completion}
        told.append({"source": "agent", "action": "run", "args": {}, "tool_call_metadata": metadata})
        answered = {"source": "agent", "observation": "run", "content": f"r{number}", "cause": 2 * number - 1}
        told.append(answered | {"tool_call_metadata": metadata})
    values = [{"id": number, "timestamp": "2026-01-01T00:00:00", **event} for number, event in enumerate(told)]
    first, second = calls(translate(SOURCE, {"history": values, "instance_id": "i", "test_result": {}}, **STATED))
    assert [message.role for message in second.input_messages] == ["user", "assistant", "tool"]
    assert second.input_messages[:1] == first.input_messages


def test_the_state_beside_a_directory_of_events_names_session_and_model() -> None:
    state = {
        "id": "conv-1",
        "agent": {"llm": {"model": "m"}},
        "workspace": {},
        "execution_status": "finished",
    }
    told = [("store/conv-1/base_state.json", state)]
    told += [(f"store/conv-1/events/event-{number}.json", event) for number, event in enumerate(events())]
    documents = [Document(name, [Record(f"{name}:1", value)]) for name, value in told]
    outcomes = list(SOURCE.translate(documents, CaptureOptions(ORG, instant=INSTANT)))
    (fact,) = calls(outcomes)
    assert (fact.session_id, fact.model) == ("conv-1", "m")
    assert [one for one in outcomes if isinstance(one, Untranslated)] == [
        Untranslated("store/conv-1/base_state.json:1", Remainder.NO_EVIDENCE, "the state of a conversation")
    ]
