"""Rules 27 to 29 of bundle.md §8: Attributed completions.

One change of a good bundle, honest digests again, and the refusal it must meet; a case starts with its rule.
"""

from pathlib import Path

import pytest

from sediment_assets.bundle.encoding import Population
from tests.bundles import Change, Draft, put, refusal

COMPLETIONS = Population.ATTRIBUTED_COMPLETIONS
OTHER_ID = {"provider": "github", "host": "github.com", "repository_id": "43"}
TOOL_CALL = {"type": "tool_call", "id": "t", "name": "", "arguments": {}}


CASES: list[tuple[str, Change, str]] = [
    (
        "27 neither",
        put("similarity_score", None, Draft.completion),
        f"{COMPLETIONS.file} line 2: similarity_score: expected a value, as there is no abandonment, got null",
    ),
    (
        "27 both",
        lambda d: d.completion("c4").update(repo="acme/widget"),
        f"{COMPLETIONS.file} line 3: repo: expected null beside an abandonment, got a value",
    ),
    (
        "27 Push beside an abandonment",
        lambda d: d.completion("c4").update(source_push_id="p1"),
        f"{COMPLETIONS.file} line 3: source_push_id: expected null beside an abandonment",
    ),
    (
        "27 no explicit acceptance",
        lambda d: d.completion("c4").update(decisions=[]),
        f"{COMPLETIONS.file} line 3: decisions: expected an explicitly accepted decision, got none",
    ),
    (
        "27 no explicit count",
        lambda d: d.completion("c4")["abandonment"].update(explicit_accepted_decisions=0),
        f"{COMPLETIONS.file} line 3: abandonment.explicit_accepted_decisions: expected at least 1, got 0",
    ),
    (
        "27 more explicit than accepted",
        lambda d: d.completion("c4")["abandonment"].update(explicit_accepted_decisions=2),
        f"{COMPLETIONS.file} line 3: abandonment.explicit_accepted_decisions: expected at most 1, got 2",
    ),
    (
        "27 abandonment of another Session",
        lambda d: d.completion("c4")["abandonment"].update(session_id="s1"),
        f"{COMPLETIONS.file} line 3: abandonment.session_id: expected the row's 's3', got 's1'",
    ),
    (
        "27 abandonment version",
        lambda d: d.completion("c4")["abandonment"]["provenance"].update(policy_version="5"),
        f"{COMPLETIONS.file} line 3: abandonment.provenance.policy_version: expected '6', got '5'",
    ),
    (
        "27 abandoned before its last decision",
        lambda d: d.completion("c4")["abandonment"].update(as_of="2026-03-02T08:59:59Z"),
        f"{COMPLETIONS.file} line 3: abandonment.as_of: expected an instant not before",
    ),
    (
        "19 observation beside an abandonment",
        lambda d: d.completion("c4").update(
            session_commit_observations=[d.rollout()["session_commit_observations"][1] | {"session_id": "s3"}]
        ),
        f"{COMPLETIONS.file} line 3: session_commit_observations[0].commit_sha: expected one of the row's commits",
    ),
    # 28: the Push of an attribution
    (
        "28 identity without a Push",
        put("source_push_id", None, lambda d: d.completion("c1")),
        f"{COMPLETIONS.file} line 1: source_push_id: expected the Push that proves repository_identity, got null",
    ),
    (
        "28 unknown Push",
        put("source_push_id", "p9", lambda d: d.completion("c1")),
        f"{COMPLETIONS.file} line 1: source_push_id: expected a Push of the row's repository, got 'p9' (repository_so",
    ),
    (
        "28 Push of another repository",
        put("source_push_id", "p1", lambda d: d.completion("c1")),
        f"{COMPLETIONS.file} line 1: source_push_id: expected a Push of the row's repository, got 'p1' (a Push of ano",
    ),
    (
        "28 unresolvable commit",
        put("repository_identity", OTHER_ID, lambda d: d.completion("c1")),
        f"{COMPLETIONS.file} line 1: repo: expected a repository that the bundle knows",
    ),
    # 29: the join of decisions
    (
        "29 alias of another call",
        lambda d: (
            d.completion().update(decisions=[]),
            d.completion("c1").update(decisions=[]),
            d.completion("c4").update(inference_call_id="c4"),
            d.identity("c3").update(call_ids=["m3", "t3", "t4"]),
            d.call("c3")["output_messages"][0]["parts"].append(TOOL_CALL | {"id": "t4"}),
            d.turn(0, "s2")["tool_calls"].append(TOOL_CALL | {"id": "t4"}),
        ),
        f"{COMPLETIONS.file} line 3: decisions[0].call_id: expected an alias of 'c4' alone, got 't4', an alias of 2 ca",
    ),
    (
        "29 no alias",
        lambda d: (d.completion()["decisions"][0].update(call_id=None), d.turn(0, "s2")["decisions"].clear()),
        f"{COMPLETIONS.file} line 2: decisions[0].call_id: expected an alias of 'c3', got null",
    ),
    (
        "29 subsumed",
        lambda d: (
            d.turn(0, "s2")["decisions"].clear(),
            d.completion()["decisions"][0].update(agent_harness="codex"),
            d.completion()["decisions"].append(d.completion()["decisions"][0] | {"decision_id": "d0", "file_path": ""}),
        ),
        f"{COMPLETIONS.file} line 2: decisions[1]: expected a decision with a path in place of its copy without one",
    ),
]


@pytest.mark.parametrize(("change", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_rows_that_are_refused(draft: Draft, tmp_path: Path, change: Change, message: str):
    change(draft)
    assert refusal(draft.write(tmp_path / "b")).startswith(message)
