"""One conversation of Claude Code as the tree its records form, and the history that leads to a response.

Records name their parent (``parentUuid``). The path of parents is what the model was sent, with two repairs: the lines
of one message belong together, and so do the answers of all its tool calls, although only one of parallel calls is on
the path. A user who goes back and asks again starts another path; compaction starts from nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from sediment_assets.capture.chat_parts import PlainPart
from sediment_assets.capture.transcripts.calls import Response
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
    instant: datetime | None = None
    message: Message | None = None

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


def history_before(reply: Reply) -> list[Node]:
    """Return the nodes that the model had before it when it gave ``reply``, in the order of the transcript."""
    first = reply.nodes[0]
    path = set(_ancestors(first))
    nodes = set(path)
    for earlier in {node.reply for node in path if node.reply is not None and node.reply is not reply}:
        if path.isdisjoint(earlier.nodes):
            continue  # told before, in another file: here it stands where its copy does
        nodes.update(earlier.nodes)
        answers = earlier.nodes[0].thread.answers
        for call in earlier.calls:
            told = [node for node in answers.get(call, ()) if node.order < first.order]
            if path.isdisjoint(told):
                nodes.update(told[-1:])
    return sorted((node for node in nodes if node.order < first.order), key=lambda node: node.order)


def messages_of(nodes: Iterable[Node]) -> list[Message]:
    """Return the messages of nodes; a response that several lines tell is one message, where its first line stands."""
    messages: list[Message] = []
    told: set[int] = set()
    for node in nodes:
        messages += node.messages
        if node.reply is not None and node.reply.message is not None and id(node.reply) not in told:
            told.add(id(node.reply))
            messages.append(node.reply.message)
    return messages


def latest_instant(nodes: Iterable[Node]) -> datetime | None:
    """Return the latest time that some records have."""
    return max((node.instant for node in nodes if node.instant is not None), default=None)


def last_call(nodes: Iterable[Node]) -> datetime | None:
    """Return the instant of the latest call among some records."""
    calls = [node.reply.instant for node in nodes if node.reply is not None and node.reply.instant is not None]
    return max(calls, default=None)


def _ancestors(node: Node) -> Iterator[Node]:
    current = node.parent
    while current is not None:
        yield current
        current = current.parent
