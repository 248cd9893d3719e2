"""CircleCI: the ``workflow-completed`` webhook and REST workflows → CIOutcome.

A REST workflow does not name its commit; the REST pipeline it belongs to does. Both in one input are joined by the
pipeline's id (``Pipelines``); a workflow whose pipeline is not there has no commit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sediment_assets.capture.ci_attempts import ci_system_outcome, commit_of, repository_of, slug_of_url
from sediment_assets.capture.ci_systems.common import not_evidence, result_of, words
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.vocabulary import CIProvider, CIResult

RESULTS: Final = {
    "success": CIResult.PASSED,
    "failed": CIResult.FAILED,
    "error": CIResult.ERROR,
    "unauthorized": CIResult.ERROR,
    "canceled": CIResult.CANCELLED,
    "not_run": CIResult.SKIPPED,
}
"""What a workflow's status means."""
RUNNING: Final = words("running failing on_hold")
_NAMED_FORGES: Final = words("gh github bb bitbucket")


@dataclass(slots=True)
class Pipelines:
    """What the pipelines of an input say of commits and repositories, by their ids."""

    _known: dict[str, JsonObject] = field(default_factory=dict)

    def learn(self, pipeline: JsonObject) -> None:
        """Remember a pipeline of the REST API, as far as workflows need it."""
        told: JsonObject = {
            key: pipeline[key] for key in ("vcs", "trigger_parameters", "project_slug") if key in pipeline
        }
        self._known[str(pipeline.get("id"))] = told

    def of(self, workflow: JsonObject) -> Fields | None:
        """Return the pipeline of a workflow, if it is known."""
        pipeline = self._known.get(str(workflow.get("pipeline_id")))
        return None if pipeline is None else Fields(pipeline, "pipeline")


def reads(payload: JsonObject) -> bool:
    """Whether a payload is a webhook body of CircleCI."""
    kind = payload.get("type")
    is_webhook = isinstance(kind, str) and kind.endswith("-completed") and "pipeline" in payload
    is_job = ("job_number" in payload or {"build_num", "vcs_revision"} <= payload.keys()) and "status" in payload
    return is_webhook or (kind == "ping" and "webhook" in payload) or is_job


def is_workflow(payload: JsonObject) -> bool:
    """Whether a record is a workflow of the REST API."""
    return "pipeline_id" in payload and "status" in payload and "project_slug" in payload


def is_pipeline(payload: JsonObject) -> bool:
    """Whether a record is a pipeline of the REST API."""
    return "project_slug" in payload and "number" in payload and ("vcs" in payload or "trigger" in payload)


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate a ``workflow-completed`` webhook; jobs are parts of a workflow and tell nothing."""
    payload = Fields(delivery.payload)
    if payload.raw("type") != "workflow-completed":
        raise not_evidence("circleci job or ping: the workflow tells the outcome")
    workflow, pipeline, project = payload.fields("workflow"), payload.fields("pipeline"), payload.fields("project")
    told = {
        "source_event_type": "workflow-completed",
        "source_event_id": payload.word("id"),
        "raw": delivery.payload,
    }
    return _workflow(workflow, pipeline, project.word("slug"), options, told)


def read_workflow(workflow: JsonObject, pipeline: Fields | None, options: CaptureOptions) -> CIOutcome:
    """Translate a workflow of the REST API with its pipeline; without it there is no commit."""
    fields = Fields(workflow)
    known = pipeline if pipeline is not None else Fields({}, "pipeline")
    return _workflow(fields, known, fields.word("project_slug"), options, {"raw": workflow})


def _workflow(
    workflow: Fields, pipeline: Fields, project: str | None, options: CaptureOptions, told: Mapping[str, object]
) -> CIOutcome:
    stopped_at = workflow.instant("stopped_at")
    status = workflow.word("status")
    result = result_of(status, RESULTS, RUNNING, stopped_at, "circleci workflow")
    run_id = workflow.word("id")
    if run_id is None:
        raise invalid(workflow.named("id"), "a workflow's id", None)
    if not pipeline.value:
        raise RefusedError(Remainder.NO_COMMIT, "the workflow's pipeline, which names the commit, is not in this input")
    parameters = pipeline.fields("trigger_parameters")
    vcs, git, gitlab = pipeline.fields("vcs"), parameters.fields("git"), parameters.fields("gitlab")
    commit = vcs.text("revision") or git.text("checkout_sha") or gitlab.text("commit_sha")
    values = {
        **told,
        "provider": CIProvider.CIRCLECI,
        "run_id": run_id,
        "commit_sha": commit_of(commit, "pipeline.vcs.revision"),
        "repo": repository_of(options, _slug(project, vcs, git), "project.slug"),
        "branch": vcs.word("branch") or git.word("branch") or "",
        "result": result,
        "provider_result": status,
        "workflow_name": workflow.word("name"),
        "run_url": workflow.word("url"),
        "captured_at": stopped_at,
    }
    return ci_system_outcome(options, values)


def _slug(project: str | None, vcs: Fields, git: Fields) -> str | None:
    """Return owner/name from a project slug that spells it (``gh/octo/web``), else from the repository's URL.

    Projects of CircleCI's GitHub App and of GitLab have slugs of ids, which are no names.
    """
    forge, _, slug = (project or "").partition("/")
    if forge in _NAMED_FORGES:
        return slug
    owner, name = git.word("repo_owner"), git.word("repo_name")
    return slug_of_url(vcs.word("target_repository_url")) or (f"{owner}/{name}" if owner and name else None)
