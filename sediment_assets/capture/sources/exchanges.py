"""Recorded requests and responses of model APIs, and spans that tell them (docs/capture/gateway.md).

Anthropic Messages, OpenAI Chat Completions and Responses; pairs, cassettes and HAR files; OpenTelemetry GenAI spans,
log records that carry messages, and log records of one message each. An exchange without its request, or a span without
messages, is no evidence of a call.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Source, Translated, Untranslated
from sediment_assets.capture.event_calls import EventCalls
from sediment_assets.capture.exchange_calls import ExchangeCalls, refuse_record
from sediment_assets.capture.lookup import SESSION_SETTING
from sediment_assets.capture.message_events import MessageEvent
from sediment_assets.capture.model_calls import OFFSET_SETTING, left_out_items
from sediment_assets.capture.model_spans import BareSpanError, Span, find_spans
from sediment_assets.capture.record_fields import RefusedError, unknown_shape
from sediment_assets.capture.recorded_exchanges import Exchange, find_exchanges
from sediment_assets.capture.span_calls import SpanCalls


class Exchanges:
    """The source ``exchanges``."""

    name = "exchanges"
    settings = (SESSION_SETTING, OFFSET_SETTING)
    help = (
        "recorded requests and responses of model APIs, OpenTelemetry GenAI spans and logs with messages → model calls"
    )

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[Translated | Untranslated]:
        """Translate each exchange into one InferenceCall, or say why not."""
        exchanges, spans = ExchangeCalls(options, self.name), SpanCalls(options, self.name)
        events = EventCalls(spans, options)
        for document in documents:
            exchanges.begin_document()
            spans.begin_document()
            for record in document.records:
                yield from _outcomes(record, exchanges, spans, events)
        yield from events.finish()


def _outcomes(
    record: Record, exchanges: ExchangeCalls, spans: SpanCalls, events: EventCalls
) -> Iterator[Translated | Untranslated]:
    found: Iterator[Exchange | Span | MessageEvent] | None = None
    if isinstance(record.value, dict):
        found = find_exchanges(record.place, record.value) or find_spans(record.place, record.value)
    if found is None:
        yield refuse_record(record.value).at(record.place)
        return
    is_empty = True
    for item in found:
        is_empty = False
        if isinstance(item, Exchange):
            yield from _exchange(item, exchanges)
        elif isinstance(item, Span):
            yield from _span(item, spans, events)
        else:
            yield from events.add_event(item)
    if is_empty:
        yield unknown_shape("no exchange and no span in it").at(record.place)


def _exchange(exchange: Exchange, exchanges: ExchangeCalls) -> Iterator[Translated | Untranslated]:
    left_out: list[str] = []
    try:
        yield Translated(exchange.place, exchanges.translate(exchange, left_out))
    except RefusedError as error:
        yield error.at(exchange.place)
    yield from left_out_items(exchange.place, left_out)


def _span(span: Span, spans: SpanCalls, events: EventCalls) -> Iterator[Translated | Untranslated]:
    left_out: list[str] = []
    try:
        yield Translated(span.place, spans.translate(span, left_out))
    except BareSpanError as error:
        yield from events.add_span(span, error)
    except RefusedError as error:
        yield error.at(span.place)
    yield from left_out_items(span.place, left_out)
    if span.has_messages:
        yield from events.tell(span)


SOURCE: Final[Source] = Exchanges()
