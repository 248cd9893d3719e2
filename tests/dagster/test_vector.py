"""Real agent trajectories through the graph: the shared vector's expected rows, day by day."""

import json
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from sediment_assets.defs.keys import output_key, outputs_of
from sediment_assets.targets.registry import Target
from tests.contract.shared_vectors import ABSENT, VECTORS, load_runner
from tests.dagster.graph import Evidence, Graph, artifacts

if not VECTORS.is_dir():
    pytest.skip(ABSENT, allow_module_level=True)

RUN = load_runner()
SOURCE = VECTORS / "real-swe-agent-a"


def days() -> list[str]:
    calls = map(json.loads, (SOURCE / "facts" / "inference_calls.jsonl").read_text("utf-8").splitlines())
    first: dict[str, str] = {}
    for call in calls:
        session = call["session_id"]
        first[session] = min(first.get(session, call["observed_at"]), call["observed_at"])
    return sorted({instant[:10] for instant in first.values()})


@pytest.fixture(scope="module")
def generations(tmp_path_factory: pytest.TempPathFactory) -> dict[Target, list[Path]]:
    """What the graph published, per target and in the order of days."""
    work = tmp_path_factory.mktemp("vector")
    scenario = json.loads((SOURCE / "scenario.json").read_text())
    RUN.build_mirrors(SOURCE, scenario, work / "mirrors")
    evidence = Evidence(work / "facts.db", work / "mirrors", org_id=scenario["org_id"])
    evidence.add(SOURCE / "facts")
    start = dg.DailyPartitionsDefinition(days()[0]).start.date()
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(evidence, work / "exports", instance, start=start)
        for day in days():
            assert graph.run(day).success
        return {
            target: [graph.generation(output_key(target, outputs_of(target)[0]), day) for day in days()]
            for target in Target
        }


def session_order(row: dict[str, Any]) -> str:
    instance_id: str = row.get("instance_id") or row["metadata"]["instance_id"]
    return instance_id


@pytest.mark.parametrize("target", Target)
def test_real_trajectories_give_their_expected_rows(generations: dict[Target, list[Path]], target: Target):
    expected = SOURCE / "expected" / "default" / target
    wanted = {path.name for path in expected.iterdir() if path.name != "summary.json"}
    assert {name for generation in generations[target] for name in artifacts(generation)} == wanted
    for name in sorted(wanted):
        parts = [generation / name for generation in generations[target] if (generation / name).exists()]
        if name.endswith(".yaml"):
            assert all(RUN.compare.strict_yaml(part) == RUN.compare.strict_yaml(expected / name) for part in parts)
            continue
        rows = sorted((row for part in parts for row in RUN.compare.strict_rows(part)), key=session_order)
        known = sorted(RUN.compare.strict_rows(expected / name), key=session_order)
        assert list(RUN.compare.differences(known, rows, name)) == []


def test_the_vector_spans_several_days():
    assert len(days()) == 4
