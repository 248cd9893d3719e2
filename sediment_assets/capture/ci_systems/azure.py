"""Azure Pipelines: the service hooks ``build.complete`` and run state changed, REST builds and runs → CIOutcome."""

import re
from collections.abc import Mapping
from typing import Final

from sediment_assets.capture.ci_attempts import ci_system_outcome, commit_of, host_of_url, repository_of
from sediment_assets.capture.ci_systems.common import not_evidence, other_forge, qualified_id, result_of, words
from sediment_assets.capture.contract import CaptureOptions
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "succeeded": CIResult.PASSED,
    "partiallysucceeded": CIResult.NEUTRAL,
    "failed": CIResult.FAILED,
    "canceled": CIResult.CANCELLED,
    "stopped": CIResult.CANCELLED,
}
"""What a build's result means; old builds put it into ``status``. A partial success is neither pass nor failure."""
RUNNING: Final = words("none notstarted inprogress cancelling canceling postponed queued all unknown")
_RUN_STATE: Final = "ms.vss-pipelines.run-state-changed-event"
_GET_VERSION: Final = re.compile(r"L?G:(?P<ref>.*):(?P<sha>[0-9A-Fa-f]{40,64})", re.DOTALL)
_NAMED_TYPES: Final = frozenset({"github", "githubenterprise", "bitbucket"})


def reads(payload: JsonObject) -> bool:
    """Whether a payload is an Azure DevOps service hook, or a build of its REST API."""
    return ("eventType" in payload and "resource" in payload) or _is_build(payload) or _is_run(payload)


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a build or a run; pushes name a forge Facts cannot, and other hooks are no evidence."""
    payload = Fields(delivery.payload)
    if _is_build(delivery.payload):
        return _build(delivery, payload, options, {})
    if _is_run(delivery.payload):
        return _run(delivery, payload, options, {})
    event = payload.word("eventType")
    told = {
        "source_event_type": event,
        "source_event_id": payload.identifier("id"),
        "captured_at": payload.instant("createdDate"),
    }
    if event == "build.complete":
        return _build(delivery, payload.fields("resource"), options, told)
    if event == _RUN_STATE:
        return _run(delivery, payload.fields("resource").fields("run"), options, told)
    if event == "git.push":
        raise other_forge("azure git.push")
    raise not_evidence(f"azure {shown(event)}")


def _is_build(payload: JsonObject) -> bool:
    return "buildNumber" in payload and "status" in payload and "definition" in payload


def _is_run(payload: JsonObject) -> bool:
    return {"pipeline", "state", "createdDate"} <= payload.keys() and "resource" not in payload


def _build(delivery: Delivery, build: Fields, options: CaptureOptions, told: Mapping[str, object]) -> CIOutcome:
    finished_at = build.instant("finishTime")
    status = build.word("status")
    word = build.word("result") if (status or "").lower() == "completed" else status
    result = result_of(word, RESULTS, RUNNING, finished_at, "azure build")
    definition = build.fields("definition")
    ref, sha = _version(build)
    values = {
        **told,
        "run_id": _run_id(build),
        "commit_sha": commit_of(sha, "resource.sourceVersion"),
        "repo": repository_of(options, _slug(build.fields("repository")), "resource.repository"),
        "branch": "" if ref.startswith("refs/tags/") else ref,
        "result": result,
        "provider_result": word,
        "workflow_name": definition.word("name"),
        "workflow_id": definition.identifier("id"),
        "run_url": build.fields("_links").fields("web").word("href"),
        "captured_at": finished_at or told.get("captured_at"),
    }
    return _outcome(delivery, options, values)


def _run(delivery: Delivery, run: Fields, options: CaptureOptions, told: Mapping[str, object]) -> CIOutcome:
    finished_at = run.instant("finishedDate")
    state = run.word("state")
    word = run.word("result") if (state or "").lower() == "completed" else state
    result = result_of(word, RESULTS, RUNNING, finished_at, "azure run")
    pipeline, checkout = run.fields("pipeline"), run.fields("resources").fields("repositories").fields("self")
    values = {
        **told,
        "run_id": _run_id(run),
        "commit_sha": commit_of(checkout.text("version"), "run.resources.repositories.self.version"),
        "repo": repository_of(options, _slug(checkout.fields("repository")), "run.resources.repositories.self"),
        "branch": checkout.text("refName") or "",
        "result": result,
        "provider_result": word,
        "workflow_name": pipeline.word("name"),
        "workflow_id": pipeline.identifier("id"),
        "run_url": run.fields("_links").fields("web").word("href"),
        "captured_at": finished_at or told.get("captured_at"),
    }
    return _outcome(delivery, options, values)


def _version(build: Fields) -> tuple[str, str | None]:
    """Return ref and commit: two fields of a build today, one text ``LG:refs/heads/main:<commit>`` in old builds."""
    if "sourceVersion" in build:
        return build.text("sourceBranch") or "", build.text("sourceVersion")
    version = _GET_VERSION.fullmatch(build.text("sourceGetVersion") or "")
    return (version["ref"], version["sha"]) if version else (build.text("sourceBranch") or "", None)


def _slug(repository: Fields) -> str | None:
    """Return owner/name of a repository on a forge that has such names; Azure's own repositories have none."""
    if (repository.word("type") or "").lower() not in _NAMED_TYPES:
        return None
    return repository.word("fullName") or repository.identifier("id")


def _run_id(build: Fields) -> str:
    """Return a build's id, which is unique in its organization, behind host and organization."""
    number, url = build.identifier("id"), build.word("url")
    host = host_of_url(url)
    if number is None or url is None or host is None:
        missing = "id" if number is None else "url"
        raise invalid(build.named(missing), "a build's id and its URL, which together are unique", None)
    organization = [] if host.endswith(".visualstudio.com") else url.split("/")[3:4]
    return qualified_id("azure", host, *organization, number)


def _outcome(delivery: Delivery, options: CaptureOptions, values: Mapping[str, object]) -> CIOutcome:
    return ci_system_outcome(options, {"provider": CIProvider.OTHER, "raw": delivery.payload, **values})
