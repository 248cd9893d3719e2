"""LiteLLM's records in tests, and what they become."""

from typing import Any

from sediment_assets.capture.contract import CaptureOptions, Document, Record, Remainder, Translated, Untranslated
from sediment_assets.capture.sources.litellm import SOURCE
from sediment_assets.facts.inference_call import InferenceCall
from tests.builders import ORG

OPTIONS = CaptureOptions(ORG)


def translate(*values: Any, options: CaptureOptions = OPTIONS) -> list[Translated | Untranslated]:
    records = [Record(f"f:{number}", value) for number, value in enumerate(values, 1)]
    return list(SOURCE.translate([Document("f", records)], options))


def one(value: Any, options: CaptureOptions = OPTIONS) -> InferenceCall:
    (outcome,) = translate(value, options=options)
    assert isinstance(outcome, Translated), outcome
    assert isinstance(outcome.fact, InferenceCall)
    return outcome.fact


def refused(value: Any, options: CaptureOptions = OPTIONS) -> tuple[Remainder, str]:
    (outcome,) = translate(value, options=options)
    assert isinstance(outcome, Untranslated)
    assert outcome.place == "f:1"
    return outcome.reason, outcome.detail


def stating(**settings: str) -> CaptureOptions:
    return CaptureOptions(ORG, settings={key.replace("_", "-"): value for key, value in settings.items()})
