"""Claude Code: session transcripts, the web export, the agent SDK's stream (docs/capture/transcripts.md).

A record is a line of a message, or one of many kinds that say nothing to the model. The first line of a response and
all others with its message id are one response; its call is given when the next one begins, or at the end.
"""

from collections.abc import Iterator

from sediment_assets.capture.chat_messages import chat_messages, message, normal_assistant
from sediment_assets.capture.chat_parts import Parts
from sediment_assets.capture.contract import CaptureOptions, Record, Remainder, Translated, Untranslated
from sediment_assets.capture.ids import is_unique_id
from sediment_assets.capture.model_calls import left_out_items
from sediment_assets.capture.record_fields import RefusedError, invalid, unknown_shape
from sediment_assets.capture.transcripts.calls import CallMaker, Response, instant_of
from sediment_assets.capture.transcripts.claude_records import (
    SILENT,
    UNNAMED,
    add_metadata,
    digest,
    named_blocks,
    text,
    unwrapped,
)
from sediment_assets.capture.transcripts.claude_thread import (
    Node,
    Reply,
    Thread,
    complete,
    history,
    mark_told,
    was_heard_since,
)
from sediment_assets.capture.transcripts.others import described
from sediment_assets.capture.transcripts.sessions import named_session, plain_id
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import ToolCallResponsePart

Outcome = Translated | Untranslated


