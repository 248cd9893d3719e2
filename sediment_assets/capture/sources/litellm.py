"""LiteLLM's logs: StandardLoggingPayload records, callback kwargs, spend-log rows (docs/capture/gateway.md).

One record is one call. Failed calls are calls without an answer. Which field says what is in ``litellm_fields.py``.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final

from sediment_assets.capture.contract import (
    CaptureOptions,
    Document,
    Record,
    Remainder,
    Source,
    Translated,
    Untranslated,
)
from sediment_assets.capture.ids import is_unique_id
from sediment_assets.capture.litellm_fields import (
    Observed,
    call_id,
    is_from_cache,
    observed,
    request_body,
    response_body,
    session_of,
    token_counts,
    user_of,
)
from sediment_assets.capture.litellm_kinds import NOT_A_CONVERSATION, logged_model
from sediment_assets.capture.litellm_records import LogRecord, find_record, listed_rows
from sediment_assets.capture.lookup import SESSION_SETTING
from sediment_assets.capture.model_calls import (
    OFFSET_SETTING,
    Clock,
    ModelCall,
    content_digest,
    left_out_items,
    model_name,
    to_fact,
)
from sediment_assets.capture.model_requests import ModelRequests, upstream_id
from sediment_assets.capture.model_responses import ModelAnswer, read_answer
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.messages import Message
from sediment_assets.facts.vocabulary import GatewayProvider


class LiteLLM:
    """The source ``litellm``."""

    name = "litellm"
    settings = (SESSION_SETTING, OFFSET_SETTING)
    help = "logs of a LiteLLM gateway: StandardLoggingPayload, callback kwargs, spend logs → model calls"

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[Translated | Untranslated]:
        """Translate each record into one InferenceCall, or say why not."""
        requests = ModelRequests()
        for document in documents:
            clock = Clock(options)
            for record in chain.from_iterable(map(listed_rows, document.records)):
                clock.next_record()
                left_out: list[str] = []
                try:
                    fact = _translate(record, requests, clock, options, left_out)
                except RefusedError as error:
                    yield error.at(record.place)
                else:
                    yield Translated(record.place, fact)
                yield from left_out_items(record.place, left_out)


def _translate(
    record: Record, requests: ModelRequests, clock: Clock, options: CaptureOptions, left_out: list[str]
) -> InferenceCall:
    found = find_record(record.value)
    log = found.log
    kind = log.get("call_type")
    if isinstance(kind, str) and kind in NOT_A_CONVERSATION:
        raise RefusedError(Remainder.NO_EVIDENCE, f"call_type {kind}")
    session_id = session_of(found, options)
    request = request_body(found)
    answer = _answer(found, left_out)
    sent = requests.read(session_id, request, found.request_place, left_out)
    requests.remember(upstream_id(answer.response_id or ""), request, sent, answer.messages)
    when = observed(found, options)
    is_provider_id = is_unique_id(answer.response_id) and not is_from_cache(found)
    input_tokens, output_tokens = token_counts(log, answer)
    call = ModelCall(
        session_id,
        when.instant or clock.coarse(answer.created if found.is_plain else None),
        sent,
        answer.messages,
        user_id=user_of(found),
        model_provider=model_name(log.get("custom_llm_provider")),
        model=model_name(logged_model(log), answer.model),
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        duration_ms=when.duration_ms,
        model_call_id=answer.response_id if is_provider_id else None,
        identity=None if is_provider_id else _own_identity(found, session_id, when, [*sent, *answer.messages]),
        raw=found.rest(),
        content=record.value,
    )
    return to_fact(call, GatewayProvider.LITELLM, LiteLLM.name, options)


def _own_identity(found: LogRecord, session_id: str, when: Observed, messages: list[Message]) -> str | None:
    """Return what tells a call from others of its gateway id: Session, start and messages; None without such an id.

    Rows of the spend log have times to the millisecond only.
    """
    named = call_id(found)
    if named is None:
        return None
    start = when.start.isoformat(timespec="milliseconds") if when.start else ""
    return content_digest([message.model_dump() for message in messages], session_id, named, start)


def _answer(found: LogRecord, left_out: list[str]) -> ModelAnswer:
    """Read the response; a failed call has none."""
    body = response_body(found)
    if found.has_failed and not body:
        return ModelAnswer([])
    if not body:
        raise RefusedError(Remainder.NO_CONTENT, f"{found.response_place}: none in the record of a successful call")
    answer = read_answer(body, found.response_place, left_out)
    if found.has_failed:
        answer.input_tokens = answer.output_tokens = None
    return answer


SOURCE: Final[Source] = LiteLLM()
