"""Model calls whose messages are log records of their own: one span is one call, in whatever order its records come."""

import json
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.capture.contract import CaptureOptions, Remainder, Translated
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import equal
from tests.builders import ORG, plain_message, tool_call, tool_response
from tests.gateway_payloads import Json, function_call
from tests.unit.capture.event_cases import (
    GO,
    STATED,
    TOOLS,
    TRACE,
    call_events,
    choice,
    event,
    facts,
    failed_span,
    ids,
    logs,
    only,
    pairs,
    refusals,
    refused,
    sent,
    span,
    traces,
    translate,
)
from tests.unit.capture.exchange_cases import INPUT, OUTPUT

FIXTURES = Path(__file__).parents[2] / "fixtures" / "capture" / "genai_events"


def read(name: str) -> Iterator[Any]:
    for kind in ("logs", "traces"):
        yield json.loads((FIXTURES / f"{name}.{kind}.jsonl").read_text())


# --- what an instrumentation wrote


@pytest.mark.parametrize(("name", "refused"), [("recorded", 10), ("streamed", 0)])
def test_a_real_export_of_logs_and_spans(name: str, refused: int):
    outcomes = translate(*read(name))
    first, second, third, failed = facts(outcomes)
    tools = [tool_call("call_1", "edit", {"path": "a.py"}), tool_call("call_2", "run", {})]
    began = [plain_message("system", "Be brief."), plain_message("user", "Go.")]
    results = [
        plain_message("tool", tool_response("call_1", "ok")),
        plain_message("tool", tool_response("call_2", None)),
    ]
    assert equal([m.model_dump() for m in first.input_messages], began)
    assert equal(
        [m.model_dump() for m in first.output_messages],
        [plain_message("assistant", "Looking.", *tools, finish_reason="tool_calls")],
    )
    # The instrumentation drops the words of a message that calls tools from the history.
    assert equal(
        [m.model_dump() for m in second.input_messages], [*began, plain_message("assistant", *tools), *results]
    )
    assert [len(fact.input_messages) for fact in (third, failed)] == [7, 7]
    assert (failed.output_messages, failed.model) == ((), "bad")
    assert (first.session_id, first.model_provider, first.model) == ("stated", "openai", "gpt-x-2026")
    assert (first.model_call_id, first.input_tokens) == (
        "chatcmpl-000000000000000000000001",
        10 if name == "recorded" else None,
    )
    assert first.duration_ms is not None
    # Two choices of one call: its seven messages, two answers and span.
    assert len(refusals(outcomes)) == refused
    assert {reason for reason, _ in refusals(outcomes)} <= {Remainder.INVALID_VALUE}


def test_a_real_export_of_bedrock():
    outcomes = translate(*read("bedrock"))
    first, second = facts(outcomes)
    call = tool_call("t1", "edit", {"path": "a.py", "n": 1, "x": [1.5, None]})
    began = [plain_message("system", "Be brief."), plain_message("user", "Go.")]
    assert equal([m.model_dump() for m in first.input_messages], began)
    # The instrumentation drops the words of an answer that calls tools; the history has them.
    assert equal(
        [m.model_dump() for m in first.output_messages], [plain_message("assistant", call, finish_reason="tool_use")]
    )
    assert equal(
        [m.model_dump() for m in second.input_messages],
        [*began, plain_message("assistant", "Look.", call), plain_message("tool", tool_response("t1", "ok"))],
    )
    assert second.input_tokens == 10
    # Its results are told by an event of the tool and by one of the user.
    assert [reason for reason, _ in refusals(outcomes)] == [Remainder.REPEATED]


def test_an_export_without_content_names_the_variable_that_records_it():
    reason, detail = refused(*read("without_content"))
    assert reason is Remainder.NO_CONTENT
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true" in detail


# --- one call


def test_a_call_is_told_by_its_events_and_its_span():
    fact = only(logs(*call_events()), traces(span()))
    assert equal(
        [m.model_dump() for m in (*fact.input_messages, *fact.output_messages)],
        [
            plain_message("system", "Be brief."),
            plain_message("user", "Go."),
            plain_message("assistant", "Done.", finish_reason="stop"),
        ],
    )
    assert (fact.session_id, fact.model, fact.input_tokens, fact.output_tokens) == ("s1", "gpt-x-2026", 10, 5)
    assert (fact.duration_ms, fact.observed_at.isoformat()) == (600, "2026-03-02T09:00:00.600000+00:00")
    assert fact.raw["span"] == f"{TRACE}/0000000000000001"
    assert "Done." not in json.dumps(fact.raw)


def test_without_its_span_a_call_is_the_same_and_says_less():
    fact = only(logs(*call_events()))
    assert (fact.session_id, fact.model_provider, fact.model, fact.input_tokens) == ("stated", "openai", None, None)
    assert (fact.model_call_id, fact.duration_ms) == (None, None)
    assert fact.observed_at.isoformat() == "2026-03-02T09:00:00.500000+00:00"
    assert fact.inference_call_id == only(logs(*call_events()), traces(span())).inference_call_id


