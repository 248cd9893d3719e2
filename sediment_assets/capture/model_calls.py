"""One captured model call as an InferenceCall (facts.md §3.1): what every source of calls shares.

Identity: the provider's id of the response where it is unlike any other, else what the source knows a call by, else the
record's content. One record decides alone, so the order of records does not matter, and the same call told twice is one
Fact.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from pydantic import ValidationError

from sediment_assets.capture.contract import CaptureOptions, Remainder, Untranslated
from sediment_assets.capture.ids import fact_id, is_unique_id
from sediment_assets.capture.record_fields import RefusedError, invalid, invalid_fact
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue, encode_stored
from sediment_assets.facts.messages import Message
from sediment_assets.facts.scalars import MAX_NAT63
from sediment_assets.facts.vocabulary import GatewayProvider

OFFSET_SETTING: Final = "utc-offset"
"""``--set utc-offset=+02:00``: the zone of times that are written without one."""
_TICK: Final = timedelta(microseconds=1)


@dataclass(slots=True)
class ModelCall:
    """What a record says about one call; absent is None."""

    session_id: str
    observed_at: datetime
    input_messages: list[Message]
    output_messages: list[Message]
    user_id: str | None = None
    model_provider: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    duration_ms: int | None = None
    model_call_id: str | None = None
    """The response's id; a short one is not stored, for a store takes calls that share it for one."""
    identity: str | None = None
    """What tells the call from any other where its response's id does not."""
    span: str | None = None
    """The ids of its span where several records tell the call: its identity, be its response's id among them or not."""
    raw: JsonObject = field(default_factory=dict)
    content: JsonValue = None
    """The whole record, which identifies a call that names itself nowhere."""


def to_fact(call: ModelCall, gateway: GatewayProvider, source: str, options: CaptureOptions) -> InferenceCall:
    """Make the Fact.

    :raises RefusedError: values that a Fact cannot hold, by the names of its fields.
    """
    model_call_id = call.model_call_id if is_unique_id(call.model_call_id) else None
    identity = model_call_id or call.identity
    if call.span:
        words = ("span", call.span)
    else:
        words = ("id", identity) if identity else ("content", content_digest(call.content, call.session_id))
    try:
        fact = InferenceCall(
            inference_call_id=fact_id(options.org_id, source, *words),
            org_id=options.org_id,
            session_id=call.session_id,
            user_id=call.user_id,
            gateway_provider=gateway,
            model_provider=call.model_provider,
            model=call.model,
            input_messages=tuple(call.input_messages),
            output_messages=tuple(call.output_messages),
            input_tokens=call.input_tokens,
            output_tokens=call.output_tokens,
            duration_ms=call.duration_ms,
            model_call_id=model_call_id,
            observed_at=call.observed_at,
        )
    except ValidationError as error:
        raise invalid_fact(error) from None
    # What a record says is JSON, for it was parsed; looking through all of it again would cost as much as parsing.
    return fact.model_copy(update={"raw": call.raw})


def content_digest(value: JsonValue, *words: str) -> str:
    """Return a digest that identifies a record which names itself nowhere.

    :raises RefusedError: the value has no exact spelling.
    """
    try:
        text = encode_stored([value, *words])
    except JsonError as error:
        raise RefusedError(Remainder.INVALID_VALUE, str(error)) from None
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def left_out_items(place: str, left_out: list[str]) -> Iterator[Untranslated]:
    """Yield what messages held and no part can hold, as parts of a record that gave no Fact."""
    for detail in left_out:
        yield Untranslated(place, Remainder.INVALID_VALUE, detail)


def tokens(value: JsonValue, where: str) -> int | None:
    """Return a token count; None when absent.

    :raises RefusedError: it is no whole number of tokens.
    """
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_NAT63:
        raise invalid(where, "a number of tokens", value)
    return value


def model_name(*values: JsonValue) -> str | None:
    """Return the first value that is text and not blank."""
    return next((value for value in values if isinstance(value, str) and value.strip()), None)


def call_instant(value: JsonValue, where: str, options: CaptureOptions) -> datetime | None:
    """Read a time in any spelling of facts.md §7; None when absent.

    One without an offset needs the offset that the operator states; where an instant is stated instead, it is absent.

    :raises RefusedError: no time, or one without an offset.
    """
    if value is None or value == "" or value == "None":
        return None
    if isinstance(value, bool):
        raise invalid(where, "a time", value)
    try:
        return parse_instant(value)
    except ValueError:
        pass
    offset = options.settings.get(OFFSET_SETTING)
    if isinstance(value, str) and _is_local(value):
        if offset is None and options.instant is not None:
            return None
        if offset is None:
            raise RefusedError(
                Remainder.NO_INSTANT, f"{where}: a time without an offset; --set {OFFSET_SETTING}=+00:00 states it"
            )
        try:
            return parse_instant(value.strip() + offset)
        except ValueError:
            pass
    raise invalid(where, "a time", value)


def _is_local(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.strip()).tzinfo is None
    except ValueError:
        return False


class Clock:
    """The instants of records that carry none, and the order of those that carry whole seconds only.

    One file's records keep their order: each is a microsecond later than the one before.
    """

    def __init__(self, options: CaptureOptions) -> None:
        self._stated = options.instant
        self._index = -1

    def next_record(self) -> None:
        """Go on to the next record of the file."""
        self._index += 1

    def coarse(self, instant: datetime | None) -> datetime:
        """Return when a record happened that says so to the second, or not at all.

        :raises RefusedError: it does not say so, and the operator stated no instant.
        """
        instant = instant or self._stated
        if instant is None:
            raise RefusedError(Remainder.NO_INSTANT, "no time in the record; --instant states one")
        try:
            return instant + self._index * _TICK if instant.microsecond == 0 or instant == self._stated else instant
        except OverflowError:
            raise RefusedError(Remainder.INVALID_VALUE, "a time beyond the year 9999") from None


def milliseconds(start: datetime | None, end: datetime | None) -> int | None:
    """Return a duration; None when an end is missing or the times run backwards."""
    if start is None or end is None or end < start:
        return None
    return round((end - start) / timedelta(milliseconds=1))
