"""Which event a GitHub webhook body is when no header says so: by the keys that only this event has."""

from typing import Final

from sediment_assets.capture.github.pushes import RENAMES
from sediment_assets.facts.json_values import JsonObject

# In order: a body holds the keys of its own event first, and may hold those of a later one as well
# (a deployment names its workflow_run, a job its deployment, everything sent to an App its installation).
_KEYS: Final = (
    ("workflow_job", "workflow_job"),
    ("deployment_callback_url", "deployment_protection_rule"),
    ("reviewers", "deployment_review"),
    ("approver", "deployment_review"),
    ("deployment_status", "deployment_status"),
    ("deployment", "deployment"),
    ("check_run", "check_run"),
    ("check_suite", "check_suite"),
    ("workflow_run", "workflow_run"),
    ("review", "pull_request_review"),
    ("thread", "pull_request_review_thread"),
    ("comment", "a comment"),
    ("pull_request", "pull_request"),
    ("issue", "issues"),
    ("discussion", "discussion"),
    ("release", "release"),
    ("alert", "an alert"),
    ("zen", "ping"),
    ("forkee", "fork"),
    ("master_branch", "create"),
    ("ref_type", "delete"),
    ("pages", "gollum"),
    ("package", "package"),
    ("registry_package", "registry_package"),
    ("milestone", "milestone"),
    ("label", "label"),
    ("merge_group", "merge_group"),
    ("client_payload", "repository_dispatch"),
    ("inputs", "workflow_dispatch"),
    ("member", "member"),
    ("team", "team"),
    ("build", "page_build"),
    ("starred_at", "star"),
    ("project", "project"),
    ("project_card", "project_card"),
    ("project_column", "project_column"),
    ("projects_v2", "projects_v2"),
    ("projects_v2_item", "projects_v2_item"),
    ("security_advisory", "security_advisory"),
    ("marketplace_purchase", "marketplace_purchase"),
    ("sponsorship", "sponsorship"),
    ("blocked_user", "org_block"),
    ("key", "deploy_key"),
    ("rule", "branch_protection_rule"),
    ("hook", "meta"),
)
_AROUND: Final = ("repository", "organization", "installation", "enterprise", "action")
"""What stands beside the sender in every body: where it happened, or what was done."""
_OTHER: Final = "an event that its body does not name"


def event_of_body(payload: JsonObject) -> str | None:
    """Return the event's name; None when the object is no webhook body."""
    if _is_push(payload):
        return "push"
    for key, event in _KEYS:
        if payload.get(key) is not None:
            return event
    if _has(payload, "state", "context", "sha"):
        return "status"
    if payload.get("action") in RENAMES and _has(payload, "changes", "repository"):
        return "repository"
    is_webhook = "sender" in payload and any(key in payload for key in _AROUND)
    return _OTHER if is_webhook else None


def _is_push(payload: JsonObject) -> bool:
    told = _has(payload, "before", "after") or _has(payload, "commits", "pusher")
    return told and "ref" in payload and "pull_request" not in payload


def _has(payload: JsonObject, *keys: str) -> bool:
    return all(key in payload for key in keys)
