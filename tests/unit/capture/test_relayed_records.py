"""Bodies as relays, forms and REST lists hand them on, and parts of runs that name themselves."""

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.sources.ci import SOURCE as CI
from sediment_assets.capture.sources.github import SOURCE as GITHUB
from sediment_assets.capture.sources.otlp import SOURCE as OTLP
from sediment_assets.facts.instants import parse_instant
from tests.captured import facts, only_fact, only_remainder, translate
from tests.github_payloads import SHA, push, repository, workflow_run

BODY = workflow_run()
TEXT = json.dumps(BODY)
FORM = {"content-type": "application/x-www-form-urlencoded", "x-github-event": "workflow_run"}


@pytest.mark.parametrize(
    "envelope",
    [
        {"payload": BODY},
        {"payload": TEXT, "received_at": "2026-01-01T00:05:00Z"},
        {"body": f"payload={quote(TEXT)}"},
        {"headers": FORM, "body": {"payload": TEXT}},
        {"headers": {"x-github-event": "workflow_run"}, "rawBody": TEXT},
        {"event": "workflow_run", "payload": TEXT},
        {"event_name": "workflow_run", "event": BODY, "repository": "octo/web", "run_id": "1"},
    ],
)
def test_a_body_is_found_in_what_a_relay_or_a_form_put_around_it(envelope: dict[str, Any]) -> None:
    assert only_fact(GITHUB, envelope) == only_fact(GITHUB, BODY)


@pytest.mark.parametrize("stamp", ["2026-01-01T00:05:00Z", 1767225900])
def test_a_push_without_a_time_was_captured_when_it_was_received(stamp: Any) -> None:
    body = push(repository=repository(pushed_at=None))
    told = only_fact(GITHUB, {"headers": {"x-github-event": "push"}, "body": body, "received_at": stamp})
    assert told.captured_at == parse_instant("2026-01-01T00:05:00Z")
    local = {"payload": body, "received_at": "2026-01-01 00:05"}
    assert only_remainder(GITHUB, local)[0] is Remainder.NO_INSTANT


@pytest.mark.parametrize(
    "body",
    [
        {"action": "revoked", "sender": {"login": "octo"}},
        {"action": "published", "security_advisory": {"ghsa_id": "x"}},
        {"action": "purchased", "marketplace_purchase": {}, "sender": {}},
    ],
)
def test_webhooks_without_a_repository_are_webhooks(body: dict[str, Any]) -> None:
    assert only_remainder(GITHUB, body)[0] is Remainder.NO_EVIDENCE


JOB: dict[str, Any] = {
    "id": 7,
    "status": "failed",
    "stage": "test",
    "pipeline": {"id": 6},
    "web_url": "https://x/-/jobs/7",
}
TASK = {"head_sha": SHA, "run_number": 1, "workflow_id": "ci.yml", "run_started_at": "x", "status": "success"}
BUILD_OF_V1 = {"build_num": 5, "vcs_revision": SHA, "status": "success"}


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (JOB, "gitlab job: its pipeline tells the outcome"),
        ({"workflow_runs": [TASK], "total_count": 1}, "forgejo task: a part of a run, which tells the outcome"),
        (BUILD_OF_V1, "circleci job or ping: the workflow tells the outcome"),
    ],
)
def test_parts_of_runs_that_rest_lists_are_no_evidence(value: dict[str, Any], detail: str) -> None:
    assert only_remainder(CI, value) == (Remainder.NO_EVIDENCE, detail)


def build(number: int) -> dict[str, Any]:
    revision = {"lastBuiltRevision": {"SHA1": SHA}, "remoteUrls": ["https://github.com/octo/web"]}
    return {
        "_class": "hudson.model.FreeStyleBuild",
        "number": number,
        "result": "SUCCESS",
        "building": False,
        "timestamp": 1767225600000,
        "url": f"https://ci.example.org/job/web/{number}/",
        "actions": [{}, revision],
    }


