"""A day in operation, through one real ``dagster dev``: a range is launched from the UI, then a CI run is repeated.

Observed, materialized, requested again because of late evidence, explained, checked: nothing here is called directly
but the import of the new Fact, which is what a capture does. The tests are in order; the pages come after them.
"""

import json
from pathlib import Path
from typing import Any

from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.adapters.fact_store.importer import import_paths
from tests.browser.conftest import Site

FULL, EMPTY, OTHER = "2026-11-04", "2026-11-07", "2026-11-08"
"""Days in the range; the first has all that gives no row, the second no Session."""
TASKS = ["targets", "sediment", "tasks"]
ASSETS = [
    ["canonical", "rollouts"],
    ["canonical", "ci_resolutions"],
    TASKS,
    ["targets", "sediment", "rollouts"],
    ["targets", "sediment", "environment"],
    ["targets", "swe_bench", "tasks"],
    ["targets", "nemo_gym", "rollouts"],
]

LAUNCH = """mutation($params: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $params) {
  __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
BACKFILL = """query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status
  assetBackfillData { assetBackfillStatuses { ... on AssetPartitionsStatusCounts { assetKey { path }
    numPartitionsTargeted numPartitionsMaterialized numPartitionsFailed } } } } } }"""
RUNS = """query($job: String!) { runsOrError(filter: {pipelineName: $job}) { ... on Runs { results {
  runId status tags { key value } } } } }"""
ASSET = """query($key: AssetKeyInput!, $day: String!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
  staleStatus(partition: $day) staleCauses(partition: $day) { key { path } reason } } } }"""
CHECKS = """query($key: AssetKeyInput!) { assetNodeOrError(assetKey: $key) { ... on AssetNode {
  assetChecksOrError { ... on AssetChecks { checks { name
    executionForLatestMaterialization { status runId evaluation { success description } } } } } } } }"""
EXECUTE = """mutation($params: ExecutionParams!) { launchPipelineExecution(executionParams: $params) { __typename
  ... on LaunchRunSuccess { run { runId } } ... on PythonError { message } } }"""
RUN = "query($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"
DONE = ("SUCCESS", "FAILURE", "CANCELED")


def runs(site: Site, job: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = site.ask(RUNS, job=job)["runsOrError"]["results"]
    return [{**run, "tags": {tag["key"]: tag["value"] for tag in run["tags"]}} for run in found]


def stale(site: Site, day: str) -> dict[str, Any]:
    found: dict[str, Any] = site.ask(ASSET, key={"path": ASSETS[0]}, day=day)["assetNodeOrError"]
    return found


def test_evidence_is_observed_before_anything_else(site: Site):
    site.wait("an observation", lambda: [run for run in runs(site, "observe_evidence") if run["status"] == "SUCCESS"])


def test_a_range_of_days_launched_as_the_ui_does_is_materialized_whole(site: Site):
    params = {"assetSelection": [{"path": key} for key in ASSETS], "partitionNames": [FULL, EMPTY, OTHER]}
    launched = site.ask(LAUNCH, params=params)["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched

    def ended() -> Any:
        found = site.ask(BACKFILL, id=launched["backfillId"])["partitionBackfillOrError"]
        return found if found["status"] not in ("REQUESTED", "COMPLETING") else None

    backfill = site.wait("the backfill ends", ended)
    assert backfill["status"] == "COMPLETED_SUCCESS"
    statuses = backfill["assetBackfillData"]["assetBackfillStatuses"]
    assert sorted(status["assetKey"]["path"] for status in statuses) == sorted(ASSETS)
    for status in statuses:
        assert status["numPartitionsTargeted"] == status["numPartitionsMaterialized"] == 3
        assert status["numPartitionsFailed"] == 0
    assert [stale(site, day)["staleStatus"] for day in (FULL, EMPTY, OTHER)] == ["FRESH"] * 3


def test_a_ci_rerun_requests_exactly_its_day_and_the_checks_name_the_cause(site: Site, tmp_path: Path):
    facts = Path(site.settings["SEDIMENT_VERIFIER_COMMANDS_FILE"]).parent / "facts"
    commit = next(
        fact["commit_sha"]
        for fact in lines(facts / "session_commit_observations.jsonl")
        if fact["session_id"] == "ledger-balance-cache"  # CI only cancelled: no verdict, no row
    )
    outcome = next(fact for fact in lines(facts / "ci_outcomes.jsonl") if fact["commit_sha"] == commit)
    rerun = {
        **outcome,
        "outcome_id": "11111111-2222-4333-8444-555555555555",
        "run_attempt": outcome["run_attempt"] + 1,
        "result": "passed",
        "captured_at": "2026-11-20T09:00:00Z",
        "source_event_id": None,
    }
    path = tmp_path / "ci_outcomes.jsonl"
    path.write_text(json.dumps(rerun) + "\n")
    engine = writing_engine(site.settings["SEDIMENT_DATABASE_URL"])
    import_paths(engine, [path])
    engine.dispose()

    def requested() -> list[dict[str, Any]]:
        return [run for run in runs(site, "materialize_day") if "sediment/late_evidence" in run["tags"]]

    site.wait("the day is requested", requested)
    site.wait("the run ends", lambda: all(run["status"] in DONE for run in requested()))
    (run,) = requested()
    assert run["status"] == "SUCCESS"
    assert run["tags"]["dagster/partition"] == FULL
    assert run["tags"]["sediment/late_evidence"] == "ci_outcomes"
    assert run["tags"]["dagster/sensor_name"] == "late_evidence"
    checks = site.ask(CHECKS, key={"path": TASKS})["assetNodeOrError"]["assetChecksOrError"]["checks"]
    executions = {check["name"]: check["executionForLatestMaterialization"] for check in checks}
    assert {found["runId"] for found in executions.values()} == {run["runId"]}
    assert all(found["evaluation"]["success"] for found in executions.values())
    explained = executions["changes_explained"]["evaluation"]
    assert explained["description"] == "Rows added 1, changed 1, equal 5; because of: new_ci_attempt."
    assert [stale(site, day)["staleStatus"] for day in (FULL, EMPTY, OTHER)] == ["FRESH"] * 3


def test_all_checks_executed_without_a_partition_pass_and_say_which_day_they_saw(site: Site):
    keys = [{"assetKey": {"path": TASKS}, "name": name} for name in ("generation_intact", "rows_match_schema")]
    selector = {
        "repositoryLocationName": "sediment",
        "repositoryName": "__repository__",
        "jobName": "__ASSET_JOB",
        "assetSelection": [],
        "assetCheckSelection": keys,
    }
    params = {"selector": selector, "runConfigData": {}, "mode": "default", "executionMetadata": {"tags": []}}
    launched = site.ask(EXECUTE, params=params)["launchPipelineExecution"]
    assert launched["__typename"] == "LaunchRunSuccess", launched
    run_id = launched["run"]["runId"]
    site.wait("the checks end", lambda: site.ask(RUN, id=run_id)["runOrError"]["status"] in DONE)
    assert site.ask(RUN, id=run_id)["runOrError"]["status"] == "SUCCESS"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
