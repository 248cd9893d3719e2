"""OTLP: OpenTelemetry log records of coding agents → DeveloperDecision (facts.md §3.2)."""

from collections.abc import Iterable, Iterator
from typing import Final

from sediment_assets.capture.contract import CaptureOptions, Document, Remainder, Source, Translated, Untranslated
from sediment_assets.capture.otlp.decisions import read_decision
from sediment_assets.capture.otlp.records import read_records
from sediment_assets.capture.record_fields import RefusedError


class OtlpSource:
    """OTLP/JSON export requests, as a collector's file exporter writes them: one a line, or one a file."""

    name = "otlp"
    help = "OpenTelemetry logs of coding agents (OTLP/JSON): accept and reject decisions"
    note = (
        "OTLP logs hold decisions and no messages: without InferenceCalls of the same Sessions "
        "(capture litellm, exchanges or transcripts) they give no Rollout."
    )

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[Translated | Untranslated]:
        """Translate in order; the same decision, exported again, is counted as repeated."""
        seen: dict[str, str] = {}
        for document in documents:
            for record in document.records:
                for log_record in read_records(record.place, record.value):
                    if isinstance(log_record, Untranslated):
                        yield log_record
                        continue
                    try:
                        fact = read_decision(log_record, options)
                    except RefusedError as refused:
                        yield refused.at(log_record.place)
                        continue
                    if (first := seen.get(fact.fact_id)) is not None:
                        yield Untranslated(log_record.place, Remainder.REPEATED, f"the same decision as {first}")
                        continue
                    seen[fact.fact_id] = log_record.place
                    yield Translated(log_record.place, fact)


SOURCE: Final[Source] = OtlpSource()
