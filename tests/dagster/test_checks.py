"""Checks of what was published: changed files and wrong rows are found, named by file and line, and block."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from sediment_assets.defs.checks import COUNTS_ADD_UP, SKIPS_ARE_KNOWN, step_check_results
from sediment_assets.defs.keys import output_key
from sediment_assets.defs.published_checks import (
    GENERATION_INTACT,
    INSTANCE_IDS_UNIQUE,
    ONE_SPLIT_SIDE,
    PATCHES_APPLY,
    ROWS_MATCH_SCHEMA,
)
from sediment_assets.facts.json_values import decode, encode_row
from sediment_assets.publish.artifacts import CLAIM, RECORD
from sediment_assets.publish.record import GenerationRecord, PopulationRecord
from sediment_assets.targets.registry import Population, Target
from tests.dagster.conftest import DAYS, Week
from tests.dagster.graph import Evidence, Graph

DAY = DAYS[0]
TASKS = output_key(Target.SEDIMENT, "tasks")
NAME = "tasks.train.jsonl"


@pytest.fixture(scope="module")
def graph(one_day_evidence: Evidence, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Graph]:
    """One published day for all tests here."""
    with dg.DagsterInstance.ephemeral() as instance:
        graph = Graph(one_day_evidence, tmp_path_factory.mktemp("exports"), instance)
        graph.run(DAY)
        yield graph


@pytest.fixture
def published(graph: Graph, tmp_path: Path) -> Iterator[Path]:
    """The row file of the generation; the test may change the whole directory, which is put back afterwards."""
    generation = graph.generation(TASKS, DAY)
    shutil.copytree(generation, tmp_path / "kept")
    yield generation / NAME
    shutil.rmtree(generation)
    shutil.copytree(tmp_path / "kept", generation)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


class TestGenerationIntact:
    def test_a_changed_file_fails(self, graph: Graph, published: Path):
        published.write_bytes(published.read_bytes().replace(b"acme/", b"evil/"))
        found = graph.check(DAY, TASKS, GENERATION_INTACT)
        assert not found.passed
        assert found.severity is dg.AssetCheckSeverity.ERROR
        assert found.description is not None
        assert found.description.startswith(f"{published.parent}: the generation was changed after it was published: ")
        assert f"{NAME}: expected {published.stat().st_size} bytes with SHA-256" in found.description

    def test_a_deleted_file_fails(self, graph: Graph, published: Path):
        published.unlink()
        assert not graph.check(DAY, TASKS, GENERATION_INTACT).passed

    def test_an_added_row_file_fails(self, graph: Graph, published: Path):
        published.with_name("tasks.jsonl").write_bytes(b"{}\n")
        assert not graph.check(DAY, TASKS, GENERATION_INTACT).passed

    def test_another_targets_claim_fails(self, graph: Graph, published: Path):
        published.with_name(CLAIM).write_text("swe-bench\n")
        assert not graph.check(DAY, TASKS, GENERATION_INTACT).passed

    def test_a_changed_record_fails(self, graph: Graph, published: Path):
        record = published.with_name(RECORD)
        record.write_text(record.read_text().replace('"record_version": 1', '"record_version": 2'))
        assert not graph.check(DAY, TASKS, GENERATION_INTACT).passed

    def test_says_what_it_looked_at(self, week: Week):
        found = week.graph.check("2026-11-06", TASKS, GENERATION_INTACT)
        assert found.metadata["files_checked"].value == 5
        assert found.metadata["generation"].value == str(week.graph.generation(TASKS, "2026-11-06"))


class TestRowsMatchSchema:
    def check(self, graph: Graph) -> dg.AssetCheckEvaluation:
        found = graph.check(DAY, TASKS, ROWS_MATCH_SCHEMA)
        assert found.blocking
        return found

    def refused(self, graph: Graph, published: Path, number: int, problem: str) -> None:
        found = self.check(graph)
        assert not found.passed
        assert found.severity is dg.AssetCheckSeverity.ERROR
        assert found.description is not None
        assert found.description.startswith(f"{published}:{number}: {problem}")

    def test_all_rows_as_published_pass(self, graph: Graph, published: Path):
        found = self.check(graph)
        assert found.passed
        assert found.metadata["rows_checked"].value == len(lines(published))

    def test_a_wrong_type_fails_with_file_line_and_field(self, graph: Graph, published: Path):
        rows = lines(published)
        rows[1] = encode_row({**decode(rows[1]), "base_commit": 7}) + b"\n"
        published.write_bytes(b"".join(rows))
        self.refused(graph, published, 2, "base_commit: expected")

    def test_an_unknown_key_fails(self, graph: Graph, published: Path):
        rows = lines(published)
        rows[0] = encode_row({**decode(rows[0]), "answer": 42}) + b"\n"
        published.write_bytes(b"".join(rows))
        self.refused(graph, published, 1, "")

    def test_another_spelling_of_the_same_row_fails(self, graph: Graph, published: Path):
        rows = lines(published)
        rows[2] = json.dumps(json.loads(rows[2])).encode() + b"\n"
        published.write_bytes(b"".join(rows))
        self.refused(graph, published, 3, "byte ")

    def test_a_row_of_the_other_side_of_the_split_fails(self, graph: Graph, published: Path):
        published.rename(published.with_name("tasks.eval.jsonl"))
        self.refused(
            graph, published.with_name("tasks.eval.jsonl"), 1, "expected rows of the eval split, got one of train"
        )


class TestOtherChecksOfRows:
    def refused(self, graph: Graph, name: str, start: str) -> None:
        found = graph.check(DAY, TASKS, name)
        assert not found.passed
        assert not found.blocking
        assert found.description is not None
        assert found.description.startswith(start)

    def test_a_row_that_is_there_twice_fails(self, graph: Graph, published: Path):
        rows = lines(published)
        published.write_bytes(b"".join([*rows, rows[0]]))
        expected = f"{published}:{len(rows) + 1}: expected a new instance_id, got 'acme-"
        self.refused(graph, INSTANCE_IDS_UNIQUE, expected)
        assert graph.check(DAY, TASKS, ROWS_MATCH_SCHEMA).passed

    def test_a_session_on_both_sides_of_the_split_fails(self, graph: Graph, published: Path):
        row = decode(lines(published)[0])
        other = {**row, "split": "eval", "instance_id": row["instance_id"][:-7] + "0000000"}
        published.with_name("tasks.eval.jsonl").write_bytes(encode_row(other) + b"\n")
        self.refused(
            graph, ONE_SPLIT_SIDE, f"{published.with_name('tasks.eval.jsonl')}:1: expected the Session's other"
        )

    def test_a_changed_patch_fails(self, graph: Graph, published: Path):
        rows = lines(published)
        row = decode(rows[0])
        rows[0] = encode_row({**row, "reference_patch": row["reference_patch"].replace("+", "-", 1)}) + b"\n"
        published.write_bytes(b"".join(rows))
        self.refused(graph, PATCHES_APPLY, f"{published}:1: expected the patch that the mirror gives, got another")

    def test_patches_are_proven_again_unless_their_mirror_is_gone(self, week: Week, tmp_path: Path):
        tasks = week.graph.record(Target.SEDIMENT, DAY).populations["tasks"].rows
        found = week.graph.check(DAY, TASKS, PATCHES_APPLY)
        assert found.passed
        assert found.metadata["patches_proven"].value == tasks
        gone = Graph(
            Evidence(week.graph.evidence.database, tmp_path / "no-mirrors"), week.graph.root, week.graph.instance
        )
        found = gone.check(DAY, TASKS, PATCHES_APPLY)
        assert found.passed
        assert found.metadata["patches_unproven"].value == tasks


class TestWithoutAPartition:
    def test_a_check_looks_at_the_newest_day_and_says_so(self, week: Week):
        for name in (GENERATION_INTACT, ROWS_MATCH_SCHEMA):
            found = week.graph.check(None, TASKS, name)
            assert found.passed
            assert found.metadata["day"].value == DAYS[-1]
            assert found.description == f"No partition was chosen, so this is about the newest day, {DAYS[-1]}."

    def test_a_check_of_nothing_passes_and_says_so(self, one_day_evidence: Evidence, tmp_path: Path):
        with dg.DagsterInstance.ephemeral() as instance:
            found = Graph(one_day_evidence, tmp_path / "exports", instance).check(None, TASKS, ROWS_MATCH_SCHEMA)
        assert found.passed
        assert found.description == "Nothing to check: no day was materialized yet."

    def test_a_day_that_was_never_materialized_fails_in_words(self, one_day_evidence: Evidence, tmp_path: Path):
        with dg.DagsterInstance.ephemeral() as instance:
            found = Graph(one_day_evidence, tmp_path / "exports", instance).check(DAY, TASKS, ROWS_MATCH_SCHEMA)
        assert not found.passed
        expected = f"targets/sediment/tasks {DAY}: no complete generation; materialize this partition first"
        assert found.description == expected


class TestCountsAddUp:
    def record(self, week: Week, population: Population, tally: PopulationRecord) -> GenerationRecord:
        record = week.graph.record(Target.SEDIMENT, "2026-11-04")
        return record.model_copy(update={"populations": {population.value: tally}})

    @pytest.mark.parametrize(
        ("population", "rows", "skipped", "passes"),
        [
            (Population.TASKS, 1, {"mirror_absent": 5}, True),
            (Population.TASKS, 1, {"mirror_absent": 4}, False),
            (Population.TASKS, 6, {"ambiguous_workflow_verdicts": 3}, True),
            (Population.ROLLOUTS, 8, {}, True),
            (Population.ROLLOUTS, 4, {"non_finite_number": 2}, True),
            (Population.ROLLOUTS, 4, {"non_finite_number": 1}, False),
        ],
    )
    def test_rows_and_declined_ones_account_for_every_rollout(
        self, week: Week, population: Population, rows: int, skipped: dict[str, int], passes: bool
    ):
        record = self.record(week, population, PopulationRecord(rows=rows, skipped=skipped))
        assert record.rollouts == 6
        found, _ = step_check_results(TASKS, Target.SEDIMENT, population, record, {})
        assert found.passed is passes
        assert found.check_name == COUNTS_ADD_UP

    def test_says_in_one_sentence_what_was_counted(self, week: Week):
        record = week.graph.record(Target.SEDIMENT, "2026-11-04")
        found, _ = step_check_results(TASKS, Target.SEDIMENT, Population.TASKS, record, {})
        assert (
            found.description == "Rollouts considered: 6. Rows written: 1. Rollouts declined for a counted reason: 5."
        )

    def test_an_unknown_reason_fails_by_its_name(self, week: Week):
        record = self.record(week, Population.TASKS, PopulationRecord(rows=1, skipped={"mirror_absent": 5, "lost": 0}))
        counts, skips = step_check_results(TASKS, Target.SEDIMENT, Population.TASKS, record, {})
        assert counts.passed
        assert not skips.passed
        assert skips.metadata["unknown_reasons"].value == "lost"

    def test_sessions_are_named_and_it_is_said_when_not_all_are(self, week: Week):
        record = self.record(
            week, Population.TASKS, PopulationRecord(rows=1, skipped={"mirror_absent": 6, "root_commit_no_base": 1})
        )
        examples = {"mirror_absent": ("a", "b", "c", "d", "e"), "root_commit_no_base": ("f",)}
        _, skips = step_check_results(TASKS, Target.SEDIMENT, Population.TASKS, record, examples)
        assert skips.check_name == SKIPS_ARE_KNOWN
        assert skips.description == "Skipped: mirror_absent 6, root_commit_no_base 1."
        table = skips.metadata["sessions"]
        assert isinstance(table, dg.TableMetadataValue)
        assert {row.data["reason"]: row.data["Sessions"] for row in table.records} == {
            "mirror_absent": "first 5 of 6: a, b, c, d, e",
            "root_commit_no_base": "f",
        }
