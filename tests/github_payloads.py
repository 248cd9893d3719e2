"""GitHub payloads of an invented repository ``octo/web``, with the keys that matter and a few that do not."""

from typing import Any

SHA = "1f" * 20
BEFORE = "2e" * 20
ZEROS = "0" * 40


def repository(**values: Any) -> dict[str, Any]:
    return {
        "id": 70112,
        "node_id": "R_1",
        "name": "web",
        "full_name": "Octo/Web",
        "html_url": "https://github.com/Octo/Web",
        "clone_url": "https://github.com/Octo/Web.git",
        "pushed_at": 1767225600,
        "updated_at": "2026-01-01T00:00:05Z",
        **values,
    }


def run(**values: Any) -> dict[str, Any]:
    """A run as the REST API gives it."""
    return {
        "id": 9001,
        "name": "CI",
        "head_branch": "main",
        "head_sha": SHA,
        "path": ".github/workflows/ci.yml",
        "run_number": 7,
        "run_attempt": 1,
        "event": "push",
        "status": "completed",
        "conclusion": "success",
        "workflow_id": 55,
        "html_url": "https://github.com/Octo/Web/actions/runs/9001",
        "pull_requests": [],
        "created_at": "2026-01-01T00:01:00Z",
        "updated_at": "2026-01-01T00:04:00Z",
        "repository": repository(),
        **values,
    }


def workflow_run(action: str = "completed", **values: Any) -> dict[str, Any]:
    """The body of a ``workflow_run`` delivery."""
    return {
        "action": action,
        "workflow_run": run(**values),
        "workflow": {"id": 55, "name": "CI", "path": ".github/workflows/ci.yml"},
        "repository": repository(),
        "sender": {"login": "octocat", "id": 1},
    }


def push(**values: Any) -> dict[str, Any]:
    return {
        "ref": "refs/heads/main",
        "before": BEFORE,
        "after": SHA,
        "created": False,
        "deleted": False,
        "forced": False,
        "repository": repository(),
        "sender": {"login": "octocat", "id": 1},
        **values,
    }


def renamed(**values: Any) -> dict[str, Any]:
    return {
        "action": "renamed",
        "changes": {"repository": {"name": {"from": "site"}}},
        "repository": repository(),
        "sender": {"login": "octocat", "id": 1},
        **values,
    }


def delivery(body: Any, event: str, **headers: str) -> dict[str, Any]:
    """A delivery with its headers, one of which is a secret."""
    sent = {"X-GitHub-Event": event, "X-GitHub-Delivery": "d-1", "Authorization": "Bearer octo-secret", **headers}
    return {"headers": sent, "body": body}
