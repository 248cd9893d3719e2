"""Codex: rollout files of its sessions (``~/.codex/sessions``), new and old (docs/capture/transcripts.md).

A rollout tells most facts twice: as ``response_item``, which is what goes to the model, and as ``event_msg``, which is
what the screen shows. Only items become messages; an event is their repetition, or says that one is missing.
"""

from collections.abc import Iterator
from typing import Final

from sediment_assets.capture.chat_messages import system_messages
from sediment_assets.capture.contract import CaptureOptions, Record, Remainder, Untranslated
from sediment_assets.capture.ids import is_unique_id
from sediment_assets.capture.model_calls import content_digest, left_out_items
from sediment_assets.capture.record_fields import RefusedError, invalid, unknown_shape
from sediment_assets.capture.responses_items import group_messages, item_groups
from sediment_assets.capture.transcripts.calls import CallMaker
from sediment_assets.capture.transcripts.codex_events import Events
from sediment_assets.capture.transcripts.codex_usage import Usage
from sediment_assets.capture.transcripts.conversation import Conversation, Outcome
from sediment_assets.capture.transcripts.others import described
from sediment_assets.capture.transcripts.sessions import named_session, plain_id
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message, TextPart

_CONTEXT: Final = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
)
"""How user messages begin that Codex writes itself: no turns of the user."""
_SILENT_ITEMS: Final = frozenset({"ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other"})
"""Items without words."""
_OWN_KEYS: Final = frozenset({"metadata", "internal_chat_message_metadata_passthrough", "phase"})
"""Members of items that Codex adds for itself."""
_SILENT: Final = frozenset({"turn_context", "world_state", "inter_agent_communication_metadata"})


class _Thread:
    """One Codex thread: its conversation, what it knows about the model, and what its events told."""

    def __init__(self, maker: CallMaker, session_id: str | None) -> None:
        self.conversation = Conversation(maker, session_id, _messages)
        self.usage = Usage()
        self.events = Events()
        self.model: JsonValue = None
        self.model_provider: JsonValue = None
        self.instructions: list[Message] = []
        self.items_before: set[str] = set()
        self.items: set[str] = set()
        self.has_items = False


class Codex:
    """Translates the Codex documents of one run."""

    def __init__(self, options: CaptureOptions) -> None:
        self._options = options
        self._maker = CallMaker("codex", options)
        self._threads: dict[str | None, _Thread] = {}
        self._thread: _Thread | None = None

    def read(self, records: Iterator[Record]) -> Iterator[Outcome]:
        """Translate one document."""
        self._thread = None
        for record in records:
            for place, value in _lines(record):
                try:
                    yield from self._read(place, value)
                except RefusedError as refused:
                    yield refused.at(place)
        # Not later: another document may hold a copy of these responses.
        for thread in self._threads.values():
            yield from thread.conversation.give()

    def finish(self) -> Iterator[Outcome]:
        """Give the last call of every thread, and what is left over."""
        for thread in self._threads.values():
            yield from thread.conversation.finish()
            yield from thread.events.finish()

    def _read(self, place: str, value: JsonValue) -> Iterator[Outcome]:
        if not isinstance(value, dict):
            raise unknown_shape(described(value))
        kind, payload = value.get("type"), value.get("payload")
        if value.get("record_type") == "state":
            raise RefusedError(Remainder.NO_EVIDENCE, "state")
        if not isinstance(kind, str) or not isinstance(payload, dict):
            raise unknown_shape(f"a record of type {plain_id(kind)}" if kind else described(value))
        if kind == "session_meta":
            yield from self._begin(place, value, payload)
            return
        thread = self._current(value)
        thread.conversation.timeline.saw(value.get("timestamp"))
        if kind == "response_item":
            yield from self._read_item(thread, place, value, payload)
        elif kind == "event_msg":
            yield from self._read_event(thread, place, payload)
        elif kind == "compacted":
            self._compact(thread, place, payload)
        elif kind in _SILENT:
            thread.model = payload.get("model") or thread.model
            raise RefusedError(Remainder.NO_EVIDENCE, kind)
        else:
            raise unknown_shape(f"a record of type {plain_id(kind)}")

    # Sessions

    def _begin(self, place: str, value: JsonObject, payload: JsonObject) -> Iterator[Outcome]:
        """Begin a document's Session; further ones before the first item belong to a history that was copied here."""
        session_id = named_session(payload, self._options, ("id", "session_id"))
        if self._thread is not None and (
            not self._thread.has_items or session_id == self._thread.conversation.session_id
        ):
            yield Untranslated(place, Remainder.NO_EVIDENCE, "session_meta of a copied or resumed history")
            return
        thread = self._enter(session_id)
        thread.conversation.timeline.saw(value.get("timestamp", payload.get("timestamp")))
        thread.model_provider = payload.get("model_provider")
        base = payload.get("base_instructions")
        if isinstance(base, dict) and not thread.instructions:
            thread.instructions = system_messages(base.get("text"), "payload.base_instructions", [])
            thread.conversation.hear(place, thread.instructions)
        else:
            yield Untranslated(place, Remainder.NO_EVIDENCE, "session_meta")

    def _current(self, value: JsonObject) -> _Thread:
        if self._thread is None:
            return self._enter(named_session(value, self._options, ()))
        return self._thread

    def _enter(self, session_id: str | None) -> _Thread:
        thread = self._threads.get(session_id)
        if thread is None:
            thread = self._threads[session_id] = _Thread(self._maker, session_id)
        thread.items_before |= thread.items
        thread.has_items = False
        self._thread = thread
        return thread

    # Records

    def _read_item(self, thread: _Thread, place: str, value: JsonObject, payload: JsonObject) -> Iterator[Outcome]:
        thread.has_items = True
        kind = payload.get("type")
        if _is_silent(payload):
            raise RefusedError(Remainder.NO_EVIDENCE, f"response_item/{kind}")
        digest = content_digest([value.get("timestamp"), payload])
        if digest in thread.items_before:
            raise RefusedError(Remainder.REPEATED, f"response_item/{plain_id(kind)} told before")
        thread.items.add(digest)
        left_out: list[str] = []
        messages, is_said = _messages([payload], left_out), _is_said(payload)
        yield from thread.events.messages(messages)
        if is_said:
            yield from self._say(thread, place, value, payload)
        else:
            yield from left_out_items(place, left_out)
            if messages:
                thread.conversation.hear(place, messages)

    def _say(self, thread: _Thread, place: str, value: JsonObject, payload: JsonObject) -> Iterator[Outcome]:
        conversation = thread.conversation
        if thread.usage.is_new_response(is_open=conversation.is_open):
            conversation.end_response()
        starts = not conversation.is_open
        yield from conversation.say(place, payload)
        response = conversation.response
        if response is None:
            return
        if starts:
            response.model, response.model_provider = thread.model, thread.model_provider
            thread.usage.begin(response)
        response.raw.setdefault("records", []).append(value)
        own = payload.get("id") or payload.get("call_id")
        if response.item_id is None and isinstance(own, str) and is_unique_id(own):
            response.item_id = own

    def _read_event(self, thread: _Thread, place: str, payload: JsonObject) -> Iterator[Outcome]:
        kind = payload.get("type")
        if kind == "token_count" and thread.usage.count(payload.get("info"), thread.conversation.response):
            return
        if kind == "thread_rolled_back":
            self._roll_back(thread, place, payload.get("num_turns"))
            return
        yield from thread.events.event(place, payload)

    def _compact(self, thread: _Thread, place: str, payload: JsonObject) -> None:
        replacement = payload.get("replacement_history")
        history = list(thread.instructions)
        if isinstance(replacement, list):
            history += _messages(replacement, [])
        elif isinstance(payload.get("message"), str):
            history.append(Message(role="user", parts=(TextPart(type="text", content=payload["message"]),)))
        else:
            raise invalid("payload.message", "a string", payload.get("message"))
        thread.has_items = True
        thread.conversation.begin_again(place, history)

    def _roll_back(self, thread: _Thread, place: str, turns: JsonValue) -> None:
        """Take the user's last turns out of the history, as Codex does when the user goes back."""
        if type(turns) is not int or turns < 0:
            raise invalid("payload.num_turns", "an integer of 0 or more", turns)
        history = thread.conversation.history
        starts = [index for index, message in enumerate(history) if _is_turn(message)]
        kept = history[: starts[-turns]] if 0 < turns <= len(starts) else history if turns == 0 else []
        thread.conversation.begin_again(place, kept)


