"""The worked skip tally of targets.md §15, over an in-memory mirror."""

import pytest

from sediment_assets.targets.projection import Projector
from sediment_assets.targets.registry import Population, Target
from sediment_assets.targets.rollout_evidence import resolve_rollout
from tests.unit.targets.worked_tally import C1, C2, ROLLOUTS, R, mirrors, resolver

SKIPPED_TASKS = {
    "no_attributed_commit": 1,
    "missing_verifier_evidence": 1,
    "root_commit_no_base": 1,
    "degenerate_commit_range": 1,
    "mirror_absent": 1,
    "no_commit_in_verifier_repo": 1,
    "ambiguous_workflow_verdicts": 1,
}


def project(target):
    known = resolver()
    projector = Projector(target, known, mirrors=mirrors())
    rows = [row for rollout in ROLLOUTS for row in projector.project(rollout, resolve_rollout(rollout, known))]
    return projector, rows


def test_totals_of_target_sediment():
    projector, rows = project(Target.SEDIMENT)
    assert projector.rollouts == 10
    assert (projector.task_rows, projector.rollout_rows) == (4, 11)
    assert projector.task_skips.as_dict() == SKIPPED_TASKS
    assert projector.rollout_skips.as_dict() == {"ambiguous_workflow_verdicts": 1}
    assert [row.population for row in rows].count(Population.TASKS) == 4
    assert [row.population for row in rows].count(Population.ROLLOUTS) == 11


def test_totals_of_target_swe_bench():
    projector, _ = project(Target.SWE_BENCH)
    assert (projector.task_rows, projector.rollout_rows) == (3, 0)
    assert projector.task_skips.as_dict() == SKIPPED_TASKS | {"failed_reference_patch": 1}
    assert projector.rollout_skips.as_dict() == {}


def test_totals_of_target_nemo_gym():
    projector, rows = project(Target.NEMO_GYM)
    assert (projector.task_rows, projector.rollout_rows) == (0, 11)
    assert projector.task_skips.as_dict() == {}
    assert projector.rollout_skips.as_dict() == {"ambiguous_workflow_verdicts": 1}
    rewarded = {row.row.metadata.session_id for row in rows if "reward" in row.row.model_dump()}
    assert {rollout.session_id for rollout in ROLLOUTS} - rewarded == {"nocommit", "noci"}


@pytest.mark.parametrize(
    ("session", "reward_source", "repo", "base", "head"),
    [
        ("pass", "resolved_ci_pass", "acme/widget", R, C2),
        ("fail", "resolved_ci_fail", "acme/widget", R, C1),
        ("ambig", "resolved_ci_pass", "acme/widget", R, C1),
        ("ident", "resolved_ci_pass", "acme/alpha", C1, C2),  # the old name, because it is the smaller one
    ],
)
def test_task_rows_of_target_sediment(session, reward_source, repo, base, head):
    _, rows = project(Target.SEDIMENT)
    [task] = [row.row for row in rows if row.population is Population.TASKS and f"-{session}-" in row.row.instance_id]
    assert (task.reward_source, task.repo, task.base_commit) == (reward_source, repo, base)
    assert task.ci_resolution.commit_sha == head
    assert task.reference_patch == f"diff --git a/{base[:7]} b/{head[:7]}\n"
