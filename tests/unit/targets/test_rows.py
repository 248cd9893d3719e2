"""Row shapes: keys, their order, what is omitted (targets.md §6.1–6.5), and the example rows of §7."""

import json

import pytest

from sediment_assets.targets import nemo_gym, sediment, swe_bench
from sediment_assets.targets.registry import TARGETS
from sediment_assets.targets.rows import shared
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.builders import (
    make_decision,
    make_observation,
    make_outcome,
    plain_message,
    reasoning_part,
    tool_call,
    tool_response,
)
from tests.rollout_builders import POLICY_DIGEST, make_evidence, make_rollout, make_turn, say
from tests.unit.targets.worked_tally import C1, C2, R, mirrors, on

COMMANDS = VerificationCommands({"acme/widget": "make test"})
TASK_KEYS = (
    "instance_id recipe_id recipe_version reward_source repo base_commit problem_statement reference_patch "
    "verification verifier_results ci_resolution attribution_source split provenance "
    "session_commit_observation_ids repository_identity schema_id schema_version"
)
ROLLOUT_KEYS = (
    "instance_id recipe_id recipe_version reward_source ci_resolution org_id session_id segment_index "
    "turns verifier_results ci_resolutions attribution_source split provenance session_commit_observation_ids "
    "repository_identity schema_id schema_version"
)
SWE_BENCH_METADATA_KEYS = (
    "recipe_id recipe_version reward_source verification verifier_results ci_resolution attribution_source split "
    "provenance session_commit_observation_ids repository_identity schema_id schema_version"
)
NEMO_GYM_METADATA_KEYS = (
    "instance_id recipe_id recipe_version reward_source org_id session_id segment_index verification "
    "verifier_results ci_resolution attribution_source split provenance session_commit_observation_ids "
    "repository_identity schema_id schema_version"
)
OUTCOME_KEYS = (
    "schema_version repository_provider repository_host repository_id outcome_id org_id provider run_id run_attempt "
    "repo commit_sha branch result workflow_name workflow_id workflow_path run_url provider_result error_type reason "
    "source_event_type source_spec_version source_event_id pr_number captured_at raw"
)
RESOLUTION_KEYS = (
    "org_id repo commit_sha verdict reliability suspected_flake workflow_resolutions source_outcome_ids "
    "verdict_outcome_ids non_verdict_outcome_ids provenance repository_identity"
)
WORKFLOW_KEYS = (
    "provider run_id workflow_id workflow_name workflow_path branch verdict reliability suspected_flake "
    "source_outcome_ids verdict_outcome_id non_verdict_outcome_ids"
)


def result(outcome_id, sha, verdict):
    return make_outcome(
        outcome_id=outcome_id,
        run_id=f"r{outcome_id[1:]}",
        commit_sha=sha,
        result=verdict,
        workflow_id=None,
        captured_at="2026-01-02T03:04:05Z",
        raw={"k": 1},
    )


def seen(observation_id, sha):
    return make_observation(observation_id=observation_id, commit_sha=sha, session_id="pass")


PASS = make_rollout(
    session_id="pass",
    commits=tuple(on(C1, C2)),
    terminal_outcomes=(result("o1", C1, "failed"), result("o2", C2, "passed")),
    session_commit_observations=(seen("ob1", C2), seen("ob0", C1)),
)
NO_CI = make_rollout()


def written(projected):
    """The row as it reaches a file, keys in order."""
    return json.loads(projected.line)


def sediment_task(rollout):
    return written(sediment.project_task(make_evidence(rollout), mirrors(), COMMANDS))


def swe_bench_task(rollout):
    return written(swe_bench.project_task(make_evidence(rollout), mirrors(), COMMANDS))


def sediment_rollout(rollout):
    return written(next(sediment.project_rollout(make_evidence(rollout))))


def nemo_gym_rollout(rollout, commands=COMMANDS):
    return written(next(nemo_gym.project_rollout(make_evidence(rollout), commands)))


def keys(value):
    return " ".join(value)


def test_keys_of_a_sediment_task():
    assert keys(sediment_task(PASS)) == TASK_KEYS