def test_the_records_of_a_call_may_come_in_any_order_and_any_files():
    records = [logs(record) for record in call_events()] + [traces(span())]
    told = only(*records)
    for order in permutations(records):
        assert only(*order) == told


def test_a_translated_call_names_every_record_that_told_it():
    (found,) = translate(logs(*call_events()), traces(span()))
    assert isinstance(found, Translated)
    prefix = "f0:1.resourceLogs[0].scopeLogs[0].logRecords"
    assert found.place == f"{prefix}[2]"
    assert found.others == (f"{prefix}[0]", f"{prefix}[1]", "f1:1.resourceSpans[0].scopeSpans[0].spans[0]")


def test_attributes_are_those_of_the_earliest_event_that_has_them():
    named = [
        logs(record | {"attributes": pairs({"session.id": name, "n": number})})
        for number, (record, name) in enumerate(zip(call_events(), ("s", "t", "u"), strict=True))
    ]
    told = only(*named)
    assert (told.session_id, told.raw["attributes"]) == ("s", {"session.id": "s", "n": 0})
    for order in permutations(named):
        assert only(*order) == told


def test_a_call_goes_on_from_the_one_before():
    calls = [function_call(), function_call("t2", "run", "{}")]
    answer = choice({"role": "assistant", "tool_calls": calls}, finish_reason="tool_calls")
    records = [logs(*sent(*GO), answer), logs(*sent(*TOOLS, call=1), choice(call=1))]
    first, second = facts(translate(*records, traces(span(0), span(1))))
    told = [(message.role, message.parts) for message in (*first.input_messages, *first.output_messages)]
    assert [(message.role, message.parts) for message in second.input_messages[:3]] == told


def test_texts_of_gemini_and_calls_beside_the_message_are_read():
    sent_text = {"content": {"parts": [{"text": "Go.", "thought": None}], "role": "user"}}
    said = choice(
        {"content": "On it."}, tool_calls=[function_call(arguments={"path": "a.py"})], finish_reason="tool_calls"
    )
    fact = only(logs(*sent(("user", sent_text)), said))
    assert equal(fact.input_messages[0].model_dump(), plain_message("user", "Go."))
    expected = plain_message(
        "assistant", "On it.", tool_call("t1", "edit", {"path": "a.py"}), finish_reason="tool_calls"
    )
    assert equal(fact.output_messages[0].model_dump(), expected)


def test_messages_of_any_role_are_part_of_the_call():
    developer = event("developer.message", {"content": "Be brief."}, at=1)
    fact = only(logs(developer, *call_events()[1:]))
    assert [message.role for message in fact.input_messages] == ["developer", "user"]
    named = event("user.message", {"role": "customer", "content": "Go."}, at=1)
    assert only(logs(named, choice())).input_messages[0].role == "customer"


def test_calls_that_run_at_the_same_time_are_told_apart_by_their_spans():
    one, two = call_events(0), [*sent(*TOOLS, call=1), choice(call=1)]
    mixed = [record for pair in zip(one, two, strict=False) for record in pair] + two[len(one) :]
    told = facts(translate(logs(*mixed[:4]), traces(span(1), span(0)), logs(*mixed[4:])))
    assert {len(fact.input_messages) for fact in told} == {2, 5}


def test_the_order_of_messages_is_that_of_their_times():
    system, user, answer = call_events()
    fact = only(logs(answer, user, system), traces(span()))
    assert [message.role for message in fact.input_messages] == ["system", "user"]


def test_messages_of_one_time_keep_the_order_of_their_list():
    same = [event("user.message", {"content": text}, at=1) for text in "abba"]
    fact = only(logs(*same, choice()))
    assert [message.model_dump()["parts"][0]["content"] for message in fact.input_messages] == list("abba")


def test_messages_without_times_keep_their_order_and_need_an_instant():
    timeless = [record | {"observedTimeUnixNano": "0"} for record in call_events()]
    assert {reason for reason, _ in refusals(translate(logs(*timeless)))} == {Remainder.NO_INSTANT}
    instant = parse_instant("2026-01-01T00:00:00Z")
    fact = only(logs(*timeless), options=CaptureOptions(ORG, instant=instant, settings=STATED.settings))
    assert ([message.role for message in fact.input_messages], fact.observed_at) == (["system", "user"], instant)


def test_empty_results_are_results_where_content_was_recorded():
    fact = only(logs(*sent(*TOOLS), choice()), traces(span()))
    assert equal(fact.input_messages[-1].model_dump(), plain_message("tool", tool_response("t2", None)))


def test_an_answer_may_be_empty_where_content_was_recorded():
    fact = only(logs(*sent(*GO), choice({"role": "assistant"}, finish_reason="length")))
    assert equal([m.model_dump() for m in fact.output_messages], [plain_message("assistant", finish_reason="length")])


