"""Evidence and one materialized week, shared by the tests of the graph. None may change what it did not make."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from sediment_assets.demo import DemoEvidence, plant_evidence
from sediment_assets.demo.cases import CASES
from tests.dagster.graph import Evidence, Graph

DAYS = tuple(f"2026-11-0{day}" for day in range(2, 9))
"""The demo's week. The 7th has no Session."""


_KNOWN_WARNINGS = (
    "ignore::dagster.BetaWarning",  # of what the graph is built on; ``defs`` ignores it once, and pytest forgets that
    "ignore::dagster.PreviewWarning",
    "ignore::DeprecationWarning:dagster.*",  # Dagster's own use of pydantic
)


def pytest_itemcollected(item: pytest.Item) -> None:
    if Path(__file__).parent in item.path.parents:
        for known in _KNOWN_WARNINGS:
            item.add_marker(pytest.mark.filterwarnings(known))


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> DemoEvidence:
    return plant_evidence(tmp_path_factory.mktemp("demo") / "planted")


@pytest.fixture(scope="session")
def demo(planted: DemoEvidence, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """The whole demo, imported. Read only."""
    evidence = Evidence(
        tmp_path_factory.mktemp("store") / "facts.db",
        planted.directory / "mirrors",
        planted.directory / "verifier-commands.toml",
    )
    evidence.add(planted.facts_directory)
    return evidence


@dataclass(frozen=True)
class Week:
    """The demo's week, materialized once."""

    graph: Graph
    results: dict[str, dg.ExecuteInProcessResult]


@pytest.fixture(scope="session")
def week(demo: Evidence, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Week]:
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(demo, tmp_path_factory.mktemp("exports"), instance)
        yield Week(graph, {day: graph.run(day) for day in DAYS})


def facts_of_day(source: Path, day: str, out: Path) -> Path:
    """Write the demo's Facts of one day only: Sessions that began in it, Pushes and CI outcomes captured in it."""
    sessions = {case.session_id for case in CASES if f"2026-11-{case.day}" == day}
    out.mkdir()
    for name in ("inference_calls", "developer_decisions", "session_commit_observations", "pushes", "ci_outcomes"):
        lines = (source / f"{name}.jsonl").read_text("utf-8").splitlines(keepends=True)
        kept = [line for line in lines if _is_of(json.loads(line), sessions, day)]
        (out / f"{name}.jsonl").write_text("".join(kept), "utf-8")
    return out


def _is_of(fact: dict[str, str], sessions: set[str], day: str) -> bool:
    return fact["session_id"] in sessions if "session_id" in fact else fact["captured_at"].startswith(day)


@pytest.fixture(scope="session")
def day_facts(planted: DemoEvidence, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Canonical Facts of one day of the demo."""
    directory = tmp_path_factory.mktemp("days")

    def of(day: str) -> Path:
        out = directory / day
        return out if out.exists() else facts_of_day(planted.facts_directory, day, out)

    return of


@pytest.fixture(scope="session")
def one_day_evidence(
    planted: DemoEvidence, day_facts: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Evidence:
    """Evidence of the demo's first day only. Read only."""
    evidence = Evidence(
        tmp_path_factory.mktemp("one-day") / "facts.db",
        planted.directory / "mirrors",
        planted.directory / "verifier-commands.toml",
    )
    evidence.add(day_facts(DAYS[0]))
    return evidence


@pytest.fixture
def one_day(one_day_evidence: Evidence, tmp_path: Path) -> Evidence:
    """Evidence of the demo's first day only; the store is the test's own."""
    database = tmp_path / "facts.db"
    shutil.copyfile(one_day_evidence.database, database)
    return Evidence(database, one_day_evidence.mirrors, one_day_evidence.commands)


@pytest.fixture
def graph(one_day: Evidence, tmp_path: Path) -> Iterator[Graph]:
    """A graph of the test's own over the demo's first day."""
    with dg.DagsterInstance.ephemeral() as instance:
        yield Graph(one_day, tmp_path / "exports", instance)
