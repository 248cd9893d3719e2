"""A recorded exchange as one model call: which of its fields says what (docs/capture/gateway.md)."""

from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.event_streams import is_event
from sediment_assets.capture.lookup import at_path, claude_code_session, first_identifier, stated_session
from sediment_assets.capture.model_calls import Clock, ModelCall, call_instant, milliseconds, model_name, to_fact
from sediment_assets.capture.model_requests import ModelRequests, is_request
from sediment_assets.capture.model_responses import ModelAnswer, envelope, is_answer, is_error, read_answer
from sediment_assets.capture.record_fields import RefusedError, unknown_shape
from sediment_assets.capture.recorded_exchanges import Exchange, body_of
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonObject, JsonValue
from sediment_assets.facts.vocabulary import GatewayProvider

_SESSION_KEYS: Final = ("session_id", "metadata.session_id")
_ENDED: Final = ("ended_at", "end_time", "endTime", "timestamp", "recorded_at")
_STARTED: Final = ("started_at", "start_time", "startTime", "startedDateTime")
_OTHER_PATHS: Final = frozenset(
    {"embeddings", "moderations", "generations", "edits", "variations", "speech", "transcriptions", "translations"}
    | {"rerank", "count_tokens", "models", "files", "batches", "input_tokens"}
)
"""Last words of the paths of requests that are no conversation with a model."""
_MESSAGES: Final = frozenset({"messages", "input", "prompt", "system", "instructions"})


class ExchangeCalls:
    """Translates the exchanges of one run."""

    def __init__(self, options: CaptureOptions, source: str) -> None:
        self._options = options
        self._source = source
        self._requests = ModelRequests()
        self._clock = Clock(options)

    def begin_document(self) -> None:
        """Begin a file, whose records keep their order."""
        self._clock = Clock(self._options)

    def translate(self, exchange: Exchange, left_out: list[str]) -> InferenceCall:
        """Make the call's Fact.

        :raises RefusedError: why there is none.
        """
        self._clock.next_record()
        last = urlsplit(exchange.url).path.rstrip("/").rpartition("/")[2] if exchange.url else ""
        if last in _OTHER_PATHS:
            raise RefusedError(Remainder.NO_EVIDENCE, f"a request to {last}")
        request = body_of(exchange.request, "request")
        if not isinstance(request, dict) or not is_request(request):
            raise _no_request(request)
        answer, body = self._answer(exchange, left_out)
        session_id = self._session(exchange, request)
        sent = self._requests.read(session_id, request, "request", left_out)
        self._requests.remember(answer.response_id, request, sent, answer.messages)
        start, end = self._time(exchange, _STARTED), self._time(exchange, _ENDED)
        call = ModelCall(
            session_id,
            end or start or self._clock.coarse(exchange.date or answer.created),
            sent,
            answer.messages,
            user_id=first_identifier([exchange.record], ("user_id",)),
            model=model_name(answer.model, request.get("model")),
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            duration_ms=milliseconds(start, end),
            model_call_id=answer.response_id,
            raw=_rest(exchange, request, body),
            content=exchange.record,
        )
        return to_fact(call, GatewayProvider.UNKNOWN, self._source, self._options)

    def _answer(self, exchange: Exchange, left_out: list[str]) -> tuple[ModelAnswer, JsonValue]:
        """Read the response; one whose status or body is an error answered nothing."""
        status = exchange.status
        has_failed = status is not None and status >= 400
        try:
            body = body_of(exchange.response, "response")
        except RefusedError:
            if not has_failed:
                raise
            body = None
        if has_failed or is_error(body):
            return ModelAnswer([]), body
        if body is None:
            raise RefusedError(Remainder.NO_CONTENT, "response: no body")
        return read_answer(body, "response", left_out), body

    def _session(self, exchange: Exchange, request: JsonObject) -> str:
        holders: list[JsonValue] = [exchange.record, request]
        named = first_identifier(holders, (*self._options.session_keys, *_SESSION_KEYS))
        named = named or claude_code_session(at_path(request, "metadata.user_id")) or stated_session(self._options)
        if named is None:
            raise RefusedError(Remainder.NO_SESSION, "no session_id in the record; --session-key or --set session=ID")
        return named

    def _time(self, exchange: Exchange, keys: tuple[str, ...]) -> datetime | None:
        for key in keys:
            instant = call_instant(exchange.record.get(key), key, self._options)
            if instant is not None:
                return instant
        return None


def refuse_record(value: JsonValue) -> RefusedError:
    """Return why a record is neither an exchange nor a span."""
    if is_event(value):
        return RefusedError(Remainder.NO_CONTENT, "an event of a stream without its request")
    if is_answer(value):
        return RefusedError(Remainder.NO_CONTENT, "a response without its request")
    if isinstance(value, dict) and is_request(value):
        return RefusedError(Remainder.NO_CONTENT, "a request without its response")
    if isinstance(value, dict) and "role" in value:
        return unknown_shape("a message without its call")
    if isinstance(value, dict) and isinstance(value.get("message"), dict):
        return unknown_shape("a message of an agent's session or of another API, without its request")
    return unknown_shape("no exchange (request and response), cassette, HAR file or GenAI span")


def _no_request(request: JsonValue) -> RefusedError:
    if request is None:
        return RefusedError(Remainder.NO_EVIDENCE, "a request without a body")
    return unknown_shape("request: no body of a known API")


def _rest(exchange: Exchange, request: JsonObject, body: JsonValue) -> JsonObject:
    """Return what the exchange says beside messages and headers, which may hold credentials."""
    rest: JsonObject = {
        "request": {key: value for key, value in request.items() if key not in _MESSAGES},
        "response": envelope(body),
    }
    if exchange.url:
        rest["url"] = exchange.url
    if exchange.status is not None:
        rest["status"] = exchange.status
    metadata = exchange.record.get("metadata")
    return rest if metadata is None else rest | {"metadata": metadata}
