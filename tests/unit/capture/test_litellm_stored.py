"""LiteLLM's stored records: rows of spend logs, and histories that were left to the server."""

import base64
import json
from typing import Any

import pytest

from sediment_assets.capture.contract import Remainder, Translated
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import equal
from tests.builders import plain_message
from tests.gateway_payloads import Json, chat_response
from tests.unit.capture.litellm_cases import one, refused, translate


def row(**changes: Any) -> Json:
    return {
        "request_id": "chatcmpl-000000000001",
        "session_id": "s1",
        "call_type": "acompletion",
        "spend": 0.1,
        "startTime": "2026-03-02T09:00:00+00:00",
        "endTime": "2026-03-02T09:00:01+00:00",
        "model": "gpt-x",
        "metadata": '{"user_api_key_user_id": "dev-1"}',
        "messages": json.dumps([{"role": "user", "content": "Go."}]),
        "response": json.dumps(chat_response()),
        "proxy_server_request": "{}",
    } | changes


class TestSpendLogRows:
    def test_json_in_text_is_read(self):
        fact = one(row())
        assert (fact.session_id, fact.user_id, fact.duration_ms) == ("s1", "dev-1", 1000)
        assert equal([message.model_dump() for message in fact.input_messages], [plain_message("user", "Go.")])

    @pytest.mark.parametrize(
        "wrap", [lambda body: body, json.dumps, lambda body: {"body": body}, lambda body: json.dumps({"body": body})]
    )
    def test_the_request_may_be_the_proxys(self, wrap: Any):
        body = {"system": "Be brief.", "messages": [{"role": "user", "content": "Go."}]}
        fact = one(row(messages="{}", proxy_server_request=wrap(body)))
        assert [message.role for message in fact.input_messages] == ["system", "user"]

    @pytest.mark.parametrize("messages", ["{}", "[]", "", "None", None])
    def test_rows_without_content_are_refused(self, messages: Any):
        reason, detail = refused(row(messages=messages))
        assert reason is Remainder.NO_CONTENT
        assert detail == "messages, proxy_server_request: none in the row; they were not stored"
        assert refused(row(response="{}"))[0] is Remainder.NO_CONTENT

    def test_rows_whose_texts_were_cut_are_refused(self):
        text = json.dumps([{"role": "user", "content": "Go … (litellm_truncated 1000 chars)"}])
        assert refused(row(messages=text)) == (
            Remainder.NO_CONTENT,
            "messages: long texts were cut before the row was written",
        )

    def test_text_that_is_no_json_is_refused_by_its_field(self):
        assert refused(row(messages="[{'role': 'user'}]")) == (
            Remainder.INVALID_VALUE,
            "messages: expected JSON in text, got text",
        )
        assert one(row(metadata="{'a': 1}")).user_id is None


class TestPreviousResponses:
    FIRST = row(
        call_type="aresponses", messages="{}", proxy_server_request={"input": "Who?", "instructions": "Be brief."}
    )

    @staticmethod
    def second(previous: str) -> Json:
        request = {"input": "More.", "previous_response_id": previous}
        response = json.dumps(chat_response(id="chatcmpl-000000000002"))
        return row(
            request_id="chatcmpl-000000000002",
            call_type="aresponses",
            messages="{}",
            proxy_server_request=request,
            response=response,
        )

    @pytest.mark.parametrize("encoded", [False, True])
    def test_history_left_to_the_server_is_that_of_the_response_before(self, encoded: bool):
        name = b"litellm:custom_llm_provider:openai;model_id:m;response_id:chatcmpl-000000000001"
        previous = f"resp_{base64.b64encode(name).decode()}" if encoded else "chatcmpl-000000000001"
        outcomes = translate(self.FIRST, self.second(previous))
        assert isinstance(outcomes[1], Translated)
        assert isinstance(outcomes[1].fact, InferenceCall)
        texts = [part.model_dump()["content"] for message in outcomes[1].fact.input_messages for part in message.parts]
        assert texts == ["Who?", "Done.", "More."]

    def test_a_history_that_is_not_in_the_input_is_missing(self):
        assert refused(self.second("chatcmpl-000000000000")) == (
            Remainder.NO_CONTENT,
            "request.previous_response_id: that response is not before it in the input",
        )