def test_keys_of_a_sediment_rollout():
    assert keys(sediment_rollout(PASS)) == ROLLOUT_KEYS


def test_keys_of_a_swe_bench_task():
    row = swe_bench_task(PASS)
    assert keys(row) == "instance_id repo base_commit problem_statement patch metadata"
    assert keys(row["metadata"]) == SWE_BENCH_METADATA_KEYS


def test_keys_of_a_nemo_gym_rollout():
    row = nemo_gym_rollout(PASS)
    assert keys(row) == "responses_create_params response reward metadata"
    assert keys(row["responses_create_params"]) == "input"
    assert keys(row["response"]) == "turns"
    assert keys(row["metadata"]) == NEMO_GYM_METADATA_KEYS


def test_keys_of_nested_objects():
    row = sediment_task(PASS)
    assert keys(row["verification"]) == "verification_command"
    assert keys(row["provenance"]) == "policy_version quarantine_revision policy_digest"
    assert keys(row["verifier_results"][0]) == OUTCOME_KEYS
    assert keys(row["ci_resolution"]) == RESOLUTION_KEYS
    assert keys(row["ci_resolution"]["workflow_resolutions"][0]) == WORKFLOW_KEYS


def test_keys_of_a_turn_and_what_is_in_it():
    parts = ("text", reasoning_part("why"), tool_call("t1", "Edit", {"b": 1, "a": 2}), tool_response("t1", None))
    turn = make_turn(
        new_messages=(plain_message("assistant", *parts, finish_reason="stop"), plain_message("user")),
        tool_calls=(tool_call("t1", "Edit", {"b": 1}),),
        decisions=(make_decision(raw={"secret": 1}),),
    )
    [row] = sediment_rollout(make_rollout(segments=((turn,),)))["turns"]
    assert keys(row) == "inference_call_id new_messages completion tool_calls decisions"
    first, second = row["new_messages"]
    assert keys(first) == "role parts finish_reason"
    assert [keys(part) for part in first["parts"]] == ["type content"] * 2 + [
        "type id name arguments",
        "type id result",
    ]
    assert keys(first["parts"][2]["arguments"]) == "b a"  # captured objects keep the order they came with
    assert second == {"role": "user", "parts": []}
    assert row["tool_calls"] == [{"type": "tool_call", "id": "t1", "name": "Edit", "arguments": {"b": 1}}]
    assert row["decisions"] == [
        {
            "accepted": True,
            "explicit": True,
            "agent_harness": "claude-code",
            "interaction_mode": "agent",
            "file_path": "src/app.py",
        }
    ]


def test_absent_values_are_null_unless_they_are_omitted():
    row = sediment_rollout(NO_CI)
    assert "reward_source" not in row
    assert "ci_resolution" not in row
    assert row["repository_identity"] is None
    assert row["verifier_results"] == row["ci_resolutions"] == row["session_commit_observation_ids"] == []


def test_the_task_example_of_the_contract():
    row = sediment_task(PASS)
    [outcome] = row.pop("verifier_results")
    assert (outcome["outcome_id"], outcome["captured_at"], outcome["raw"]) == ("o2", "2026-01-02T03:04:05Z", {"k": 1})
    assert row.pop("ci_resolution") == {
        "org_id": "acme",
        "repo": "acme/widget",
        "commit_sha": C2,
        "verdict": "passed",
        "reliability": 1.0,
        "suspected_flake": False,
        "workflow_resolutions": [
            {
                "provider": "github_actions",
                "run_id": "r2",
                "workflow_id": None,
                "workflow_name": "CI",
                "workflow_path": ".github/workflows/ci.yml",
                "branch": "main",
                "verdict": "passed",
                "reliability": 1.0,
                "suspected_flake": False,
                "source_outcome_ids": ["o2"],
                "verdict_outcome_id": "o2",
                "non_verdict_outcome_ids": [],
            }
        ],
        "source_outcome_ids": ["o2"],
        "verdict_outcome_ids": ["o2"],
        "non_verdict_outcome_ids": [],
        "provenance": {
            "policy_version": "2",
            "quarantine_revision": 0,
            "policy_digest": "c3e845fa8d55cf0a7c5a0b4ad2f39c1dbfe1d237776fc825343cd6eb771035f9",
        },
        "repository_identity": None,
    }
    assert row == {
        "instance_id": f"acme-pass-{C1[:7]}",
        "recipe_id": "rlvr_ci",
        "recipe_version": 1,
        "reward_source": "resolved_ci_pass",
        "repo": "acme/widget",
        "base_commit": R,
        "problem_statement": "Fix it",
        "reference_patch": f"diff --git a/{R[:7]} b/{C2[:7]}\n",
        "verification": {"verification_command": "make test"},
        "attribution_source": "git_notes",
        "split": "train",
        "provenance": {"policy_version": "4", "quarantine_revision": 0, "policy_digest": POLICY_DIGEST},
        "session_commit_observation_ids": ["ob1"],
        "repository_identity": None,
        "schema_id": "https://sediment.so/schemas/training-rows/sediment-rlvr-task/v3.json",
        "schema_version": 3,
    }


