"""SWE-agent: trajectory files (``.traj``), with and without native tool calls (docs/capture/transcripts.md).

A trajectory tells its steps twice: ``history`` is what the model was sent and answered, ``trajectory`` what was done.
Where a step keeps the very messages that were sent (``query``), those are the call's input, since history processors
may have shortened them.
"""

from collections.abc import Iterator
from typing import Any, Final

from sediment_assets.capture.chat_messages import assistant_message, chat_messages
from sediment_assets.capture.contract import CaptureOptions, Record, Remainder, Untranslated
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.model_calls import left_out_items
from sediment_assets.capture.record_fields import RefusedError, invalid, unknown_shape
from sediment_assets.capture.transcripts.calls import CallMaker
from sediment_assets.capture.transcripts.conversation import Conversation, Outcome
from sediment_assets.capture.transcripts.others import described
from sediment_assets.capture.transcripts.sessions import at_path, named_session
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue
from sediment_assets.facts.messages import Message

_SESSION_KEYS: Final = (
    "session_id",
    "trajectory_id",
    "traj_id",
    "instance_id",
    "info.instance_id",
    "replay_config.problem_statement.id",
)
_NO_MODELS: Final = frozenset({"replay", "human", "human_thought", "instant_empty_submit"})
"""What SWE-agent writes for a model's name where none answered."""


class SweAgent:
    """Translates the SWE-agent documents of one run; every record is a whole trajectory."""

    def __init__(self, options: CaptureOptions) -> None:
        self._options = options
        self._maker = CallMaker("swe-agent", options)

    def read(self, records: Iterator[Record]) -> Iterator[Outcome]:
        """Translate one document."""
        for record in records:
            try:
                yield from self._read(record.place, record.value)
            except RefusedError as refused:
                yield refused.at(record.place)

    def finish(self) -> Iterator[Outcome]:
        """Nothing is left over: a trajectory is one record."""
        return iter(())

    def _read(self, place: str, value: JsonValue) -> Iterator[Outcome]:
        if not isinstance(value, dict):
            raise unknown_shape(described(value))
        read = {**value, "replay_config": _replay_config(value)}
        session_id = named_session(read, self._options, _SESSION_KEYS)
        attempts = value.get("attempts")
        if isinstance(attempts, list) and attempts:
            for index, attempt in enumerate(attempts):
                own = f"{session_id}/attempt-{index + 1}" if session_id is not None else None
                held = {"replay_config": read["replay_config"], **attempt} if isinstance(attempt, dict) else {}
                yield from self._read_history(f"{place}.attempts[{index}]", held, own)
            if value.get("history"):
                yield Untranslated(place, Remainder.REPEATED, "history: that of the attempt that was chosen")
        else:
            yield from self._read_history(place, read, session_id)

    def _read_history(self, place: str, value: JsonObject, session_id: str | None) -> Iterator[Outcome]:
        history = value.get("history")
        if not isinstance(history, list) or not history:
            yield Untranslated(place, Remainder.NO_CONTENT, "history: the messages of the steps are missing")
            return
        if session_id is None:
            yield Untranslated(place, Remainder.NO_SESSION, "a trajectory that names no instance")
            return
        agents = [_agent(item) for item in history]
        first = next((agent for agent in agents if agent), "")
        threads: dict[str, Conversation] = {}
        steps = _Steps(value)
        for index, (item, agent) in enumerate(zip(history, agents, strict=True)):
            where, name = f"{place}.history[{index}]", agent or first
            if name not in threads:
                own = session_id if name == first else f"{session_id}/{name}"
                threads[name] = Conversation(self._maker, own, _render)
            try:
                yield from _read_item(threads[name], where, item, steps, value)
            except RefusedError as refused:
                yield refused.at(where)
        for thread in threads.values():
            yield from thread.finish()


def _agent(item: JsonValue) -> str:
    agent = item.get("agent") if isinstance(item, dict) else None
    return agent if isinstance(agent, str) else ""


def _read_item(
    thread: Conversation, where: str, item: JsonValue, steps: "_Steps", trajectory: JsonObject
) -> Iterator[Outcome]:
    if not isinstance(item, dict):
        raise invalid("history", "objects", item)
    left_out: list[str] = []
    if item.get("role") != "assistant" or item.get("is_demo") is True:
        thread.hear(where, _heard(item, left_out))
    else:
        thread.end_response()
        step = steps.next(item)
        yield from thread.say(where, item)
        if step is not None and isinstance(step.get("query"), list):
            thread.was_sent([message for sent in step["query"] for message in _heard(sent, [])])
        response = thread.response
        if response is not None:
            response.model = _model(trajectory)
            response.raw = {"message": item} if step is None else {"message": item, "step": _without_messages(step)}
    yield from left_out_items(where, left_out)


class _Steps:
    """The steps of a trajectory, found again by what the model answered in them."""

    def __init__(self, trajectory: JsonObject) -> None:
        steps = trajectory.get("trajectory")
        self._steps: list[Any] = steps if isinstance(steps, list) else []
        self._next = 0

    def next(self, item: JsonObject) -> JsonObject | None:
        """Return the next step with the answer of a history item; None when no step has it."""
        for index in range(self._next, len(self._steps)):
            step = self._steps[index]
            if isinstance(step, dict) and step.get("response") == item.get("content"):
                self._next = index + 1
                return step
        return None


def _heard(item: JsonValue, left_out: list[str]) -> list[Message]:
    """Translate a message; a tool's answer names its call in a list."""
    ids = item.get("tool_call_ids") if isinstance(item, dict) else None
    if not isinstance(item, dict) or item.get("role") != "tool" or not isinstance(ids, list) or not ids:
        return chat_messages(item, "message", left_out)
    return [message for call in ids for message in chat_messages({**item, "tool_call_id": call}, "message", left_out)]


def _render(items: list[JsonValue], left_out: list[str]) -> list[Message]:
    return [assistant_message(item, "message", left_out) for item in items if isinstance(item, dict)]


def _without_messages(step: JsonObject) -> JsonObject:
    """Return a step without what other fields tell as well."""
    return {key: value for key, value in step.items() if key not in ("messages", "query", "response", "observation")}


def _replay_config(trajectory: JsonObject) -> JsonValue:
    config = trajectory.get("replay_config")
    if not isinstance(config, str):
        return config
    try:
        parsed: JsonValue = parse_json(config)
    except JsonError:
        return None
    return parsed


def _model(trajectory: JsonObject) -> str | None:
    found = at_path(trajectory, "replay_config.agent.model.name")
    return found if isinstance(found, str) and found.strip() and found not in _NO_MODELS else None
