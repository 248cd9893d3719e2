"""Workflow runs: the webhook ``workflow_run`` and the Actions REST API's run object → CIOutcome (facts.md §4.1)."""

import re
from typing import Final

from sediment_assets.capture.ci_attempts import ci_outcome, commit_of
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.github.repositories import Repository, read_repository
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.vocabulary import CIProvider, CIResult

SOURCE: Final = "github"
RESULTS: Final = {
    "success": CIResult.PASSED,
    "failure": CIResult.FAILED,
    "timed_out": CIResult.TIMED_OUT,
    "cancelled": CIResult.CANCELLED,
    "skipped": CIResult.SKIPPED,
    "neutral": CIResult.NEUTRAL,
    "startup_failure": CIResult.ERROR,
    "stale": CIResult.UNKNOWN,
}
"""What a conclusion means; one that is not listed is ``unknown``, with the word in ``provider_result``."""
WAITING: Final = "action_required"
"""The conclusion of a run that waits for an approval: the same attempt goes on afterwards, so it has not ended."""
_RUNNING: Final = frozenset({"queued", "in_progress", "requested", "waiting", "pending"})
_ENDED: Final = frozenset({"completed", WAITING, *RESULTS})
"""``status`` words of an ended run. Some records hold the conclusion there too, in capitals."""
_REF_SUFFIX: Final = re.compile(r"(\.ya?ml)@.*", re.DOTALL)


def run_of_delivery(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a ``workflow_run`` delivery. Only action ``completed`` tells an end.

    Deliveries are written down when they are sent, so one with action ``requested`` or ``in_progress`` may already
    show a conclusion; the ``completed`` one follows and tells it.
    """
    payload = Fields(delivery.payload)
    run = payload.fields("workflow_run")
    action = payload.word("action")
    if action != "completed":
        raise RefusedError(Remainder.NOT_TERMINAL, f"workflow_run with action {shown(action)}")
    repository = payload.fields("repository") if "repository" in payload else run.fields("repository")
    return _run(
        run,
        payload.fields("workflow"),
        repository,
        options,
        {"source_event_type": "workflow_run", "source_event_id": delivery.id, "raw": delivery.payload},
    )


def run_of_rest(run: JsonObject, options: CaptureOptions) -> CIOutcome:
    """Translate one run of a REST answer."""
    fields = Fields(run)
    return _run(fields, Fields({}), fields.fields("repository"), options, {"raw": run})


def _run(run: Fields, workflow: Fields, told_in: Fields, options: CaptureOptions, told: dict[str, object]) -> CIOutcome:
    conclusion = _conclusion(run)
    repository = read_repository(told_in, options)
    run_id = run.raw("id")
    if type(run_id) is not int:
        raise invalid(run.named("id"), "an integer", run_id)
    return ci_outcome(
        SOURCE,
        options,
        {
            **repository.identity,
            **told,
            "provider": CIProvider.GITHUB_ACTIONS,
            "run_id": run.identifier("id"),
            "run_attempt": run.raw("run_attempt"),
            "repo": repository.slug,
            "commit_sha": commit_of(run.text("head_sha"), run.named("head_sha")),
            "branch": run.text("head_branch") or "",
            "result": RESULTS.get(conclusion.lower(), CIResult.UNKNOWN),
            "provider_result": conclusion,
            "workflow_name": run.word("name") or workflow.word("name"),
            "workflow_id": run.identifier("workflow_id") or workflow.identifier("id"),
            "workflow_path": _workflow_path(run.word("path") or workflow.word("path")),
            "run_url": run.word("html_url"),
            "pr_number": _pull_request(run, repository),
            "captured_at": run.instant("updated_at"),
        },
    )


def _conclusion(run: Fields) -> str:
    """Return the conclusion of an ended run; RefusedError (not_terminal) for one that goes on."""
    status, conclusion = run.word("status"), run.word("conclusion")
    word = (status or "").lower()
    if word in _RUNNING or conclusion is None:
        raise RefusedError(
            Remainder.NOT_TERMINAL, f"a run with status {shown(status)} and conclusion {shown(conclusion)}"
        )
    if WAITING in (word, conclusion.lower()):
        raise RefusedError(Remainder.NOT_TERMINAL, f"a run that waits for approval ({WAITING})")
    if word not in _ENDED or (word != "completed" and word != conclusion.lower()):
        detail = f"status {shown(status)} and conclusion {shown(conclusion)} do not agree"
        raise RefusedError(Remainder.INVALID_VALUE, f"{run.named('status')}: {detail}")
    return conclusion


def _workflow_path(path: str | None) -> str | None:
    """Cut the ref that some answers put behind a workflow's file: ``ci.yml@refs/heads/main`` is the file ``ci.yml``."""
    return _REF_SUFFIX.sub(r"\1", path) if path else None


def _pull_request(run: Fields, repository: Repository) -> int | None:
    """Return the one pull request of this repository that a run lists; several, or one of a fork, tell none."""
    listed = list(run.objects("pull_requests"))
    if len(listed) != 1:
        return None
    base = listed[0].fields("base").fields("repo").raw("id")
    if base is not None and repository.id is not None and str(base) != repository.id:
        return None
    return listed[0].integer("number")
