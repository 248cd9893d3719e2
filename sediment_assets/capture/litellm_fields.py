"""Which field of a LiteLLM record says what: Session, developer, times, tokens, request and response.

Where two fields say the same, the order here decides, and docs/capture/gateway.md tells it.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.litellm_kinds import is_passed_through, passed_request, passed_response, passed_user
from sediment_assets.capture.litellm_records import LogRecord
from sediment_assets.capture.lookup import claude_code_session, first_identifier, first_known, stated_session
from sediment_assets.capture.model_calls import call_instant, milliseconds, tokens
from sediment_assets.capture.model_requests import is_request
from sediment_assets.capture.model_responses import REMOVED, ModelAnswer, removed
from sediment_assets.capture.record_fields import RefusedError, invalid
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

_SESSION_KEYS: Final = (
    ("metadata", "session_id"),
    ("metadata", "requester_metadata", "session_id"),
    ("metadata", "spend_logs_metadata", "session_id"),
    ("litellm_params", "metadata", "session_id"),
    ("litellm_session_id",),
    ("litellm_params", "litellm_session_id"),
)
"""Where a client's own Session id is logged, most explicit first."""
_END_USERS: Final = (
    ("end_user",),
    ("metadata", "user_api_key_end_user_id"),
    ("metadata", "requester_metadata", "user_id"),
    ("user",),
)
_OWN_SESSIONS: Final = (
    ("session_id",),
    ("trace_id",),
    ("litellm_params", "litellm_trace_id"),
    ("litellm_trace_id",),
)
"""LiteLLM's own: the client's Session id where it sent one, otherwise one trace for each request."""
_USERS: Final = (("metadata", "user_api_key_user_id"),)
_CALL_IDS: Final = (("litellm_call_id",), ("id",), ("request_id",))
_NOBODY: Final = "default_user_id"
"""How LiteLLM names the holder of the master key: nobody in particular."""
_CACHE_MARK: Final = "_cache_hit"
"""What LiteLLM puts behind the id of an answer from a cache, its own or an upstream gateway's."""
_TRUNCATED: Final = "litellm_truncated"
"""What LiteLLM writes into long texts of spend-log rows that it cut."""


def session_of(found: LogRecord, options: CaptureOptions) -> str:
    """Return the Session a call belongs to.

    :raises RefusedError: nothing names it.
    """
    holders = _holders(found)
    named = None
    if options.session_keys:
        named = first_identifier([*holders, _metadata(found)], options.session_keys)
    named = named or first_known(holders, _SESSION_KEYS)
    if named is None:
        users = (first_known(holders, (path,)) for path in _END_USERS)
        named = next((session for session in map(claude_code_session, users) if session), None)
    named = named or first_known(holders, _OWN_SESSIONS) or stated_session(options)
    if named is None:
        raise RefusedError(Remainder.NO_SESSION, "no session_id, trace_id or metadata names a Session")
    return named


def user_of(found: LogRecord) -> str | None:
    """Return the developer: the user of the key, else the end user that the client named."""
    holders = _holders(found)
    owner = first_known(holders, _USERS)
    if owner is not None and owner != _NOBODY:
        return owner
    user = first_known(holders, _END_USERS)
    return None if user == _NOBODY or claude_code_session(user) else user


def _holders(found: LogRecord) -> list[JsonObject]:
    """Return where to look for ids: the log, a row's metadata unfolded, then what is around the log."""
    holders = [found.log]
    if found.is_row and isinstance(found.log.get("metadata"), str):
        holders.append({"metadata": _metadata(found)})
    if found.outer is not None:
        holders.append(found.outer)
    if sender := passed_user(found.log):
        holders.append(sender)
    return holders


@dataclass(frozen=True, slots=True)
class Observed:
    """When a call was logged, and how long it took."""

    instant: datetime | None
    duration_ms: int | None
    start: datetime | None
    """When the request came, or else the instant: attempts of one request differ in it."""


def observed(found: LogRecord, options: CaptureOptions) -> Observed:
    """Return when the answer was complete, else when the request came.

    :raises RefusedError: a time that is none, or has no offset.
    """
    log, place = found.log, found.place
    if found.is_plain:
        instant = call_instant(log.get("timestamp"), "timestamp", options)
        return Observed(instant, _latency(log.get("latency_sec")), instant)
    end = call_instant(log.get("endTime"), f"{place}endTime", options)
    start = call_instant(log.get("startTime"), f"{place}startTime", options)
    return Observed(end or start, milliseconds(start, end), start or end)


def token_counts(log: JsonObject, answer: ModelAnswer) -> tuple[int | None, int | None]:
    """Return the record's token counts, else the response's; zeros without any usage are the gateway's defaults."""
    given = tokens(log.get("prompt_tokens"), "prompt_tokens"), tokens(log.get("completion_tokens"), "completion_tokens")
    told = answer.input_tokens, answer.output_tokens
    if given == (None, None) or (given == (0, 0) and told == (None, None)):
        return told
    return given


