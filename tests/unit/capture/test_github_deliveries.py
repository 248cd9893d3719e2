"""GitHub deliveries: every envelope, which event it is, pushes and renames (facts.md §4.2, §4.4)."""

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest

from sediment_assets.capture.contract import Remainder, Translated, Untranslated
from sediment_assets.capture.sources.github import SOURCE
from sediment_assets.facts.instants import parse_instant
from tests.captured import only_fact, only_remainder, translate
from tests.github_payloads import BEFORE, SHA, ZEROS, delivery, push, renamed, repository, run, workflow_run

BODY = workflow_run()
TEXT = json.dumps(BODY)
HEADERS = {"x-github-event": "workflow_run", "x-github-delivery": "d-1"}


@pytest.mark.parametrize(
    "envelope",
    [
        {"headers": HEADERS, "body": BODY},
        {"headers": HEADERS, "payload": BODY},
        {"headers": {name: [value] for name, value in HEADERS.items()}, "body": TEXT},
        {"headers": [{"name": name.upper(), "value": value} for name, value in HEADERS.items()], "body": TEXT},
        {"headers": [list(pair) for pair in HEADERS.items()], "body": TEXT},
        {"headers": {**HEADERS, "content-type": "application/x-www-form-urlencoded"}, "body": f"payload={quote(TEXT)}"},
        {"headers": HEADERS, "body": base64.b64encode(TEXT.encode()).decode(), "isBase64Encoded": True},
        {**HEADERS, "body": BODY, "timestamp": 1767225700000},
        {"event": "workflow_run", "delivery": "d-1", "payload": BODY},
        {"name": "workflow_run", "id": "d-1", "payload": BODY},
        {
            "id": 1,
            "guid": "d-1",
            "delivered_at": "2026-01-01T00:05:00Z",
            "status_code": 200,
            "event": "workflow_run",
            "request": {"headers": {"X-GitHub-Event": "workflow_run", "X-GitHub-Delivery": "d-1"}, "payload": BODY},
        },
    ],
)
def test_every_envelope_tells_the_same_fact(envelope: dict[str, Any]) -> None:
    assert only_fact(SOURCE, envelope) == only_fact(SOURCE, BODY).model_copy(update={"source_event_id": "d-1"})


def test_headers_are_never_kept() -> None:
    assert "octo-secret" not in str(only_fact(SOURCE, delivery(BODY, "workflow_run")).model_dump())


@pytest.mark.parametrize(
    ("envelope", "reason"),
    [
        ({"id": 1, "guid": "d-1", "status_code": 200, "event": "push"}, Remainder.NO_CONTENT),
        ({"headers": HEADERS, "body": "not json"}, Remainder.INVALID_VALUE),
        ({"headers": HEADERS, "body": "[1]"}, Remainder.INVALID_VALUE),
        ({"headers": HEADERS, "body": "e30", "isBase64Encoded": True}, Remainder.INVALID_VALUE),
        ({"request": {"headers": HEADERS}}, Remainder.NO_CONTENT),
        (
            {"headers": {"X-Forgejo-Event": "push", "X-GitHub-Event": "push"}, "body": push()},
            Remainder.UNSUPPORTED_FORGE,
        ),
        ({"headers": {"X-Gitlab-Event": "Push Hook"}, "body": {}}, Remainder.UNSUPPORTED_FORGE),
        ({"type": "PushEvent", "payload": {"ref": "refs/heads/main"}}, Remainder.UNKNOWN_SHAPE),
        ({"some": "object"}, Remainder.UNKNOWN_SHAPE),
        ("text", Remainder.UNKNOWN_SHAPE),
        (None, Remainder.UNKNOWN_SHAPE),
        (delivery({"action": "completed"}, "workflow_run"), Remainder.UNKNOWN_SHAPE),
    ],
)
def test_what_is_no_readable_delivery_is_refused(envelope: Any, reason: Remainder) -> None:
    assert only_remainder(SOURCE, envelope)[0] is reason


@pytest.mark.parametrize(
    "event", ["check_run", "check_suite", "status", "pull_request", "create", "workflow_job", "ping", "star", "novel"]
)
def test_other_events_are_counted_by_their_name(event: str) -> None:
    body = {"action": "created", "repository": repository()}
    assert only_remainder(SOURCE, delivery(body, event)) == (Remainder.NO_EVIDENCE, f"event {event} created")