def test_a_call_that_failed_has_no_answer():
    fact = only(logs(*sent(*GO)), traces(failed_span()))
    assert (fact.output_messages, fact.session_id, fact.model) == ((), "s1", "gpt-x")


def test_a_stream_that_broke_off_has_the_answer_that_arrived():
    fact = only(logs(*sent(*GO), choice(finish_reason="error")), traces(failed_span()))
    assert fact.output_messages[0].finish_reason == "error"


# --- where the Session stands


def test_the_session_is_that_of_the_span_the_events_or_the_process():
    named = pairs({"session.id": "of the events"})
    events = [record | {"attributes": named} for record in call_events()]
    process = {"session.id": "of the process"}
    assert only(logs(*events), traces(span())).session_id == "s1"
    assert only(logs(*events), traces(span(session=None))).session_id == "of the events"
    assert only(logs(*events, resource=process)).session_id == "of the events"
    assert only(logs(*call_events(), resource=process), traces(span(session=None))).session_id == "of the process"


def test_the_trace_is_the_session_only_when_the_operator_says_so():
    options = CaptureOptions(ORG, session_keys=("trace_id",))
    assert only(logs(*call_events()), options=options).session_id == TRACE
    outcomes = translate(logs(*call_events()), options=CaptureOptions(ORG))
    detail = (
        "no gen_ai.conversation.id in the events of the call, and no span of it is told; "
        "--session-key names another, --set session=ID states one"
    )
    assert refusals(outcomes) == [(Remainder.NO_SESSION, detail)] * 3


# --- told again


def test_records_that_are_exported_again_are_repeated():
    outcomes = translate(logs(*call_events()), traces(span()), logs(*call_events()), traces(span()))
    assert len(facts(outcomes)) == 1
    assert [reason for reason, _ in refusals(outcomes)] == [Remainder.REPEATED] * 4


def test_another_span_with_the_same_ids_is_refused():
    outcomes = translate(logs(*call_events()), traces(span()), traces(span(session="s2")))
    assert facts(outcomes)[0].session_id == "s1"
    (refusal,) = refusals(outcomes)
    assert refusal[0] is Remainder.INVALID_VALUE
    assert "another span" in refusal[1]


WHOLE = {"gen_ai.input.messages": json.dumps(INPUT), "gen_ai.output.messages": json.dumps(OUTPUT)}


@pytest.mark.parametrize("last", [False, True])
def test_a_span_that_tells_its_messages_itself_is_the_call_and_its_events_repeat_it(last: bool):
    values = [traces(span(attributes=WHOLE)), logs(*call_events())]
    outcomes = translate(*(reversed(values) if last else values))
    assert [len(fact.input_messages) for fact in facts(outcomes)] == [1]
    assert [reason for reason, _ in refusals(outcomes)] == [Remainder.REPEATED] * 3


@pytest.mark.parametrize("last", [False, True])
def test_the_span_of_a_log_record_with_all_messages_is_no_second_call(last: bool):
    details = event("client.inference.operation.details", None)
    details["attributes"] = pairs(WHOLE | {"gen_ai.conversation.id": "s1"})
    values = [traces(span()), logs(details)]
    outcomes = translate(*(reversed(values) if last else values))
    assert len(facts(outcomes)) == 1
    assert [reason for reason, _ in refusals(outcomes)] == [Remainder.REPEATED]


def test_results_that_bedrock_tells_twice_are_taken_once():
    block = {"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}], "status": "success"}}
    uses = [{"text": "Look."}, {"toolUse": {"toolUseId": "t1", "name": "edit", "input": {"path": "a.py"}}}]
    events = sent(
        ("user", {"content": [{"text": "Go."}]}),
        ("assistant", {"content": uses, "tool_calls": [function_call(arguments={"path": "a.py"})]}),
        ("tool", {"id": "t1", "content": [{"text": "ok"}]}),
        ("user", {"content": [block]}),
    )
    outcomes = translate(logs(*events, choice({"role": "assistant", "content": [{"text": "Done."}]})), traces(span()))
    (fact,) = facts(outcomes)
    assert equal(
        [m.model_dump() for m in fact.input_messages],
        [
            plain_message("user", "Go."),
            plain_message("assistant", "Look.", tool_call("t1", "edit", {"path": "a.py"})),
            plain_message("tool", tool_response("t1", "ok")),
        ],
    )
    assert [reason for reason, _ in refusals(outcomes)] == [Remainder.REPEATED]


def test_ids_are_the_same_in_every_spelling():
    hexed = ids(0)
    console = {"trace_id": f"0x{hexed['traceId']}", "span_id": f"0x{hexed['spanId']}"}
    based = {"traceId": "BV4RTzXO1mLnL7cDecyHmg==", "spanId": "AAAAAAAAAAE="}
    system, user, answer = (
        {key: value for key, value in record.items() if key not in hexed} for record in call_events()
    )
    bare: Json = {key: value for key, value in span().items() if key not in hexed}
    fact = only(logs(system | hexed, user | based), answer | console, bare | {"context": console})
    assert fact == only(logs(*call_events()), traces(span()))
