"""Rules 16 to 26 of bundle.md §8: what artifact rows carry, and Rollouts.

One change of a good bundle, honest digests again, and the refusal it must meet; a case starts with its rule.
"""

from pathlib import Path

import pytest

from sediment_assets.bundle.encoding import Population
from tests.builders import SHA
from tests.bundles import Change, Draft, again, all_of, put, refusal

ROLLOUTS, CALLS = Population.ROLLOUTS, Population.INFERENCE_CALLS
COMPLETIONS = Population.ATTRIBUTED_COMPLETIONS
EVIDENCE = Population.REPOSITORY_IDENTITIES
OTHER_ID = {"provider": "github", "host": "github.com", "repository_id": "43"}
TOOL_CALL = {"type": "tool_call", "id": "t", "name": "", "arguments": {}}


def outcome(draft: Draft) -> dict:
    return draft.rollout()["terminal_outcomes"][0]


def observation(draft: Draft) -> dict:
    return draft.rollout()["session_commit_observations"][0]


def decision(draft: Draft) -> dict:
    return draft.turn()["decisions"][0]


CASES: list[tuple[str, Change, str]] = [
    (
        "16 call of no file",
        put("inference_call_id", "c9", Draft.turn),
        f"{ROLLOUTS.file} line 1: segments[0][0].inference_call_id: expected a call of inference_calls.jsonl",
    ),
    (
        "16 call of another Session",
        put("inference_call_id", "c3", Draft.turn),
        f"{ROLLOUTS.file} line 1: segments[0][0].inference_call_id: expected a call of Session 's1', got 'c3' of 's2'",
    ),
    (
        "16 identity without its call",
        lambda d: d.records[CALLS].remove(d.call("c2")),
        f"{ROLLOUTS.file} line 1: segments[0][1].inference_call_id: expected a call of inference_calls.jsonl",
    ),
    (
        "16 completion",
        put("inference_call_id", "c9", Draft.completion),
        f"{COMPLETIONS.file} line 2: inference_call_id: expected a call",
    ),
    # 17: decisions
    (
        "17 org",
        put("org_id", "other", decision),
        f"{ROLLOUTS.file} line 1: segments[0][0].decisions[0].org_id: expected 'acme', got 'other'",
    ),
    (
        "17 session",
        put("session_id", "s2", decision),
        f"{ROLLOUTS.file} line 1: segments[0][0].decisions[0].session_id: expected 's1', got 's2'",
    ),
    # 18: CI outcomes
    ("18 org", put("org_id", "other", outcome), f"{ROLLOUTS.file} line 1: terminal_outcomes[0].org_id: expected"),
    (
        "18 not in the population",
        put("outcome_id", "o9", outcome),
        f"{ROLLOUTS.file} line 1: terminal_outcomes[0]: expected a Fact that repository_identities.jsonl proves, got "
        "repository_source_absent",
    ),
    (
        "18 other instant than in the population",
        put("captured_at", "2026-03-02T09:07:01+00:00", outcome),
        f"{ROLLOUTS.file} line 1: terminal_outcomes[0]: expected a Fact that repository_identities.jsonl proves, got "
        "repository_identity_conflict",
    ),
    (
        "18 of no commit of the row",
        put("commit_sha", "c" * 40, outcome),
        f"{ROLLOUTS.file} line 1: terminal_outcomes[0].commit_sha: expected one of the row's commits, got {'c' * 40}",
    ),
    (
        "18 same sha in another repository",
        put("commit_sha", SHA, outcome),
        f"{ROLLOUTS.file} line 1: terminal_outcomes[0].commit_sha: expected one of the row's commits, got {SHA}",
    ),
    # 19: observations
    (
        "19 session",
        put("session_id", "s2", observation),
        f"{ROLLOUTS.file} line 1: session_commit_observations[0].session_id: expected 's1', got 's2'",
    ),
    (
        "19 of no commit of the row",
        put("commit_sha", SHA, observation),
        f"{ROLLOUTS.file} line 1: session_commit_observations[0].commit_sha: expected one of the row's commits",
    ),
    (
        "19 not in the population",
        lambda d: d.records[EVIDENCE].remove(d.evidence("ob2")),
        f"{ROLLOUTS.file} line 1: session_commit_observations[0]: expected a Fact that repository_identities.jsonl",
    ),
    (
        "19 its Push is not in the population",
        lambda d: d.records[EVIDENCE].remove(d.evidence("p2")),
        f"{ROLLOUTS.file} line 1: session_commit_observations[0]: expected a Fact that repository_identities.jsonl "
        "proves, got repository_source_absent",
    ),
    # 20: one content for one Fact
    (
        "20 outcome told twice",
        lambda d: d.rollout("s2")["terminal_outcomes"][0].update(result="failed"),
        f"{ROLLOUTS.file} line 2: terminal_outcomes[0].outcome_id: expected one content of 'o1' in the whole bundle",
    ),
    (
        "20 raw of an outcome",
        lambda d: d.completion()["ci_outcomes"][0].update(raw={}),
        f"{COMPLETIONS.file} line 2: ci_outcomes[0].outcome_id: expected one content of 'o1'",
    ),
    (
        "20 observation told twice",
        lambda d: (
            d.completion("c1")["session_commit_observations"][0].update(schema_version=2, source_push_id="p2")
            or d.rollout()["session_commit_observations"].append(
                d.rollout()["session_commit_observations"][1] | {"schema_version": 1}
            )
        ),
        f"{ROLLOUTS.file} line 1: session_commit_observations[2].observation_id: expected one content of 'ob1'",
    ),
    # 21: decisions
    (
        "21 another decision across the views",
        lambda d: d.completion()["decisions"][0].update(file_path="other.py"),
        f"{COMPLETIONS.file} line 2: decisions[0].decision_id: expected one content of 'd3'",
    ),
    (
        "21 another score across the views",
        lambda d: d.completion()["decisions"][0].update(edit_retention_score=0.25),
        f"{COMPLETIONS.file} line 2: decisions[0].decision_id: expected one content of 'd3'",
    ),
    (
        "21 a lost score across the views",
        lambda d: d.completion()["decisions"][0].update(edit_retention_score=None),
        f"{COMPLETIONS.file} line 2: decisions[0].decision_id: expected one content of 'd3'",
    ),
    (
        "21 two scores within the completions",
        all_of(
            again(COMPLETIONS),
            lambda d: d.records[COMPLETIONS][-1].update(file_path="b.py"),
            lambda d: d.records[COMPLETIONS][-1]["decisions"][0].update(edit_retention_score=0.25),
        ),
        f"{COMPLETIONS.file} line 4: decisions[0].decision_id: expected one content of 'd1'",
    ),
    # 22: CI runs
    (
        "22 one attempt with two results over two Rollouts",
        lambda d: (
            d.records[EVIDENCE].append(d.evidence("o1") | {"source_fact_id": "o3"}),
            d.rollout("s2")["terminal_outcomes"].append(
                d.rollout("s2")["terminal_outcomes"][0] | {"outcome_id": "o3", "result": "failed"}
            ),
        ),
        f"{ROLLOUTS.file}: CI run 'r1': expected outcomes that agree on commit, branch, workflow and the result of "
        "each attempt, got 'o1', 'o3' that do not",
    ),
    # 23: commits
    (
        "23 identified repository without evidence",
        lambda d: d.rollout()["commits"][0].update(repository_identity=OTHER_ID),
        f"{ROLLOUTS.file} line 1: commits[0].repo: expected a repository that the bundle knows, got 'acme/gadget' "
        "(repository_identity_unresolved)",
    ),
    (
        "23 legacy name that is claimed",
        lambda d: d.rollout()["commits"][0].update(repository_identity=None),
        f"{ROLLOUTS.file} line 1: commits[0].repo: expected a repository that the bundle knows, got 'acme/gadget'",
    ),
    (
        "23 no slug",
        lambda d: d.rollout("s2")["commits"][0].update(repo="widget"),
        f"{ROLLOUTS.file} line 2: commits[0].repo: expected a repository that the bundle knows, got 'widget'",
    ),
    # 24: whole Sessions
    ("24 no Segments", put("segments", [], Draft.rollout), f"{ROLLOUTS.file} line 1: segments: expected at least one"),
    (
        "24 Turn missing",
        lambda d: d.rollout()["segments"][0].pop(),
        f"{ROLLOUTS.file} line 1: segments: expected a Turn of every call of the Session, got none of 'c2'",
    ),
    (
        "24 Turn twice",
        lambda d: d.rollout()["segments"].append([d.turn(1)]),
        f"{ROLLOUTS.file} line 1: segments: expected one Turn of 'c2', got 2",
    ),
    # 26: projection
    (
        "26 empty Segment",
        lambda d: d.rollout()["segments"].append([]),
        f"{ROLLOUTS.file} line 1: segments: expected 1 Segments by projection, got 2",
    ),
    (
        "26 other cut",
        lambda d: d.rollout().update(segments=[[d.turn(0)], [d.turn(1)]]),
        f"{ROLLOUTS.file} line 1: segments[0]: expected 2 Turns by projection, got 1",
    ),
    (
        "26 completion text",
        put("completion", "I will!", Draft.turn),
        f"{ROLLOUTS.file} line 1: segments[0][0].completion: expected what the carried calls and decisions project to",
    ),
    (
        "26 order of Turns",
        lambda d: d.rollout()["segments"][0].reverse(),
        f"{ROLLOUTS.file} line 1: segments[0][0].new_messages: expected what",
    ),
    (
        "26 tool calls",
        lambda d: d.turn()["tool_calls"].clear(),
        f"{ROLLOUTS.file} line 1: segments[0][0].tool_calls: expected what",
    ),
    (
        "26 number spelling",
        lambda d: d.turn(1)["new_messages"][1]["parts"][0]["result"].update(code=0.0),
        f"{ROLLOUTS.file} line 1: segments[0][1].new_messages: expected what",
    ),
    (
        "26 changed call",
        lambda d: d.call()["input_messages"][0]["parts"][0].update(content="Stop."),
        f"{ROLLOUTS.file} line 1: segments",
    ),
    (
        "26 decision on the wrong Turn",
        lambda d: d.turn(1)["decisions"].append(d.turn(0)["decisions"].pop()),
        f"{ROLLOUTS.file} line 1: segments[0][0].decisions: expected what",
    ),
    (
        "26 decision of no call",
        put("call_id", "t9", decision),
        f"{ROLLOUTS.file} line 1: segments[0][0].decisions: expected what",
    ),
    (
        "26 alias of two calls of the Session",
        lambda d: (
            d.call("c2")["output_messages"][0]["parts"].append(TOOL_CALL | {"id": "t1"}),
            d.identity("c2").update(call_ids=["t1"]),
            d.turn(1)["tool_calls"].append(TOOL_CALL | {"id": "t1"}),
        ),
        f"{ROLLOUTS.file} line 1: segments[0][0].decisions: expected what",
    ),
    (
        "26 subsumed Codex decision",
        lambda d: (
            decision(d).update(agent_harness="codex"),
            d.turn()["decisions"].append(decision(d) | {"decision_id": "d0", "file_path": ""}),
            d.records.update({COMPLETIONS: d.records[COMPLETIONS][1:]}),
        ),
        f"{ROLLOUTS.file} line 1: segments[0][0].decisions: expected what",
    ),
]


@pytest.mark.parametrize(("change", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_rows_that_are_refused(draft: Draft, tmp_path: Path, change: Change, message: str):
    change(draft)
    assert refusal(draft.write(tmp_path / "b")).startswith(message)
