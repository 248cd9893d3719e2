"""Payloads of CI systems about one commit of an invented repository ``octo/web``; builders take what differs."""

from typing import Any

SHA = "4c" * 20
ENDED = "2026-01-01T00:04:00Z"


def neutral(**values: Any) -> dict[str, Any]:
    return {
        "provider": "other",
        "run_id": "nightly-7",
        "repo": "octo/web",
        "commit_sha": SHA,
        "branch": "main",
        "result": "passed",
        "captured_at": ENDED,
        **values,
    }


def gitlab(status: str | None = "success", **values: Any) -> dict[str, Any]:
    attributes = {
        "id": 31,
        "ref": "main",
        "tag": False,
        "sha": SHA,
        "status": status,
        "created_at": "2026-01-01 00:01:00 UTC",
        "finished_at": "2026-01-01 00:04:00 UTC",
        "url": "https://gitlab.octo.example/octo/web/-/pipelines/31",
        **values,
    }
    return {"object_kind": "pipeline", "object_attributes": attributes, "project": gitlab_project(), "builds": []}


def gitlab_project(path: str = "octo/web") -> dict[str, Any]:
    return {"id": 1, "path_with_namespace": path, "web_url": f"https://gitlab.octo.example/{path}"}


def gitlab_job(reason: str | None, **values: Any) -> dict[str, Any]:
    return {"id": 1, "status": "failed", "allow_failure": False, "failure_reason": reason, **values}


def bitbucket(state: str = "COMPLETED", result: str | None = "SUCCESSFUL", **values: Any) -> dict[str, Any]:
    return {
        "type": "pipeline",
        "uuid": "{01fad871-0000-4a80-bd59-000000000001}",
        "build_number": 4,
        "repository": bitbucket_repository(),
        "state": {"name": state, "result": {"name": result} if result else None},
        "created_on": "2026-01-01T00:01:00Z",
        "completed_on": ENDED,
        "target": {"ref_type": "branch", "ref_name": "main", "commit": {"hash": SHA}},
        **values,
    }


def bitbucket_repository() -> dict[str, Any]:
    return {"type": "repository", "full_name": "octo/web", "uuid": "{2b922c6d-0000-4e91-a7be-000000000001}"}


def bitbucket_status(state: str = "SUCCESSFUL", **values: Any) -> dict[str, Any]:
    status = {
        "key": "3343801",
        "state": state,
        "refname": "main",
        "commit": {"hash": SHA},
        "url": "https://bitbucket.org/octo/web/addon/pipelines/home#!/results/4",
        "updated_on": ENDED,
        **values,
    }
    return {"repository": bitbucket_repository(), "commit_status": status}


def forgejo(status: str = "success", **values: Any) -> dict[str, Any]:
    run = {
        "id": 3332,
        "commit_sha": SHA,
        "prettyref": "main",
        "event": "push",
        "event_payload": '{"ref": "refs/heads/main"}',
        "html_url": "https://code.octo.example/octo/web/actions/runs/12",
        "status": status,
        "stopped": ENDED,
        "workflow_id": "ci.yaml",
        "repository": {"id": 1, "full_name": "octo/web"},
        **values,
    }
    return {"action": status, "prior_status": "running", "run": run}


def gitea(conclusion: str | None = "success", **values: Any) -> dict[str, Any]:
    run = {
        "id": 3332,
        "head_sha": SHA,
        "head_branch": "main",
        "path": "ci.yaml@refs/heads/main",
        "run_attempt": 2,
        "status": "completed",
        "conclusion": conclusion,
        "completed_at": ENDED,
        "html_url": "https://code.octo.example/octo/web/actions/runs/12",
        **values,
    }
    return {
        "action": "completed",
        "workflow_run": run,
        "workflow": {"id": "ci.yaml", "name": "CI"},
        "repository": gitea_repository(),
    }


def gitea_repository() -> dict[str, Any]:
    return {"id": 1, "full_name": "octo/web", "html_url": "https://code.octo.example/octo/web", "internal_tracker": {}}


def circleci(status: str = "success", **values: Any) -> dict[str, Any]:
    return {
        "type": "workflow-completed",
        "id": "630a6132-0000-3600-b26d-000000000001",
        "happened_at": "2026-01-01T00:04:01Z",
        "workflow": {"id": "7381218b-1", "name": "build", "status": status, "stopped_at": ENDED, **values},
        "pipeline": {"id": "877c620f-1", "number": 4, "vcs": circleci_vcs()},
        "project": {"slug": "github/octo/web"},
    }


def circleci_vcs() -> dict[str, Any]:
    return {"revision": SHA, "branch": "main", "target_repository_url": "https://github.com/octo/web"}