def _lines(record: Record) -> Iterator[tuple[str, JsonValue]]:
    """Give every record the shape of today's lines: older rollouts have bare items, the oldest are one object."""
    value = record.value
    if not isinstance(value, dict):
        yield record.place, value
    elif isinstance(value.get("session"), dict) and isinstance(value.get("items"), list):
        yield f"{record.place}.session", {"type": "session_meta", "payload": value["session"]}
        for index, item in enumerate(value["items"]):
            yield f"{record.place}.items[{index}]", {"type": "response_item", "payload": item}
    elif "payload" in value or "record_type" in value:
        yield record.place, value
    elif "type" in value:
        yield record.place, {"type": "response_item", "payload": value}
    elif "id" in value and "timestamp" in value:
        yield record.place, {"type": "session_meta", "payload": value}
    else:
        yield record.place, value


def _messages(items: list[JsonValue], left_out: list[str]) -> list[Message]:
    """Translate items, those of one response to one message, as a request of the Responses API would hold them."""
    spelled = [_spelled(item) for item in items if not _is_silent(item)]
    messages: list[Message] = []
    for index, group in item_groups(spelled):
        messages += group_messages(group, "payload", index, left_out)
    return messages


def _spelled(item: JsonValue) -> JsonValue:
    """Spell items that only Codex has as the ones they are like, without what is Codex's own."""
    if not isinstance(item, dict):
        return item
    if item.get("type") == "agent_message":  # what another agent wrote to this one
        return {"role": "agent_message", "content": item.get("content")}
    if item.get("type") == "tool_search_output":
        return {**item, "output": item.get("tools")}
    return {key: value for key, value in item.items() if key not in _OWN_KEYS}


def _is_silent(item: JsonValue) -> bool:
    kind = item.get("type") if isinstance(item, dict) else None
    return isinstance(kind, str) and kind in _SILENT_ITEMS


def _is_said(item: JsonObject) -> bool:
    kind = item.get("type")
    if kind == "message":
        return item.get("role") == "assistant"
    return kind == "reasoning" or (isinstance(kind, str) and kind.endswith("_call"))


def _is_turn(message: Message) -> bool:
    if message.role != "user":
        return False
    first = next((part.content for part in message.parts if isinstance(part, TextPart)), "")
    return not first.lstrip().startswith(_CONTEXT)
