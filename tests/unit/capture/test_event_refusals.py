"""Message events that make no call: each is refused or counted, and so is what memory was too short for."""

import json
from typing import Any

import pytest

from sediment_assets.capture.contract import Remainder
from tests.unit.capture.event_cases import (
    GO,
    call_events,
    choice,
    event,
    facts,
    logs,
    refusals,
    refused,
    sent,
    span,
    traces,
    translate,
    translate_within,
)

# --- what is no call

ALONE = event("user.message", {"content": "Go."}, traceId="", spanId="")
LONELY = "an event with one message of a model call, without the ids of the call's span"
SECOND = choice(at=600, index=1)
AGAIN = choice(at=600)
LATE = event("user.message", {"content": "More."}, at=700)
NO_VARIABLE = (
    "content was not recorded; OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true records it where the agent runs"
)
SAME_INDEX = "gen_ai.choice: several answers with one index"
SEVERAL = "under one span: several calls that cannot be told apart; a TracerProvider gives each a span"


@pytest.mark.parametrize(
    ("values", "reason", "detail"),
    [
        ([logs(ALONE)], Remainder.NO_CONTENT, LONELY),
        ([traces(span())], Remainder.NO_CONTENT, "a span of a model call without messages"),
        (
            [logs(*sent(*GO)), traces(span())],
            Remainder.NO_CONTENT,
            "messages of a call without its gen_ai.choice, and without a span that says it failed",
        ),
        ([logs(choice())], Remainder.NO_CONTENT, "gen_ai.choice: an answer without the messages before it"),
        (
            [logs(*call_events(), SECOND)],
            Remainder.INVALID_VALUE,
            "gen_ai.choice: 2 choices of one call, which are no single answer",
        ),
        ([logs(*call_events(), AGAIN)], Remainder.INVALID_VALUE, f"{SAME_INDEX} {SEVERAL}"),
        ([logs(*call_events(), LATE)], Remainder.INVALID_VALUE, f"gen_ai.choice: messages after the answer {SEVERAL}"),
        ([logs(*sent(("user", None)), choice({"role": "assistant"}))], Remainder.NO_CONTENT, NO_VARIABLE),
        ([logs(*sent(("user", {"content": "<elided>"})), choice({}))], Remainder.NO_CONTENT, NO_VARIABLE),
        (
            [logs(*sent(("assistant", {"tool_calls": [{"id": "t1", "function": {"name": "run"}}]})), choice({}))],
            Remainder.NO_CONTENT,
            NO_VARIABLE,
        ),
        (
            [logs(*sent(("user", None)), choice())],
            Remainder.NO_CONTENT,
            "a message of role user without content, which other messages have",
        ),
        (
            [logs(event("user.message", None) | {"body": {"stringValue": "Go."}}, choice())],
            Remainder.INVALID_VALUE,
            "gen_ai.user.message: body: expected a message, got text",
        ),
        (
            [logs(*sent(("user", {"content": {"parts": [{"function_call": {"name": "x"}}]}})), choice())],
            Remainder.INVALID_VALUE,
            "gen_ai.user.message: content: expected text or blocks, got an object",
        ),
        (
            [logs(*sent(*GO, ("user", {"content": {"tools": [{"name": "edit"}]}})), choice())],
            Remainder.INVALID_VALUE,
            "gen_ai.user.message: content: expected text or blocks, got an object",
        ),
        (
            [logs(*call_events(), event("None.message", {"content": "x"}, at=3))],
            Remainder.INVALID_VALUE,
            "gen_ai.None.message: name: expected a role, got null",
        ),
        (
            [logs(*call_events(), event("function.message", {"content": "x"}, at=3))],
            Remainder.INVALID_VALUE,
            "gen_ai.input.messages[2].tool_call_id: expected a tool call's id, got null",
        ),
        (
            [logs(*sent(*GO), choice({"tool_calls": [{"function": {"name": "run", "arguments": "{}"}}]}))],
            Remainder.INVALID_VALUE,
            "gen_ai.output.messages[0].tool_calls[0].id: expected a tool call's id, got null",
        ),
    ],
)  # fmt: skip
def test_what_is_no_call_is_refused_record_by_record(values: list[Any], reason: Remainder, detail: str):
    records = sum(json.dumps(value).count('"spanId"') for value in values)
    assert refused(*values) == (reason, detail)
    assert len(translate(*values)) == records


# --- bounded memory


NUMBERS = range(40)
SHORT = "more than 0 MiB of calls were held; take fewer files at once"


def test_whole_calls_end_first_when_memory_is_short():
    values = [logs(*sent(*GO, call=99)), *(v for n in NUMBERS for v in (logs(*call_events(n)), traces(span(n))))]
    values += [logs(choice(call=99)), traces(span(99))]
    outcomes = translate_within(40_000, *values)
    assert refusals(outcomes) == []
    assert {fact.model for fact in facts(outcomes)} == {"gpt-x-2026"}
    assert len(facts(outcomes)) == len(NUMBERS) + 1


def test_calls_that_end_before_their_time_are_counted_and_never_a_second_call():
    values = [*(logs(*call_events(n)) for n in NUMBERS), *(traces(span(n)) for n in NUMBERS)]
    outcomes = translate_within(40_000, *values)
    told = facts(outcomes)
    assert len({fact.inference_call_id for fact in told}) == len(told) == len(NUMBERS)
    early = [fact for fact in told if fact.model is None]
    assert 0 < len(early) < len(told)
    assert len(refusals(outcomes)) == len(early)
    late = f"a part of a call that ended before it came: {SHORT}"
    assert set(refusals(outcomes)) == {(Remainder.NO_CONTENT, late)}


def test_messages_without_an_answer_say_that_memory_was_short():
    outcomes = translate_within(40_000, *(logs(*sent(*GO, call=n)) for n in NUMBERS))
    assert len(outcomes) == 2 * len(NUMBERS)
    assert 0 < sum(detail.endswith(f"; it ended early: {SHORT}") for _, detail in refusals(outcomes)) < len(outcomes)


def test_a_history_that_every_call_tells_again_is_held_once():
    long = "x" * 30_000
    values = [logs(*sent(("user", {"content": long}), call=n), choice(call=n)) for n in NUMBERS]
    outcomes = translate_within(200_000, *values, *(traces(span(n)) for n in NUMBERS))
    assert {fact.model for fact in facts(outcomes)} == {"gpt-x-2026"}
