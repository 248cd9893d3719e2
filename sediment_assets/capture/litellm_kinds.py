"""Kinds of calls of a LiteLLM gateway (``call_type``): which are no conversation, and what was passed through.

A pass-through route logs the request's body as the text of one message, and the response's as text in ``response``
(docs/capture/gateway.md).
"""

from typing import Final

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.model_requests import is_request
from sediment_assets.capture.record_fields import RefusedError, unknown_shape
from sediment_assets.capture.recorded_exchanges import body_of
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

_OTHER_CALLS: Final = """
embedding image_generation image_edit image_variation moderation transcription speech rerank search ocr
realtime realtime_calls realtime_translation_calls create_realtime_client_secret
create_realtime_transcription_session create_realtime_translation_client_secret
create_file file_content file_delete file_list file_retrieve
create_batch retrieve_batch list_batches cancel_batch
create_fine_tuning_job cancel_fine_tuning_job list_fine_tuning_jobs retrieve_fine_tuning_job
get_responses delete_responses cancel_responses compact_responses list_input_items
get_assistants create_assistants delete_assistant create_thread get_thread get_messages
create_video video_generation video_retrieve video_content video_remix video_list video_retrieve_job video_delete
video_create_character video_get_character video_edit video_extension
vector_store_create vector_store_search vector_store_retrieve vector_store_list vector_store_update vector_store_delete
vector_store_file_create vector_store_file_list vector_store_file_retrieve vector_store_file_content
vector_store_file_update vector_store_file_delete ingest query
create_container list_containers retrieve_container delete_container list_container_files upload_container_file
create_sandbox delete_sandbox run_code code_interpreter_tool create_skill call_mcp_tool list_mcp_tools
"""
NOT_A_CONVERSATION: Final = frozenset(prefix + name for name in _OTHER_CALLS.split() for prefix in ("", "a", "_", "_a"))
"""Kinds of calls that are no conversation with a model."""
_PASSED: Final = frozenset({"pass_through_endpoint", "llm_passthrough_route", "allm_passthrough_route"})

_NO_MODEL: Final = "unknown"


def is_passed_through(log: JsonObject) -> bool:
    """Whether the gateway handed a request on as it came."""
    kind = log.get("call_type")
    return isinstance(kind, str) and kind in _PASSED


def logged_model(log: JsonObject) -> JsonValue:
    """Return the model that the gateway logged; where it handed on what it did not read, the word for none is none."""
    model = log.get("model")
    return None if model == _NO_MODEL and is_passed_through(log) else model


def passed_request(log: JsonObject) -> JsonObject:
    """Return the body of a request that was passed through.

    :raises RefusedError: there was none, or it is of no API that is read.
    """
    body = _passed_body(log.get("messages"))
    if body is None:
        raise RefusedError(Remainder.NO_EVIDENCE, "a passed-through request without a body")
    if not isinstance(body, dict) or not is_request(body):
        raise unknown_shape("messages: a passed-through request of no API that is read")
    return body


def passed_response(response: JsonValue, where: str) -> JsonValue:
    """Return the body of a response that was passed through: some routes log its text, others its translation.

    :raises RefusedError: it is neither JSON nor a stream of events.
    """
    if isinstance(response, dict) and set(response) == {"response"}:
        return body_of({"body": response["response"]}, where)
    return response


def passed_user(log: JsonObject) -> JsonObject:
    """Return what the body of a passed-through request says of who sent it, as a log's metadata would say it."""
    body = _passed_body(log.get("messages")) if is_passed_through(log) else None
    told = body.get("metadata") if isinstance(body, dict) else None
    return {"metadata": {"requester_metadata": told}} if isinstance(told, dict) else {}


def _passed_body(messages: JsonValue) -> JsonValue:
    """Read the body out of the one message that holds it; messages that are none are the body of nothing."""
    only = messages[0] if isinstance(messages, list) and len(messages) == 1 else None
    text = only.get("content") if isinstance(only, dict) else None
    if not isinstance(text, str):
        return {"messages": messages} if messages else None
    try:
        body: JsonValue = parse_json(text)
    except JsonError:
        return {}
    return body or None
