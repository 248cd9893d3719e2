"""CDEvents: ``dev.cdevents.pipelinerun.finished`` → CIOutcome, alone or inside a CloudEvent.

The specification has no place for the commit and repository of a pipeline run; ``customData.sediment`` may name them,
with the field names of CIOutcome. Task runs and test suites are parts of a pipeline run and tell nothing.
"""

import base64
import binascii
import re
from typing import Final

from sediment_assets.capture.ci_attempts import IDENTITY, ci_system_outcome, commit_of, repository_of
from sediment_assets.capture.ci_systems.common import not_evidence, qualified_id, result_of
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue, decode
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "success": CIResult.PASSED,
    "failure": CIResult.FAILED,
    "error": CIResult.ERROR,
    "cancel": CIResult.CANCELLED,
}
"""What a pipeline run's outcome means."""
CUSTOM: Final = ("commit_sha", "repo", "branch", "run_attempt", "workflow_id", "workflow_path", "pr_number")
"""What ``customData.sediment`` may say (facts.md §4: identity all or none)."""
_TYPE: Final = re.compile(r"dev\.cdeventsx?\.(?P<subject>[a-z-]+)\.(?P<predicate>[a-z]+)\.(?P<version>.+)", re.DOTALL)


def reads(payload: JsonObject) -> bool:
    """Whether a payload is a CDEvent, or a CloudEvent with one inside."""
    return _type(_event(payload)) is not None


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a finished pipeline run; events of other subjects are no evidence."""
    payload = _event(delivery.payload)
    told = _type(payload)
    assert told is not None
    subject, predicate = told["subject"], told["predicate"]
    if subject != "pipelinerun":
        raise not_evidence(f"cdevents {subject} {predicate}")
    if predicate != "finished":
        raise RefusedError(Remainder.NOT_TERMINAL, f"cdevents {subject} {predicate}")
    return _finished(Fields(payload), options)


def _event(payload: JsonObject) -> JsonObject:
    if "context" in payload or "specversion" not in payload:
        return payload
    data = _data(payload)
    return data if isinstance(data, dict) else payload


def _data(cloud_event: JsonObject) -> JsonValue:
    """Return what a CloudEvent carries: a value, JSON in text, or base64 of that; None when it cannot be read."""
    data, encoded = cloud_event.get("data"), cloud_event.get("data_base64")
    try:
        if isinstance(encoded, str):
            data = base64.b64decode(encoded, validate=True).decode()
        parsed: JsonValue = decode(data) if isinstance(data, str) else data
    except (JsonError, binascii.Error, ValueError):
        return None
    return parsed


def _type(payload: JsonObject) -> re.Match[str] | None:
    context = payload.get("context")
    kind = context.get("type") if isinstance(context, dict) else None
    return _TYPE.fullmatch(kind) if isinstance(kind, str) else None


def _finished(event: Fields, options: CaptureOptions) -> CIOutcome:
    context, subject = event.fields("context"), event.fields("subject")
    content = subject.fields("content")
    happened_at, word = context.instant("timestamp"), content.word("outcome")
    result = result_of(word, RESULTS, frozenset(), happened_at, "cdevents pipelinerun")
    custom = _custom(event)
    run_id, source = subject.word("id"), subject.word("source") or context.word("source")
    if run_id is None or source is None:
        raise invalid(subject.named("id"), "an id and a source, which together are unique", None)
    values = {
        **{key: custom.raw(key) for key in (*CUSTOM, *IDENTITY)},
        "provider": CIProvider.OTHER,
        "run_id": qualified_id("cdevents", source, run_id),
        "commit_sha": commit_of(custom.text("commit_sha"), "customData.sediment.commit_sha"),
        "repo": repository_of(options, custom.text("repo"), "customData.sediment.repo"),
        "branch": custom.text("branch") or "",
        "result": result,
        "provider_result": word,
        "workflow_name": content.word("pipelineName"),
        "run_url": content.word("uri") or content.word("url"),
        "reason": (content.text("errors") or "")[:4096] or None,
        "source_event_type": context.word("type"),
        "source_spec_version": context.word("specversion") or context.word("version"),
        "source_event_id": context.word("id"),
        "captured_at": happened_at,
        "raw": event.value,
    }
    return ci_system_outcome(options, values)


def _custom(event: Fields) -> Fields:
    """Return ``customData.sediment``; an event whose custom data is something else says nothing to us."""
    custom = event.raw("customData")
    ours = custom.get("sediment") if isinstance(custom, dict) else None
    fields = Fields(ours if isinstance(ours, dict) else {}, "customData.sediment")
    if strange := [key for key in fields.value if key not in CUSTOM and key not in IDENTITY]:
        detail = f"customData.sediment.{strange[0]}: expected only {', '.join((*CUSTOM, *IDENTITY))}"
        raise RefusedError(Remainder.INVALID_VALUE, detail if strange[0].isidentifier() else shown(strange[0]))
    return fields
