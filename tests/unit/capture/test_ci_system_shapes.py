"""What single CI systems tell in ways of their own: joined payloads, old shapes, branches and names."""

from typing import Any

import pytest

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.sources.ci import SOURCE
from tests.captured import facts, only_fact, only_remainder, translate
from tests.ci_payloads import (
    SHA,
    azure,
    bitbucket,
    bitbucket_status,
    cdevents,
    circleci_pipeline,
    circleci_workflow,
    forgejo,
    gitea,
    gitlab,
    gitlab_job,
    gitlab_project,
    jenkins,
    jenkins_checkout,
)

Payload = dict[str, Any]


@pytest.mark.parametrize(
    ("jobs", "result"),
    [
        ([], "failed"),
        ([gitlab_job(None)], "failed"),
        ([gitlab_job("script_failure")], "failed"),
        ([gitlab_job("unknown_failure")], "failed"),
        ([gitlab_job("runner_system_failure")], "error"),
        ([gitlab_job("runner_system_failure"), gitlab_job("stuck_or_timeout_failure")], "error"),
        ([gitlab_job("runner_system_failure"), gitlab_job("script_failure")], "failed"),
        ([gitlab_job("runner_system_failure"), gitlab_job("script_failure", allow_failure=True)], "error"),
        ([gitlab_job("job_execution_timeout")], "timed_out"),
        ([gitlab_job("job_execution_timeout"), gitlab_job("runner_system_failure")], "failed"),
        ([gitlab_job("runner_system_failure", status="success")], "failed"),
    ],
)
def test_failed_gitlab_pipeline_is_an_error_only_when_no_job_failed_by_itself(jobs: list[Payload], result: str) -> None:
    outcome = only_fact(SOURCE, {**gitlab("failed"), "builds": jobs})
    assert (outcome.result.value, outcome.provider_result) == (result, "failed")


def test_nested_gitlab_path_is_never_cut_to_a_slug() -> None:
    payload = {**gitlab(), "project": gitlab_project("octo/group/web")}
    reason, detail = only_remainder(SOURCE, payload)
    assert reason is Remainder.NO_REPOSITORY
    assert detail.startswith("project.path_with_namespace: expected owner/name, got a path of 3 parts")
    assert only_remainder(SOURCE, payload, settings={"repo": "octo/web"})[0] is Remainder.NO_REPOSITORY
    assert only_fact(SOURCE, payload, settings={"repo:octo/group/web": "octo/web"}).repo == "octo/web"


def test_circleci_workflows_are_joined_to_pipelines_before_or_after_them() -> None:
    other = circleci_workflow(id="w-2", pipeline_id="p-2")
    told = translate(SOURCE, {"items": [circleci_workflow(), other]}, {"items": [circleci_pipeline()]})
    assert [(one.place, getattr(one, "reason", None)) for one in told] == [
        ("in:2.items[0]", Remainder.NO_EVIDENCE),
        ("in:1.items[0]", None),
        ("in:1.items[1]", Remainder.NO_COMMIT),
    ]
    in_order = translate(SOURCE, circleci_pipeline(), circleci_workflow())
    assert in_order[1].fact.model_dump() == told[1].fact.model_dump()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("pipeline", "slug"),
    [
        (
            circleci_pipeline(vcs=None, trigger_parameters={"git": {"checkout_sha": SHA, "branch": "main"}}),
            "gh/octo/web",
        ),
        (
            circleci_pipeline(
                vcs=None,
                trigger_parameters={
                    "git": {"checkout_sha": SHA, "branch": "main", "repo_owner": "octo", "repo_name": "web"}
                },
            ),
            "circleci/89xc/63AY",
        ),
        (circleci_pipeline(), "circleci/89xc/63AY"),
    ],
)
def test_circleci_names_commit_and_repository_in_several_places(pipeline: Payload, slug: str) -> None:
    told = translate(SOURCE, pipeline | {"trigger": {}}, circleci_workflow(project_slug=slug))
    (outcome,) = facts(told[1:])
    assert (outcome.repo, outcome.commit_sha, outcome.branch) == ("octo/web", SHA, "main")


def test_jenkins_build_of_several_repositories_needs_the_operators_word() -> None:
    library = jenkins_checkout("5d" * 20, "https://github.com/octo/lib.git")
    build = jenkins(actions=[library, jenkins_checkout()])
    assert only_remainder(SOURCE, build)[0] is Remainder.NO_COMMIT
    outcome = only_fact(SOURCE, build, settings={"repo": "octo/web"})
    assert (outcome.repo, outcome.commit_sha) == ("octo/web", SHA)


@pytest.mark.parametrize(
    ("name", "branch"), [("refs/remotes/origin/a/b", "a/b"), ("origin/a", "origin/a"), ("detached", "")]
)
def test_jenkins_branch_is_the_remote_one(name: str, branch: str) -> None:
    checkout = jenkins_checkout()
    checkout["lastBuiltRevision"]["branch"] = [{"name": name}]
    assert only_fact(SOURCE, jenkins(actions=[checkout])).branch == branch


def test_jenkins_build_with_a_name_of_its_own_needs_its_url() -> None:
    reason, detail = only_remainder(SOURCE, jenkins(fullDisplayName="team » web 1.2.0"))
    assert (reason, detail.partition(":")[0]) == (Remainder.INVALID_VALUE, "url")


def test_old_azure_build_names_commit_and_result_in_its_old_way() -> None:
    version = f"LG:refs/heads/main:{SHA}"
    outcome = only_fact(SOURCE, azure(None, "partiallySucceeded", sourceVersion=None, sourceGetVersion=version))
    assert (outcome.commit_sha, outcome.branch, outcome.result.value) == (SHA, "main", "neutral")


def test_forgejo_pull_request_run_names_number_and_head_branch() -> None:
    event = '{"pull_request": {"head": {"ref": "topic"}}}'
    body = forgejo(prettyref="#12", event_payload=event)
    headers = {
        "x-forgejo-event": "action_run_success",
        "x-forgejo-delivery": "d-1",
        "x-github-event": "action_run_success",
    }
    outcome = only_fact(SOURCE, {"topic": "bus", "headers": headers, "body": body})
    assert (outcome.pr_number, outcome.branch) == (12, "topic")
    assert (outcome.source_event_type, outcome.source_event_id) == ("action_run_success", "d-1")


def test_gitea_run_carries_attempt_and_workflow() -> None:
    outcome = only_fact(SOURCE, gitea())
    assert (outcome.run_attempt, outcome.workflow_id, outcome.workflow_path) == (2, "ci.yaml", "ci.yaml")


def test_cdevent_carries_its_envelope_and_identity() -> None:
    identity = {"repository_provider": "github", "repository_host": "github.com", "repository_id": "5"}
    outcome = only_fact(SOURCE, cdevents("failure", run_attempt=2, **identity))
    assert (outcome.source_event_type, outcome.source_spec_version, outcome.source_event_id) == (
        "dev.cdevents.pipelinerun.finished.0.3.0",
        "0.5.0",
        "271069a8-1",
    )
    assert (outcome.run_attempt, outcome.repository_id) == (2, "5")
    assert only_remainder(SOURCE, cdevents(commit="x"))[0] is Remainder.INVALID_VALUE


def test_bitbucket_status_and_pipeline_tell_one_run() -> None:
    told = translate(SOURCE, bitbucket_status(), {"values": [bitbucket()]})
    assert [getattr(one, "reason", None) for one in told] == [None, Remainder.REPEATED]
