"""One day of the graph from end to end: what is materialized, what it says about itself, what was checked."""

from collections import Counter

import dagster as dg
import pytest

from resources.generations import is_complete
from sediment_assets.defs.changes import CHANGES_EXPLAINED
from sediment_assets.defs.checks import COUNTS_ADD_UP, SKIPS_ARE_KNOWN
from sediment_assets.defs.keys import CI_RESOLUTIONS, ROLLOUTS, output_key, outputs_of
from sediment_assets.defs.metadata import SKIP_PREFIX
from sediment_assets.defs.published_checks import (
    GENERATION_INTACT,
    INSTANCE_IDS_UNIQUE,
    ONE_SPLIT_SIDE,
    PATCHES_APPLY,
    ROWS_MATCH_SCHEMA,
)
from sediment_assets.demo.cases import CASES, FAILED, PASSED, Case
from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.facts.json_values import decode
from sediment_assets.targets.registry import TARGETS, Population, Target
from sediment_assets.targets.skips import vocabulary
from tests.dagster.conftest import DAYS, Week
from tests.dagster.graph import OUTPUTS, evaluations, metadata

POPULATIONS = [(target, spec.population) for target, found in TARGETS.items() for spec in found.populations]
FULL, EMPTY = "2026-11-04", "2026-11-07"


def cases_of(day: str) -> list[Case]:
    return [case for case in CASES if f"2026-11-{case.day}" == day]


def session_of(instance_id: str) -> str:
    return instance_id.removeprefix("acme-").rpartition("-")[0]


@pytest.mark.parametrize("day", DAYS)
def test_every_output_of_a_day_is_materialized_once(week: Week, day: str):
    events = week.results[day].get_asset_materialization_events()
    assert week.results[day].success
    assert Counter(event.materialization.asset_key for event in events) == Counter([ROLLOUTS, CI_RESOLUTIONS, *OUTPUTS])
    assert {event.partition for event in events} == {day}


@pytest.mark.parametrize("day", DAYS)
def test_sessions_of_a_day_and_no_others_are_in_its_rows(week: Week, day: str):
    for target, population in POPULATIONS:
        generation = week.graph.generation(output_key(target, population.value), day)
        rows = [
            decode(line)
            for path in sorted(generation.glob(f"{population.value}.*jsonl"))
            for line in path.read_bytes().splitlines()
        ]
        found = Counter(session_of(row.get("instance_id") or row["metadata"]["instance_id"]) for row in rows)
        if population is Population.ROLLOUTS:
            expected = {case.session_id: case.rows for case in cases_of(day)}
        elif target is Target.SEDIMENT:
            expected = {case.session_id: 1 for case in cases_of(day) if case.task in (PASSED, FAILED)}
        else:
            expected = {case.session_id: 1 for case in cases_of(day) if case.swe_bench == PASSED}
        assert found == Counter(expected)


@pytest.mark.parametrize("day", DAYS)
def test_skips_of_a_day_are_those_of_the_demos_table(week: Week, day: str):
    checks = evaluations(week.results[day])
    ambiguous = sum(case.session_id == "dashboard-alert-hysteresis" for case in cases_of(day))
    for target, population in POPULATIONS:
        key = output_key(target, population.value)
        found, skips = checks[key, COUNTS_ADD_UP], checks[key, SKIPS_ARE_KNOWN]
        if population is Population.ROLLOUTS:
            declined = Counter(case.declined for case in cases_of(day) if case.declined)
        else:
            tasks = [case.task if target is Target.SEDIMENT else case.swe_bench for case in cases_of(day)]
            declined = Counter(task for task in tasks if task not in (PASSED, FAILED, None))
        counts = Counter({name: value.value for name, value in skips.metadata.items() if name.startswith(SKIP_PREFIX)})
        assert set(counts) == {f"{SKIP_PREFIX}{reason}" for reason in vocabulary(target, population)}
        expected = declined + Counter({"ambiguous_workflow_verdicts": ambiguous})
        assert +counts == Counter({f"{SKIP_PREFIX}{reason}": count for reason, count in (+expected).items()})
        unit = "rollouts" if population is Population.TASKS else "segments"
        shown = metadata(week.results[day], key)
        assert counts == {name: count for name, count in shown.items() if name.startswith(SKIP_PREFIX)}
        assert found.metadata[f"{unit}_declined"].value == declined.total()
        assert found.passed
        assert skips.passed


