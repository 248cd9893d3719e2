"""Observed versions of evidence: a new one for the days that new evidence changes, and only for those."""

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
from sediment_assets.defs.keys import FACT_KEYS, MIRRORED_COMMITS, MIRRORS, QUARANTINE, ROLLOUTS
from sediment_assets.defs.observation import CHANGED, EVIDENCE
from tests.dagster.conftest import DAYS
from tests.dagster.graph import QUIET, Evidence, Graph, artifacts, quarantine_line


def observe(graph: Graph) -> dict[tuple[dg.AssetKey, str | None], dg.AssetObservation]:
    """Observe everything; return what was recorded, by asset and day."""
    result = graph.defs.resolve_job_def(OBSERVE_JOB).execute_in_process(instance=graph.instance, run_config=QUIET)
    observations = [event.asset_observation_data.asset_observation for event in result.get_asset_observation_events()]
    return {(found.asset_key, found.partition): found for found in observations}


def changed(graph: Graph) -> set[str]:
    """Observe; name what changed, without the totals of whole tables."""
    return {f"{key.to_user_string()} {day}" for key, day in observe(graph) if day is not None}


def test_a_day_is_recorded_once_and_not_again_while_it_is_as_it_was(graph: Graph):
    assert changed(graph) == {
        f"{asset} {DAYS[0]}"
        for asset in (
            "facts/inference_calls",
            "facts/developer_decisions",
            "facts/ci_outcomes",
            "facts/session_commit_observations",
            "facts/repository_renames",
            "mirrors/commits",
        )
    }
    assert changed(graph) == set()


def test_facts_of_another_day_change_that_day_alone(graph: Graph, day_facts: Callable[[str], Path]):
    changed(graph)
    graph.evidence.add(day_facts(DAYS[1]))
    assert {line.split()[1] for line in changed(graph)} == {DAYS[1]}
    graph.evidence.add(day_facts(DAYS[1]))  # known already
    assert changed(graph) == set()


def test_the_last_observation_of_a_day_names_what_changed(graph: Graph):
    found = observe(graph)[MIRRORED_COMMITS, DAYS[0]]
    assert str(found.metadata[CHANGED].value).startswith("inference_calls, developer_decisions, ci_outcomes")
    assert len(found.tags[EVIDENCE]) == 40


def test_a_quarantine_changes_the_days_it_hides_from(graph: Graph, tmp_path: Path):
    changed(graph)
    hide_a_decision(graph.evidence, tmp_path)
    assert changed(graph) == {f"facts/developer_decisions {DAYS[0]}", f"mirrors/commits {DAYS[0]}"}
    found = observe(graph)
    assert found[FACT_KEYS["developer_decisions"], None].metadata["quarantined"].value == 1
    assert found[QUARANTINE, None].metadata["records"].value == 1


def hide_a_decision(evidence: Evidence, directory: Path) -> None:
    with closing(sqlite3.connect(evidence.database)) as database:
        (fact_id,) = database.execute("SELECT decision_id FROM developer_decisions LIMIT 1").fetchone()
    path = directory / "quarantine.jsonl"
    path.write_text(json.dumps(quarantine_line("developer_decisions", fact_id)) + "\n")
    evidence.add(path)


def test_a_new_ref_changes_the_mirrors_and_no_day(one_day: Evidence, tmp_path: Path):
    mirrors = tmp_path / "mirrors"
    shutil.copytree(one_day.mirrors, mirrors)
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(Evidence(one_day.database, mirrors), tmp_path / "exports", instance)
        before = observe(graph)[MIRRORS, None].tags
        mirror = next(path.parent for path in mirrors.rglob("HEAD"))
        subprocess.run(["git", "-C", str(mirror), "update-ref", "refs/heads/new", "HEAD"], check=True)
        after = observe(graph)
    assert after[MIRRORS, None].tags != before
    assert not [day for _, day in after if day is not None]


def test_one_source_can_be_observed_alone(graph: Graph):
    result = dg.materialize(
        list(graph.defs.assets or ()),  # type: ignore[arg-type]  # wider than what materialize takes
        selection=dg.AssetSelection.assets(FACT_KEYS["pushes"]),
        instance=graph.instance,
        resources=dict(graph.defs.resources or {}),
        run_config=QUIET,
    )
    assert {event.asset_key for event in result.get_asset_observation_events()} == {FACT_KEYS["pushes"]}


def test_an_observation_counts_what_is_there(graph: Graph, day_facts: Callable[[str], Path]):
    found = observe(graph)
    calls = found[FACT_KEYS["inference_calls"], None].metadata
    facts = len((day_facts(DAYS[0]) / "inference_calls.jsonl").read_text().splitlines())
    assert calls["facts"].value == facts
    assert found[FACT_KEYS["inference_calls"], DAYS[0]].metadata["facts_of_this_day"].value == facts
    assert calls["quarantined"].value == 0
    assert str(calls["first"].value).startswith("2026-11-02T")
    assert found[FACT_KEYS["repository_renames"], None].metadata["first"].value == "none"
    assert found[MIRRORS, None].metadata["mirrors"].value == 2


def test_an_organization_without_facts_is_observed_as_empty(one_day: Evidence, tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(Evidence(one_day.database, one_day.mirrors, org_id="nobody"), tmp_path / "exports", instance)
        found = observe(graph)
    assert {found[key, None].metadata["facts"].value for key in FACT_KEYS.values() if key != QUARANTINE} == {0}
    assert found[MIRRORS, None].metadata["mirrors"].value == 0


def test_a_store_that_is_not_there_fails_with_its_place(tmp_path: Path):
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(Evidence(tmp_path / "absent.db", tmp_path), tmp_path / "exports", instance)
        with pytest.raises(Exception, match=r"absent\.db"):
            observe(graph)


def test_days_read_what_similarity_told_the_observation_and_need_not(graph: Graph):
    observe(graph)
    (kept,) = (graph.root / ".attribution").iterdir()
    content = kept.read_bytes()
    graph.run(DAYS[0])
    frozen = artifacts(graph.generation(ROLLOUTS, DAYS[0]))
    assert [path.name for path in (graph.root / ".attribution").iterdir()] == [kept.name]
    for lost in (b"", b"{}\n{}"):
        kept.write_bytes(lost)
        graph.run(DAYS[0])
        assert artifacts(graph.generation(ROLLOUTS, DAYS[0])) == frozen
        assert kept.read_bytes() == content
