"""GitHub workflow runs → CIOutcome: conclusions, attempts, two tellings, identity (facts.md §4.1, §6)."""

from typing import Any

import pytest

from sediment_assets.capture.contract import Remainder, Translated, Untranslated
from sediment_assets.capture.sources.github import SOURCE
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.vocabulary import CIProvider, CIResult
from tests.captured import facts, only_fact, only_remainder, translate
from tests.github_payloads import SHA, repository, run, workflow_run


def test_run_of_a_delivery_carries_every_field_it_tells() -> None:
    body = workflow_run(pull_requests=[{"number": 12, "base": {"repo": {"id": 70112}}}])
    outcome = only_fact(
        SOURCE, {"headers": {"X-GitHub-Event": "workflow_run", "X-GitHub-Delivery": "d-1"}, "body": body}
    )
    told = {name: value for name, value in outcome.model_dump().items() if value is not None}
    outcome_id = told.pop("outcome_id")
    assert len(outcome_id) == 36
    assert told == {
        "schema_version": 2,
        "repository_provider": "github",
        "repository_host": "github.com",
        "repository_id": "70112",
        "org_id": "acme",
        "provider": CIProvider.GITHUB_ACTIONS,
        "run_id": "9001",
        "run_attempt": 1,
        "repo": "octo/web",
        "commit_sha": SHA,
        "branch": "main",
        "result": CIResult.PASSED,
        "workflow_name": "CI",
        "workflow_id": "55",
        "workflow_path": ".github/workflows/ci.yml",
        "run_url": "https://github.com/Octo/Web/actions/runs/9001",
        "provider_result": "success",
        "source_event_type": "workflow_run",
        "source_event_id": "d-1",
        "pr_number": 12,
        "captured_at": parse_instant("2026-01-01T00:04:00Z"),
        "raw": body,
    }


@pytest.mark.parametrize(
    ("conclusion", "result"),
    [
        ("success", "passed"),
        ("failure", "failed"),
        ("timed_out", "timed_out"),
        ("cancelled", "cancelled"),
        ("skipped", "skipped"),
        ("neutral", "neutral"),
        ("startup_failure", "error"),
        ("stale", "unknown"),
        ("exploded", "unknown"),
    ],
)
def test_conclusion_is_the_result_and_is_kept_in_its_own_word(conclusion: str, result: str) -> None:
    for value in (workflow_run(conclusion=conclusion), run(conclusion=conclusion)):
        outcome = only_fact(SOURCE, value)
        assert (outcome.result.value, outcome.provider_result) == (result, conclusion)


@pytest.mark.parametrize("conclusion", ["success", "failure", "neutral"])
def test_status_that_repeats_the_conclusion_in_capitals_is_an_end(conclusion: str) -> None:
    assert only_fact(SOURCE, run(status=conclusion.upper(), conclusion=conclusion)).provider_result == conclusion


@pytest.mark.parametrize(
    "value",
    [
        run(status="in_progress", conclusion=None),
        run(status="QUEUED", conclusion=""),
        run(status="completed", conclusion=""),
        run(status="completed", conclusion=None),
        run(status="waiting", conclusion="success"),
        run(conclusion="action_required"),
        workflow_run(conclusion="action_required"),
        workflow_run("in_progress"),
        workflow_run("requested", conclusion="action_required"),
    ],
)
def test_run_that_goes_on_is_no_outcome(value: Any) -> None:
    assert only_remainder(SOURCE, value)[0] is Remainder.NOT_TERMINAL


def test_status_that_contradicts_its_conclusion_is_refused() -> None:
    reason, detail = only_remainder(SOURCE, run(status="FAILURE", conclusion="success"))
    assert (reason, detail.partition(":")[0]) == (Remainder.INVALID_VALUE, "status")