@pytest.mark.parametrize("day", DAYS)
def test_every_check_of_a_day_is_recorded_for_its_partition(week: Week, day: str):
    found = evaluations(week.results[day])
    names = {(key, name) for key, name in found if key != ROLLOUTS}
    of_rows = (COUNTS_ADD_UP, SKIPS_ARE_KNOWN, ROWS_MATCH_SCHEMA, INSTANCE_IDS_UNIQUE, ONE_SPLIT_SIDE)
    expected = {(output_key(target, population.value), name) for target, population in POPULATIONS for name in of_rows}
    of_generations = (GENERATION_INTACT, CHANGES_EXPLAINED)
    expected |= {(output_key(target, outputs_of(target)[0]), name) for target in Target for name in of_generations}
    expected |= {(output_key(target, "tasks"), PATCHES_APPLY) for target in (Target.SEDIMENT, Target.SWE_BENCH)}
    assert names == expected
    assert all(evaluation.passed for evaluation in found.values())
    assert {evaluation.partition for evaluation in found.values()} == {day}
    blocking = {name for (_, name), evaluation in found.items() if evaluation.blocking}
    assert blocking == {ROWS_MATCH_SCHEMA, GENERATION_INTACT}


def test_a_materialization_says_what_a_reviewer_asks_first(week: Week):
    for target, population in POPULATIONS:
        key = output_key(target, population.value)
        found = metadata(week.results[FULL], key)
        generation = week.graph.generation(key, FULL)
        assert list(found)[:3] == ["dagster/row_count", "rollouts_considered", "skipped"]
        assert found["rollouts_considered"] == len(cases_of(FULL))
        assert found["dagster/row_count"] == found["split/train"] + found["split/eval"]
        assert found["generation"] == str(generation)
        assert len(found["preview"]) == min(5, found["dagster/row_count"])
        assert found["policy_digest"] == DEFAULT_POLICY.digest
        assert found["as_of"] == "2026-11-08T15:06:35+00:00"
        assert found["quarantine_revision"] == 7
        assert len(found["bundle_digest"]) == 64
        files = {name.removeprefix("file/"): path for name, path in found.items() if name.startswith("file/")}
        assert files == {path.name: str(path) for path in generation.glob(f"{population.value}.*")}


def test_a_skip_table_explains_each_reason(week: Week):
    found = metadata(week.results[FULL], output_key(Target.SEDIMENT, "tasks"))["skipped"]
    assert [row["reason"] for row in found] == [
        "missing_verifier_evidence",
        "mirror_absent",
        "no_commit_in_verifier_repo",
        "degenerate_commit_range",
        "root_commit_no_base",
    ]
    assert found[1] == {
        "reason": "mirror_absent",
        "count": 1,
        "unit": "Rollouts",
        "meaning": "The verified commit's repository has no mirror.",
        "Sessions": "mobile-offline-banner",
    }
    segments = metadata(week.results[FULL], output_key(Target.NEMO_GYM, "rollouts"))["skipped"]
    assert [(row["reason"], row["unit"]) for row in segments] == [("unrepresentable_unicode", "Segments")]


def test_a_preview_tells_rows_apart_in_short_cells(week: Week):
    tasks = metadata(week.results["2026-11-02"], output_key(Target.SWE_BENCH, "tasks"))["preview"]
    assert list(tasks[0]) == ["instance_id", "split", "verdict", "reliability", "repo", "problem", "patch lines"]
    assert all(len(cell) <= 80 and "\n" not in cell for row in tasks for cell in row.values())
    turns = metadata(week.results["2026-11-02"], output_key(Target.SEDIMENT, "rollouts"))["preview"]
    assert list(turns[0])[-3:] == ["turns", "tool calls", "decisions"]


