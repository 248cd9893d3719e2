"""The closed skip vocabularies (targets.md §5.3) and their tallies."""

from collections import Counter

import pytest

from sediment_assets.ci.runs import CISkip
from sediment_assets.targets.registry import Population, Target
from sediment_assets.targets.skips import MAX_EXAMPLES, RowSkip, SkipTally, TaskSkip, unit_of, vocabulary

S, W, R = (
    (Target.SEDIMENT, Population.TASKS),
    (Target.SWE_BENCH, Population.TASKS),
    (Target.SEDIMENT, Population.ROLLOUTS),
)
N = (Target.NEMO_GYM, Population.ROLLOUTS)

TABLE = [
    # reason, unit in tasks, unit in rollouts, columns with an x
    ("conflicting_run_identity", "CI runs", "CI runs", {S, W, R, N}),
    ("ambiguous_workflow_verdicts", "commits", "commits", {S, W, R, N}),
    ("repository_identity_absent", "CI outcomes", "CI outcomes", {S, W, R, N}),
    ("repository_identity_conflict", "CI outcomes", "CI outcomes", {S, W, R, N}),
    ("repository_identity_unresolved", "CI outcomes", "CI outcomes", {S, W, R, N}),
    ("repository_mirror_identity_unresolved", "CI outcomes", "CI outcomes", {S, W, R, N}),
    ("repository_source_absent", "CI outcomes", "CI outcomes", {S, W, R, N}),
    ("non_finite_number", "Rollouts", "Segments", {S, W, R, N}),
    ("unrepresentable_unicode", "Rollouts", "Segments", {S, W, R, N}),
    ("no_attributed_commit", "Rollouts", None, {S, W}),
    ("missing_verifier_evidence", "Rollouts", None, {S, W}),
    ("failed_reference_patch", "Rollouts", None, {W}),
    ("mirror_absent", "Rollouts", None, {S, W}),
    ("no_commit_in_verifier_repo", "Rollouts", None, {S, W}),
    ("degenerate_commit_range", "Rollouts", None, {S, W}),
    ("root_commit_no_base", "Rollouts", None, {S, W}),
    ("reference_patch_unavailable", "Rollouts", None, {S, W}),
    ("no_segments", None, "Rollouts", {R, N}),
]


@pytest.mark.parametrize("column", [S, W, R, N])
def test_the_vocabulary_of_each_population_is_the_contracts_column(column):
    assert {reason.value for reason in vocabulary(*column)} == {row[0] for row in TABLE if column in row[3]}


@pytest.mark.parametrize("column", [S, W, R, N])
def test_every_reason_has_the_contracts_unit(column):
    population = column[1]
    wanted = {row[0]: row[1] if population is Population.TASKS else row[2] for row in TABLE if column in row[3]}
    assert {reason.value: unit_of(reason, population).value for reason in vocabulary(*column)} == wanted


def test_a_tally_keeps_the_order_of_first_occurrence_and_holds_no_zeros():
    tally = SkipTally(Population.TASKS)
    tally.add(TaskSkip.MIRROR_ABSENT, "s1")
    tally.add_ci(Counter({CISkip.AMBIGUOUS_WORKFLOW_VERDICTS: 2, CISkip.CONFLICTING_RUN_IDENTITY: 0}), "s2")
    tally.add(RowSkip.NON_FINITE_NUMBER, "s2")
    tally.add(TaskSkip.MIRROR_ABSENT, "s3")
    assert list(tally.as_dict().items()) == [
        ("mirror_absent", 2),
        ("ambiguous_workflow_verdicts", 2),
        ("non_finite_number", 1),
    ]


def test_the_first_few_sessions_of_each_reason_are_named_once():
    tally = SkipTally(Population.ROLLOUTS)
    for number in range(MAX_EXAMPLES + 3):
        for _ in range(2):  # two Segments of one Session
            tally.add(RowSkip.NON_FINITE_NUMBER, f"s{number}")
    tally.add(RowSkip.UNREPRESENTABLE_UNICODE, "s1")
    assert tally.examples() == {
        "non_finite_number": tuple(f"s{number}" for number in range(MAX_EXAMPLES)),
        "unrepresentable_unicode": ("s1",),
    }
    assert tally.as_dict()["non_finite_number"] == 2 * (MAX_EXAMPLES + 3)
