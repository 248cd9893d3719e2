"""What is held of one model call that several records tell, and what they tell together (docs/capture/gateway.md)."""

import hashlib
from dataclasses import dataclass, field
from typing import Final

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.message_events import MessageEvent, Said, instant_of
from sediment_assets.capture.model_spans import Span
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.capture.span_messages import CHOICE, INPUT, OUTPUT
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue, encode_stored

CONTENT_VARIABLE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
"""The environment variable with which instrumentations record content."""
EVENT_BYTES: Final = 400
MESSAGE_BYTES: Final = 1000
CALL_BYTES: Final = 1000
_ATTRIBUTE_BYTES: Final = 300
"""About what each costs beside its text."""
_UNSPELLED_BYTES: Final = 10 * CALL_BYTES
"""About what a value takes that JSON cannot spell."""
_NEVER_EMPTY: Final = ("system", "developer", "user")
"""Who always says something; tools and models may answer nothing."""


@dataclass(slots=True)
class HeldMessage:
    """A message, which is held once for all calls that tell it."""

    digest: bytes
    said: Said | RefusedError
    size: int
    told: int = 0


class HeldMessages:
    """The messages of all calls that are held, by what they say."""

    def __init__(self) -> None:
        self._held: dict[bytes, HeldMessage] = {}
        self.size = 0

    def add(self, event: MessageEvent) -> HeldMessage:
        """Hold the message of one more event."""
        said: Said | RefusedError
        try:
            said = event.said()
            text = encode_stored([event.name, said.message, said.index]).encode("ascii")
        except RefusedError as error:
            # Made anew: what was raised holds on to all that was looked at on the way.
            said, text = _again(error), event.place.encode("utf-8", "surrogatepass")
        except JsonError as error:
            said = RefusedError(Remainder.INVALID_VALUE, f"{event.name}: {error}")
            text = event.place.encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(text).digest()[:16]
        held = self._held.get(digest)
        if held is None:
            held = self._held[digest] = HeldMessage(digest, said, len(text) + MESSAGE_BYTES)
            self.size += held.size
        held.told += 1
        return held

    def remove(self, message: HeldMessage) -> None:
        """Hold it for one event less."""
        message.told -= 1
        if not message.told:
            del self._held[message.digest]
            self.size -= message.size


@dataclass(frozen=True, slots=True)
class HeldEvent:
    """One event of a call; ``number`` is its place among all of the run."""

    place: str
    time: int
    number: int
    message: HeldMessage

    @property
    def order(self) -> tuple[int, int]:
        """Where it stands: by its time, then by its place."""
        return self.time, self.number

    @property
    def batch(self) -> str:
        """The list or line that told it."""
        return self.place.rpartition("[")[0] or self.place


@dataclass(slots=True)
class Attributes:
    """What the events of a call say beside their messages; the earliest event counts, in whatever order they come."""

    _told: dict[str, tuple[tuple[int, int], JsonValue]] = field(default_factory=dict)

    def merge(self, told: JsonObject, order: tuple[int, int]) -> int:
        """Add those of one event; return about how many bytes that takes."""
        size = 0
        for key, value in told.items():
            known = self._told.get(key)
            if known is not None and known[0] <= order:
                continue
            size += _ATTRIBUTE_BYTES + size_of(value) if known is None else size_of(value) - size_of(known[1])
            self._told[key] = order, value
        return size

    def values(self) -> JsonObject:
        """Return them by name."""
        return {key: self._told[key][1] for key in sorted(self._told)}


