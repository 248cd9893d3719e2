"""Buildkite: the webhooks of a build's end and the REST build → CIOutcome. A rebuild has an id of its own."""

from typing import Final

from sediment_assets.capture.ci_attempts import ci_system_outcome, commit_of, repository_of, slug_of_url
from sediment_assets.capture.ci_systems.common import not_evidence, result_of, words
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "passed": CIResult.PASSED,
    "failed": CIResult.FAILED,
    "canceled": CIResult.CANCELLED,
    "skipped": CIResult.SKIPPED,
    "not_run": CIResult.SKIPPED,
}
"""What a build's state means."""
RUNNING: Final = words("creating scheduled running failing canceling blocked waiting started")
_ENDS: Final = ("build.finished", "build.skipped")
_EVENTS: Final = ("build.", "job.", "agent.", "ping", "cluster_token.")


def reads(payload: JsonObject) -> bool:
    """Whether a payload is a Buildkite webhook body or a build of its REST API."""
    event = payload.get("event")
    is_webhook = isinstance(event, str) and event.startswith(_EVENTS) and ("build" in payload or "sender" in payload)
    return is_webhook or _is_build(payload)


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a build; jobs are parts of a build and tell nothing."""
    payload = Fields(delivery.payload)
    if _is_build(delivery.payload):
        return _build(delivery, payload, payload.fields("pipeline"), options, None)
    event = payload.word("event")
    if event in _ENDS:
        return _build(delivery, payload.fields("build"), payload.fields("pipeline"), options, event)
    if event is not None and event.startswith("build."):
        raise RefusedError(Remainder.NOT_TERMINAL, f"buildkite {shown(event)}")
    raise not_evidence(f"buildkite {shown(event)}")


def _is_build(payload: JsonObject) -> bool:
    return "state" in payload and "commit" in payload and isinstance(payload.get("pipeline"), dict)


def _build(
    delivery: Delivery, build: Fields, pipeline: Fields, options: CaptureOptions, event: str | None
) -> CIOutcome:
    if build.truth("blocked"):
        # It passed as far as it got; the same build goes on once somebody unblocks it.
        raise RefusedError(Remainder.NOT_TERMINAL, "buildkite build that is blocked")
    finished_at = build.instant("finished_at")
    state = build.word("state")
    result = result_of(state, RESULTS, RUNNING, finished_at, "buildkite build")
    run_id = build.word("id")
    if run_id is None:
        raise invalid(build.named("id"), "a build's id", None)
    values = {
        "provider": CIProvider.BUILDKITE,
        "run_id": run_id,
        "commit_sha": commit_of(build.text("commit"), build.named("commit")),
        "repo": repository_of(options, slug_of_url(pipeline.word("repository")), "pipeline.repository"),
        "branch": build.text("branch") or "",
        "result": result,
        "provider_result": state,
        "workflow_name": pipeline.word("name"),
        "workflow_id": pipeline.word("id"),
        "run_url": build.word("web_url"),
        "reason": build.word("cancel_reason"),
        "pr_number": _pull_request(build),
        "source_event_type": event,
        "source_event_id": delivery.id,
        "captured_at": finished_at,
        "raw": delivery.payload,
    }
    return ci_system_outcome(options, values)


def _pull_request(build: Fields) -> int | None:
    number = build.fields("pull_request").identifier("id") or ""
    return int(number) if number.isascii() and number.isdigit() and len(number) < 19 and int(number) else None