def request_body(found: LogRecord) -> JsonObject:
    """Return the request as the body of an API request.

    :raises RefusedError: its messages are not in the record.
    """
    log = found.log
    if found.has_raw_messages:
        return {"messages": log["raw_messages"]}
    if not found.is_row:
        return _payload_request(log)
    for key in ("messages", "proxy_server_request"):
        value = _stored(log.get(key), key)
        if isinstance(value, list) and value:
            value = {"messages": value}
        if isinstance(value, dict) and isinstance(value.get("body"), dict):
            value = value["body"]
        if isinstance(value, dict) and is_request(value):
            if _is_removed(value.get("messages")) or REMOVED in (value.get("input"), value.get("prompt")):
                raise removed(key)
            return value
    raise RefusedError(Remainder.NO_CONTENT, "messages, proxy_server_request: none in the row; they were not stored")


def _payload_request(log: JsonObject) -> JsonObject:
    messages = log.get("messages")
    parameters = log.get("model_parameters")
    extras = parameters if isinstance(parameters, dict) else {}
    if messages is None or messages == "" or messages == {}:
        raise RefusedError(Remainder.NO_CONTENT, "messages: none in the record")
    if messages == REMOVED or _is_removed(messages):
        raise removed("messages")
    if is_passed_through(log):
        return passed_request(log)
    if isinstance(messages, dict):  # text completions and pass-through requests are logged as the body they had
        return messages if is_request(messages) else {"messages": [messages]}
    if log.get("call_type") in ("responses", "aresponses"):
        passed_on = {
            key: extras[key] for key in ("previous_response_id", "instructions", "conversation") if key in extras
        }
        return {"input": messages} | passed_on
    return {"messages": messages} | ({} if _has_system(messages) else {"system": extras.get("system")})


def response_body(found: LogRecord) -> JsonValue:
    """Return the response as the body of an API response; empty when there is none.

    :raises RefusedError: it is text that is no JSON, or was cut.
    """
    value = found.log.get("response")
    if found.is_row:
        value = value if value == REMOVED else _stored(value, found.response_place)
    elif isinstance(value, str) and value not in ("", REMOVED):
        value = _unfolded(value, found.response_place)
    if value == REMOVED:
        raise removed(found.response_place)
    return passed_response(value, found.response_place) if is_passed_through(found.log) else value


def call_id(found: LogRecord) -> str | None:
    """Return the gateway's own id of the call."""
    return first_known([found.log], _CALL_IDS)


def is_from_cache(found: LogRecord) -> bool:
    """Whether the gateway gave an answer again that a provider had given to another call, under the same id."""
    hit, named = found.log.get("cache_hit"), found.log.get("id")
    marked = isinstance(named, str) and _CACHE_MARK in named
    return hit is True or marked or (isinstance(hit, str) and hit.strip().lower() == "true")


def _metadata(found: LogRecord) -> JsonValue:
    """Return the metadata; that of a row is JSON in text."""
    metadata = found.log.get("metadata")
    if found.is_row and isinstance(metadata, str):
        try:
            return _unfolded(metadata, "metadata")
        except RefusedError:
            return None
    return metadata


def _stored(value: JsonValue, where: str) -> JsonValue:
    """Read what a row holds: JSON, or JSON in text.

    :raises RefusedError: as ``_unfolded`` does, and where a database gave the cut texts as JSON.
    """
    stack = [parsed := _unfolded(value, where)]
    while stack:
        held = stack.pop()
        if isinstance(held, str) and _TRUNCATED in held:
            raise _cut(where)
        stack += held.values() if isinstance(held, dict) else held if isinstance(held, list) else ()
    return parsed


def _cut(where: str) -> RefusedError:
    return RefusedError(Remainder.NO_CONTENT, f"{where}: long texts were cut before the row was written")


def _unfolded(value: JsonValue, where: str) -> JsonValue:
    """Read JSON that a row holds as text.

    :raises RefusedError: it is no JSON, or long texts in it were cut before it was written.
    """
    if not isinstance(value, str):
        return value
    if value in ("", "None"):
        return None
    if _TRUNCATED in value:
        raise _cut(where)
    try:
        parsed: JsonValue = parse_json(value)
    except JsonError:
        raise invalid(where, "JSON in text", value) from None
    return parsed


def _has_system(messages: JsonValue) -> bool:
    """Whether a system prompt is among the messages, where recent releases put it; older ones log it as a parameter."""
    return isinstance(messages, list) and any(
        isinstance(message, dict) and message.get("role") == "system" for message in messages[:1]
    )


def _is_removed(messages: JsonValue) -> bool:
    """Whether the messages were replaced; a system prompt of the gateway's own may still stand before."""
    return isinstance(messages, list) and any(
        isinstance(message, dict) and message.get("content") == REMOVED for message in messages[:2]
    )


def _latency(seconds: JsonValue) -> int | None:
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not 0 <= seconds < 1e9:
        return None
    return round(float(seconds) * 1000)
