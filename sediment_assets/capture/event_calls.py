"""Model calls whose messages are log records of their own: the events of one span, and the span, become one call.

They may come in any order, from several lines and files. What came is held until the input ends, equal messages once:
a history that is told again with each call costs little. Beyond ``HELD`` bytes calls end before that: first those that
seem to be whole, then those that nothing was told of for longest.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from sediment_assets.capture.contract import CaptureOptions, Remainder, Translated, Untranslated
from sediment_assets.capture.held_calls import CALL_BYTES, HeldCall, HeldEvent, HeldMessages, put_together, size_of
from sediment_assets.capture.message_events import MessageEvent
from sediment_assets.capture.model_calls import Clock, left_out_items
from sediment_assets.capture.model_spans import BareSpanError, Span
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.capture.span_calls import SpanCalls

HELD: Final = 128 * 2**20
"""About the bytes of calls that are held while more of them may come."""
_Outcome = Translated | Untranslated


class EventCalls:
    """The calls of one run that their events tell."""

    def __init__(self, spans: SpanCalls, options: CaptureOptions, limit: int = HELD) -> None:
        self._spans = spans
        self._clock = Clock(options)
        self._limit = limit
        self._messages = HeldMessages()
        self._open: OrderedDict[str, HeldCall] = OrderedDict()
        self._whole: OrderedDict[str, HeldCall] = OrderedDict()
        self._size = 0
        self._events = self._touches = 0
        self._ended: set[bytes] = set()
        """Calls that ended before the input did, for want of memory; about 100 bytes each."""

    @property
    def size(self) -> int:
        """About the bytes that are held."""
        return self._size + self._messages.size

    def add_event(self, told: MessageEvent) -> Iterator[_Outcome]:
        """Take an event in; yield what it repeats, and calls that end for it."""
        if told.key is None:
            detail = "an event with one message of a model call, without the ids of the call's span"
            yield Untranslated(told.place, Remainder.NO_CONTENT, detail)
            return
        if self._has_ended(told.key):
            yield self._late(told.place)
            return
        call = self._take(told.key)
        if call.told_by:
            yield Untranslated(told.place, Remainder.REPEATED, f"a message of the call at {call.told_by}")
        else:
            self._events += 1
            event = HeldEvent(told.place, told.time, self._events, self._messages.add(told))
            if first := call.same_as(event):
                self._messages.remove(event.message)
                yield Untranslated(told.place, Remainder.REPEATED, f"the same event as {first.place}")
            else:
                call.add(event, told)
        self._put_back(told.key, call)
        yield from self._shrink()

    def add_span(self, span: Span, refusal: BareSpanError) -> Iterator[_Outcome]:
        """Take in a span of a model call that tells no messages itself; events of its own may."""
        if span.key is None or span.start is None:
            yield refusal.at(span.place)
            return
        if self._has_ended(span.key):
            yield self._late(span.place)
            return
        call = self._take(span.key)
        if call.told_by:
            yield Untranslated(span.place, Remainder.REPEATED, f"the span of the call at {call.told_by}")
        elif call.span is not None:
            yield _second_span(span, call.span)
        else:
            call.span = span
            call.size += CALL_BYTES + size_of(span.attributes) + size_of(span.resource)
        self._put_back(span.key, call)
        yield from self._shrink()

    def tell(self, span: Span) -> Iterator[_Outcome]:
        """Take notice of a span or log record that tells a whole call by itself: what else tells it is a repetition."""
        if span.key is None or self._has_ended(span.key):
            return
        call = self._take(span.key)
        for place in call.places():
            yield Untranslated(place, Remainder.REPEATED, f"a part of the call at {span.place}")
        self._forget(call)
        self._put_back(span.key, HeldCall(told_by=call.told_by or span.place))
        yield from self._shrink()

    def finish(self) -> Iterator[_Outcome]:
        """End the calls that are held, in the order in which they were told of last."""
        calls = {**self._whole, **self._open}
        self._whole.clear()
        self._open.clear()
        # Those that are whole and those that are not are one order again.
        for key, call in sorted(calls.items(), key=lambda item: item[1].touched):
            self._size -= call.size
            yield from self._end(key, call)

    @property
    def _short(self) -> str:
        return f"more than {self._limit >> 20} MiB of calls were held; take fewer files at once"

    def _has_ended(self, key: str) -> bool:
        return bool(self._ended) and _digest(key) in self._ended

    def _late(self, place: str) -> Untranslated:
        return Untranslated(place, Remainder.NO_CONTENT, f"a part of a call that ended before it came: {self._short}")

    def _take(self, key: str) -> HeldCall:
        call = self._open.pop(key, None) or self._whole.pop(key, None)
        if call is None:
            return HeldCall()
        self._size -= call.size
        return call

    def _put_back(self, key: str, call: HeldCall) -> None:
        self._size += call.size
        self._touches += 1
        call.touched = self._touches
        (self._whole if call.is_whole else self._open)[key] = call

    def _shrink(self) -> Iterator[_Outcome]:
        while self.size > self._limit and (self._open or self._whole):
            key, call = (self._whole or self._open).popitem(last=False)
            self._size -= call.size
            self._ended.add(_digest(key))
            yield from self._end(key, call, f"; it ended early: {self._short}")

    def _end(self, key: str, call: HeldCall, when: str = "") -> Iterator[_Outcome]:
        """Tell a call, or why each of its parts is none."""
        left_out: list[str] = []
        if call.told_by:
            return
        try:
            if not call.events:
                raise BareSpanError
            told = put_together(call)
            fact = self._spans.put_together(told.span, key, self._clock, left_out)
        except RefusedError as error:
            for place in call.places():
                yield Untranslated(place, error.reason, error.detail + when)
        else:
            yield Translated(told.span.place, fact, told.others)
            for event in told.repeated:
                detail = "a tool's result that the message of the user tells as well"
                yield Untranslated(event.place, Remainder.REPEATED, detail)
            yield from left_out_items(told.span.place, left_out)
        finally:
            self._forget(call)

    def _forget(self, call: HeldCall) -> None:
        for event in call.events:
            self._messages.remove(event.message)


def _digest(key: str) -> bytes:
    return bytes.fromhex(key.replace("/", ""))


def _second_span(span: Span, first: Span) -> Untranslated:
    """Say that a span was exported again, or that two spans have the same ids."""
    if (span.attributes, span.start, span.end) == (first.attributes, first.start, first.end):
        return Untranslated(span.place, Remainder.REPEATED, f"the same span as {first.place}")
    return Untranslated(span.place, Remainder.INVALID_VALUE, f"ids: contradicts {first.place}: another span with them")