def test_builds_of_jenkins_are_found_in_jobs_and_folders() -> None:
    job = {"_class": "hudson.model.FreeStyleProject", "allBuilds": [build(1), build(2)]}
    folder = {"_class": "com.cloudbees.hudson.plugins.folder.Folder", "jobs": [job]}
    assert [one.run_id[-3:] for one in facts(translate(CI, folder))] == ["/1/", "/2/"]


EVENT = {
    "context": {
        "specversion": "0.5.0",
        "id": "e1",
        "source": "/ci",
        "type": "dev.cdevents.pipelinerun.finished.0.3.0",
        "timestamp": "2026-01-01T00:04:00Z",
    },
    "subject": {"id": "/run/1", "content": {"outcome": "success"}},
    "customData": {"sediment": {"commit_sha": SHA, "repo": "octo/web"}},
}


@pytest.mark.parametrize(
    "carried",
    [
        {"data": EVENT},
        {"data": json.dumps(EVENT)},
        {"data_base64": base64.b64encode(json.dumps(EVENT).encode()).decode()},
    ],
)
def test_a_cloud_event_carries_a_cdevent_as_value_text_or_base64(carried: dict[str, Any]) -> None:
    envelope = {"specversion": "1.0", "id": "e1", "source": "/ci", "type": EVENT["context"]["type"]}
    assert only_fact(CI, envelope | carried) == only_fact(CI, EVENT)


@pytest.mark.parametrize("carried", [{"data": "{"}, {"data_base64": "%"}, {"data": 7}])
def test_a_cloud_event_that_carries_something_else_is_no_ci_run(carried: dict[str, Any]) -> None:
    assert only_remainder(CI, {"specversion": "1.0", "type": "x"} | carried)[0] is Remainder.UNKNOWN_SHAPE


def test_a_skipped_build_of_buildkite_has_ended() -> None:
    told = {"id": "b1", "state": "skipped", "commit": SHA, "branch": "main", "finished_at": "2026-01-01T00:04:00Z"}
    webhook = {"event": "build.skipped", "build": told, "pipeline": {"repository": "git@github.com:octo/web.git"}}
    assert only_fact(CI, webhook).result == "skipped"


@pytest.mark.parametrize(
    ("word", "accepted"),
    [
        ("ApprovedForSession", True),
        ("approved_with_network_policy_allow", True),
        ("denied_with_network_policy_deny", False),
    ],
)
def test_codex_decides_in_more_words_than_one(word: str, accepted: bool) -> None:
    attributes = {"event.name": "codex.tool_decision", "conversation.id": "c1", "decision": word, "source": "User"}
    record = {"timeUnixNano": "1767225600000000000", "attributes": attributes}
    told = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    assert only_fact(OTLP, told).accepted is accepted


def test_a_run_that_the_rest_api_of_azure_lists_is_a_run() -> None:
    source = {"repository": {"fullName": "octo/web", "type": "gitHub"}, "refName": "refs/heads/main", "version": SHA}
    run = {
        "id": 5,
        "url": "https://dev.azure.com/octo/guid/_apis/pipelines/1/runs/5",
        "pipeline": {"id": 1, "name": "CI"},
        "state": "completed",
        "result": "failed",
        "createdDate": "2026-01-01T00:01:00Z",
        "finishedDate": "2026-01-01T00:04:00Z",
        "resources": {"repositories": {"self": source}},
    }
    outcome = only_fact(CI, {"count": 1, "value": [run]})
    assert (outcome.result, outcome.repo, outcome.branch) == ("failed", "octo/web", "main")
    assert outcome.run_id == "azure:dev.azure.com/octo/5"
    assert only_remainder(CI, run | {"state": "inProgress", "result": None})[0] is Remainder.NOT_TERMINAL
    assert only_remainder(CI, {key: run[key] for key in run if key != "resources"})[0] is Remainder.NO_COMMIT


@pytest.mark.parametrize("key", ["statuses", "workflows", "artifacts"])
def test_lists_of_what_is_no_run_are_named(key: str) -> None:
    listed = {"total_count": 1, key: [{"id": 1}]}
    assert only_remainder(GITHUB, listed) == (Remainder.NO_EVIDENCE, f"a list of {key}")
