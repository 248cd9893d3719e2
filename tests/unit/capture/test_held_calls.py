"""What is held of a call that several records tell: no more than is counted, and found again without a search."""

import weakref
from typing import Any

import pytest

from sediment_assets.capture.held_calls import HeldCall, HeldEvent, HeldMessages, put_together
from sediment_assets.capture.message_events import MessageEvent
from sediment_assets.capture.record_fields import RefusedError

KEY = f"{1:032x}/{1:016x}"
LARGE = 100_000


class Body(dict[str, Any]):
    """A body that can be watched."""


class Counted(int):
    """A time that counts how often it is compared."""

    compared = 0
    __hash__ = int.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return int.__eq__(self, other)


def told(body: Any, *, number: int = 0, time: int = 1, attributes: dict[str, Any] | None = None) -> MessageEvent:
    return MessageEvent(f"f:1.logRecords[{number}]", "gen_ai.user.message", KEY, time, body, attributes or {}, {})


def hold(call: HeldCall, messages: HeldMessages, event: MessageEvent) -> HeldEvent:
    held = HeldEvent(event.place, event.time, len(call.events), messages.add(event))
    if call.same_as(held) is None:
        call.add(held, event)
    return held


def test_what_is_no_message_keeps_nothing_of_what_was_told():
    body = Body(content={"declarations": ["x"]})
    watched = weakref.ref(body)
    held = HeldMessages().add(told(body))
    assert isinstance(held.said, RefusedError)
    del body
    assert watched() is None


def test_saying_why_there_is_no_call_keeps_nothing_of_it():
    call = HeldCall()
    said = hold(call, HeldMessages(), told("no message")).message.said
    assert isinstance(said, RefusedError)
    with pytest.raises(RefusedError, match="body"):
        put_together(call)
    assert (said.__traceback__, said.__context__) == (None, None)


@pytest.mark.parametrize("value", ["x" * LARGE, ["x"] * LARGE, {"tools": [{"name": "x" * LARGE}]}])
def test_what_events_say_beside_their_messages_is_counted_whatever_its_shape(value: Any):
    call, messages = HeldCall(), HeldMessages()
    hold(call, messages, told({"content": "Go."}, time=2, attributes={"tools": ""}))
    assert call.size < LARGE
    # The earliest event counts, and takes the place of what was said.
    hold(call, messages, told({"content": "On."}, time=1, attributes={"tools": value}))
    assert call.size > LARGE


def test_an_event_is_not_compared_with_every_other_of_its_time():
    call, messages = HeldCall(), HeldMessages()
    Counted.compared = 0
    for number in range(300):
        hold(call, messages, told({"content": f"{number}"}, number=number, time=Counted(5)))
    assert len(call.events) == 300
    assert Counted.compared <= 2 * 300