class ClaudeCode:
    """Translates the Claude Code documents of one run; Sessions may go on from one document to the next."""

    def __init__(self, options: CaptureOptions) -> None:
        self._options = options
        self._maker = CallMaker("claude-code", options)
        self._threads: dict[tuple[str | None, str | None], Thread] = {}
        self._nodes: dict[tuple[str | None, str], tuple[Node, str]] = {}
        self._anywhere: dict[str, Node] = {}
        self._spoken: list[Node] = []
        self._open: dict[str, Thread] = {}
        """The conversation in which a message id was seen first, while that response is open."""
        self._order = 0
        self._document = 0
        self._begin()

    def _begin(self) -> None:
        """Forget what only holds within one document."""
        self._document += 1
        self._tips: dict[int, Node] = {}
        self._sidechain: Thread | None = None
        self._stream_session: str | None = None

    def read(self, records: Iterator[Record]) -> Iterator[Outcome]:
        """Translate one document."""
        self._begin()
        for record in records:
            lines = list(unwrapped(record))
            if not lines:
                yield Untranslated(record.place, Remainder.NO_CONTENT, "a session without lines")
            for place, value in lines:
                try:
                    yield from self._read(place, value)
                except RefusedError as refused:
                    yield refused.at(place)

    def finish(self) -> Iterator[Outcome]:
        """Give the last response of every conversation, and say which messages no response followed."""
        for thread in self._threads.values():
            yield from self._close(thread)
        for node in self._spoken:
            if node.is_told:
                continue
            if node.thread.session_id is None:
                yield Untranslated(node.place, Remainder.NO_SESSION, "a message that names no Session")
            else:
                yield Untranslated(node.place, Remainder.NO_EVIDENCE, "a message that no response follows")

    def _read(self, place: str, value: JsonValue) -> Iterator[Outcome]:
        if not isinstance(value, dict):
            raise unknown_shape(described(value))
        kind = value.get("type")
        if kind in ("user", "assistant"):
            yield from self._read_message(place, value, str(kind))
        elif isinstance(kind, str) and kind in SILENT:
            yield from self._read_silent(place, value, kind)
        else:
            raise unknown_shape(f"a record of type {plain_id(kind)}" if kind else described(value))

    def _read_silent(self, place: str, value: JsonObject, kind: str) -> Iterator[Outcome]:
        inner = value.get("attachment" if kind == "attachment" else "data")
        inner_kind = inner.get("type") if isinstance(inner, dict) else value.get("subtype")
        if kind == "system" and inner_kind == "init":
            self._stream_session = named_session(value, self._options) or self._stream_session
        node = self._add(place, value)
        if isinstance(inner, dict) and inner_kind == "agent_progress" and isinstance(inner.get("message"), dict):
            told = {"uuid": None, **inner["message"], "agentId": inner.get("agentId"), "isSidechain": True}
            outer: JsonObject = {key: value[key] for key in ("sessionId", "session_id", "timestamp") if key in value}
            told.pop("parentUuid", None)
            yield from self._read(f"{place}.data.message", {**outer, **told})
            return
        if kind == "attachment" and isinstance(inner, dict) and inner_kind == "queued_command" and "prompt" in inner:
            yield from self._hear(node, "user", inner["prompt"])
            return
        yield Untranslated(place, Remainder.NO_EVIDENCE, f"{kind}/{plain_id(inner_kind)}" if inner_kind else kind)

    def _read_message(self, place: str, value: JsonObject, kind: str) -> Iterator[Outcome]:
        told = value.get("message")
        if not isinstance(told, dict):
            raise invalid("message", "an object", told)
        if told.get("content") is None:
            raise RefusedError(Remainder.NO_CONTENT, "message.content is missing")
        if self._is_repeated(value):
            yield Untranslated(place, Remainder.REPEATED, f"{kind} record told before")
            return
        node = self._add(place, value)
        if kind == "assistant" and value.get("isApiErrorMessage") is True:
            yield Untranslated(place, Remainder.NO_EVIDENCE, "assistant/api-error: written by the tool")
        elif value.get("isVisibleInTranscriptOnly") is True and value.get("isCompactSummary") is not True:
            yield Untranslated(place, Remainder.NO_EVIDENCE, f"{kind}/transcript-only: not sent to the model")
        elif kind == "assistant" and told.get("model") != "<synthetic>":
            yield from self._add_line(node, value, told)
        else:
            yield from self._hear(node, told.get("role", kind), told["content"], text(value.get("uuid")))

    def _hear(self, node: Node, role: JsonValue, content: JsonValue, uuid: str | None = None) -> Iterator[Outcome]:
        """Add messages that the model was given."""
        left_out: list[str] = []
        named = named_blocks(content, uuid, _answered_by(node))
        node.messages = tuple(chat_messages({"role": role, "content": named}, "message", left_out))
        for each in node.messages:
            for part in each.parts:
                if isinstance(part, ToolCallResponsePart):
                    node.thread.answers.setdefault(part.id, []).append(node)
        self._spoken.append(node)
        yield from left_out_items(node.place, left_out)

    def _add_line(self, node: Node, value: JsonObject, told: JsonObject) -> Iterator[Outcome]:
        """Add a line to the response it belongs to; one that begins a response ends the one before."""
        thread = node.thread
        line = Parts()
        line.content(named_blocks(told["content"], text(value.get("uuid"))), "message.content")
        message("assistant", line.parts, "message")
        message_id = text(told.get("id")) or text(value.get("requestId"))
        reply = thread.replies.get(message_id) if message_id is not None else None
        if reply is not None and not is_unique_id(message_id) and was_heard_since(node, reply):
            thread.replies.pop(str(message_id))  # a constant, or a number that begins again: another response
            reply = None
        if reply is not None and (reply is not thread.current or reply.document != self._document):
            if line.parts and all(part in reply.lines for part in line.parts):
                node.reply = reply
                yield Untranslated(node.place, Remainder.REPEATED, "line of a response told before")
                return
            reply = reply if reply is thread.current else None
        if reply is None:
            yield from self._close(thread)
            reply = Reply(message_id, self._document, Response([], [], thread.session_id))
            if message_id is not None and message_id not in thread.replies:
                reply.response.response_id = text(told.get("id"))
                thread.replies[message_id] = reply
                self._open.setdefault(message_id, thread)
            thread.current = reply
        node.reply = reply
        reply.nodes.append(node)
        reply.lines += line.parts
        reply.response.places.append(node.place)
        add_metadata(reply.response, value, told)
        yield from left_out_items(node.place, line.left_out)

    def _close(self, thread: Thread) -> Iterator[Outcome]:
        """Give the call of the response that is open in a conversation."""
        reply, thread.current = thread.current, None
        if reply is None:
            return
        first = self._open.pop(reply.message_id, thread) if reply.message_id is not None else thread
        if first is not thread and first.current is not None and first.current.message_id == reply.message_id:
            yield from self._close(first)
        complete(reply, lambda: self._maker.undated(thread.session_id))
        response = reply.response
        reply.message = message("assistant", normal_assistant(reply.lines), "message")
        response.output = [reply.message.model_copy(update={"finish_reason": response.finish_reason})]
        for outcome in self._maker.make(response, history(reply), reply.instant):
            if isinstance(outcome, Translated) or outcome.reason is Remainder.REPEATED:
                mark_told(reply)
            yield outcome

    # The tree

    def _add(self, place: str, value: JsonObject) -> Node:
        """Place a record in its conversation."""
        thread = self._thread(value)
        self._order += 1
        node = Node(self._order, place, self._parent(value, thread), thread, instant_of(value.get("timestamp")))
        self._tips[id(thread)] = node
        uuid = text(value.get("uuid"))
        if uuid is not None:
            self._nodes[self._session(value), uuid] = node, digest(value)
            self._anywhere[uuid] = node
        return node

    def _parent(self, value: JsonObject, thread: Thread) -> Node | None:
        """Return the record before: the parent that is named, else the last of its conversation in this document."""
        if value.get("subtype") == "compact_boundary":
            return None
        named = value.get("parentUuid")
        if isinstance(named, str):
            known = self._known(value, named)
            # Some versions go on under a new Session id; sub-agents begin anew even where a parent is named.
            if known is not None and (known.thread is thread or known.thread.agent is thread.agent is None):
                thread.is_linked = True
                return known
        elif "parentUuid" in value and thread.is_linked:
            return None
        return None if value.get("isCompactSummary") is True else self._tips.get(id(thread))

    def _known(self, value: JsonObject, uuid: str) -> Node | None:
        found = self._nodes.get((self._session(value), uuid))
        return found[0] if found is not None else self._anywhere.get(uuid)

    def _thread(self, value: JsonObject) -> Thread:
        session, agent = self._session(value), self._agent(value)
        if agent is not None and session is not None and agent != session:
            session_id: str | None = f"{session}/{agent}"
        else:
            session_id = session
        thread = self._threads.get((session, agent))
        if thread is None:
            thread = self._threads[session, agent] = Thread(session_id, agent)
        if agent is not None:
            self._sidechain = thread
        return thread

    def _agent(self, value: JsonObject) -> str | None:
        """Name the sub-agent that a record belongs to; None for the main conversation."""
        tool_call = value.get("parent_tool_use_id")
        if isinstance(tool_call, str) and tool_call:
            return tool_call
        if value.get("isSidechain") is not True:
            return None
        agent = value.get("agentId")
        if isinstance(agent, str) and agent:
            return f"agent-{agent}"
        named = value.get("parentUuid")
        known = self._known(value, named) if isinstance(named, str) else None
        if known is not None and known.thread.agent is not None:
            return known.thread.agent
        if known is None and isinstance(named, str) and self._sidechain is not None:
            return self._sidechain.agent
        return f"sidechain-{text(value.get('uuid')) or text(named) or 'unnamed'}"

    def _session(self, value: JsonObject) -> str | None:
        named = named_session(value, self._options)
        if named is None or named == UNNAMED:
            return self._stream_session or named_session({}, self._options)
        return named

    def _is_repeated(self, value: JsonObject) -> bool:
        uuid = text(value.get("uuid"))
        known = self._nodes.get((self._session(value), uuid)) if uuid is not None else None
        if known is None or known[1] != digest(value):
            return False
        thread = known[0].thread
        self._tips[id(thread)] = known[0]
        return True


def _answered_by(node: Node) -> str | None:
    """Return the id of the tool call that a record's parent made without giving it one, when it made just one."""
    parent = node.parent
    if parent is None or parent.reply is None:
        return None
    nameless = [call for call in parent.reply.calls if "#" in call]
    return nameless[0] if len(nameless) == 1 else None
