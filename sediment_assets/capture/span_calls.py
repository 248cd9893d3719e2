"""A span that tells a model call with its messages, as that call (OpenTelemetry GenAI conventions; AI SDK)."""

from typing import Final

from sediment_assets.capture.chat_messages import assistant_message, system_messages
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.conversations import Conversations
from sediment_assets.capture.lookup import first_identifier, identifier, stated_session
from sediment_assets.capture.model_calls import Clock, ModelCall, milliseconds, model_name, to_fact, tokens
from sediment_assets.capture.model_spans import SDK_INPUT, SYSTEM, Span, require_call
from sediment_assets.capture.record_fields import RefusedError, invalid
from sediment_assets.capture.span_messages import INPUT, OUTPUT
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.messages import Message
from sediment_assets.facts.vocabulary import GatewayProvider

_SESSION_KEYS: Final = ("gen_ai.conversation.id", "session.id", "ai.telemetry.metadata.sessionId")
_USER_KEYS: Final = ("user.id", "enduser.id")


class SpanCalls:
    """Translates the spans of one run."""

    def __init__(self, options: CaptureOptions, source: str) -> None:
        self._options = options
        self._source = source
        self._conversations = Conversations()
        self._clock = Clock(options)

    def begin_document(self) -> None:
        """Begin a file, whose records keep their order."""
        self._clock = Clock(self._options)

    def translate(self, span: Span, left_out: list[str]) -> InferenceCall:
        """Make the call's Fact.

        :raises RefusedError: why there is none.
        """
        self._clock.next_record()
        require_call(span)
        told = span.attributes
        keys = (*self._options.session_keys, *_SESSION_KEYS)
        session_id = first_identifier([told], keys) or stated_session(self._options)
        if session_id is None:
            raise RefusedError(Remainder.NO_SESSION, f"no {_SESSION_KEYS[0]} in the span; --session-key names another")
        call = ModelCall(
            session_id,
            span.end or span.start or self._clock.coarse(None),
            self._sent(span, session_id, left_out),
            _answered(span, left_out),
            user_id=first_identifier([told], _USER_KEYS),
            model_provider=model_name(told.get("gen_ai.provider.name"), told.get("gen_ai.system")),
            model=model_name(told.get("gen_ai.response.model"), told.get("gen_ai.request.model")),
            input_tokens=tokens(told.get("gen_ai.usage.input_tokens"), "gen_ai.usage.input_tokens"),
            output_tokens=tokens(told.get("gen_ai.usage.output_tokens"), "gen_ai.usage.output_tokens"),
            duration_ms=milliseconds(span.start, span.end),
            model_call_id=identifier(told.get("gen_ai.response.id")),
            raw={"name": span.name, "attributes": _rest(told)},
            content=[told, span.name, *([span.start.isoformat()] if span.start else [])],
        )
        return to_fact(call, GatewayProvider.UNKNOWN, self._source, self._options)

    def _sent(self, span: Span, session_id: str, left_out: list[str]) -> list[Message]:
        key = SDK_INPUT if SDK_INPUT in span.attributes and INPUT not in span.attributes else INPUT
        values = span.json(key)
        if not isinstance(values, list):
            raise RefusedError(Remainder.NO_CONTENT, f"{key}: no messages")
        system = system_messages(span.json(SYSTEM), SYSTEM, left_out)
        return [*system, *self._conversations.read(session_id, values, key, left_out)]


def _answered(span: Span, left_out: list[str]) -> list[Message]:
    if OUTPUT not in span.attributes:
        return _sdk_answer(span.attributes, span, left_out)
    values = span.json(OUTPUT)
    if not isinstance(values, list):
        raise invalid(OUTPUT, "an array of messages", values)
    messages = []
    for index, value in enumerate(values):
        if not isinstance(value, dict):
            raise invalid(f"{OUTPUT}[{index}]", "an object", value)
        messages.append(assistant_message(value, f"{OUTPUT}[{index}]", left_out, value.get("finish_reason")))
    return messages


def _sdk_answer(told: JsonObject, span: Span, left_out: list[str]) -> list[Message]:
    """Translate an answer that the AI SDK tells in pieces; none of them is no answer."""
    content: list[JsonObject] = []
    for key, kind in (
        ("ai.response.reasoning", "reasoning"),
        ("ai.response.text", "text"),
        ("ai.response.object", "text"),
    ):
        if told.get(key):
            content.append({"type": kind, "text": told[key]})
    calls = span.json("ai.response.toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            raise invalid("ai.response.toolCalls", "an array of objects", call)
        content.append(call | {"type": "tool-call"})
    if not content:
        return []
    reason = told.get("ai.response.finishReason")
    return [assistant_message({"content": content}, "ai.response", left_out, reason)]


def _rest(told: JsonObject) -> JsonObject:
    """Return the attributes beside the messages, which the Fact has itself."""
    messages = (INPUT, OUTPUT, SYSTEM, SDK_INPUT, "ai.response.text", "ai.response.object", "ai.response.toolCalls")
    repeated = ("input", "output", "gen_ai.prompt", "gen_ai.completion")
    return {key: value for key, value in told.items() if key not in (*messages, *repeated)}
