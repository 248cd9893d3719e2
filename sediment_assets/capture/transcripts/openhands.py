"""OpenHands: event lists, downloads, evaluation rows (``output.jsonl``) and event logs of its SDK.

The events of a conversation are its records, or are held by one. What both generations of events share is here; what
each event says is in ``openhands_events.py`` and ``openhands_sdk.py``. Documentation: docs/capture/transcripts.md.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Final

from sediment_assets.capture.contract import CaptureOptions, Record, Remainder, Untranslated
from sediment_assets.capture.model_calls import OFFSET_SETTING
from sediment_assets.capture.record_fields import RefusedError, unknown_shape
from sediment_assets.capture.transcripts.calls import CallMaker
from sediment_assets.capture.transcripts.conversation import Outcome
from sediment_assets.capture.transcripts.openhands_events import EventReader
from sediment_assets.capture.transcripts.openhands_sdk import SdkReader
from sediment_assets.capture.transcripts.others import described
from sediment_assets.capture.transcripts.sessions import at_path, named_session
from sediment_assets.facts.json_values import JsonObject, JsonValue

HOLDERS: Final = ("history", "trajectory", "events", "items")
"""Where a record that is no event holds its events."""
_SESSION_KEYS: Final = ("session_id", "conversation_id", "sid", "instance_id")


class OpenHands:
    """Translates the OpenHands documents of one run."""

    def __init__(self, options: CaptureOptions) -> None:
        self._options = options
        self._maker = CallMaker("openhands", options)
        self._single: dict[str, list[Record]] = {}
        self._states: dict[str, JsonObject] = {}

    def read(self, records: Iterator[Record]) -> Iterator[Outcome]:
        """Translate one document; one that is a single event waits for the others of its directory."""
        seen = list(islice(records, 2))
        state = seen[0].value if len(seen) == 1 else None
        if isinstance(state, dict) and is_state(state):
            self._states[seen[0].place.rpartition("/")[0]] = state
            yield Untranslated(seen[0].place, Remainder.NO_EVIDENCE, "the state of a conversation")
            return
        if len(seen) == 1 and events_of(seen[0].value) is None:
            self._single.setdefault(seen[0].place.rpartition("/")[0], []).append(seen[0])
            return
        bare: _Reader | None = None
        for record in chain(seen, records):
            events = events_of(record.value)
            if events is None:
                bare = bare or _Reader(self._maker, self._options, {})
                yield from bare.read(record.place, record.value)
                continue
            if not events[1]:
                yield Untranslated(record.place, Remainder.NO_CONTENT, f"{events[0]}: no events in the record")
            holder = record.value if isinstance(record.value, dict) else {}
            reader = _Reader(self._maker, self._options, holder)
            for place, event in _flat(record.place, *events):
                yield from reader.read(place, event)
            yield from reader.finish()
        if bare is not None:
            yield from bare.finish()

    def finish(self) -> Iterator[Outcome]:
        """Translate conversations that are kept as one file per event."""
        for directory, records in self._single.items():
            # A conversation's state stands beside the directory of its events.
            state = self._states.get(directory.rpartition("/")[0], {})
            model = {"llm_config": {"model": at_path(state, "agent.llm.model")}}
            reader = _Reader(self._maker, self._options, {"conversation_id": state.get("id"), "metadata": model})
            for record in _in_order(records):
                yield from reader.read(record.place, record.value)
            yield from reader.finish()


class _Reader:
    """Reads the events of one conversation, of either generation."""

    def __init__(self, maker: CallMaker, options: CaptureOptions, holder: JsonObject) -> None:
        self._options = options
        self._offset = options.settings.get(OFFSET_SETTING, "")
        self._maker = maker
        self._session_id = named_session(holder, options, _SESSION_KEYS)
        self._configured = at_path(holder, "metadata.llm_config.model")
        self._reader: EventReader | SdkReader | None = None

    def read(self, place: str, event: JsonValue) -> Iterator[Outcome]:
        try:
            if not isinstance(event, dict):
                raise unknown_shape(described(event))
            if "history" in event and "instance_id" in event:
                raise RefusedError(Remainder.NO_CONTENT, "history: the events are missing")
            reader = self._reader_of(event)
            stamp = event.get("timestamp")
            if isinstance(stamp, str) and self._offset:
                reader.conversation.timeline.saw(stamp + self._offset)
            reader.conversation.timeline.saw(stamp)
            yield from reader.read(place, event)
        except RefusedError as refused:
            yield refused.at(place)

    def finish(self) -> Iterator[Outcome]:
        if self._reader is not None:
            yield from self._reader.conversation.finish()

    def _reader_of(self, event: JsonObject) -> EventReader | SdkReader:
        if self._reader is None:
            if isinstance(event.get("kind"), str):
                self._reader = SdkReader(self._maker, self._session_id, self._configured)
            else:
                self._reader = EventReader(self._maker, self._session_id, self._configured)
        return self._reader


def _in_order(records: list[Record]) -> list[Record]:
    """Order single events by their numbers, where they have some: files named by them come as 10.json, 2.json."""
    numbered = [(number, record) for record in records if type(number := at_path(record.value, "id")) is int]
    if len(numbered) < len(records):
        return records
    return [record for _, record in sorted(numbered, key=lambda one: one[0])]


def is_state(value: JsonObject) -> bool:
    """Whether a record is what the SDK keeps of a conversation beside its events."""
    told = isinstance(value.get("agent"), dict) and {"id", "workspace"} <= value.keys()
    return told and ("execution_status" in value or "agent_status" in value)


def events_of(value: JsonValue) -> tuple[str, list[JsonValue]] | None:
    """Return the events that one record holds, and where; None when the record is an event itself."""
    if not isinstance(value, dict):
        return None
    for key in HOLDERS:
        held = value.get(key)
        if isinstance(held, list):
            return key, held
    return None


def _flat(place: str, key: str, events: list[JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    """Yield events with their places; the oldest evaluation rows hold pairs of an action and its observation."""
    for index, event in enumerate(events):
        if isinstance(event, list):
            for position, one in enumerate(event):
                yield f"{place}.{key}[{index}][{position}]", one
        else:
            yield f"{place}.{key}[{index}]", event