def circleci_workflow(**values: Any) -> dict[str, Any]:
    return {
        "pipeline_id": "877c620f-1",
        "id": "7381218b-1",
        "name": "build",
        "project_slug": "gh/octo/web",
        "status": "success",
        "pipeline_number": 4,
        "stopped_at": ENDED,
        **values,
    }


def circleci_pipeline(**values: Any) -> dict[str, Any]:
    return {
        "id": "877c620f-1",
        "project_slug": "gh/octo/web",
        "number": 4,
        "state": "created",
        "vcs": circleci_vcs(),
        **values,
    }


def buildkite(state: str = "passed", **values: Any) -> dict[str, Any]:
    build = {
        "id": "018f7ee5-1",
        "number": 584,
        "state": state,
        "blocked": False,
        "commit": SHA,
        "branch": "main",
        "web_url": "https://buildkite.com/octo/web/builds/584",
        "finished_at": ENDED,
        "pull_request": None,
        **values,
    }
    return {"event": "build.finished", "build": build, "pipeline": buildkite_pipeline(), "sender": {"id": "1"}}


def buildkite_pipeline() -> dict[str, Any]:
    return {"id": "26e6a5b3-1", "name": "Web", "slug": "web", "repository": "git@github.com:octo/web.git"}


def jenkins(result: str | None = "SUCCESS", **values: Any) -> dict[str, Any]:
    return {
        "_class": "hudson.model.FreeStyleBuild",
        "actions": [{"_class": "hudson.model.CauseAction"}, {}, jenkins_checkout()],
        "building": False,
        "duration": 60_000,
        "fullDisplayName": "team » web #31",
        "number": 31,
        "result": result,
        "timestamp": 1767225780000,
        **values,
    }


def jenkins_checkout(sha: str = SHA, remote: str = "https://github.com/octo/web.git") -> dict[str, Any]:
    return {
        "_class": "hudson.plugins.git.util.BuildData",
        "lastBuiltRevision": {"SHA1": sha, "branch": [{"SHA1": sha, "name": "refs/remotes/origin/main"}]},
        "remoteUrls": [remote],
    }


def jenkins_message(status: str = "SUCCESS", **values: Any) -> dict[str, Any]:
    build = {
        "full_url": "https://ci.octo.example/job/web/31/",
        "number": 31,
        "phase": "FINALIZED",
        "status": status,
        "timestamp": 1767225840000,
        "scm": {"url": "https://github.com/octo/web.git", "branch": "main", "commit": SHA},
        **values,
    }
    return {"name": "web", "url": "job/web/", "build": build}


def azure(result: str | None = "succeeded", status: str = "completed", **values: Any) -> dict[str, Any]:
    resource = {
        "id": 2,
        "buildNumber": "20260101.1",
        "url": "https://dev.azure.com/octo/71777fbc-0000/_apis/build/Builds/2",
        "status": status,
        "result": result,
        "finishTime": ENDED,
        "sourceBranch": "refs/heads/main",
        "sourceVersion": SHA,
        "definition": {"id": 9, "name": "web"},
        "repository": {"id": "octo/web", "type": "GitHub"},
        **values,
    }
    return {
        "id": "4a5d99d6-1",
        "eventType": "build.complete",
        "publisherId": "tfs",
        "resource": resource,
        "createdDate": ENDED,
    }


def azure_run(result: str | None = "succeeded", state: str = "completed") -> dict[str, Any]:
    checkout = {"refName": "refs/heads/main", "version": SHA, "repository": {"id": "octo/web", "type": "GitHub"}}
    run = {
        "id": 2,
        "state": state,
        "result": result,
        "url": "https://dev.azure.com/octo/71777fbc-0000/_apis/pipelines/9/runs/2",
        "finishedDate": ENDED,
        "pipeline": {"id": 9, "name": "web"},
        "resources": {"repositories": {"self": checkout}},
    }
    event = "ms.vss-pipelines.run-state-changed-event"
    return {"id": "4a5d99d6-2", "eventType": event, "resource": {"run": run}, "createdDate": ENDED}


def cdevents(outcome: str = "success", predicate: str = "finished", **custom: Any) -> dict[str, Any]:
    return {
        "context": {
            "specversion": "0.5.0",
            "id": "271069a8-1",
            "source": "/ci/octo",
            "type": f"dev.cdevents.pipelinerun.{predicate}.0.3.0",
            "timestamp": ENDED,
        },
        "subject": {
            "id": "run-7",
            "content": {"pipelineName": "web", "uri": "https://ci.octo.example/7", "outcome": outcome},
        },
        "customData": {"sediment": {"commit_sha": SHA, "repo": "octo/web", "branch": "main", **custom}},
    }