def test_webhook_and_rest_tell_one_fact() -> None:
    told = translate(SOURCE, workflow_run(), {"total_count": 1, "workflow_runs": [run()]})
    assert isinstance(told[0], Translated)
    assert isinstance(told[1], Untranslated)
    assert (told[1].place, told[1].reason) == ("in:2.workflow_runs[0]", Remainder.REPEATED)
    alone = [only_fact(SOURCE, value) for value in (workflow_run(), run())]
    assert alone[0].model_copy(update={"raw": {}, "source_event_type": None}) == alone[1].model_copy(update={"raw": {}})


def test_attempts_of_one_run_are_facts_of_their_own() -> None:
    told = facts(translate(SOURCE, run(conclusion="failure"), run(run_attempt=2), run(id=9002)))
    assert len({outcome.outcome_id for outcome in told}) == 3
    assert [(outcome.run_id, outcome.run_attempt) for outcome in told] == [("9001", 1), ("9001", 2), ("9002", 1)]


def test_id_follows_the_natural_key_which_holds_no_repository_id() -> None:
    first, second = (only_fact(SOURCE, run(repository=repository(id=number))) for number in (1, 2))
    elsewhere = only_fact(
        SOURCE, run(repository=repository(html_url="https://ghe.octo.example/o/w")), github_host="ghe.octo.example"
    )
    assert first.outcome_id == second.outcome_id != elsewhere.outcome_id


@pytest.mark.parametrize("changed", [{"conclusion": "failure"}, {"head_sha": "3d" * 20}, {"workflow_id": 56}])
def test_second_telling_that_contradicts_the_first_is_no_repetition(changed: dict[str, Any]) -> None:
    told = translate(SOURCE, run(), run(**changed))
    assert isinstance(told[1], Untranslated)
    assert told[1].reason is Remainder.INVALID_VALUE
    assert "in:1" in told[1].detail


def test_second_telling_that_knows_less_is_a_repetition() -> None:
    told = translate(SOURCE, run(), run(path=None, workflow_id=None))
    assert isinstance(told[1], Untranslated)
    assert told[1].reason is Remainder.REPEATED


@pytest.mark.parametrize("number", [None, 0, -3, True, "70112", 70112.0, 10**20])
def test_repository_without_a_valid_id_is_a_legacy_one(number: Any) -> None:
    outcome = only_fact(SOURCE, run(repository=repository(id=number)))
    assert not outcome.is_identified
    assert (outcome.repository_host, outcome.repo) == (None, "octo/web")


def test_old_payload_names_its_repository_in_two_halves() -> None:
    for owner in ({"login": "Octo"}, {"name": "Octo", "email": None}):
        assert only_fact(SOURCE, run(repository={"id": 5, "name": "Web", "owner": owner})).repo == "octo/web"


@pytest.mark.parametrize("told", [None, {}, {"id": 5}, {"id": 5, "name": "web"}, {"id": 5, "full_name": ""}])
def test_repository_without_a_name_is_refused_even_with_an_id(told: Any) -> None:
    assert only_remainder(SOURCE, run(repository=told))[0] is Remainder.NO_REPOSITORY


def test_identity_is_never_made_of_another_host() -> None:
    reason, detail = only_remainder(SOURCE, run(repository=repository(html_url="https://ghe.octo.example/octo/web")))
    assert reason is Remainder.INVALID_VALUE
    assert detail == "repository.html_url: expected the GitHub host github.com, got 'ghe.octo.example'"
    told = only_fact(
        SOURCE, run(repository=repository(html_url="https://ghe.octo.example:8443/o/w")), github_host="GHE.octo.example"
    )
    assert told.repository_host == "ghe.octo.example"


def test_workflow_path_is_the_file_without_its_ref() -> None:
    assert only_fact(SOURCE, run(path=".github/workflows/ci.yml@refs/heads/main")).workflow_path == (
        ".github/workflows/ci.yml"
    )


def test_what_the_run_leaves_out_its_workflow_tells() -> None:
    outcome = only_fact(SOURCE, workflow_run(name="", path=None, workflow_id=None))
    assert (outcome.workflow_name, outcome.workflow_id, outcome.workflow_path) == (
        "CI",
        "55",
        ".github/workflows/ci.yml",
    )


