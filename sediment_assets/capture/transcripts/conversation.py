"""A conversation that a transcript tells from beginning to end: what was heard, what the model said, call by call."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sediment_assets.capture.contract import Remainder, Translated, Untranslated
from sediment_assets.capture.model_calls import left_out_items
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.capture.transcripts.calls import CallMaker, Response, Timeline
from sediment_assets.facts.json_values import JsonValue
from sediment_assets.facts.messages import Message

Outcome = Translated | Untranslated
Render = Callable[[list[JsonValue], list[str]], list[Message]]
"""Makes messages of what records tell of one response, and notes what no part can hold; raises RefusedError."""


@dataclass(slots=True)
class _Said:
    """A response with its history; ``key`` is the name the transcript gives it."""

    response: Response
    before: list[Message]
    heard: list[str]
    key: str | None
    told: list[JsonValue] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    left_out: int = 0
    sent: list[Message] | None = None
    latest: datetime | None = None
    is_open: bool = True


class Conversation:
    """One history that grows; a response is given when the next begins, so that later records can still add to it."""

    def __init__(self, maker: CallMaker, session_id: str | None, render: Render) -> None:
        self.session_id = session_id
        self.history: list[Message] = []
        self.timeline = Timeline()
        self._maker = maker
        self._render = render
        self._heard: list[str] = []
        self._last: _Said | None = None

    def hear(self, place: str, messages: Sequence[Message]) -> None:
        """Add messages that the model was given."""
        self.end_response()
        self.history += messages
        self._heard.append(place)

    def say(self, place: str, told: JsonValue, *, key: str | None = None) -> Iterator[Outcome]:
        """Add to the response that is open, or begin one; then the one before is given.

        ``key`` names the response, where the transcript does: what has one key is one response, whatever was heard in
        between.

        :raises RefusedError: what is told cannot be rendered; the response stays what it was.
        """
        last = self._last
        left_out: list[str] = []
        if last is not None and (last.is_open if key is None or last.key is None else last.key == key):
            messages = self._render([*last.told, told], left_out)
        else:
            messages = self._render([told], left_out)
            yield from self.give()
            last = self._last = _Said(Response([], [], self.session_id), list(self.history), self._heard, key)
            self._heard = []
        begun = len(last.before)
        self.history[begun : begun + len(last.messages)] = messages
        last.told.append(told)
        last.messages = messages
        last.response.places.append(place)
        last.latest = self.timeline.latest
        yield from left_out_items(place, left_out[last.left_out :])
        last.left_out = len(left_out)

    @property
    def response(self) -> Response | None:
        """The last response, open or not, as long as it was not given."""
        return self._last.response if self._last is not None else None

    @property
    def is_open(self) -> bool:
        """Whether the last response may go on."""
        return self._last is not None and self._last.is_open

    def end_response(self) -> None:
        """Say that the last response is complete; records may still say more about it."""
        if self._last is not None:
            self._last.is_open = False

    def was_sent(self, messages: list[Message]) -> None:
        """Say what exactly the last response was given to read, where a transcript keeps it."""
        if self._last is not None:
            self._last.sent = messages

    def begin_again(self, place: str, history: Sequence[Message]) -> None:
        """Replace the history, as compaction does: what comes next continues nothing."""
        self.end_response()
        if self._last is not None:
            self._last.key = ""  # nobody's: what is said from here on begins a response
        self.history = list(history)
        self._heard.append(place)

    def give(self) -> Iterator[Outcome]:
        """Give the call of the last response."""
        last, self._last = self._last, None
        if last is None:
            return
        instant = self.timeline.call_at(last.latest or self._maker.undated(self.session_id))
        reason = last.response.finish_reason
        last.response.output = list(last.messages)
        if reason is not None and last.messages:
            last.response.output[-1] = last.messages[-1].model_copy(update={"finish_reason": reason})
        is_told = False
        for outcome in self._maker.make(last.response, last.before if last.sent is None else last.sent, instant):
            is_told = is_told or isinstance(outcome, Translated) or outcome.reason is Remainder.REPEATED
            yield outcome
        if not is_told:
            self._heard = last.heard + self._heard

    def finish(self) -> Iterator[Outcome]:
        """Give the last call, and say which messages no response followed."""
        yield from self.give()
        if self.session_id is None:
            refused = RefusedError(Remainder.NO_SESSION, "a message that names no Session")
        else:
            refused = RefusedError(Remainder.NO_EVIDENCE, "a message that no response follows")
        for place in self._heard:
            yield refused.at(place)
        self._heard = []
