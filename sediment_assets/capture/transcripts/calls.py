"""A model's response as an InferenceCall (facts.md §3.1): its id, its instant, and what it cannot hold.

Two rules every format shares:

* **Order.** A derivation orders a Session's calls by (instant, id), so a conversation must not depend on clocks that
  ran backwards, or on ids when several responses carry one instant. A call's instant is the latest one its transcript
  has written on the way to it; when that is not later than the call before, it is that call's plus a microsecond.
* **Identity.** The same response gives the same Fact id wherever it is told again: the provider's id where there is
  one, else its Session, its place in the conversation and its words.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from sediment_assets.capture.contract import CaptureOptions, Remainder, Translated, Untranslated
from sediment_assets.capture.ids import is_unique_id
from sediment_assets.capture.model_calls import ModelCall, content_digest, model_name, to_fact, tokens
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.messages import Message
from sediment_assets.facts.vocabulary import GatewayProvider

_TICK: Final = timedelta(microseconds=1)
_LAST: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(slots=True)
class Response:
    """What a transcript says about one response of a model, gathered over all its records."""

    places: list[str]
    output: list[Message]
    session_id: str | None
    model: JsonValue = None
    model_provider: JsonValue = None
    input_tokens: JsonValue = None
    output_tokens: JsonValue = None
    finish_reason: str | None = None
    response_id: str | None = None
    """The provider's id of the response."""
    item_id: str | None = None
    """The provider's id of a part of it, where the response itself has none."""
    raw: JsonObject = field(default_factory=dict)


class CallMaker:
    """Makes the InferenceCalls of one run of one format, and knows which responses it has made."""

    def __init__(self, transcript: str, options: CaptureOptions) -> None:
        self.options = options
        self._transcript = transcript
        self._made: dict[str, Response] = {}
        self._undated: dict[str | None, datetime] = {}

    def make(
        self, response: Response, history: Sequence[Message], instant: datetime | None
    ) -> Iterable[Translated | Untranslated]:
        """Give the response's call, or say for each of its records why there is none."""
        if response.session_id is None:
            return refuse(
                response.places, Remainder.NO_SESSION, "a response that names no Session; --set session=ID states it"
            )
        if instant is None:
            return refuse(
                response.places, Remainder.NO_INSTANT, "no time on the way to this response; --instant states one"
            )
        try:
            call = self._fact(response, response.session_id, history, instant)
        except RefusedError as refused:
            return refuse(response.places, refused.reason, refused.detail)
        told = self._made.setdefault(call.inference_call_id, response)
        if told is not response:
            other = told.session_id != response.session_id
            return refuse(response.places, Remainder.REPEATED, f"response of {'another' if other else 'this'} Session")
        # What made it is no longer needed, only that it was made, and in which Session.
        self._made[call.inference_call_id] = Response([], [], response.session_id)
        return [Translated(response.places[0], call)]

    def _fact(
        self, response: Response, session_id: str, history: Sequence[Message], instant: datetime
    ) -> InferenceCall:
        unique = [name for name in (response.response_id, response.item_id) if is_unique_id(name)]
        call = ModelCall(
            session_id=session_id,
            observed_at=instant,
            input_messages=list(history),
            output_messages=response.output,
            model_provider=model_name(response.model_provider),
            model=model_name(response.model),
            input_tokens=tokens(response.input_tokens, "usage.input_tokens"),
            output_tokens=tokens(response.output_tokens, "usage.output_tokens"),
            model_call_id=response.response_id if is_unique_id(response.response_id) else None,
            identity=unique[0] if unique else _told_digest(response, len(history)),
            raw={"transcript": self._transcript, **response.raw},
        )
        return to_fact(call, GatewayProvider.UNKNOWN, f"transcripts/{self._transcript}", self.options)

    def undated(self, session_id: str | None) -> datetime | None:
        """Return the instant of a response without a time: the operator's, a microsecond later each time."""
        instant = after(self.options.instant, self._undated.get(session_id))
        if instant is not None:
            self._undated[session_id] = instant
        return instant


def _told_digest(response: Response, position: int) -> str:
    """Return what identifies a response that nothing names: its Session, its place there and its words."""
    words = [message.model_dump() for message in response.output]
    return content_digest(words, response.session_id or "", response.response_id or "", str(position))


def refuse(places: Iterable[str], reason: Remainder, detail: str) -> list[Untranslated]:
    """Say the same of several records."""
    return [Untranslated(place, reason, detail) for place in places]


def instant_of(value: JsonValue) -> datetime | None:
    """Read a record's time; None when it has none, or one without an offset, which names no instant."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    try:
        return parse_instant(value)
    except ValueError:
        return None


@dataclass(slots=True)
class Timeline:
    """The instants along one conversation: never backwards, never two calls at once."""

    latest: datetime | None = None
    _last_call: datetime | None = None

    def saw(self, value: JsonValue) -> None:
        """Note the time of a record on the way."""
        instant = instant_of(value)
        if instant is not None and (self.latest is None or instant > self.latest):
            self.latest = instant

    def call_at(self, instant: datetime | None) -> datetime | None:
        """Return the instant of the next call, told at ``instant``."""
        self._last_call = after(instant, self._last_call) or self._last_call
        return self._last_call if instant is not None else None


def after(instant: datetime | None, last_call: datetime | None) -> datetime | None:
    """Return ``instant``, or the smallest one behind the call before when that is later."""
    if instant is None or last_call is None or instant > last_call:
        return instant
    return last_call + _TICK if last_call <= _LAST - _TICK else last_call
