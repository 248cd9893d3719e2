"""LiteLLM's records: which field says what, in every shape, and why a record gives no call."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from sediment_assets.capture.contract import CaptureOptions, Remainder, Translated, Untranslated
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import equal
from tests.builders import ORG, plain_message, tool_call, tool_response
from tests.gateway_payloads import Json, anthropic_response, chat_response, function_call, payload
from tests.unit.capture.litellm_cases import one, refused, stating, translate


def test_a_payload_becomes_a_call():
    fact = one(payload())
    values = fact.model_dump()
    raw = values.pop("raw")
    assert equal(
        values | {"observed_at": None, "inference_call_id": None},
        {
            "schema_version": 1,
            "inference_call_id": None,
            "org_id": "acme",
            "session_id": "s1",
            "user_id": "dev-1",
            "gateway_provider": "litellm",
            "model_provider": "openai",
            "model": "gpt-x",
            "input_messages": [plain_message("user", "Go.")],
            "output_messages": [plain_message("assistant", "Done.", finish_reason="stop")],
            "input_tokens": 10,
            "output_tokens": 5,
            "duration_ms": 2500,
            "model_call_id": "chatcmpl-000000000001",
            "observed_at": None,
        },
    )
    assert fact.observed_at == datetime(2026, 3, 2, 9, 0, 2, 500_000, tzinfo=UTC)
    assert raw == {key: value for key, value in payload().items() if key not in ("messages", "response")} | {
        "response": {key: value for key, value in chat_response().items() if key != "choices"}
    }
    assert one(payload()) == fact


def test_the_same_call_told_again_is_the_same_fact():
    row = {
        "request_id": "chatcmpl-000000000001",
        "session_id": "s1",
        "call_type": "acompletion",
        "startTime": 1772442000.0,
    }
    row |= {"messages": '[{"role":"user","content":"Go."}]', "response": json.dumps(chat_response()), "spend": 0.1}
    assert one(row).inference_call_id == one(payload()).inference_call_id
    assert one(payload(litellm_call_id="other")).inference_call_id == one(payload()).inference_call_id
    assert one(payload(id="chatcmpl-000000000002")).inference_call_id != one(payload()).inference_call_id
    assert one(payload(), CaptureOptions("other")).inference_call_id != one(payload()).inference_call_id


THREAD = "0f8fad5b-d9cb-469f-a165-70867728950e"
CLAUDE = f"user_0a1b_account_8f0e_session_{THREAD}"


class TestSession:
    @pytest.mark.parametrize(
        ("changes", "session"),
        [
            ({}, "s1"),
            ({"session_id": "s2"}, "s2"),
            ({"session_id": ""}, "s1"),
            ({"session_id": "None", "trace_id": " s3 "}, "s3"),
            ({"session_id": 17}, "17"),
            ({"metadata": {"session_id": "s4"}, "session_id": "s2"}, "s4"),
            ({"metadata": {"requester_metadata": {"session_id": "s5"}}}, "s5"),
            ({"metadata": {"spend_logs_metadata": {"session_id": "s6"}}}, "s6"),
            ({"litellm_session_id": "s7"}, "s7"),
            ({"end_user": CLAUDE}, THREAD),
            ({"end_user": '{"device_id":"d","session_id":"s8"}'}, "s8"),
            ({"end_user": "alice", "metadata": {"user_api_key_end_user_id": CLAUDE}}, THREAD),
            ({"end_user": "user_session_x"}, "s1"),
            ({"end_user": CLAUDE, "metadata": {"session_id": "s9"}}, "s9"),
        ],
    )  # fmt: skip
    def test_the_most_explicit_key_names_it(self, changes: Json, session: str):
        assert one(payload(**changes)).session_id == session

    def test_the_operators_keys_come_first(self):
        record = payload(metadata={"session_id": "s4", "tags": {"a.b": {"run": "r1"}}}, custom=5)
        for key, session in (
            ("metadata.tags.a.b.run", "r1"),
            ("tags.a.b.run", "r1"),
            ("custom", "5"),
            ("none.x", "s4"),
        ):
            assert one(record, CaptureOptions(ORG, session_keys=("nothing", key))).session_id == session

    def test_kwargs_around_a_payload_may_name_it(self):
        inner = payload(trace_id=None)
        for around, session in (
            ({"litellm_params": {"litellm_session_id": "k1", "litellm_trace_id": "k2"}}, "k1"),
            ({"litellm_params": {"metadata": {"session_id": "k3"}}}, "k3"),
            ({"litellm_params": {"litellm_trace_id": "k2"}}, "k2"),
        ):
            assert one({"standard_logging_object": inner, **around}).session_id == session
            assert one({"kwargs": {"standard_logging_object": inner, **around}}).session_id == session

    def test_without_any_the_record_is_refused_unless_the_operator_states_one(self):
        assert refused(payload(trace_id=None))[0] is Remainder.NO_SESSION
        assert one(payload(trace_id=None), stating(session="mine")).session_id == "mine"
        assert one(payload(), stating(session="mine")).session_id == "s1"


class TestUser:
    @pytest.mark.parametrize(
        ("changes", "user"),
        [
            ({"end_user": "carol"}, "dev-1"),
            ({"metadata": {"user_api_key_user_id": "default_user_id"}, "end_user": "carol"}, "carol"),
            ({"metadata": {}, "end_user": "", "user": "dave"}, "dave"),
            ({"metadata": {}, "end_user": CLAUDE}, None),
            ({"metadata": {"user_api_key_user_id": "default_user_id"}}, None),
            ({"metadata": None}, None),
        ],
    )
    def test_the_keys_user_else_the_end_user(self, changes: Json, user: str | None):
        assert one(payload(**changes)).user_id == user


class TestTime:
    @pytest.mark.parametrize(
        ("start", "end", "observed", "duration"),
        [
            (1772442000.0, 1772442002.5, "09:00:02.500000", 2500),
            ("2026-03-02T09:00:00+00:00", "2026-03-02T10:00:01.25+01:00", "09:00:01.250000", 1250),
            ("1772442000.0", "1772442001", "09:00:01", 1000),
            (1772442000.0, None, "09:00:00", None),
            (None, 1772442002.5, "09:00:02.500000", None),
            (1772442003.0, 1772442002.0, "09:00:02", None),
        ],
    )
    def test_the_end_else_the_start(self, start: Any, end: Any, observed: str, duration: int | None):
        fact = one(payload(startTime=start, endTime=end))
        assert fact.observed_at.isoformat() == f"2026-03-02T{observed}+00:00"
        assert fact.duration_ms == duration

    def test_local_time_needs_an_offset_that_the_operator_states(self):
        record = payload(startTime="2026-03-02 09:00:00.5", endTime="2026-03-02 09:00:01")
        assert refused(record) == (
            Remainder.NO_INSTANT,
            "endTime: a time without an offset; --set utc-offset=+00:00 states it",
        )
        fact = one(record, stating(utc_offset="-01:00"))
        assert (fact.observed_at.hour, fact.duration_ms) == (10, 500)

    def test_records_without_any_time_keep_their_order_at_the_stated_instant(self):
        instant = datetime(2026, 1, 1, tzinfo=UTC)
        records = [payload(id=f"c{number}", startTime=None, endTime="") for number in range(3)]
        assert refused(records[0]) == (Remainder.NO_INSTANT, "no time in the record; --instant states one")
        outcomes = translate(*records, options=CaptureOptions(ORG, instant=instant))
        told = [outcome.fact for outcome in outcomes if isinstance(outcome, Translated)]
        assert [fact.observed_at.microsecond for fact in told if isinstance(fact, InferenceCall)] == [0, 1, 2]

    @pytest.mark.parametrize("value", [True, "yesterday", [1], {}, 1e300, "2026-03-02"])
    def test_what_is_no_time_is_refused_by_its_field(self, value: Any):
        reason, detail = refused(payload(endTime=value))
        assert reason in (Remainder.INVALID_VALUE, Remainder.NO_INSTANT)
        assert detail.startswith("endTime: ")


NONE = {"prompt_tokens": 0, "completion_tokens": 0}


class TestTokens:
    @pytest.mark.parametrize(
        ("changes", "counts"),
        [
            ({}, (10, 5)),
            ({"prompt_tokens": 7, "completion_tokens": 0}, (7, 0)),
            ({"prompt_tokens": None, "completion_tokens": None}, (10, 5)),
            (NONE | {"response": chat_response(usage=None)}, (None, None)),
            (NONE | {"response": chat_response(usage={"prompt_tokens": 0})}, (0, 0)),
        ],
    )  # fmt: skip
    def test_the_records_counts_unless_they_are_defaults(self, changes: Json, counts: tuple[int, int]):
        fact = one(payload(**changes))
        assert (fact.input_tokens, fact.output_tokens) == counts

    @pytest.mark.parametrize("value", ["ten", -1, 1.5, True, 2**63])
    def test_what_is_no_count_is_refused(self, value: Any):
        assert refused(payload(prompt_tokens=value)) == (
            Remainder.INVALID_VALUE,
            refused(payload(prompt_tokens=value))[1],
        )
        assert refused(payload(prompt_tokens=value))[1].startswith("prompt_tokens: expected a number of tokens")


class TestShapes:
    def test_a_failed_call_has_no_answer(self):
        record = payload(
            id="u-1", litellm_call_id="u-1", status="failure", response={}, prompt_tokens=0, completion_tokens=0
        )
        fact = one(record | {"error_information": {"error_code": "404"}})
        assert (fact.output_messages, fact.input_tokens, fact.output_tokens, fact.model_call_id) == (
            (),
            None,
            None,
            None,
        )
        assert fact.raw["error_information"] == {"error_code": "404"}
        assert one(record | {"litellm_call_id": "u-2"}).inference_call_id != fact.inference_call_id

    def test_an_anthropic_request_goes_on_from_an_answer_in_openais_shape(self):
        answer = {"role": "assistant", "content": "On it.", "tool_calls": [{"index": 1} | function_call()]}
        asked = {"role": "user", "content": [{"type": "text", "text": "Go."}]}
        echoed = {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "On it."},
                {"type": "tool_use", "id": "t1", "name": "edit", "input": {"path": "a.py"}},
            ],
        }
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]}
        first = one(payload(call_type="anthropic_messages", messages=[asked], response=chat_response(answer)))
        second = one(payload(call_type="anthropic_messages", messages=[asked, echoed, result]))
        sent = [(message.role, message.parts) for message in (*first.input_messages, *first.output_messages)]
        assert [(message.role, message.parts) for message in second.input_messages[:2]] == sent
        assert equal(second.input_messages[2].model_dump(), plain_message("tool", tool_response("t1", "ok")))

    def test_an_anthropic_answer_is_read_as_one(self):
        fact = one(payload(response=anthropic_response({"type": "tool_use", "id": "t1", "name": "run", "input": {}})))
        expected = plain_message("assistant", tool_call("t1", "run"), finish_reason="end_turn")
        assert equal(fact.output_messages[0].model_dump(), expected)
        assert fact.model_call_id == "msg_000000000001"

    def test_a_system_prompt_may_be_a_parameter(self):
        fact = one(payload(model_parameters={"system": "Be brief."}))
        assert [message.role for message in fact.input_messages] == ["system", "user"]
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go."}]
        assert len(one(payload(messages=messages, model_parameters={"system": "Be brief."})).input_messages) == 2

    def test_several_choices_are_several_messages(self):
        choices = [{"message": {"role": "assistant", "content": text}} for text in "ab"]
        assert len(one(payload(response=chat_response(choices=choices))).output_messages) == 2
        assert one(payload(response=chat_response(choices=[]))).output_messages == ()

    def test_a_text_completion(self):
        fact = one(
            payload(
                messages={"prompt": "Once"},
                response=chat_response(choices=[{"text": " upon", "finish_reason": "length"}]),
            )
        )
        assert equal([message.model_dump() for message in fact.input_messages], [plain_message("user", "Once")])
        expected = plain_message("assistant", " upon", finish_reason="length")
        assert equal(fact.output_messages[0].model_dump(), expected)

    def test_an_agents_own_log_of_its_calls(self):
        wire = [{"role": "user", "content": "Go.\n<function=run></function>"}]
        record = {
            "messages": wire,
            "raw_messages": [{"role": "user", "content": "Go."}],
            "response": chat_response(),
            "raw_response": {"choices": [{"message": {"tool_calls": [{}]}}]},
            "timestamp": 1772442002.5,
            "latency_sec": 2.25,
        }
        fact = one(record, stating(session="s1"))
        assert equal([message.model_dump() for message in fact.input_messages], [plain_message("user", "Go.")])
        assert (fact.duration_ms, fact.observed_at.microsecond, fact.model) == (2250, 500_000, "gpt-x-2026")
        assert fact.raw["messages"] == wire
        for no_seconds in (10**400, True, -1, "2.25"):
            assert one(record | {"latency_sec": no_seconds}, stating(session="s1")).duration_ms is None
        without = {key: record[key] for key in ("messages", "response")}
        assert one(without, stating(session="s1")).observed_at == datetime(2026, 3, 2, 9, 0, 2, tzinfo=UTC)


class TestRefusals:
    @pytest.mark.parametrize(
        ("value", "reason", "detail"),
        [
            ([], Remainder.UNKNOWN_SHAPE, "expected an object"),
            ({"a": 1}, Remainder.UNKNOWN_SHAPE, "no StandardLoggingPayload, callback kwargs or spend-log row"),
            (
                {"batch": []},
                Remainder.UNKNOWN_SHAPE,
                "a batch of Langfuse's ingestion API, not a StandardLoggingPayload",
            ),
            (chat_response(), Remainder.NO_CONTENT, "a response without its request"),
            (anthropic_response(), Remainder.NO_CONTENT, "a response without its request"),
            (payload(call_type="aembedding"), Remainder.NO_EVIDENCE, "call_type aembedding"),
            (payload(messages=None), Remainder.NO_CONTENT, "messages: none in the record"),
            (
                payload(messages=7),
                Remainder.INVALID_VALUE,
                "request.messages: expected text or an array of messages, got a number",
            ),
            (payload(response={}), Remainder.NO_CONTENT, "response: none in the record of a successful call"),
            (payload(response={"odd": 1}), Remainder.UNKNOWN_SHAPE, "response: no response of a known API"),
            (
                payload(response="ModelResponse(id='x')"),
                Remainder.INVALID_VALUE,
                "response: expected JSON in text, got text",
            ),
            (
                payload(messages=[{"role": "user", "content": "redacted-by-litellm"}]),
                Remainder.NO_CONTENT,
                "messages: messages were removed before the record was written",
            ),
            (
                payload(response=chat_response({"content": "redacted-by-litellm"})),
                Remainder.NO_CONTENT,
                "response.choices[0].message.content: messages were removed before the record was written",
            ),
            (
                payload(response=chat_response({"tool_calls": [function_call("")]})),
                Remainder.INVALID_VALUE,
                "response.choices[0].message.tool_calls[0].id: expected a tool call's id, got text",
            ),
            (
                payload(messages=[{"role": "user", "content": "a"}, {"role": "assistant", "tool_calls": [{}]}]),
                Remainder.INVALID_VALUE,
                "request.messages[1].tool_calls[0].function: expected an object, got null",
            ),
            (
                payload(trace_id="a\0"),
                Remainder.INVALID_VALUE,
                "session_id: expected a non-blank string without U+0000 and surrogates",
            ),
        ],
    )  # fmt: skip
    def test_each_says_why(self, value: Any, reason: Remainder, detail: str):
        assert refused(value) == (reason, detail)

    def test_content_that_is_left_out_is_counted_beside_the_call(self):
        messages = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}, "Look."]}]
        call, left = translate(payload(messages=messages))
        assert isinstance(call, Translated)
        assert left == Untranslated(
            "f:1",
            Remainder.INVALID_VALUE,
            "request.messages[0].content[0]: content of type image_url is no part of a message",
        )
