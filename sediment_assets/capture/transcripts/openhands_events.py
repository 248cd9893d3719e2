"""Events of OpenHands up to version 1: actions and observations, linked by ``cause``.

An agent's action made by a tool call carries the whole completion it came from; several actions may share one. Without
it, as with models that write their calls as text, the action itself is the tool call: its name, its arguments, its id.
"""

from collections.abc import Iterator
from typing import Final

from sediment_assets.capture.chat_messages import assistant_message, chat_messages, message, normal_assistant
from sediment_assets.capture.chat_parts import PlainPart
from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.ids import is_unique_id
from sediment_assets.capture.model_calls import content_digest, left_out_items
from sediment_assets.capture.record_fields import RefusedError, invalid, unknown_shape
from sediment_assets.capture.transcripts.calls import CallMaker, Response
from sediment_assets.capture.transcripts.condensation import View
from sediment_assets.capture.transcripts.conversation import Conversation, Outcome
from sediment_assets.capture.transcripts.sessions import at_path, plain_id
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message

_SILENT_ACTIONS: Final = frozenset(
    {
        "recall",
        "change_agent_state",
        "null",
        "start",
        "condensation_request",
        "loop_recovery",
        "pause",
        "resume",
        "stop",
    }
)
_SILENT_OBSERVATIONS: Final = frozenset({"recall", "agent_state_changed", "null", "condense", "loop_detection"})
_NOT_ARGUMENTS: Final = frozenset(
    {"thought", "confirmation_state", "security_risk", "is_confirmed", "hidden", "blocking", "keep_prompt"}
)
"""Members of an action's arguments that are about the action, not given to it."""


class EventReader:
    """Reads the events of one conversation."""

    def __init__(self, maker: CallMaker, session_id: str | None, configured: JsonValue) -> None:
        self.conversation = Conversation(maker, session_id, _render)
        self._configured = configured
        self._calls: dict[str, str] = {}
        """The tool call that each action is, by the action's id."""
        self._view = View()
        self._said: set[str] = set()

    def read(self, place: str, event: JsonObject) -> Iterator[Outcome]:
        """Read one event; raises RefusedError."""
        action, observation = event.get("action"), event.get("observation")
        if isinstance(action, str):
            self._pass_over(event, f"action/{action}", action in _SILENT_ACTIONS)
            yield from self._read_action(place, event, action)
        elif isinstance(observation, str):
            self._pass_over(event, f"observation/{observation}", observation in _SILENT_OBSERVATIONS)
            yield from self._read_observation(place, event)
        else:
            raise unknown_shape("an event that is neither an action nor an observation")

    def _pass_over(self, event: JsonObject, kind: str, is_silent: bool) -> None:
        if is_silent:
            self._view.heard(event.get("id"))
            raise RefusedError(Remainder.NO_EVIDENCE, kind)

    def _read_action(self, place: str, event: JsonObject, action: str) -> Iterator[Outcome]:
        arguments = event.get("args")
        if not isinstance(arguments, dict):
            raise invalid("args", "an object", arguments)
        if action == "condensation":
            self._condense(place, arguments)
        elif action == "system" or event.get("source") == "user":
            yield from self._hear(place, event, "system" if action == "system" else "user", arguments.get("content"))
            if arguments.get("image_urls"):
                yield from left_out_items(place, ["args.image_urls: pictures are no part of a message"])
        elif event.get("source") == "agent":
            yield from self._say(place, event, action)
        else:
            raise RefusedError(Remainder.NO_EVIDENCE, f"action/{plain_id(action)}")

    def _say(self, place: str, event: JsonObject, action: str) -> Iterator[Outcome]:
        answer = at_path(event, "tool_call_metadata.model_response")
        if isinstance(answer, dict):
            key, call_id = _completion_key(answer), at_path(event, "tool_call_metadata.tool_call_id")
            told: JsonObject = {"completion": answer}
        else:
            answer, key = {}, f"event-{event.get('id', place)}"
            call_id = None if action == "message" else key
            told = {"event": event, "call_id": call_id}
        self._calls_of(event, call_id)
        if key not in self._said:
            yield from self._begin_response(place, event, key, told)
            return
        # What it says of the response was said; its observation still answers a tool call of its own.
        response = self.conversation.response
        if response is None or response.raw.get("key") != key:
            raise RefusedError(Remainder.REPEATED, "an action of a response told before")
        response.places.append(place)
        response.raw["events"].append(event)

    def _begin_response(self, place: str, event: JsonObject, key: str, told: JsonObject) -> Iterator[Outcome]:
        conversation = self.conversation
        answer = told.get("completion", {})
        conversation.timeline.saw(answer.get("created"))
        conversation.end_response()
        yield from conversation.say(place, told, key=key)
        self._said.add(key)
        self._view.said(event.get("id"), key, told)
        if conversation.response is not None:
            _add_metadata(conversation.response, answer, self._configured)
            conversation.response.raw = {"key": key, "events": [event]}

    def _calls_of(self, event: JsonObject, call_id: JsonValue) -> None:
        if isinstance(call_id, str) and event.get("id") is not None:
            self._calls[str(event["id"])] = call_id

    def _read_observation(self, place: str, event: JsonObject) -> Iterator[Outcome]:
        call_id = at_path(event, "tool_call_metadata.tool_call_id") or self._calls.get(str(event.get("cause")))
        content = event.get("content")
        if content is None:
            raise RefusedError(Remainder.NO_CONTENT, "content is missing")
        answer = at_path(event, "tool_call_metadata.model_response")
        if isinstance(answer, dict) and _completion_key(answer) not in self._said:  # its action is not here
            yield from self._begin_response(place, event, _completion_key(answer), {"completion": answer})
        if call_id is None:
            yield from self._hear(place, event, "user", content)
        else:
            answered = {"role": "tool", "tool_call_id": call_id, "content": content}
            self._add(place, event, chat_messages(answered, "content", []))

    def _hear(self, place: str, event: JsonObject, role: str, content: JsonValue) -> Iterator[Outcome]:
        if content is None:
            raise RefusedError(Remainder.NO_CONTENT, "args.content is missing")
        left_out: list[str] = []
        self._add(place, event, chat_messages({"role": role, "content": content}, "args", left_out))
        yield from left_out_items(place, left_out)

    def _add(self, place: str, event: JsonObject, messages: list[Message]) -> None:
        self.conversation.hear(place, messages)
        self._view.heard(event.get("id"), messages)

    def _condense(self, place: str, arguments: JsonObject) -> None:
        """Forget the events that an action names, one by one or from one to another."""
        ids = arguments.get("forgotten_event_ids")
        first, last = arguments.get("forgotten_events_start_id"), arguments.get("forgotten_events_end_id")

        def is_forgotten(event_id: JsonValue) -> bool:
            if isinstance(ids, list):
                return event_id in ids
            return type(event_id) is type(first) is type(last) is int and first <= event_id <= last

        history = self._view.condense(is_forgotten, arguments.get("summary"), arguments.get("summary_offset"), _render)
        self.conversation.begin_again(place, history)


