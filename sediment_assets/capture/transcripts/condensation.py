"""What an OpenHands agent still has before it after a condensation: events forgotten, a summary in their place."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sediment_assets.capture.transcripts.conversation import Render
from sediment_assets.facts.json_values import JsonValue
from sediment_assets.facts.messages import Message, TextPart


@dataclass(slots=True)
class _Event:
    event_id: JsonValue
    messages: Sequence[Message] = ()
    key: str | None = None
    told: JsonValue = None


@dataclass(slots=True)
class View:
    """The events that are not forgotten; those without words are among them, since a summary's place counts them."""

    _events: list[_Event] = field(default_factory=list)

    def heard(self, event_id: JsonValue, messages: Sequence[Message] = ()) -> None:
        """Add an event that the model was told, or was not."""
        self._events.append(_Event(event_id, messages))

    def said(self, event_id: JsonValue, key: str, told: JsonValue) -> None:
        """Add an event that tells (a part of) a response."""
        self._events.append(_Event(event_id, key=key, told=told))

    def condense(
        self, is_forgotten: Callable[[JsonValue], bool], summary: JsonValue, offset: JsonValue, render: Render
    ) -> list[Message]:
        """Forget events, put the summary in, and return the history that is left."""
        self._events = [event for event in self._events if not is_forgotten(event.event_id)]
        if isinstance(summary, str) and type(offset) is int:
            self._events.insert(min(max(offset, 0), len(self._events)), _Event(None, [_summary(summary)]))
        history: list[Message] = []
        rendered: set[str] = set()
        for event in self._events:
            if event.key is None:
                history += event.messages
            elif event.key not in rendered:
                rendered.add(event.key)
                history += render([other.told for other in self._events if other.key == event.key], [])
        return history


def _summary(text: str) -> Message:
    return Message(role="user", parts=(TextPart(type="text", content=text),))