def test_the_rollout_row_of_the_same_example_holds_the_evidence_of_all_commits():
    row = sediment_rollout(PASS)
    assert [outcome["outcome_id"] for outcome in row["verifier_results"]] == ["o1", "o2"]
    assert [(found["commit_sha"], found["verdict"]) for found in row["ci_resolutions"]] == [
        (C1, "failed"),
        (C2, "passed"),
    ]
    assert row["session_commit_observation_ids"] == ["ob0", "ob1"]


def test_the_nemo_gym_example_of_the_contract():
    message = {"role": "user", "parts": [{"type": "text", "content": "Fix it"}]}
    assert nemo_gym_rollout(NO_CI, VerificationCommands()) == {
        "responses_create_params": {"input": [message]},
        "response": {
            "turns": [
                {
                    "inference_call_id": "c1",
                    "new_messages": [message],
                    "completion": "ok",
                    "tool_calls": [],
                    "decisions": [],
                }
            ]
        },
        "metadata": {
            "instance_id": "acme-s1-seg0",
            "recipe_id": "rlvr_ci",
            "recipe_version": 1,
            "org_id": "acme",
            "session_id": "s1",
            "segment_index": 0,
            "verifier_results": [],
            "attribution_source": "git_notes",
            "split": "train",
            "provenance": {"policy_version": "4", "quarantine_revision": 0, "policy_digest": POLICY_DIGEST},
            "session_commit_observation_ids": [],
            "repository_identity": None,
            "schema_id": "https://sediment.so/schemas/training-rows/nemo-gym-rollout/v4.json",
            "schema_version": 4,
        },
    }


def test_captured_values_reach_the_file_unchanged():
    odd = {"z": 10**30, "a": -0.0, "n": [1e22, 1.0, None, {"\u2028": "\x7f é"}]}
    turn = make_turn(tool_calls=(tool_call(arguments=odd),))
    line = next(sediment.project_rollout(make_evidence(make_rollout(segments=((turn,),))))).line
    spelled = r'{"z":1000000000000000000000000000000,"a":-0.0,"n":[1e+22,1.0,null,{"\u2028":"' + "\x7f é" + '"}]}'
    assert spelled.encode() in line


def test_values_as_deep_as_facts_allow_fit_into_every_row():
    deep = 0
    for _ in range(1493):  # an argument lies four levels deep in a stored message list of 1497
        deep = [deep]
    turn = make_turn(new_messages=(plain_message("user", tool_call(arguments={"deep": deep})),))
    evidence = make_evidence(make_rollout(segments=((turn,),)))
    for row in (next(sediment.project_rollout(evidence)), next(nemo_gym.project_rollout(evidence, COMMANDS))):
        assert b"[" * 1493 in row.line


@pytest.mark.parametrize("row_model", [spec.row_model for target in TARGETS.values() for spec in target.populations])
def test_rows_are_frozen_and_refuse_unknown_keys(row_model):
    assert issubclass(row_model, shared.RowModel)
    assert row_model.model_config["frozen"]
    assert row_model.model_config["extra"] == "forbid"


def test_a_message_without_new_messages_opens_no_input():
    assert nemo_gym_rollout(make_rollout(segments=(say(),)))["responses_create_params"] == {"input": []}
