"""Forgejo and Gitea Actions: Forgejo's ``action_run_…`` webhooks, Gitea's ``workflow_run`` and its REST runs."""

from collections.abc import Mapping
from typing import Final

from sediment_assets.capture.ci_attempts import ci_system_outcome, commit_of, host_of_url, repository_of
from sediment_assets.capture.ci_systems.common import not_evidence, other_forge, qualified_id, result_of, words
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonError, JsonObject, decode
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "success": CIResult.PASSED,
    "failure": CIResult.FAILED,
    "cancelled": CIResult.CANCELLED,
    "skipped": CIResult.SKIPPED,
    "neutral": CIResult.NEUTRAL,
    "timed_out": CIResult.TIMED_OUT,
}
"""What a run's status or conclusion means."""
RUNNING: Final = words("waiting running blocked queued requested in_progress pending unknown")
_MARKS: Final = ("internal_tracker", "original_url", "mirror_interval")


def reads(payload: JsonObject) -> bool:
    """Whether a payload without telling headers is one of Forgejo's or Gitea's: by its run, or by its repository."""
    is_marked = "compare_url" in payload or any(mark in _repository(payload) for mark in _MARKS)
    return _is_action_run(payload) or _is_task(payload) or is_marked


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a run; pushes and renames name a forge Facts cannot, and everything else is no evidence."""
    payload = Fields(delivery.payload)
    if _is_action_run(delivery.payload):
        return _action_run(delivery, payload.fields("run"), options)
    if _is_task(delivery.payload):
        raise not_evidence("forgejo task: a part of a run, which tells the outcome")
    if isinstance(delivery.payload.get("workflow_run"), dict):
        return _workflow_run(delivery, payload, payload.fields("workflow_run"), options)
    if "head_sha" in delivery.payload:
        return _workflow_run(delivery, Fields({}), payload, options)
    if {"ref", "before", "after"} <= delivery.payload.keys():
        raise other_forge("forgejo push")
    event = delivery.event or "event"
    if event == "repository":
        raise other_forge("forgejo repository")
    raise not_evidence(f"forgejo {shown(event)}")


def _repository(payload: JsonObject) -> JsonObject:
    repository = payload.get("repository")
    return repository if isinstance(repository, dict) else {}


def _is_action_run(payload: JsonObject) -> bool:
    run = payload.get("run")
    return isinstance(run, dict) and "commit_sha" in run and "status" in run


def _is_task(payload: JsonObject) -> bool:
    """Whether a record is one of the list of tasks, which names no conclusion and no page of a run's own."""
    told = {"head_sha", "run_number", "workflow_id", "run_started_at", "status"} <= payload.keys()
    return told and "conclusion" not in payload and "html_url" not in payload


def _action_run(delivery: Delivery, run: Fields, options: CaptureOptions) -> CIOutcome:
    ended_at = run.instant("stopped")
    status = run.word("status")
    result = result_of(status, RESULTS, RUNNING, ended_at, "forgejo run")
    repository = run.fields("repository")
    url = run.word("html_url")
    pull_request, branch = _pull_request(run)
    values = {
        "run_id": _run_id(run, url),
        "commit_sha": commit_of(run.text("commit_sha"), "run.commit_sha"),
        "repo": repository_of(options, repository.word("full_name"), "run.repository.full_name"),
        "branch": branch,
        "result": result,
        "provider_result": status,
        "workflow_id": run.word("workflow_id"),
        "run_url": url,
        "pr_number": pull_request,
        "source_event_type": delivery.event,
        "captured_at": ended_at or run.instant("updated"),
    }
    return _outcome(delivery, options, values)


def _pull_request(run: Fields) -> tuple[int | None, str]:
    """Return the pull request's number and the branch: ``prettyref`` is ``#12`` for a pull request, else the branch."""
    shown_ref = run.word("prettyref") or ""
    event = _event_payload(run)
    if shown_ref.startswith("#") and shown_ref[1:].isascii() and shown_ref[1:].isdigit() and len(shown_ref) < 20:
        head = event.fields("pull_request").fields("head")
        return int(shown_ref[1:]), head.word("ref") or ""
    is_tag = (event.word("ref") or "").startswith("refs/tags/")
    return None, "" if is_tag else shown_ref


def _event_payload(run: Fields) -> Fields:
    try:
        event = decode(run.text("event_payload") or "{}")
    except JsonError:
        event = {}
    return Fields(event if isinstance(event, dict) else {}, "run.event_payload")


def _workflow_run(delivery: Delivery, payload: Fields, run: Fields, options: CaptureOptions) -> CIOutcome:
    if (action := payload.word("action")) not in (None, "completed"):
        raise RefusedError(Remainder.NOT_TERMINAL, f"gitea workflow_run with action {shown(action)}")
    workflow = payload.fields("workflow")
    ended_at = run.instant("completed_at") or run.instant("updated_at")
    word = run.word("conclusion") or run.word("status")
    result = result_of(word, RESULTS, RUNNING, ended_at, "gitea workflow run")
    repository = payload.fields("repository") if "repository" in payload else run.fields("repository")
    url = run.word("html_url")
    values = {
        "run_id": _run_id(run, url),
        "run_attempt": run.raw("run_attempt") or None,
        "commit_sha": commit_of(run.text("head_sha"), "workflow_run.head_sha"),
        "repo": repository_of(options, repository.word("full_name"), "repository.full_name"),
        "branch": run.text("head_branch") or "",
        "result": result,
        "provider_result": word,
        "workflow_name": workflow.word("name"),
        "workflow_id": workflow.identifier("id"),
        "workflow_path": (run.word("path") or workflow.word("path") or "").partition("@")[0] or None,
        "run_url": url,
        "source_event_type": delivery.event,
        "captured_at": ended_at,
    }
    return _outcome(delivery, options, values)


def _run_id(run: Fields, url: str | None) -> str:
    number, host = run.identifier("id"), host_of_url(url)
    if number is None or host is None:
        missing = "id" if number is None else "html_url"
        raise invalid(run.named(missing), "a run's id and its URL, which together are unique", run.raw(missing))
    return qualified_id("forgejo", host, number)


def _outcome(delivery: Delivery, options: CaptureOptions, values: Mapping[str, object]) -> CIOutcome:
    told = {"provider": CIProvider.OTHER, "source_event_id": delivery.id, "raw": delivery.payload, **values}
    return ci_system_outcome(options, told)
