"""Bitbucket Pipelines: its own commit status (the only webhook it sends) and the REST pipeline → CIOutcome.

Both name a pipeline by its number in its repository, so that two tellings are one run. Statuses that other CI systems
set on Bitbucket commits are no evidence, as on GitHub.
"""

import re
from collections.abc import Mapping
from typing import Final

from sediment_assets.capture.ci_attempts import ci_system_outcome, commit_of, repository_of
from sediment_assets.capture.ci_systems.common import not_evidence, other_forge, qualified_id, result_of, words
from sediment_assets.capture.contract import CaptureOptions
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "successful": CIResult.PASSED,
    "failed": CIResult.FAILED,
    "error": CIResult.ERROR,
    "stopped": CIResult.CANCELLED,
    "expired": CIResult.TIMED_OUT,
}
"""What a pipeline's result, or a status's state, means."""
RUNNING: Final = words("pending in_progress inprogress parsing running building paused halted")
_PARTS: Final = ("pipeline_step", "deployment")
_PIPELINE_URL: Final = re.compile(r"/pipelines/(?:home#!/)?results/([1-9][0-9]{0,18})(?![0-9])")


def reads(payload: JsonObject) -> bool:
    """Whether a payload is one of Bitbucket's: a webhook body, or a pipeline of its REST API."""
    is_part = payload.get("type") in _PARTS and "uuid" in payload
    return _is_rest(payload) or is_part or _repository_type(payload) == "repository" or "eventKey" in payload


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a pipeline or its commit status; pushes and renames name a forge Facts cannot."""
    payload = Fields(delivery.payload)
    if _is_rest(delivery.payload):
        return _pipeline(delivery, payload, options)
    if "commit_status" in payload:
        return _status(delivery, payload, options)
    if payload.raw("eventKey") == "repo:refs_changed":
        raise other_forge("bitbucket repo:refs_changed")
    if "push" in payload:
        raise other_forge("bitbucket repo:push")
    if "changes" in payload and "pullrequest" not in payload:
        raise other_forge("bitbucket repo:updated")
    raise not_evidence("bitbucket event without a pipeline")


def _is_rest(payload: JsonObject) -> bool:
    return payload.get("type") == "pipeline" and "uuid" in payload and "state" in payload


def _repository_type(payload: JsonObject) -> object:
    repository = payload.get("repository")
    return repository.get("type") if isinstance(repository, dict) else None


def _pipeline(delivery: Delivery, pipeline: Fields, options: CaptureOptions) -> CIOutcome:
    state = pipeline.fields("state")
    word, ended_at = state.word("name"), pipeline.instant("completed_on")
    if (word or "").lower() == "completed":
        word = state.fields("result").word("name") or word
    result = result_of(word, RESULTS, RUNNING, ended_at, "bitbucket pipeline")
    target = pipeline.fields("target")
    repository = pipeline.fields("repository")
    values = {
        "run_id": _run_id(repository, pipeline.identifier("build_number"), pipeline.word("uuid")),
        "commit_sha": commit_of(target.fields("commit").text("hash"), "target.commit.hash"),
        "repo": repository_of(options, repository.word("full_name"), "repository.full_name"),
        "branch": _branch(target),
        "result": result,
        "provider_result": word,
        "pr_number": target.fields("pullrequest").integer("id"),
        "captured_at": ended_at,
    }
    return _outcome(delivery, options, values)


def _branch(target: Fields) -> str:
    if target.raw("ref_type") in ("tag", "named_branch_and_tag"):
        return ""
    return target.word("ref_name") or target.word("source") or ""


def _status(delivery: Delivery, payload: Fields, options: CaptureOptions) -> CIOutcome:
    status = payload.fields("commit_status")
    url = status.word("url") or ""
    number = _PIPELINE_URL.search(url)
    if number is None:
        raise not_evidence("bitbucket commit status of another CI system")
    changed_at = status.instant("updated_on")
    word = status.word("state")
    result = result_of(word, RESULTS, RUNNING, changed_at, "bitbucket commit status")
    repository = payload.fields("repository")
    values = {
        "run_id": _run_id(repository, number[1], None),
        "commit_sha": commit_of(status.fields("commit").text("hash"), "commit_status.commit.hash"),
        "repo": repository_of(options, repository.word("full_name"), "repository.full_name"),
        "branch": status.text("refname") or "",
        "result": result,
        "provider_result": word,
        "run_url": url,
        "source_event_type": delivery.event or "repo:commit_status",
        "captured_at": changed_at,
    }
    return _outcome(delivery, options, values)


def _run_id(repository: Fields, number: str | None, uuid: str | None) -> str:
    repository_id = repository.word("uuid")
    if repository_id and number:
        return qualified_id("bitbucket", repository_id, number)
    if uuid is None:
        raise invalid(repository.named("uuid"), "a repository's uuid", None)
    return qualified_id("bitbucket", uuid)


def _outcome(delivery: Delivery, options: CaptureOptions, values: Mapping[str, object]) -> CIOutcome:
    told = {"provider": CIProvider.OTHER, "source_event_id": delivery.id, "raw": delivery.payload, **values}
    return ci_system_outcome(options, told)
