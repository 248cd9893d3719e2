"""What the project step counts, and when (targets.md §5.1, §5.2)."""

import pytest

from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.targets.projection import MAX_EXPLAINED, MirrorsRequiredError, Projector
from sediment_assets.targets.registry import Population, Target
from sediment_assets.targets.rollout_evidence import ForeignResolutionsError, resolve_rollout, stored_resolutions
from tests.builders import IDENTITY, ORG, REPO, make_outcome, make_push, plain_message
from tests.memory_mirrors import MemoryMirror, MemoryMirrors
from tests.rollout_builders import make_resolver, make_rollout, say
from tests.unit.targets.worked_tally import C1, C2, COMMITS, LegacyKey, on, outcome, rollout

AMBIGUOUS = (outcome("s", C1, run="-a"), outcome("s", C1, "failed", run="-b"))
CONFLICTING = (
    outcome("s", C1, run="-c"),
    CIOutcome.model_validate(outcome("s", C1, run="-c").model_dump() | {"outcome_id": "x", "branch": "other"}),
)
UNRESOLVED = (make_outcome(outcome_id="u", run_id="u", repo="", commit_sha=C1),)


def run(target, *rollouts, mirror=None, facts=()):
    known = make_resolver(facts, rollouts)
    store = (
        None if target is Target.NEMO_GYM else MemoryMirrors({LegacyKey(ORG, REPO): mirror or MemoryMirror(COMMITS)})
    )
    projector = Projector(target, known, mirrors=store)
    rows = [row for one in rollouts for row in projector.project(one, resolve_rollout(one, known))]
    return projector, rows


def test_ci_counters_come_before_the_skip_they_lead_to():
    projector, _ = run(Target.SEDIMENT, rollout("s1", on(C1), [*UNRESOLVED, *CONFLICTING, *AMBIGUOUS]))
    assert list(projector.task_skips.as_dict().items()) == [
        ("repository_identity_absent", 1),
        ("conflicting_run_identity", 1),
        ("ambiguous_workflow_verdicts", 1),
        ("missing_verifier_evidence", 1),
    ]


def test_a_rollout_without_commits_brings_no_ci_counters_to_the_tasks():
    projector, _ = run(Target.SEDIMENT, rollout("s1", [], AMBIGUOUS))
    assert projector.task_skips.as_dict() == {"no_attributed_commit": 1}
    assert projector.rollout_skips.as_dict() == {"ambiguous_workflow_verdicts": 1}


def test_ci_counters_are_added_even_if_a_row_follows():
    projector, _ = run(Target.SEDIMENT, rollout("s1", on(C2, C1), [outcome("s", C2), *AMBIGUOUS]))
    assert projector.task_rows == 1
    assert projector.task_skips.as_dict() == {"ambiguous_workflow_verdicts": 1}


@pytest.mark.parametrize("target", [Target.SEDIMENT, Target.NEMO_GYM])
def test_ci_counters_count_once_per_rollout_whatever_its_segments(target):
    bad = say(plain_message("user", "\ud800"))
    good = say(plain_message("user", "ok"))
    one = make_rollout(commits=tuple(on(C1)), terminal_outcomes=AMBIGUOUS, segments=(bad, good, bad))
    projector, _ = run(target, one)
    assert projector.rollout_rows == 1
    assert list(projector.rollout_skips.as_dict().items()) == [
        ("ambiguous_workflow_verdicts", 1),
        ("unrepresentable_unicode", 2),
    ]


@pytest.mark.parametrize("target", [Target.SEDIMENT, Target.NEMO_GYM])
def test_a_rollout_without_segments_brings_no_ci_counters(target):
    projector, _ = run(target, make_rollout(segments=(), commits=tuple(on(C1)), terminal_outcomes=AMBIGUOUS))
    assert projector.rollout_skips.as_dict() == {"no_segments": 1}


