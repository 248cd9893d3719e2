"""Two generations compared after one thing changed: each row that differs names exactly that as its cause."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.generations.comparison import ComparisonError, QuarantineLog, compare_generations
from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from sediment_assets.lineage.causes import Cause
from sediment_assets.lineage.diff import Difference, GenerationDiff
from sediment_assets.publish.record import IncompleteGenerationError, read_record
from sediment_assets.targets.registry import Target
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import (
    OTHER_SHA,
    REPO,
    SHA,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
)
from tests.generation_states import RETRY, WAS, State, at, hide, materialize, note


def log_between(before: State, after: State) -> QuarantineLog:
    return {(record.fact_table, record.fact_id): record.action for record in after.quarantine[len(before.quarantine) :]}


def differences(diff: GenerationDiff) -> dict[tuple[Difference, str, str], list[Cause]]:
    return {
        (one.difference, one.population, one.session_id): [found.cause for found in one.causes]
        for one in diff.differences
    }


def rows(generation: Path) -> int:
    return sum(population.rows for population in read_record(generation).populations.values())


@pytest.fixture
def compared(tmp_path: Path):
    def compared(before: State, after: State, *, with_log: bool = True, **options: Any) -> GenerationDiff:
        old, new = materialize(tmp_path, "a.0", before, **options), materialize(tmp_path, "b.0", after, **options)
        diff = compare_generations(old, new, quarantine=log_between(before, after) if with_log else None)
        kept = sum(diff.same.values()) + diff.count(Difference.CHANGED)
        assert kept + diff.count(Difference.REMOVED) == rows(old)
        assert kept + diff.count(Difference.ADDED) == rows(new)
        return diff

    return compared


ADDED, REMOVED, CHANGED = Difference
CALLS, OUTCOMES = FactTable.INFERENCE_CALLS, FactTable.CI_OUTCOMES
S1 = {(CHANGED, "tasks", "s1"), (CHANGED, "rollouts", "s1")}
S2 = {(CHANGED, "rollouts", "s2")}
GONE = {(REMOVED, "tasks", "s1"), (CHANGED, "rollouts", "s1")}
LATER_CALL = make_call(inference_call_id="c2", observed_at=at(5))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(WAS, {}, id="nothing"),
        pytest.param(WAS.plus(RETRY), {one: [Cause.CI] for one in S1}, id="another attempt"),
        pytest.param(
            WAS.plus(make_outcome(outcome_id="o9", result="failed", captured_at=at(10))),
            {one: [Cause.CI] for one in GONE},
            id="an outcome that contradicts its run",
        ),
        pytest.param(
            replace(WAS, notes=(*WAS.notes, note(OTHER_SHA, "s2"))),
            {one: [Cause.BINDING] for one in S2},
            id="a new note",
        ),
        pytest.param(WAS.plus(LATER_CALL), {(ADDED, "rollouts", "s1"): [Cause.SESSION_CALLS]}, id="another call"),
        pytest.param(
            WAS.plus(make_decision(captured_at=at(4))),
            {(CHANGED, "rollouts", "s1"): [Cause.DECISIONS]},
            id="a decision",
        ),
        pytest.param(
            WAS.plus(make_call(inference_call_id="c9", session_id="s9", observed_at=at(2))),
            {(ADDED, "rollouts", "s9"): [Cause.NEW_SESSION]},
            id="another Session",
        ),
        pytest.param(
            WAS.logged(hide(OUTCOMES, "o1")),
            {**{one: [Cause.QUARANTINE] for one in GONE}, **{one: [Cause.QUARANTINE_REVISION] for one in S2}},
            id="a quarantined outcome",
        ),
        pytest.param(
            WAS.logged(hide(CALLS, "c3")),
            {
                (REMOVED, "rollouts", "s2"): [Cause.QUARANTINE],
                **{one: [Cause.QUARANTINE_REVISION] for one in S1},
            },
            id="a quarantined Session",
        ),
        pytest.param(
            replace(WAS, policy=replace(DEFAULT_POLICY, max_commits_per_push=7)),
            {one: [Cause.POLICY] for one in S1 | S2},
            id="the policy",
        ),
        pytest.param(replace(WAS, mirrored=False), {one: [Cause.MIRROR] for one in GONE}, id="the mirror vanished"),
        pytest.param(
            replace(WAS, commits=WAS.commits[2:], refs={}),
            {(REMOVED, "tasks", "s1"): [Cause.MIRROR]},
            id="the mirror lost a commit",
        ),
        pytest.param(
            replace(WAS, commands=VerificationCommands({REPO: "make test"})),
            {(CHANGED, "tasks", "s1"): [Cause.COMMANDS]},
            id="the commands",
        ),
        pytest.param(
            replace(WAS.plus(make_push(after_sha=OTHER_SHA, captured_at=at(6)), LATER_CALL), notes=()),
            None,
            id="several at once",
        ),
    ],
)
def test_what_changed_is_the_cause(compared, after: State, expected: dict[Any, list[Cause]] | None):
    diff = compared(WAS, after)
    if expected is None:
        assert Cause.SESSION_CALLS in diff.counts()
        assert Cause.BINDING in diff.counts()
        return
    assert differences(diff) == expected


def test_a_push_whose_commit_holds_similar_text(compared):
    before = replace(WAS, notes=())
    after = before.plus(make_push(after_sha=SHA, captured_at=at(6)))
    found = differences(compared(before, after))
    assert found == {(ADDED, "tasks", "s1"): [Cause.PUSH], (CHANGED, "rollouts", "s1"): [Cause.PUSH]}


def test_an_observation_that_arrives_where_its_commit_is_bound_already_changes_the_row(compared):
    diff = compared(WAS, WAS.plus(make_push(captured_at=at(6)), make_observation(captured_at=at(7))))
    assert {found.cause for one in diff.differences for found in one.causes} == {Cause.BINDING}


class TestARelease:
    before = WAS.logged(hide(OUTCOMES, "o1"))
    after = before.logged(hide(OUTCOMES, "o1", QuarantineAction.RELEASE))

    def test_is_proven_by_the_log(self, compared):
        found = differences(compared(self.before, self.after))
        assert found[ADDED, "tasks", "s1"] == [Cause.QUARANTINE]
        assert found[CHANGED, "rollouts", "s2"] == [Cause.QUARANTINE_REVISION]

    def test_cannot_be_told_from_an_arrival_without_it(self, compared):
        found = differences(compared(self.before, self.after, with_log=False))
        assert found[ADDED, "tasks", "s1"] == [Cause.UNKNOWN]


class TestWithoutBundles:
    def test_the_rows_themselves_prove_a_new_attempt(self, compared):
        diff = compared(WAS, WAS.plus(RETRY), keep_bundle=False)
        assert not diff.bundles_at_hand
        assert differences(diff) == {one: [Cause.CI] for one in S1}

    def test_what_they_do_not_prove_is_unknown(self, compared):
        diff = compared(WAS, replace(WAS, mirrored=False), keep_bundle=False)
        assert set(map(tuple, differences(diff).values())) == {(Cause.UNKNOWN,)}

    def test_bundles_may_be_named(self, tmp_path: Path):
        states = {"a.0": WAS, "b.0": replace(WAS, mirrored=False)}
        old, new = (materialize(tmp_path, name, state, keep_bundle=False) for name, state in states.items())
        diff = compare_generations(old, new, bundles=[tmp_path / "elsewhere" / name for name in states])
        assert diff.counts().keys() == {Cause.MIRROR}


def test_a_generation_does_not_differ_from_itself(tmp_path: Path):
    one = materialize(tmp_path, "a.0", WAS)
    diff = compare_generations(one, one)
    assert (diff.differences, dict(diff.same)) == ((), {"rollouts": 2, "tasks": 1})


def test_only_generations_of_one_target_and_day_are_compared(tmp_path: Path):
    one, other = materialize(tmp_path, "a.0", WAS), materialize(tmp_path, "b.0", WAS, target=Target.NEMO_GYM)
    with pytest.raises(ComparisonError, match="expected the target of"):
        compare_generations(one, other)
    with pytest.raises(IncompleteGenerationError):
        compare_generations(one, tmp_path / "none")