def test_absent_fields_stay_absent() -> None:
    outcome = only_fact(SOURCE, run(name=None, path=None, workflow_id=None, run_attempt=None, head_branch=None))
    assert (outcome.workflow_name, outcome.workflow_id, outcome.workflow_path) == ("", None, None)
    assert (outcome.run_attempt, outcome.branch, outcome.source_event_type) == (None, "", None)


@pytest.mark.parametrize(
    ("listed", "number"),
    [
        ([], None),
        ([{"number": 3}], 3),
        ([{"number": 3, "base": {"repo": {"id": 70112}}}], 3),
        ([{"number": 3, "base": {"repo": {"id": 1}}}], None),
        ([{"number": 3}, {"number": 4}], None),
    ],
)
def test_pull_request_is_told_when_there_is_exactly_one_of_this_repository(listed: Any, number: int | None) -> None:
    assert only_fact(SOURCE, run(pull_requests=listed)).pr_number == number


@pytest.mark.parametrize("sha", [None, "", "1f1f1f1", "HEAD", "g" * 40])
def test_run_needs_its_whole_commit_id(sha: str | None) -> None:
    assert only_remainder(SOURCE, run(head_sha=sha))[0] is Remainder.NO_COMMIT


def test_run_without_a_time_takes_the_operators_or_is_refused() -> None:
    assert only_remainder(SOURCE, run(updated_at=None))[0] is Remainder.NO_INSTANT
    at = parse_instant("2026-02-02T00:00:00Z")
    assert only_fact(SOURCE, run(updated_at=None), instant=at).captured_at == at
    assert only_fact(SOURCE, run(), instant=at).captured_at == parse_instant("2026-01-01T00:04:00Z")


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"id": "9001"}, "id"),
        ({"id": None}, "id"),
        ({"run_attempt": 0}, "run_attempt"),
        ({"run_attempt": "1"}, "run_attempt"),
        ({"head_branch": 5}, "head_branch"),
        ({"updated_at": "yesterday"}, "updated_at"),
        ({"conclusion": {}}, "conclusion"),
        ({"repository": []}, "repository"),
        ({"repository": repository(full_name="web")}, "repository.full_name"),
    ],
)
def test_value_of_the_wrong_kind_is_refused_by_its_name(changed: dict[str, Any], field: str) -> None:
    reason, detail = only_remainder(SOURCE, run(**changed))
    assert (reason, detail.partition(":")[0]) == (Remainder.INVALID_VALUE, field)


def test_pages_and_lists_of_runs_are_read_whole() -> None:
    pages = [{"total_count": 3, "workflow_runs": [run(), run(id=2)]}, {"workflow_runs": [run(id=3)]}]
    told = translate(SOURCE, pages)
    assert [one.place for one in told] == [
        "in:1[0].workflow_runs[0]",
        "in:1[0].workflow_runs[1]",
        "in:1[1].workflow_runs[0]",
    ]
    assert [fact.run_id for fact in facts(told)] == ["9001", "2", "3"]
    assert only_remainder(SOURCE, {"total_count": 0, "workflow_runs": []})[0] is Remainder.NO_EVIDENCE
    assert only_remainder(SOURCE, [])[0] is Remainder.NO_EVIDENCE


@pytest.mark.parametrize(
    "value",
    [
        {"total_count": 1, "jobs": [{"run_id": 9001, "steps": []}]},
        {"total_count": 1, "check_runs": []},
        {"id": 1, "run_id": 9001, "head_sha": SHA, "status": "completed", "conclusion": "failure", "steps": []},
    ],
)
def test_jobs_and_checks_of_the_rest_api_are_no_runs(value: Any) -> None:
    assert only_remainder(SOURCE, value)[0] is Remainder.NO_EVIDENCE


def test_answer_of_gh_run_list_is_refused_with_the_way_out() -> None:
    reason, detail = only_remainder(SOURCE, {"databaseId": 1, "headSha": SHA, "conclusion": "success"})
    assert reason is Remainder.UNKNOWN_SHAPE
    assert "gh api repos/OWNER/NAME/actions/runs" in detail
