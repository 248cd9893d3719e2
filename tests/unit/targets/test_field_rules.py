"""Field rules that differ by row, and eligibility (targets.md §5, §6.6, §14)."""

import pytest
from pydantic import MISSING

from sediment_assets.targets import nemo_gym, sediment, swe_bench
from sediment_assets.targets.representation import Spelled
from sediment_assets.targets.skips import RolloutSkip, RowSkip, TaskSkip
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import IDENTITY, make_observation, make_outcome, make_push, plain_message, tool_call
from tests.memory_mirrors import MemoryMirrors
from tests.rollout_builders import make_commit, make_evidence, make_resolver, make_rollout, make_turn, say
from tests.unit.targets.worked_tally import C1, C2, IDENTITY_42, ROLLOUTS, S, mirrors, on, outcome, resolver

NONE = VerificationCommands()
NAN, LONE = float("nan"), "\ud800"
SESSIONS = {rollout.session_id: rollout for rollout in ROLLOUTS}


def evidence_of(session):
    return make_evidence(SESSIONS[session], resolver())


def row_of(result):
    """The row of a result, or the skip itself."""
    return result.row if isinstance(result, Spelled) else result


def sediment_task(evidence, commands=NONE):
    return row_of(sediment.project_task(evidence, mirrors(), commands))


def swe_bench_task(evidence, commands=NONE):
    return row_of(swe_bench.project_task(evidence, mirrors(), commands))


def sediment_rollouts(evidence):
    return [row_of(result) for result in sediment.project_rollout(evidence)]


def nemo_gym_rollouts(evidence, commands=NONE):
    return [row_of(result) for result in nemo_gym.project_rollout(evidence, commands)]


def rewarded(*outcomes, commits=(C1, C2), **values):
    return make_evidence(make_rollout(commits=tuple(on(*commits)), terminal_outcomes=outcomes, **values))


def test_the_instance_id_ends_in_the_first_commit_not_the_rewarded_one():
    task = sediment_task(rewarded(outcome("s", C2)))
    assert task.ci_resolution.commit_sha == C2
    assert task.instance_id == f"acme-s1-{C1[:7]}"


def test_instance_ids_of_rollout_rows_count_segments():
    rows = sediment_rollouts(evidence_of("pass"))
    assert [row.instance_id for row in rows] == ["acme-pass-seg0", "acme-pass-seg1"]
    gym = nemo_gym_rollouts(evidence_of("pass"))
    assert [row.metadata.instance_id for row in gym] == ["acme-pass-seg0", "acme-pass-seg1"]


def test_verifier_results_are_sorted_as_text():
    outcomes = [make_outcome(outcome_id=name, run_id=name, commit_sha=C1) for name in ("o8", "o10", "o9")]
    task = sediment_task(rewarded(*outcomes, commits=[C1]))
    assert [result.outcome_id for result in task.verifier_results] == ["o10", "o8", "o9"]


def test_tasks_carry_the_selected_commits_outcomes_and_rollouts_all():
    evidence = rewarded(outcome("s", C1, "failed"), outcome("s", C2))
    assert [result.commit_sha for result in sediment_task(evidence).verifier_results] == [C2]
    swe_task = swe_bench_task(evidence)
    assert [result.commit_sha for result in swe_task.metadata.verifier_results] == [C2]
    [row] = sediment_rollouts(evidence)
    [gym] = nemo_gym_rollouts(evidence)
    assert [result.commit_sha for result in row.verifier_results] == [C1, C2]
    assert gym.metadata.verifier_results == row.verifier_results


def test_ci_resolutions_hold_null_verdicts_too():
    evidence = rewarded(outcome("s", C1), outcome("s", C2, "cancelled"))
    [row] = sediment_rollouts(evidence)
    assert [found.verdict for found in row.ci_resolutions] == ["passed", None]
    assert row.ci_resolution.commit_sha == C1


def test_observation_ids_follow_the_commits_of_each_row():
    def seen(observation_id, sha):
        return make_observation(observation_id=observation_id, commit_sha=sha)

    observations = (seen("b", C2), seen("a", C2), seen("c", C1), seen("d", S), seen("b", C2))
    evidence = rewarded(
        outcome("s", C1, "failed"), outcome("s", C2), commits=[C1, C2, S], session_commit_observations=observations
    )
    [row] = sediment_rollouts(evidence)
    [gym] = nemo_gym_rollouts(evidence)
    assert sediment_task(evidence).session_commit_observation_ids == ("a", "b")
    assert gym.metadata.session_commit_observation_ids == ("a", "b")
    assert row.session_commit_observation_ids == ("a", "b", "c")  # S has no CI evidence


def test_an_observation_on_a_commit_outside_the_rollout_never_appears():
    seen = make_observation(observation_id="a", commit_sha=C2)
    evidence = rewarded(outcome("s", C1), commits=[C1], session_commit_observations=(seen,))
    [row] = sediment_rollouts(evidence)
    assert row.session_commit_observation_ids == ()


def test_the_identity_of_the_selected_repository_and_its_label_reach_the_rows():
    evidence = evidence_of("ident")
    task = sediment_task(evidence, VerificationCommands({"acme/alpha": "old", "acme/zeta": "new"}))
    assert (task.repo, task.repository_identity) == ("acme/alpha", IDENTITY_42)
    assert task.verification.verification_command == "old"  # looked up by the label, the smallest name


REPOS = VerificationCommands({"acme/widget": "make", "acme/alpha": "old", "acme/zeta": "new", "acme/other": "other"})


