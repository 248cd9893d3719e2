"""Events of OpenHands' SDK (version 1): every event names its ``kind``; actions of one response share its id."""

from collections.abc import Iterator
from typing import Final

from sediment_assets.capture.chat_messages import assistant_message, chat_messages, message, normal_assistant
from sediment_assets.capture.chat_parts import Parts, tool_arguments
from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.model_calls import left_out_items
from sediment_assets.capture.record_fields import RefusedError, unknown_shape
from sediment_assets.capture.transcripts.calls import CallMaker
from sediment_assets.capture.transcripts.condensation import View
from sediment_assets.capture.transcripts.conversation import Conversation, Outcome
from sediment_assets.capture.transcripts.sessions import at_path, plain_id
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message

_AGENT_LLMS: Final = ("agent", "default")
"""Under which names the statistics list the model that the agent itself uses."""


_SILENT: Final = frozenset(
    [
        "ACPToolCallEvent",
        "CondensationRequest",
        "CondensationSummaryEvent",
        "ConversationErrorEvent",
        "ConversationStateUpdateEvent",
        "HookExecutionEvent",
        "InterruptEvent",
        "LLMCompletionLogEvent",
        "PauseEvent",
        "SecurityAnalysisEvent",
        "ServerErrorEvent",
        "StreamingDeltaEvent",
        "TokenEvent",
    ]
)
"""Kinds of events that say nothing to the model."""


class SdkReader:
    """Reads the events of one conversation."""

    def __init__(self, maker: CallMaker, session_id: str | None, configured: JsonValue = None) -> None:
        self.conversation = Conversation(maker, session_id, _render)
        self._view = View()
        self._model = configured

    def read(self, place: str, event: JsonObject) -> Iterator[Outcome]:
        """Read one event; raises RefusedError."""
        kind = event.get("kind")
        if kind == "SystemPromptEvent":
            yield from self._hear(place, event, {"role": "system", "content": _prompt(event)})
        elif kind in ("MessageEvent", "ActionEvent"):
            yield from self._read_message(place, event, str(kind))
        elif kind in ("ObservationEvent", "AgentErrorEvent", "UserRejectObservation"):
            answer = {"role": "tool", "tool_call_id": event.get("tool_call_id"), "content": _answer(event)}
            yield from self._hear(place, event, answer)
        elif kind == "Condensation":
            self._condense(place, event)
        else:
            self._read_silent(event, kind)

    def _read_message(self, place: str, event: JsonObject, kind: str) -> Iterator[Outcome]:
        if kind == "MessageEvent" and event.get("source") != "agent":
            yield from self._hear(place, event, _extended(event))
            return
        named = event.get("llm_response_id")
        key = named if isinstance(named, str) and named else f"event-{event.get('id', place)}"
        conversation = self.conversation
        before = conversation.response
        yield from conversation.say(place, event, key=key)
        self._view.said(event.get("id"), key, event)
        response = conversation.response
        if response is None:
            return
        if response is not before:
            response.model = self._model
            response.response_id = named if isinstance(named, str) and named else None
        response.raw.setdefault("events", []).append(event)

    def _hear(self, place: str, event: JsonObject, told: JsonValue) -> Iterator[Outcome]:
        left_out: list[str] = []
        messages = chat_messages(told, "message", left_out)
        self.conversation.hear(place, messages)
        self._view.heard(event.get("id"), messages)
        yield from left_out_items(place, left_out)

    def _condense(self, place: str, event: JsonObject) -> None:
        ids = event.get("forgotten_event_ids")
        forgotten = {item for item in ids if isinstance(item, str)} if isinstance(ids, list) else set()
        history = self._view.condense(
            lambda event_id: isinstance(event_id, str) and event_id in forgotten,
            event.get("summary"),
            event.get("summary_offset"),
            _render,
        )
        self.conversation.begin_again(place, history)

    def _read_silent(self, event: JsonObject, kind: JsonValue) -> None:
        """Account for an event without words; one of the state may name the conversation and its model."""
        if not isinstance(kind, str) or kind not in _SILENT:
            raise unknown_shape(f"an event of kind {plain_id(kind)}")
        self._view.heard(event.get("id"))
        key = event.get("key")
        state = {key: event.get("value")} if isinstance(key, str) else {}
        if key == "full_state":
            state = {**state, "stats": at_path(state, "full_state.stats")}
            named = at_path(state, "full_state.id")
            if self.conversation.session_id is None and isinstance(named, str) and named.strip():
                self.conversation.session_id = named.strip()
        for llm in _AGENT_LLMS:
            self._model = at_path(state, f"stats.usage_to_metrics.{llm}.model_name") or self._model
        raise RefusedError(Remainder.NO_EVIDENCE, f"{kind}/{plain_id(key)}" if key else kind)


def _prompt(event: JsonObject) -> JsonValue:
    """Return the system prompt; what differs from conversation to conversation is a block of its own."""
    blocks = [event.get("system_prompt"), event.get("dynamic_context")]
    return [block for block in blocks if block is not None]


def _extended(event: JsonObject) -> JsonValue:
    """Return the message of an event with what was added to it on the way to the model."""
    told, added = event.get("llm_message"), event.get("extended_content")
    if not isinstance(told, dict) or not isinstance(added, list):
        return told
    content = told.get("content")
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    return {**told, "content": [*blocks, *added]}


def _answer(event: JsonObject) -> JsonValue:
    """Return what a tool call was answered, an error or a refusal included."""
    found = at_path(event, "observation.content")
    for key in ("error", "rejection_reason"):
        found = event.get(key) if found is None else found
    observation = event.get("observation")
    if found is None and isinstance(observation, dict):  # an observation with members of its own
        return {key: value for key, value in observation.items() if key != "kind"}
    if found is None:
        raise RefusedError(Remainder.NO_CONTENT, "observation is missing")
    return found


def _render(events: list[JsonValue], left_out: list[str]) -> list[Message]:
    """Make one message of the events that tell one response."""
    parts = Parts()
    for event in events:
        if isinstance(event, dict):
            _add(parts, event)
    left_out += parts.left_out
    return [message("assistant", normal_assistant(parts.parts), "message")]


def _add(parts: Parts, event: JsonObject) -> None:
    if event.get("kind") == "MessageEvent":
        told = event.get("llm_message")
        if not isinstance(told, dict):
            raise RefusedError(Remainder.NO_CONTENT, "llm_message is missing")
        parts.parts += [part.model_dump() for part in assistant_message(told, "llm_message", parts.left_out).parts]
        return
    blocks = event.get("thinking_blocks")
    parts.content(blocks, "thinking_blocks")
    summary = at_path(event, "responses_reasoning_item.summary")
    if event.get("reasoning_content") and not blocks:
        parts.text(event["reasoning_content"], "reasoning_content", "reasoning")
    elif isinstance(summary, list) and not blocks:
        for words in summary:
            parts.text(words, "responses_reasoning_item.summary", "reasoning")
    parts.content(event.get("thought"), "thought")
    call = event.get("tool_call")
    if not isinstance(call, dict):
        raise RefusedError(Remainder.NO_CONTENT, "tool_call is missing")
    arguments = tool_arguments(call.get("arguments"), "tool_call.arguments")
    parts.call(call.get("id"), call.get("name"), arguments, "tool_call")
