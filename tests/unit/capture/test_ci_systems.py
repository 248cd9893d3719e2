"""CI systems → CIOutcome: what each word means, which commit and repository, what has not ended (facts.md §4.1)."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.capture.ci_systems import azure as azure_pipelines
from sediment_assets.capture.ci_systems import bitbucket as bitbucket_pipelines
from sediment_assets.capture.ci_systems import buildkite as buildkite_builds
from sediment_assets.capture.ci_systems import cdevents as cdevents_runs
from sediment_assets.capture.ci_systems import circleci as circleci_workflows
from sediment_assets.capture.ci_systems import forgejo as forgejo_actions
from sediment_assets.capture.ci_systems import gitlab as gitlab_ci
from sediment_assets.capture.ci_systems import jenkins as jenkins_builds
from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.capture.sources.ci import SOURCE
from sediment_assets.facts.instants import parse_instant
from tests.captured import only_fact, only_remainder, translate
from tests.ci_payloads import (
    ENDED,
    SHA,
    azure,
    azure_run,
    bitbucket,
    bitbucket_status,
    buildkite,
    cdevents,
    circleci,
    circleci_workflow,
    forgejo,
    gitea,
    gitea_repository,
    gitlab,
    jenkins,
    jenkins_checkout,
    jenkins_message,
    neutral,
)
from tests.github_payloads import push, run, workflow_run

Payload = dict[str, Any]
GITLAB_REST = {
    "id": 31,
    "iid": 3,
    "project_id": 1,
    "sha": SHA,
    "ref": "main",
    "status": "success",
    "updated_at": ENDED,
    "web_url": "https://gitlab.octo.example/octo/web/-/pipelines/31",
}


@pytest.mark.parametrize(
    ("payload", "provider", "run_id"),
    [
        (gitlab(), "gitlab_ci", "31"),
        (GITLAB_REST, "gitlab_ci", "31"),
        (bitbucket(), "other", "bitbucket:{2b922c6d-0000-4e91-a7be-000000000001}/4"),
        (bitbucket_status(), "other", "bitbucket:{2b922c6d-0000-4e91-a7be-000000000001}/4"),
        (forgejo(), "other", "forgejo:code.octo.example/3332"),
        (gitea(), "other", "forgejo:code.octo.example/3332"),
        ({**gitea()["workflow_run"], "repository": gitea_repository()}, "other", "forgejo:code.octo.example/3332"),
        (circleci(), "circleci", "7381218b-1"),
        (buildkite(), "buildkite", "018f7ee5-1"),
        ({**buildkite()["build"], "pipeline": buildkite()["pipeline"]}, "buildkite", "018f7ee5-1"),
        (jenkins(), "jenkins", "team » web #31"),
        (jenkins(url="https://ci.octo.example/job/web/31/"), "jenkins", "https://ci.octo.example/job/web/31/"),
        (jenkins_message(), "jenkins", "https://ci.octo.example/job/web/31/"),
        (azure(), "other", "azure:dev.azure.com/octo/2"),
        (azure()["resource"], "other", "azure:dev.azure.com/octo/2"),
        (azure_run(), "other", "azure:dev.azure.com/octo/2"),
        (cdevents(), "other", "cdevents:/ci/octo/run-7"),
        ({"specversion": "1.0", "type": "dev.cdevents", "data": cdevents()}, "other", "cdevents:/ci/octo/run-7"),
        (neutral(), "other", "nightly-7"),
    ],
)
def test_every_system_names_run_commit_repository_branch_and_time(payload: Payload, provider: str, run_id: str) -> None:
    outcome = only_fact(SOURCE, payload)
    assert (outcome.provider.value, outcome.run_id) == (provider, run_id)
    assert (outcome.repo, outcome.commit_sha, outcome.branch) == ("octo/web", SHA, "main")
    assert outcome.result.value == "passed"
    assert outcome.captured_at == parse_instant(ENDED)
    assert not outcome.is_identified


def _bitbucket(result: str) -> Payload:
    return bitbucket(result=result)


@pytest.mark.parametrize(
    ("make", "results"),
    [
        (
            gitlab,
            {"success": "passed", "failed": "failed", "canceled": "cancelled", "skipped": "skipped", "odd": "unknown"},
        ),
        (
            _bitbucket,
            {
                "SUCCESSFUL": "passed",
                "FAILED": "failed",
                "ERROR": "error",
                "STOPPED": "cancelled",
                "EXPIRED": "timed_out",
                "COMPLETED": "unknown",
            },
        ),
        (bitbucket_status, {"SUCCESSFUL": "passed", "FAILED": "failed", "STOPPED": "cancelled", "ODD": "unknown"}),
        (forgejo, {"success": "passed", "failure": "failed", "cancelled": "cancelled", "skipped": "skipped"}),
        (gitea, {"success": "passed", "failure": "failed", "cancelled": "cancelled", "odd": "unknown"}),
        (
            circleci,
            {
                "success": "passed",
                "failed": "failed",
                "error": "error",
                "unauthorized": "error",
                "canceled": "cancelled",
                "not_run": "skipped",
                "odd": "unknown",
            },
        ),
        (
            buildkite,
            {"passed": "passed", "failed": "failed", "canceled": "cancelled", "skipped": "skipped", "odd": "unknown"},
        ),
        (
            jenkins,
            {
                "SUCCESS": "passed",
                "UNSTABLE": "failed",
                "FAILURE": "failed",
                "ABORTED": "cancelled",
                "NOT_BUILT": "skipped",
                "NOT_BUILD": "unknown",
            },
        ),
        (
            azure,
            {
                "succeeded": "passed",
                "partiallySucceeded": "neutral",
                "failed": "failed",
                "canceled": "cancelled",
                "odd": "unknown",
            },
        ),
        (
            cdevents,
            {"success": "passed", "failure": "failed", "error": "error", "cancel": "cancelled", "odd": "unknown"},
        ),
    ],
)
def test_words_mean_what_the_table_says_and_are_kept(make: Callable[[str], Payload], results: dict[str, str]) -> None:
    told = {word: only_fact(SOURCE, make(word)) for word in results}
    assert {word: outcome.result.value for word, outcome in told.items()} == results
    assert {word: outcome.provider_result for word, outcome in told.items()} == {word: word for word in results}


@pytest.mark.parametrize(
    "payload",
    [
        *(gitlab(status) for status in ("created", "pending", "running", "manual", "scheduled", "canceling", None)),
        gitlab("odd", finished_at=None),
        bitbucket("IN_PROGRESS", "IN_PROGRESS"),
        bitbucket("PAUSED"),
        bitbucket("PENDING", None, completed_on=None),
        bitbucket_status("INPROGRESS"),
        forgejo("running"),
        forgejo("waiting", stopped="0001-01-01T00:00:00Z"),
        {**gitea(), "action": "in_progress"},
        gitea(None, status="running"),
        circleci("running"),
        circleci("on_hold"),
        buildkite("running"),
        buildkite("blocked"),
        buildkite("passed", blocked=True),
        {**buildkite(), "event": "build.running"},
        jenkins(None),
        jenkins("SUCCESS", building=True),
        jenkins_message(phase="STARTED"),
        azure(None, "inProgress"),
        azure("none"),
        azure_run(None, "inProgress"),
        cdevents("success", "started"),
        cdevents("success", "queued"),
    ],
)
def test_run_that_has_not_ended_is_no_outcome(payload: Payload) -> None:
    assert only_remainder(SOURCE, payload)[0] is Remainder.NOT_TERMINAL


@pytest.mark.parametrize(
    "payload",
    [
        gitlab(sha="4c4c4c4"),
        bitbucket(target={"ref_name": "main", "commit": {"hash": "4c4c4c4c4c4c"}}),
        circleci_workflow(),
        buildkite(commit="HEAD"),
        buildkite(commit=""),
        jenkins(actions=[{}]),
        jenkins(actions=[jenkins_checkout(), jenkins_checkout("5d" * 20, "https://github.com/octo/lib.git")]),
        azure(sourceVersion="C1234"),
        cdevents(commit_sha=None),
        neutral(commit_sha=None),
        neutral(commit_sha="main"),
    ],
)
def test_run_without_its_whole_commit_id_is_refused(payload: Payload) -> None:
    assert only_remainder(SOURCE, payload)[0] is Remainder.NO_COMMIT


@pytest.mark.parametrize(
    "payload",
    [
        bitbucket(repository=None),
        jenkins(actions=[{**jenkins_checkout(), "remoteUrls": []}]),
        azure(repository={"id": "71777fbc", "type": "TfsGit", "name": "web"}),
        cdevents(repo=None),
        neutral(repo=""),
    ],
)
def test_run_that_names_no_repository_takes_the_operators_or_is_refused(payload: Payload) -> None:
    assert only_remainder(SOURCE, payload)[0] is Remainder.NO_REPOSITORY
    assert only_fact(SOURCE, payload, settings={"repo": "Octo/Site"}).repo == "octo/site"
    assert only_remainder(SOURCE, payload, settings={"repo": "site"})[0] is Remainder.INVALID_VALUE


def test_operators_repository_never_replaces_one_that_is_named() -> None:
    assert only_fact(SOURCE, gitlab(), settings={"repo": "octo/site"}).repo == "octo/web"


def test_identity_is_the_operators_word_and_never_made_of_names() -> None:
    stated = {"repository_id:Octo/Web": "70112"}
    for payload in (buildkite(), jenkins(), circleci(), neutral()):
        assert not only_fact(SOURCE, payload).is_identified
        outcome = only_fact(SOURCE, payload, settings=stated, github_host="ghe.octo.example")
        assert (outcome.repository_host, outcome.repository_id) == ("ghe.octo.example", "70112")
    own = neutral(repository_provider="github", repository_host="github.com", repository_id="5")
    assert only_fact(SOURCE, own, settings=stated).repository_id == "5"
    assert not only_fact(SOURCE, neutral(repo="octo/site"), settings=stated).is_identified
    reason, detail = only_remainder(SOURCE, neutral(), settings={"repository_id:octo/web": "seven"})
    assert (reason, detail.partition(":")[0]) == (Remainder.INVALID_VALUE, "repository_id")


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        ({"object_kind": "push", "project_id": 1}, Remainder.UNSUPPORTED_FORGE),
        ({"event_name": "project_rename", "project_id": 1}, Remainder.UNSUPPORTED_FORGE),
        ({"repository": bitbucket()["repository"], "push": {"changes": []}}, Remainder.UNSUPPORTED_FORGE),
        ({**push(), "repository": gitea_repository()}, Remainder.UNSUPPORTED_FORGE),
        ({"eventType": "git.push", "resource": {}}, Remainder.UNSUPPORTED_FORGE),
        ({"eventKey": "repo:refs_changed", "changes": []}, Remainder.UNSUPPORTED_FORGE),
        (
            {"ref": "refs/heads/main", "before": SHA, "after": SHA, "compare_url": "https://code.octo.example/x"},
            Remainder.UNSUPPORTED_FORGE,
        ),
        ({"event_name": "user_create", "username": "mona"}, Remainder.NO_EVIDENCE),
        ({"type": "pipeline_step", "uuid": "{1}", "state": {}}, Remainder.NO_EVIDENCE),
        ({"job_number": 3, "status": "success", "type": "build"}, Remainder.NO_EVIDENCE),
        ({"_class": "hudson.model.FreeStyleProject", "name": "web"}, Remainder.NO_EVIDENCE),
        ({"context": {"type": "dev.cdeventsx.octo-thing.done.0.1.0"}, "subject": {}}, Remainder.NO_EVIDENCE),
        ({"object_kind": "build", "build_status": "success"}, Remainder.NO_EVIDENCE),
        ({"object_kind": "merge_request"}, Remainder.NO_EVIDENCE),
        ({"repository": bitbucket()["repository"], "pullrequest": {}}, Remainder.NO_EVIDENCE),
        (bitbucket_status(url="https://ci.octo.example/job/1"), Remainder.NO_EVIDENCE),
        ({"type": "job-completed", "pipeline": {}, "workflow": {}}, Remainder.NO_EVIDENCE),
        ({"event": "job.finished", "build": {}, "job": {}}, Remainder.NO_EVIDENCE),
        ({"eventType": "release.created", "resource": {}}, Remainder.NO_EVIDENCE),
        ({"context": {"type": "dev.cdevents.taskrun.finished.0.3.0"}, "subject": {}}, Remainder.NO_EVIDENCE),
        (run(), Remainder.UNKNOWN_SHAPE),
        (workflow_run(), Remainder.UNKNOWN_SHAPE),
        (push(), Remainder.UNKNOWN_SHAPE),
        ({"id": 1}, Remainder.UNKNOWN_SHAPE),
        ("text", Remainder.UNKNOWN_SHAPE),
    ],
)
def test_other_payloads_are_counted_for_what_they_are(payload: Any, reason: Remainder) -> None:
    assert only_remainder(SOURCE, payload)[0] is reason


@pytest.mark.parametrize("one", [gitlab, buildkite, circleci, jenkins, azure, forgejo, cdevents, neutral])
def test_redelivery_is_repeated_and_another_end_contradicts(one: Callable[..., Payload]) -> None:
    word = {"gitlab": "failed", "buildkite": "failed", "circleci": "failed", "jenkins": "FAILURE", "azure": "failed"}
    other = neutral(result="failed") if one is neutral else one(word.get(one.__name__, "failure"))
    told = translate(SOURCE, one(), one(), other)
    reasons = [one.reason if isinstance(one, Untranslated) else None for one in told]
    assert reasons == [None, Remainder.REPEATED, Remainder.INVALID_VALUE]


def test_empty_answers_are_counted() -> None:
    for value in ([], {"values": []}, {"items": [], "next_page_token": None}):
        assert only_remainder(SOURCE, value)[0] is Remainder.NO_EVIDENCE


def test_page_lists_what_every_word_means() -> None:
    page = (Path(__file__).parents[3] / "docs" / "capture" / "ci.md").read_text(encoding="utf-8")
    header, _, *rows = re.search(r"^\| result \|.*?(?=\n\n)", page, re.MULTILINE | re.DOTALL)[0].splitlines()  # type: ignore[index]
    columns = [cell.strip() for cell in header.strip("| ").split("|")][1:]
    told: dict[str, dict[str, str]] = {column: {} for column in columns}
    for row in rows:
        result, *cells = [cell.strip() for cell in row.strip().removeprefix("|").removesuffix("|").split("|")]
        for column, cell in zip(columns, cells, strict=True):
            words = cell.removesuffix(", see below").split(", ")
            told[column] |= {} if "see below" in cell else {word.lower(): result for word in words if word}
    tables = {
        "GitLab": gitlab_ci.RESULTS,
        "Bitbucket": bitbucket_pipelines.RESULTS,
        "Forgejo, Gitea": forgejo_actions.RESULTS,
        "CircleCI": circleci_workflows.RESULTS,
        "Buildkite": buildkite_builds.RESULTS,
        "Jenkins": jenkins_builds.RESULTS,
        "Azure": azure_pipelines.RESULTS,
        "CDEvents": cdevents_runs.RESULTS,
    }
    assert told == {name: {word: result.value for word, result in table.items()} for name, table in tables.items()}
