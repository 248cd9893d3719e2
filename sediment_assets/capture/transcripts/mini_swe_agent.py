"""mini-swe-agent: trajectory files (``.traj.json``), with and without native tool calls (docs/capture/transcripts.md).

The oldest files are a bare list of messages; today's say when each message was made, and keep the provider's answer.
"""

from collections.abc import Iterator
from typing import Final

from sediment_assets.capture.chat_messages import assistant_message, chat_messages
from sediment_assets.capture.contract import CaptureOptions, Record, Remainder, Untranslated
from sediment_assets.capture.model_calls import left_out_items
from sediment_assets.capture.record_fields import RefusedError, invalid, unknown_shape
from sediment_assets.capture.responses_items import group_messages, item_groups
from sediment_assets.capture.transcripts.calls import CallMaker, Response
from sediment_assets.capture.transcripts.conversation import Conversation, Outcome
from sediment_assets.capture.transcripts.others import described
from sediment_assets.capture.transcripts.sessions import at_path, named_session
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message

_SESSION_KEYS: Final = ("session_id", "trajectory_id", "traj_id", "instance_id", "info.instance_id")


class MiniSweAgent:
    """Translates the mini-swe-agent documents of one run: records are trajectories, or messages of a bare list."""

    def __init__(self, options: CaptureOptions) -> None:
        self._options = options
        self._maker = CallMaker("mini-swe-agent", options)

    def read(self, records: Iterator[Record]) -> Iterator[Outcome]:
        """Translate one document."""
        bare: Conversation | None = None
        for record in records:
            value = record.value
            if isinstance(value, dict) and isinstance(value.get("messages"), list):
                if not value["messages"]:
                    yield Untranslated(record.place, Remainder.NO_CONTENT, "messages: none in the trajectory")
                conversation = Conversation(self._maker, named_session(value, self._options, _SESSION_KEYS), _render)
                for index, message in enumerate(value["messages"]):
                    yield from _read(conversation, f"{record.place}.messages[{index}]", message, value)
                yield from conversation.finish()
            else:
                if bare is None:
                    bare = Conversation(self._maker, named_session({}, self._options), _render)
                yield from _read(bare, record.place, value, {})
        if bare is not None:
            yield from bare.finish()

    def finish(self) -> Iterator[Outcome]:
        """Nothing is left over: no trajectory goes on in another document."""
        return iter(())


def _read(conversation: Conversation, place: str, value: JsonValue, trajectory: JsonObject) -> Iterator[Outcome]:
    try:
        yield from _read_message(conversation, place, value, trajectory)
    except RefusedError as refused:
        yield refused.at(place)


def _read_message(
    conversation: Conversation, place: str, value: JsonValue, trajectory: JsonObject
) -> Iterator[Outcome]:
    if not isinstance(value, dict):
        raise unknown_shape(described(value))
    conversation.timeline.saw(value.get("timestamp"))
    conversation.timeline.saw(at_path(value, "extra.timestamp"))
    if value.get("role") == "exit":
        raise RefusedError(Remainder.NO_EVIDENCE, "exit: what was submitted, sent to nobody")
    if value.get("role") == "assistant" or isinstance(value.get("output"), list):
        conversation.end_response()
        yield from conversation.say(place, value)
        if conversation.response is not None:
            _add_metadata(conversation.response, value, trajectory)
        return
    answer = at_path(value, "extra.response")
    if isinstance(answer, dict):
        yield from _read_unused(conversation, place, answer, trajectory)
    left_out: list[str] = []
    conversation.hear(place, _messages(value, left_out))
    yield from left_out_items(place, left_out)


def _read_unused(
    conversation: Conversation, place: str, answer: JsonObject, trajectory: JsonObject
) -> Iterator[Outcome]:
    """Give a response that the agent could not use and kept with its complaint; the model never saw it again."""
    choices = answer.get("choices")
    words = at_path(choices[0], "message") if isinstance(choices, list) and choices else None
    told: JsonObject = dict(words) if isinstance(words, dict) else answer
    if not isinstance(words, dict) and not isinstance(answer.get("output"), list):
        return
    history = list(conversation.history)
    conversation.end_response()
    try:
        yield from conversation.say(place, {**told, "extra": {"response": answer}})
    except RefusedError as refused:
        yield refused.at(place)
        return
    if conversation.response is not None:
        _add_metadata(conversation.response, {**told, "extra": {"response": answer}}, trajectory)
    yield from conversation.give()
    conversation.history = history


def _render(values: list[JsonValue], left_out: list[str]) -> list[Message]:
    return [message for value in values for message in _messages(value, left_out)]


def _messages(value: JsonValue, left_out: list[str]) -> list[Message]:
    """Translate a message: of a chat, an answer of the Responses API, or an item that answers one of its calls."""
    if not isinstance(value, dict):
        raise invalid("message", "an object", value)
    output = value.get("output")
    if isinstance(output, list) and "role" not in value and value.get("type") is None:
        return [
            message
            for index, group in item_groups(output)
            for message in group_messages(group, "output", index, left_out)
        ]
    if "role" not in value and isinstance(value.get("type"), str):
        return group_messages([value], "message", 0, left_out)
    if value.get("role") == "assistant":
        return [assistant_message(value, "message", left_out)]
    return chat_messages(value, "message", left_out)


def _add_metadata(response: Response, value: JsonObject, trajectory: JsonObject) -> None:
    """Keep what the provider's answer says beside the words; older files have none."""
    answer = at_path(value, "extra.response")
    answer = answer if isinstance(answer, dict) else value if isinstance(value.get("output"), list) else {}
    response.raw = {"message": value}
    configured = at_path(trajectory, "info.config.model.model_name")
    response.model = answer.get("model") or configured
    named = answer.get("id")
    response.response_id = named if isinstance(named, str) and named else None
    usage = answer.get("usage")
    if isinstance(usage, dict):
        response.input_tokens = usage.get("prompt_tokens", usage.get("input_tokens"))
        response.output_tokens = usage.get("completion_tokens", usage.get("output_tokens"))
    response.finish_reason = _finish_reason(answer)


def _finish_reason(answer: JsonObject) -> str | None:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    reason = first.get("finish_reason") if isinstance(first, dict) else None
    return reason if isinstance(reason, str) else None
