"""One conversation of Claude Code as the tree its records form, and the history that leads to a response.

Records name their parent (``parentUuid``). The path of parents is what the model was sent, with two repairs: the lines
of one message belong together, and so do the answers of all its tool calls, although only one of parallel calls is on
the path. A user who goes back and asks again starts another path; compaction starts from nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from sediment_assets.capture.chat_parts import PlainPart
from sediment_assets.capture.transcripts.calls import Response, after
from sediment_assets.facts.messages import Message


@dataclass(slots=True, eq=False)
class Node:
    """One record in the tree. ``messages`` are what it says to the model, ``reply`` the response it is a line of."""

    order: int
    place: str
    parent: "Node | None"
    thread: "Thread"
    instant: datetime | None = None
    messages: tuple[Message, ...] = ()
    reply: "Reply | None" = None
    is_told: bool = False
    """Whether it is part of a Fact, or was refused."""


@dataclass(slots=True, eq=False)
class Reply:
    """One response of the model: the lines that share its message id."""

    message_id: str | None
    document: int
    response: Response
    nodes: list[Node] = field(default_factory=list)
    lines: list[PlainPart] = field(default_factory=list)
    message: Message | None = None
    """What it says, when it is complete."""
    base: "Reply | None" = None
    """The response before it on its path."""
    since: list[Node] = field(default_factory=list)
    """What came after ``base``, or from the beginning, in the order of the transcript."""
    heard: list[Message] = field(default_factory=list)
    """The messages of ``since``."""
    before: list[Message] | None = None
    """All messages before it, while it is the last response."""
    latest: datetime | None = None
    """The latest time on the way to it."""
    instant: datetime | None = None
    """When its call was observed: later than all calls before it."""
    is_told: bool = False

    @property
    def calls(self) -> set[str]:
        """Ids of its tool calls."""
        return {part["id"] for part in self.lines if part["type"] == "tool_call"}


@dataclass(slots=True, eq=False)
class Thread:
    """One history of a Session: its main conversation, or that of one sub-agent."""

    session_id: str | None
    agent: str | None = None
    """The sub-agent; None for the main conversation."""
    current: Reply | None = None
    is_linked: bool = False
    """Whether some record named a parent that is known; then one without a parent is a new beginning."""
    answers: dict[str, list[Node]] = field(default_factory=dict)
    replies: dict[str, Reply] = field(default_factory=dict)


def complete(reply: Reply, otherwise: Callable[[], datetime | None]) -> None:
    """Find what came before a response: the response before it, what was heard since, and so its instant.

    ``otherwise`` gives the instant of one that has no time on the way to it.
    """
    first = reply.nodes[0]
    path: list[Node] = []
    node = first.parent
    while node is not None:
        if node.reply is not None and node.reply.message is not None and node.reply.nodes[0] is node:
            reply.base = node.reply
            break
        path.append(node)
        node = node.parent
    reply.since = _with_siblings(path, reply)
    reply.heard = _messages(reply)
    times = [node.instant for node in (*reply.since, *reply.nodes) if node.instant is not None]
    if reply.base is not None and reply.base.latest is not None:
        times.append(reply.base.latest)
    reply.latest = max(times, default=None)
    before = [reply.base, *(node.reply for node in reply.since)]
    calls = [earlier.instant for earlier in before if earlier is not None and earlier.instant is not None]
    reply.instant = after(reply.latest or otherwise(), max(calls, default=None))


def history(reply: Reply) -> list[Message]:
    """Return the messages that the model had before it when it gave a response."""
    runs = [reply.heard]
    base = reply.base
    while base is not None:
        runs.append([base.message] if base.message is not None else [])
        if base.before is not None:
            # Conversations go on where they ended: one list of the messages is enough.
            runs.append(base.before)
            base.before = None
            break
        runs.append(base.heard)
        base = base.base
    reply.before = list(chain.from_iterable(reversed(runs)))
    return reply.before


def mark_told(reply: Reply) -> None:
    """Note that the history of a response is part of a Fact."""
    told: Reply | None = reply
    while told is not None and not told.is_told:
        told.is_told = True
        for node in told.since:
            node.is_told = True
        told = told.base


def was_heard_since(node: Node, reply: Reply) -> bool:
    """Whether the model was told something between the lines of a response and a record behind them."""
    before = node.parent
    while before is not None and before.reply is not reply:
        if before.messages:
            return True
        before = before.parent
    return before is None


def _with_siblings(path: list[Node], reply: Reply) -> list[Node]:
    """Add to a path what belongs to its responses and stands beside it: lines, and answers of parallel calls."""
    first = reply.nodes[0]
    on_path, nodes = set(path), set(path)
    for earlier in {node.reply for node in path if node.reply is not None} | {reply.base}:
        if earlier is None or earlier is reply:
            continue
        if earlier is not reply.base:
            if on_path.isdisjoint(earlier.nodes):
                continue  # told before, in another file: here it stands where its copy does
            nodes.update(earlier.nodes)
        answers = earlier.nodes[0].thread.answers
        for call in earlier.calls:
            told = [node for node in answers.get(call, ()) if node.order < first.order]
            if on_path.isdisjoint(told):
                nodes.update(told[-1:])
    return sorted((node for node in nodes if node.order < first.order), key=lambda node: node.order)


def _messages(reply: Reply) -> list[Message]:
    """Return the messages of ``since``; a response that several lines tell is one, where its first line stands."""
    messages: list[Message] = []
    told = {id(reply.base)}
    for node in reply.since:
        messages += node.messages
        if node.reply is not None and node.reply.message is not None and id(node.reply) not in told:
            told.add(id(node.reply))
            messages.append(node.reply.message)
    return messages
