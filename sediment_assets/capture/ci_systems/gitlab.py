"""GitLab CI: the pipeline webhook and the REST pipeline → CIOutcome. Jobs are parts of a pipeline and tell nothing.

A retried pipeline keeps its id and has no attempt number, so a second end of one pipeline contradicts the first.
"""

from typing import Final

from sediment_assets.capture.ci_attempts import ci_system_outcome, commit_of, repository_of, slug_of_url
from sediment_assets.capture.ci_systems.common import not_evidence, other_forge, result_of, words
from sediment_assets.capture.contract import CaptureOptions
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "success": CIResult.PASSED,
    "failed": CIResult.FAILED,
    "canceled": CIResult.CANCELLED,
    "skipped": CIResult.SKIPPED,
}
"""What a pipeline's status means; ``failed`` becomes ``error`` or ``timed_out`` when its jobs say only that."""
RUNNING: Final = words(
    "created waiting_for_resource waiting_for_callback preparing pending running canceling manual scheduled"
)
INFRASTRUCTURE: Final = words(
    "runner_system_failure runner_unsupported runner_provisioning_failure scheduler_failure data_integrity_failure "
    "api_failure stale_schedule archived_failure stuck_or_timeout_failure no_matching_runner ci_quota_exceeded "
    "user_blocked project_deleted trace_size_exceeded environment_creation_failure unmet_prerequisites "
    "builds_disabled ip_restriction_failure"
)
"""Reasons of failed jobs that say nothing about the commit: with only such jobs the pipeline ended in ``error``."""
TIMEOUT: Final = "job_execution_timeout"
_PUSHES: Final = frozenset({"push", "tag_push", "repository_update"})
_RENAMES: Final = frozenset({"project_rename", "project_transfer", "project_update"})
_JOB: Final = "gitlab job: its pipeline tells the outcome"
_PIPELINES: Final = "/pipelines/"
_BODIES: Final = frozenset({"payload", "body"})


def reads(payload: JsonObject) -> bool:
    """Whether a payload is one of GitLab's: a project or system hook, or a pipeline of its REST API."""
    is_hook = isinstance(payload.get("object_kind"), str) or _is_system_hook(payload)
    return is_hook or _is_rest(payload) or _is_job(payload)


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a pipeline; other hooks are no evidence, pushes and renames name a forge Facts cannot."""
    payload = Fields(delivery.payload)
    if _is_rest(delivery.payload):
        return _pipeline(delivery, payload, Fields({}), options)
    if _is_job(delivery.payload):
        raise not_evidence(_JOB)
    kind = payload.word("object_kind") or payload.word("event_name")
    if kind == "pipeline":
        return _pipeline(delivery, payload.fields("object_attributes"), payload, options)
    if kind in _PUSHES or kind in _RENAMES:
        raise other_forge(f"gitlab {kind}")
    if kind == "build":
        raise not_evidence(_JOB)
    raise not_evidence(f"gitlab {shown(kind)}")


def _is_system_hook(payload: JsonObject) -> bool:
    return isinstance(payload.get("event_name"), str) and _BODIES.isdisjoint(payload)


def _is_job(payload: JsonObject) -> bool:
    return "stage" in payload and "status" in payload and isinstance(payload.get("pipeline"), dict)


def _is_rest(payload: JsonObject) -> bool:
    url = payload.get("web_url")
    return "sha" in payload and "status" in payload and isinstance(url, str) and _PIPELINES in url


def _pipeline(delivery: Delivery, pipeline: Fields, hook: Fields, options: CaptureOptions) -> CIOutcome:
    is_hook = bool(hook.value)
    ended_at = pipeline.instant("finished_at") or (None if is_hook else pipeline.instant("updated_at"))
    status = pipeline.word("status")
    result = result_of(status, RESULTS, RUNNING, ended_at, "gitlab pipeline")
    run_id = pipeline.identifier("id")
    if run_id is None:
        raise invalid(pipeline.named("id"), "a pipeline's id", None)
    url = pipeline.word("url") or pipeline.word("web_url")
    project = hook.fields("project")
    slug = project.word("path_with_namespace") if is_hook else slug_of_url((url or "").partition("/-/")[0])
    values = {
        "provider": CIProvider.GITLAB_CI,
        "run_id": run_id,
        "commit_sha": commit_of(pipeline.text("sha"), pipeline.named("sha")),
        "repo": repository_of(options, slug, "project.path_with_namespace" if is_hook else "web_url"),
        "branch": "" if pipeline.truth("tag") else (pipeline.text("ref") or ""),
        "result": _failed(hook) if result is CIResult.FAILED else result,
        "provider_result": status,
        "run_url": url,
        "pr_number": hook.fields("merge_request").integer("iid"),
        "source_event_type": "pipeline" if is_hook else None,
        "source_event_id": delivery.id,
        "captured_at": ended_at,
        "raw": delivery.payload,
    }
    return ci_system_outcome(options, values)


def _failed(hook: Fields) -> CIResult:
    """Say how a failed pipeline failed: by its failed jobs, when all of them give the same kind of reason."""
    reasons = set()
    for job in hook.objects("builds"):
        if job.raw("status") == "failed" and job.raw("allow_failure") is not True:
            reasons.add(job.word("failure_reason"))
    if reasons and reasons <= INFRASTRUCTURE:
        return CIResult.ERROR
    return CIResult.TIMED_OUT if reasons == {TIMEOUT} else CIResult.FAILED