@pytest.mark.parametrize(
    ("rollout", "command"),
    [
        # A selected resolution: its label.
        (SESSIONS["ident"], "old"),
        (SESSIONS["pass"], "make"),
        # Not selected, but CI outcomes with one distinct repo: that one, as captured.
        (make_rollout(terminal_outcomes=(outcome("s", C1, "cancelled", repo="acme/other"),)), "other"),
        (
            make_rollout(
                terminal_outcomes=(
                    outcome("s", C1, "cancelled", repo="acme/other"),
                    outcome("s", C2, "cancelled", repo="acme/widget"),
                )
            ),
            None,
        ),
        # No outcomes: the commits' one distinct repo, as spelled.
        (SESSIONS["noci"], "make"),
        (make_rollout(commits=(make_commit(C1, "Acme/Widget"),)), None),
        (make_rollout(commits=(make_commit(C1), make_commit(C1, "acme/other"))), None),
        (SESSIONS["nocommit"], None),
    ],
)
def test_nemo_gym_verification_falls_back_to_the_only_repo_of_the_evidence(rollout, command):
    evidence = make_evidence(rollout, resolver() if rollout in ROLLOUTS else None)
    row = nemo_gym_rollouts(evidence, REPOS)[0]
    found = row.metadata.verification
    assert (None if found is MISSING else found.verification_command) == command


def test_reward_is_one_or_zero_or_absent():
    rewards = {session: nemo_gym_rollouts(evidence_of(session))[0].reward for session in SESSIONS}
    assert rewards["pass"] == 1.0
    assert rewards["fail"] == 0.0
    assert rewards["noci"] is rewards["nocommit"] is MISSING


def test_nemo_gym_rewards_what_no_mirror_can_prove():
    for session in ("rootc", "degen", "nomirror", "absent"):
        row = nemo_gym_rollouts(evidence_of(session))[0]
        assert (row.reward, row.metadata.reward_source) == (1.0, "resolved_ci_pass")


def test_a_flake_that_passed_last_is_a_pass_with_reliability_zero():
    first = make_outcome(outcome_id="o1", run_attempt=1, commit_sha=C1, result="failed")
    second = make_outcome(outcome_id="o2", run_attempt=2, commit_sha=C1)
    task = sediment_task(rewarded(first, second, commits=[C1]))
    assert task.reward_source == "resolved_ci_pass"
    assert (task.ci_resolution.reliability, task.ci_resolution.suspected_flake) == (0.0, True)


@pytest.mark.parametrize(
    ("session", "reason"),
    [
        ("nocommit", TaskSkip.NO_ATTRIBUTED_COMMIT),
        ("noci", TaskSkip.MISSING_VERIFIER_EVIDENCE),
        ("rootc", TaskSkip.ROOT_COMMIT_NO_BASE),
        ("degen", TaskSkip.DEGENERATE_COMMIT_RANGE),
        ("nomirror", TaskSkip.MIRROR_ABSENT),
        ("absent", TaskSkip.NO_COMMIT_IN_VERIFIER_REPO),
    ],
)
def test_both_task_targets_skip_alike(session, reason):
    assert sediment_task(evidence_of(session)).reason is reason
    assert swe_bench_task(evidence_of(session)).reason is reason


def test_swe_bench_refuses_a_failed_verdict_before_any_mirror_is_opened():
    store = MemoryMirrors()
    assert swe_bench.project_task(evidence_of("fail"), store, NONE).reason is TaskSkip.FAILED_REFERENCE_PATCH
    assert store.opened == []


def test_an_unresolvable_commit_belongs_to_no_repository():
    claimed = make_resolver([make_push(push_id="p9", repo="acme/claimed", **IDENTITY)])
    rollout = make_rollout(commits=(make_commit(C1, "acme/claimed"),))
    assert sediment_task(make_evidence(rollout, claimed)).reason is TaskSkip.MISSING_VERIFIER_EVIDENCE


def test_a_segment_with_an_offence_is_skipped_and_its_siblings_keep_their_index():
    bad = (make_turn(tool_calls=(tool_call(arguments={"x": NAN}),)),)
    rollout = make_rollout(segments=(say(plain_message("user", "a")), bad, say(plain_message("user", "c"))))
    for results in (
        sediment_rollouts(make_evidence(rollout)),
        nemo_gym_rollouts(make_evidence(rollout)),
    ):
        assert results[1].reason is RowSkip.NON_FINITE_NUMBER
        ids = [row.model_dump().get("metadata", row.model_dump())["segment_index"] for row in results[::2]]
        assert ids == [0, 2]


def test_only_content_that_reaches_the_row_counts():
    turn = make_turn(new_messages=(plain_message("user", "ok", tool_call(arguments={"x": NAN})),))
    evidence = rewarded(outcome("s", C1, "failed", raw={"x": NAN}), outcome("s", C2), segments=((turn,),))
    assert sediment_task(evidence).problem_statement == "ok\n[non-text content omitted]"
    assert [row.reason for row in sediment_rollouts(evidence)] == [RowSkip.NON_FINITE_NUMBER]


def test_the_first_defect_in_field_order_names_the_reason():
    messages = (plain_message("user", f"bad {LONE}"),)
    evidence = rewarded(outcome("s", C1, raw={"v": NAN}), commits=[C1], segments=(say(*messages),))
    assert sediment_task(evidence).reason is RowSkip.UNREPRESENTABLE_UNICODE
    assert [row.reason for row in sediment_rollouts(evidence)] == [RowSkip.UNREPRESENTABLE_UNICODE]


def test_a_rollout_without_segments_gives_one_skip():
    evidence = make_evidence(make_rollout(segments=()))
    assert [skip.reason for skip in sediment_rollouts(evidence)] == [RolloutSkip.NO_SEGMENTS]
    assert [skip.reason for skip in nemo_gym_rollouts(evidence)] == [RolloutSkip.NO_SEGMENTS]