@dataclass(slots=True)
class HeldCall:
    """What is known of one call."""

    events: list[HeldEvent] = field(default_factory=list)
    span: Span | None = None
    told_by: str = ""
    """The record that tells the whole call by itself."""
    attributes: Attributes = field(default_factory=Attributes)
    resource: Attributes = field(default_factory=Attributes)
    size: int = CALL_BYTES
    touched: int = 0
    """When it was told of last, counted in records of the run."""
    _first_told: dict[tuple[int, bytes], HeldEvent] = field(default_factory=dict)
    """By time and message, the event that told it first."""
    _has_answer: bool = False
    _has_input: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing of it seems to be missing."""
        return bool(self.told_by) or (self._has_answer and self._has_input and self.span is not None)

    def same_as(self, event: HeldEvent) -> HeldEvent | None:
        """Return an event that tells the same message at the same time, in another list: it was exported again."""
        # Those that tell it after the first one are of its list, or they were not added.
        first = self._first_told.get((event.time, event.message.digest)) if event.time else None
        return first if first is not None and first.batch != event.batch else None

    def add(self, event: HeldEvent, told: MessageEvent) -> None:
        """Add an event that is not held yet."""
        self.events.append(event)
        self._first_told.setdefault((event.time, event.message.digest), event)
        is_answer = told.name == CHOICE
        self._has_answer |= is_answer
        self._has_input |= not is_answer
        self.size += EVENT_BYTES + self.attributes.merge(told.rest(), event.order)
        self.size += self.resource.merge(told.resource, event.order)

    def places(self) -> list[str]:
        """Return the places of all that tell it, in their order."""
        events = [event.place for event in sorted(self.events, key=lambda event: event.order)]
        return [*events, *([self.span.place] if self.span else [])]


@dataclass(frozen=True, slots=True)
class ToldCall:
    """A call that is told as a whole: as one span, whose place is that of the answer."""

    span: Span
    others: tuple[str, ...]
    repeated: list[HeldEvent]
    """Events that tell again what another event of the call tells."""


def put_together(call: HeldCall) -> ToldCall:
    """Tell a call by its events and its span.

    :raises RefusedError: something is missing, or does not belong together.
    """
    said = [(event, _readable(event)) for event in sorted(call.events, key=lambda event: event.order)]
    _require_content([message for _, message in said])
    answers = [event for event, message in said if message.is_answer]
    sent = [(event, message) for event, message in said if not message.is_answer]
    has_failed = call.span is not None and call.span.has_failed
    _require_one_answer(answers, [event for event, _ in sent], has_failed=has_failed)
    again = _ids_in_blocks([message for _, message in sent])
    repeated = [event for event, message in sent if message.answers_one_of(again)]
    last = answers[0] if answers else sent[-1][0]
    told: JsonObject = {
        INPUT: [message.message for _, message in sent if not message.answers_one_of(again)],
        OUTPUT: [message.message for _, message in said if message.is_answer],
    }
    span = call.span
    whole = Span(
        last.place,
        span.name if span else "",
        call.attributes.values() | (span.attributes if span else {}) | told,
        span.start if span else None,
        (span.end if span else None) or instant_of(last.time),
        span.key if span else None,
        (span.resource if span else {}) or call.resource.values(),
        has_failed,
    )
    taken = {last.place, *(event.place for event in repeated)}
    return ToldCall(whole, tuple(place for place in call.places() if place not in taken), repeated)


def _readable(event: HeldEvent) -> Said:
    if isinstance(event.message.said, RefusedError):
        raise _again(event.message.said)
    return event.message.said


def _again(error: RefusedError) -> RefusedError:
    return RefusedError(error.reason, error.detail)


def size_of(value: JsonValue) -> int:
    """Return about how many bytes a value takes beside what every value does."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, dict | list):
        return 0
    try:
        return 2 * len(encode_stored(value))
    except JsonError:
        return _UNSPELLED_BYTES


def _require_content(said: list[Said]) -> None:
    """Refuse a call of which no content was recorded, or not all. Empty content is left out like what is not recorded;
    where the call has some, recording was on.
    """
    if not any(message.has_content for message in said):
        raise RefusedError(
            Remainder.NO_CONTENT, f"content was not recorded; {CONTENT_VARIABLE}=true records it where the agent runs"
        )
    for message in said:
        if message.role in _NEVER_EMPTY and not message.has_content:
            raise RefusedError(
                Remainder.NO_CONTENT, f"a message of role {message.role} without content, which other messages have"
            )


def _require_one_answer(answers: list[HeldEvent], sent: list[HeldEvent], *, has_failed: bool) -> None:
    if len(answers) > 1:
        indexes = [encode_stored(_readable(event).index) for event in answers]
        if len(set(indexes)) < len(indexes):
            raise _several_calls("several answers with one index")
        raise RefusedError(
            Remainder.INVALID_VALUE, f"{CHOICE}: {len(answers)} choices of one call, which are no single answer"
        )
    if not sent:
        raise RefusedError(Remainder.NO_CONTENT, f"{CHOICE}: an answer without the messages before it")
    if not answers and not has_failed:
        raise RefusedError(
            Remainder.NO_CONTENT, f"messages of a call without its {CHOICE}, and without a span that says it failed"
        )
    if answers and 0 < answers[0].time < max(event.time for event in sent):
        raise _several_calls("messages after the answer")


def _several_calls(what: str) -> RefusedError:
    return RefusedError(
        Remainder.INVALID_VALUE,
        f"{CHOICE}: {what} under one span: several calls that cannot be told apart; a TracerProvider gives each a span",
    )


def _ids_in_blocks(sent: list[Said]) -> set[str]:
    """Return the ids of results that messages of the user tell in Bedrock's or Anthropic's blocks.

    Bedrock's instrumentation tells each of them as an event of the tool, too.
    """
    ids: set[str] = set()
    for message in sent:
        content = message.message.get("content") if message.role == "user" else None
        for block in content if isinstance(content, list) else ():
            held = block.get("toolResult", block) if isinstance(block, dict) else None
            told = (held.get("toolUseId"), held.get("tool_use_id")) if isinstance(held, dict) else ()
            ids.update(name for name in told if isinstance(name, str))
    return ids
