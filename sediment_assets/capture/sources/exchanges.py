"""Recorded requests and responses of model APIs, and spans that tell them (docs/capture/gateway.md).

Anthropic Messages, OpenAI Chat Completions and Responses; pairs, cassettes and HAR files; OpenTelemetry GenAI spans and
log records that carry messages. An exchange without its request, or a span without messages, is no evidence of a call.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Source, Translated, Untranslated
from sediment_assets.capture.exchange_calls import ExchangeCalls, refuse_record
from sediment_assets.capture.lookup import SESSION_SETTING
from sediment_assets.capture.model_calls import OFFSET_SETTING, left_out_items
from sediment_assets.capture.model_spans import Span, find_spans
from sediment_assets.capture.record_fields import RefusedError, unknown_shape
from sediment_assets.capture.recorded_exchanges import Exchange, find_exchanges
from sediment_assets.capture.span_calls import SpanCalls


class Exchanges:
    """The source ``exchanges``."""

    name = "exchanges"
    settings = (SESSION_SETTING, OFFSET_SETTING)
    help = "recorded requests and responses of model APIs, and OpenTelemetry GenAI spans with messages → model calls"

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[Translated | Untranslated]:
        """Translate each exchange into one InferenceCall, or say why not."""
        exchanges, spans = ExchangeCalls(options, self.name), SpanCalls(options, self.name)
        for document in documents:
            exchanges.begin_document()
            spans.begin_document()
            for record in document.records:
                yield from _outcomes(record, exchanges, spans)


def _outcomes(record: Record, exchanges: ExchangeCalls, spans: SpanCalls) -> Iterator[Translated | Untranslated]:
    found: Iterator[Exchange | Span] | None = None
    if isinstance(record.value, dict):
        found = find_exchanges(record.place, record.value) or find_spans(record.place, record.value)
    if found is None:
        yield refuse_record(record.value).at(record.place)
        return
    is_empty = True
    for item in found:
        is_empty = False
        left_out: list[str] = []
        try:
            if isinstance(item, Exchange):
                fact = exchanges.translate(item, left_out)
            else:
                fact = spans.translate(item, left_out)
        except RefusedError as error:
            yield error.at(item.place)
        else:
            yield Translated(item.place, fact)
        yield from left_out_items(item.place, left_out)
    if is_empty:
        yield unknown_shape("no exchange and no span in it").at(record.place)


SOURCE: Final[Source] = Exchanges()