def _completion_key(answer: JsonObject) -> str:
    """Name a completion: by its id, unless that may be a constant; else by what it says."""
    named = answer.get("id")
    return named if isinstance(named, str) and is_unique_id(named) else f"completion-{content_digest(answer)}"


def _render(values: list[JsonValue], left_out: list[str]) -> list[Message]:
    return [message for value in values if isinstance(value, dict) for message in _rendered(value, left_out)]


def _rendered(told: JsonObject, left_out: list[str]) -> list[Message]:
    answer = told.get("completion")
    if isinstance(answer, dict):
        choices = answer.get("choices")
        words = at_path(choices[0], "message") if isinstance(choices, list) and choices else None
        if not isinstance(words, dict):
            raise RefusedError(Remainder.NO_CONTENT, "tool_call_metadata.model_response.choices: no message")
        return [assistant_message(words, "message", left_out)]
    event, call_id = told["event"], told["call_id"]
    arguments = event["args"]
    parts: list[PlainPart] = []
    for key in ("content", "thought") if call_id is None else ("thought",):
        text = arguments.get(key)
        if isinstance(text, str) and text:
            parts.append({"type": "text", "content": text})
    if call_id is not None:
        given = {key: value for key, value in arguments.items() if key not in _NOT_ARGUMENTS}
        parts.append({"type": "tool_call", "id": call_id, "name": event["action"], "arguments": given})
    return [message("assistant", normal_assistant(parts), "args")]


def _add_metadata(response: Response, answer: JsonObject, configured: JsonValue) -> None:
    response.model = answer.get("model") or configured
    named, usage = answer.get("id"), answer.get("usage")
    response.response_id = named if isinstance(named, str) and named else None
    if isinstance(usage, dict):
        response.input_tokens, response.output_tokens = usage.get("prompt_tokens"), usage.get("completion_tokens")
    choices = answer.get("choices")
    reason = at_path(choices[0], "finish_reason") if isinstance(choices, list) and choices else None
    response.finish_reason = reason if isinstance(reason, str) else None