@pytest.mark.parametrize(
    ("facts", "identity", "reason"),
    [
        ([make_push(push_id="p1", **IDENTITY)], {}, "repository_identity_unresolved"),
        # A Fact that differs from the evidence under its id contradicts it.
        (
            [make_outcome(outcome_id="o", commit_sha=C1, repo="acme/x")],
            {"repo": "acme/y"},
            "repository_identity_conflict",
        ),
    ],
)
def test_outcomes_that_do_not_resolve_are_counted_by_reason(facts, identity, reason):
    one = make_rollout(
        commits=tuple(on(C1)), terminal_outcomes=(make_outcome(outcome_id="o", commit_sha=C1, **identity),)
    )
    projector = Projector(Target.NEMO_GYM, known := make_resolver(facts, [one]))
    assert len(list(projector.project(one, resolve_rollout(one, known)))) == 1
    assert projector.rollout_skips.as_dict() == {reason: 1}


def test_an_outcome_outside_the_population_is_counted_as_absent_at_the_source():
    one = make_rollout(terminal_outcomes=(make_outcome(outcome_id="o"),))
    known = make_resolver([make_push(captured_at="2030-01-01T00:00:00Z")])
    projector = Projector(Target.NEMO_GYM, known)
    list(projector.project(one, resolve_rollout(one, known)))
    assert projector.rollout_skips.as_dict() == {"repository_source_absent": 1}


@pytest.mark.parametrize("target", [Target.SEDIMENT, Target.SWE_BENCH])
def test_targets_with_reference_patches_need_mirrors(target):
    with pytest.raises(MirrorsRequiredError, match=f"target {target}: expected a mirror store"):
        Projector(target, make_resolver())


def test_rows_come_task_first_and_know_their_population_and_split():
    _, rows = run(Target.SEDIMENT, rollout("s1", on(C1), [outcome("s", C1)], segments=2))
    assert [row.population for row in rows] == [Population.TASKS, Population.ROLLOUTS, Population.ROLLOUTS]
    assert {row.split for row in rows} == {rows[0].row.split}


def test_identical_rollouts_give_identical_rows():
    one = rollout("s1", on(C1), [outcome("s", C1)])
    projector, rows = run(Target.SWE_BENCH, one, one)
    assert (projector.rollouts, projector.task_rows) == (2, 2)
    assert rows[0] == rows[1]


def test_what_git_answered_is_kept_for_a_few_skips_and_all_are_counted():
    many = [rollout(f"s{index}", on(C1), [outcome(f"s{index}", C1)]) for index in range(MAX_EXPLAINED + 5)]
    projector, _ = run(Target.SWE_BENCH, *many, mirror=MemoryMirror(COMMITS, failing={"reference_patch"}))
    assert projector.task_skips.as_dict() == {"reference_patch_unavailable": MAX_EXPLAINED + 5}
    assert len(projector.explained) == MAX_EXPLAINED
    assert projector.explained[0].session_id == "s0"
    assert projector.explained[0].detail == "reference_patch: git could not answer"


def test_stored_resolutions_give_what_resolving_again_gives():
    one = rollout("s1", on(C2, C1, C2), [outcome("s", C2), *AMBIGUOUS])
    known = make_resolver(rollouts=[one])
    again = resolve_rollout(one, known)
    stored = {resolution.commit_key: resolution for resolution in again.resolutions}
    assert stored_resolutions(one, known, stored) == again


@pytest.mark.parametrize("carried", [[], [outcome("s", C2)], [outcome("s", C1), outcome("s", C2)]])
def test_resolutions_of_other_evidence_are_refused(carried):
    other = rollout("s1", on(C1), [outcome("s", C1)])
    stored = {found.commit_key: found for found in resolve_rollout(other, make_resolver(rollouts=[other])).resolutions}
    one = rollout("s1", on(C1, C2), carried)
    with pytest.raises(ForeignResolutionsError, match="Session 's1': expected CI resolutions of its own"):
        stored_resolutions(one, make_resolver(rollouts=[one]), stored)