@pytest.mark.parametrize(
    ("keys", "event"),
    [
        ({"check_run": {}}, "check_run"),
        ({"workflow_job": {}, "deployment": {}}, "workflow_job"),
        ({"deployment": {}, "workflow_run": run(), "action": "completed"}, "deployment completed"),
        ({"deployment_status": {}, "deployment": {}, "check_run": {}}, "deployment_status"),
        ({"pull_request": {}, "ref": "x", "before": BEFORE, "after": SHA}, "pull_request"),
        ({"issue": {}, "action": "transferred", "changes": {}}, "issues transferred"),
        ({"ref": "v1", "ref_type": "tag", "master_branch": "main"}, "create"),
        ({"ref": "v1", "ref_type": "tag"}, "delete"),
        ({"state": "success", "context": "ci/other", "sha": SHA, "commit": {}}, "status"),
        ({"installation": {}}, "an event that its body does not name"),
    ],
)
def test_event_of_a_body_alone_is_known_by_its_keys(keys: dict[str, Any], event: str) -> None:
    body = {"repository": repository(), "sender": {"login": "octocat"}, **keys}
    assert only_remainder(SOURCE, body) == (Remainder.NO_EVIDENCE, f"event {event}")


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"before": ZEROS, "created": True},
        {"after": ZEROS, "deleted": True, "head_commit": None},
        {"forced": True},
        {"ref": "refs/tags/v1", "before": ZEROS},
        {"ref": "refs/tags/simple", "after": ZEROS},
    ],
)
def test_push_is_told_as_it_is(changed: dict[str, Any]) -> None:
    body = push(**changed)
    fact = only_fact(SOURCE, body)
    assert (fact.ref, fact.before_sha, fact.after_sha, fact.forced) == (
        body["ref"],
        body["before"],
        body["after"],
        body["forced"],
    )
    assert (fact.repo, fact.clone_url, fact.repository_id) == ("octo/web", "https://github.com/Octo/Web.git", "70112")
    assert fact.captured_at == parse_instant("2026-01-01T00:00:00Z")


def test_push_without_its_commits_is_still_a_push() -> None:
    body = {"ref": "refs/heads/main", "commits": [], "pusher": {}, "repository": repository()}
    assert only_remainder(SOURCE, body)[0] is Remainder.NO_COMMIT


def test_redelivered_push_is_the_same_fact() -> None:
    told = translate(SOURCE, delivery(push(), "push"), push(), push(ref="refs/heads/dev"))
    assert [type(one) for one in told] == [Translated, Untranslated, Translated]
    assert isinstance(told[1], Untranslated)
    assert told[1].reason is Remainder.REPEATED


def test_push_without_a_time_is_refused_unless_the_delivery_has_one() -> None:
    body = push(repository=repository(pushed_at=None))
    assert only_remainder(SOURCE, body)[0] is Remainder.NO_INSTANT
    relayed = {"x-github-event": "push", "body": body, "timestamp": 1767225600000}
    assert only_fact(SOURCE, relayed).captured_at == parse_instant("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"after": None}, Remainder.NO_COMMIT),
        ({"before": "2e2e2e2"}, Remainder.NO_COMMIT),
        ({"ref": ""}, Remainder.INVALID_VALUE),
        ({"forced": "yes"}, Remainder.INVALID_VALUE),
        ({"repository": repository(id=None, full_name=None)}, Remainder.NO_REPOSITORY),
        ({"compare_url": "https://code.octo.example/a/b/compare/1...2"}, Remainder.UNSUPPORTED_FORGE),
        (
            {"repository": repository(html_url="https://code.octo.example/a/b", internal_tracker={})},
            Remainder.UNSUPPORTED_FORGE,
        ),
    ],
)
def test_push_that_a_fact_cannot_hold_is_refused(changed: dict[str, Any], reason: Remainder) -> None:
    assert only_remainder(SOURCE, push(**changed))[0] is reason


@pytest.mark.parametrize(
    ("changes", "old"),
    [
        ({"repository": {"name": {"from": "Site"}}}, "octo/site"),
        ({"owner": {"from": {"user": {"login": "Mona"}}}}, "mona/web"),
        ({"owner": {"from": {"organization": {"login": "old-org"}}}}, "old-org/web"),
        ({"owner": {"from": {"user": {"login": "mona"}}}, "repository": {"name": {"from": "site"}}}, "mona/site"),
    ],
)
def test_rename_and_transfer_tell_both_names(changes: dict[str, Any], old: str) -> None:
    body = renamed(action="transferred" if "owner" in changes else "renamed", changes=changes)
    fact = only_fact(SOURCE, delivery(body, "repository"))
    assert (fact.old_repo, fact.new_repo, fact.repository_id, fact.source_event_id) == (old, "octo/web", "70112", "d-1")
    assert fact.occurred_at is None
    assert fact.captured_at == parse_instant("2026-01-01T00:00:05Z")


def test_redelivered_rename_is_the_same_fact() -> None:
    told = translate(SOURCE, delivery(renamed(), "repository"), delivery(renamed(), "repository"))
    assert isinstance(told[1], Untranslated)
    assert told[1].reason is Remainder.REPEATED


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (renamed(changes={"repository": {"name": {"from": "WEB"}}}), Remainder.NO_EVIDENCE),
        (renamed(changes={}), Remainder.INVALID_VALUE),
        (renamed(repository=repository(id=None)), Remainder.INVALID_VALUE),
        (renamed(repository=repository(updated_at=None)), Remainder.NO_INSTANT),
        (delivery(renamed(action="archived"), "repository"), Remainder.NO_EVIDENCE),
    ],
)
def test_repository_event_that_renames_nothing_is_no_rename(body: Any, reason: Remainder) -> None:
    assert only_remainder(SOURCE, body)[0] is reason