def test_rollouts_say_what_was_not_used_and_why(week: Week):
    found = metadata(week.results["2026-11-05"], ROLLOUTS)
    assert found["dagster/row_count"] == 6
    assert {row["reason"]: row["count"] for row in found["fragmented"]} == {
        "input_history_changed": 1,
        "prior_output_absent": 1,
        "prior_output_not_replayed": 1,
    }
    whole = {row["reason"]: row["unit"] for row in found["skipped_org_wide"]}
    assert whole["attribution_note_unreadable"] == "notes"
    assert "unmatched_decision_call_id" not in whole


def test_ci_resolutions_count_their_verdicts(week: Week):
    found = metadata(week.results["2026-11-03"], CI_RESOLUTIONS)
    verdicts = [found[f"verdict/{verdict}"] for verdict in ("passed", "failed", "none")]
    assert sum(verdicts) == found["dagster/row_count"]
    assert found["suspected_flakes"] == 1
    assert found["ambiguous"] == 1


class TestAnEmptyDay:
    def test_is_materialized_with_no_rows_and_no_file(self, week: Week):
        for key in OUTPUTS:
            found = metadata(week.results[EMPTY], key)
            assert found["dagster/row_count"] == 0
            assert found["files"] == "none"
            assert [path.name for path in week.graph.generation(key, EMPTY).iterdir() if path.name[0] != "."] == []

    def test_says_so_in_words(self, week: Week):
        found = metadata(week.results[EMPTY], output_key(Target.SEDIMENT, "tasks"))
        assert found["preview"] == "no rows"
        assert found["skipped"] == "none"

    def test_is_complete(self, week: Week):
        assert all(is_complete(week.graph.generation(key, EMPTY)) for key in [ROLLOUTS, CI_RESOLUTIONS, *OUTPUTS])


def test_environment_shows_its_lines(week: Week):
    found = metadata(week.results["2026-11-02"], output_key(Target.SEDIMENT, "environment"))
    assert found["dagster/row_count"] == 1
    lines = [row["environment.yaml"].replace("\N{NO-BREAK SPACE}", " ") for row in found["preview"]]
    generation = week.graph.generation(output_key(Target.SEDIMENT, "environment"), "2026-11-02")
    assert lines == (generation / "environment.yaml").read_text().splitlines()


def test_all_outputs_of_a_target_are_one_generation_of_the_run(week: Week):
    for target in Target:
        paths = {week.graph.generation(output_key(target, output), FULL) for output in outputs_of(target)}
        assert paths == {week.graph.root / target.value / FULL / f"{week.results[FULL].run_id}.0"}


def test_a_completion_record_names_its_assets_and_its_bundle(week: Week):
    digest = metadata(week.results[FULL], ROLLOUTS)["bundle_digest"]
    for target in Target:
        record = week.graph.record(target, FULL)
        assert record.partition == FULL
        assert record.asset_keys == tuple(output_key(target, name).to_user_string() for name in outputs_of(target))
        assert record.bundle_digest == digest


def test_loading_an_input_gives_the_generation(week: Week):
    path = week.graph.defs.load_asset_value(
        output_key(Target.SEDIMENT, "tasks"), partition_key=FULL, instance=week.graph.instance
    )
    assert path == week.graph.generation(output_key(Target.SEDIMENT, "tasks"), FULL)


def test_a_partition_that_was_never_materialized_is_named_with_the_remedy(week: Week):
    with pytest.raises(dg.Failure, match=r"targets/sediment/tasks 2026-11-09: no complete generation; materialize"):
        week.graph.generation(output_key(Target.SEDIMENT, "tasks"), "2026-11-09")
