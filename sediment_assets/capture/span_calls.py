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
        """Make the Fact of a call that a span tells by itself.

        :raises RefusedError: why there is none.
        """
        self._clock.next_record()
        require_call(span)
        return self._fact(span, self._clock, left_out)

    def put_together(self, span: Span, key: str, clock: Clock, left_out: list[str]) -> InferenceCall:
        """Make the Fact of a call that a span and its events tell together; ``key`` identifies it.

        :raises RefusedError: why there is none.
        """
        clock.next_record()
        return self._fact(span, clock, left_out, key)

    def _fact(self, span: Span, clock: Clock, left_out: list[str], key: str | None = None) -> InferenceCall:
        told = span.attributes
        session_id = self._session(span, key)
        call = ModelCall(
            session_id,
            span.end or span.start or clock.coarse(None),
            self._sent(span, session_id, left_out),
            _answered(span, left_out),
            user_id=first_identifier([told, span.resource], _USER_KEYS),
            model_provider=model_name(told.get("gen_ai.provider.name"), told.get("gen_ai.system")),
            model=model_name(told.get("gen_ai.response.model"), told.get("gen_ai.request.model")),
            input_tokens=tokens(told.get("gen_ai.usage.input_tokens"), "gen_ai.usage.input_tokens"),
            output_tokens=tokens(told.get("gen_ai.usage.output_tokens"), "gen_ai.usage.output_tokens"),
            duration_ms=milliseconds(span.start, span.end),
            model_call_id=identifier(told.get("gen_ai.response.id")),
            span=key,
            raw={"name": span.name, "attributes": _rest(told)} | ({"span": key} if key else {}),
            content=[told, span.name, *([span.start.isoformat()] if span.start else [])],
        )
        return to_fact(call, GatewayProvider.UNKNOWN, self._source, self._options)

    def _session(self, span: Span, key: str | None) -> str:
        """Return the Session that a span names, else the process that told it, else the operator.

        Its trace is one only if the operator says so.
        """
        ids: JsonObject = {"trace_id": (key or span.key or "").partition("/")[0]}
        keys = (*self._options.session_keys, *_SESSION_KEYS)
        for holder in (span.attributes, span.resource, ids):
            if named := first_identifier([holder], keys):
                return named
        if stated := stated_session(self._options):
            return stated
        where = "span" if key is None or span.key else "events of the call, and no span of it is told"
        way = "--session-key names another, --set session=ID states one"
        raise RefusedError(Remainder.NO_SESSION, f"no {_SESSION_KEYS[0]} in the {where}; {way}")

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
