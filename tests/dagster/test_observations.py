"""Observed versions of Facts and mirrors: new ones when evidence arrives, and only then."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import dagster as dg
import pytest

from sediment_assets.defs.jobs import OBSERVE_JOB
from sediment_assets.defs.keys import FACT_KEYS, MIRRORS
from tests.dagster.conftest import DAYS
from tests.dagster.graph import QUIET, Evidence, Graph


def observe(graph: Graph) -> dict[dg.AssetKey, dg.AssetObservation]:
    result = graph.defs.resolve_job_def(OBSERVE_JOB).execute_in_process(instance=graph.instance, run_config=QUIET)
    observations = [event.asset_observation_data.asset_observation for event in result.get_asset_observation_events()]
    return {observation.asset_key: observation for observation in observations}


def versions(graph: Graph) -> dict[dg.AssetKey, str]:
    return {key: (found.tags or {})["dagster/data_version"] for key, found in observe(graph).items()}


def changed(before: dict[dg.AssetKey, str], after: dict[dg.AssetKey, str]) -> set[str]:
    assert set(before) == set(after) == {*FACT_KEYS.values(), MIRRORS}
    return {key.to_user_string() for key in before if before[key] != after[key]}


def test_nothing_changes_without_new_evidence(graph: Graph):
    assert changed(versions(graph), versions(graph)) == set()


def test_a_new_fact_changes_its_table_alone(graph: Graph, day_facts: Callable[[str], Path], tmp_path: Path):
    before = versions(graph)
    lines = (day_facts(DAYS[1]) / "ci_outcomes.jsonl").read_text().splitlines(keepends=True)
    path = tmp_path / "ci_outcomes.jsonl"
    path.write_text(lines[0])
    graph.evidence.add(path)
    assert changed(before, versions(graph)) == {"facts/ci_outcomes"}
    graph.evidence.add(path)  # known already
    assert changed(before, versions(graph)) == {"facts/ci_outcomes"}


def test_a_quarantine_changes_its_log_and_the_table_it_hides_from(graph: Graph, tmp_path: Path):
    before = versions(graph)
    hide_a_call(graph.evidence, tmp_path)
    assert changed(before, versions(graph)) == {"facts/inference_calls", "facts/quarantine"}
    found = observe(graph)[FACT_KEYS["inference_calls"]].metadata
    assert found["quarantined"].value == 1


def hide_a_call(evidence: Evidence, directory: Path) -> None:
    with closing(sqlite3.connect(evidence.database)) as database:
        (fact_id,) = database.execute("SELECT inference_call_id FROM inference_calls LIMIT 1").fetchone()
    record = {
        "quarantine_id": "00000000-0000-4000-8000-000000000001",
        "org_id": evidence.org_id,
        "fact_table": "inference_calls",
        "fact_id": fact_id,
        "action": "quarantine",
        "reason": "a test",
        "recorded_at": "2026-11-09T00:00:00Z",
    }
    path = directory / "quarantine.jsonl"
    path.write_text(json.dumps(record) + "\n")
    evidence.add(path)


def test_a_new_ref_changes_the_mirrors(one_day: Evidence, tmp_path: Path):
    mirrors = tmp_path / "mirrors"
    shutil.copytree(one_day.mirrors, mirrors)
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(Evidence(one_day.database, mirrors), tmp_path / "exports", instance)
        before = versions(graph)
        mirror = next(path.parent for path in mirrors.rglob("HEAD"))
        subprocess.run(["git", "-C", str(mirror), "update-ref", "refs/heads/new", "HEAD"], check=True)
        assert changed(before, versions(graph)) == {"mirrors"}


def test_an_observation_counts_what_is_there(graph: Graph, day_facts: Callable[[str], Path]):
    found = observe(graph)
    calls = found[FACT_KEYS["inference_calls"]].metadata
    assert calls["facts"].value == len((day_facts(DAYS[0]) / "inference_calls.jsonl").read_text().splitlines())
    assert calls["quarantined"].value == 0
    assert str(calls["first"].value).startswith("2026-11-02T")
    assert found[FACT_KEYS["repository_renames"]].metadata["first"].value == "none"
    assert found[MIRRORS].metadata["mirrors"].value == 2


def test_an_organization_without_facts_is_observed_as_empty(one_day: Evidence, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(Evidence(one_day.database, one_day.mirrors, org_id="nobody"), tmp_path / "exports", instance)
        found = observe(graph)
    assert {found[key].metadata["facts"].value for name, key in FACT_KEYS.items() if name != "quarantine"} == {0}
    assert found[MIRRORS].metadata["mirrors"].value == 0


def test_a_store_that_is_not_there_fails_with_its_place(tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(Evidence(tmp_path / "absent.db", tmp_path / "mirrors"), tmp_path / "exports", instance)
        with pytest.raises(Exception, match=r"absent\.db"):
            observe(graph)
