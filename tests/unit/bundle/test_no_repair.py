"""The no-repair rule (bundle.md §4.1): a value that only becomes valid by repairing it is refused, where it is."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sediment_assets.bundle.encoding import Population
from tests.bundles import Draft, accepted, refusal

Record = Callable[[Draft], dict]
CALLS, ROLLOUTS = "inference_calls.jsonl", "rollouts.jsonl"
OBSERVATIONS = "session_commit_observations"
RECORDS: dict[str, tuple[Record, str]] = {
    "call": (Draft.call, f"{CALLS} line 1"),
    "message": (lambda d: d.call()["input_messages"][0], f"{CALLS} line 1: input_messages[0]"),
    "text": (lambda d: d.call()["input_messages"][0]["parts"][0], f"{CALLS} line 1: input_messages[0].parts[0]"),
    "tool call": (lambda d: d.call()["output_messages"][0]["parts"][1], f"{CALLS} line 1: output_messages[0].parts[1]"),
    "response": (
        lambda d: d.call("c2")["input_messages"][2]["parts"][0],
        f"{CALLS} line 2: input_messages[2].parts[0]",
    ),
    "identity": (Draft.identity, "inference_call_identities.jsonl line 1"),
    "evidence": (Draft.evidence, "repository_identities.jsonl line 1"),
    "identified evidence": (lambda d: d.evidence("p2"), "repository_identities.jsonl line 2"),
    "observation evidence": (lambda d: d.evidence("ob1"), "repository_identities.jsonl line 3"),
    "rename": (lambda d: d.records[Population.REPOSITORY_RENAMES][0], "repository_renames.jsonl line 1"),
    "rollout": (Draft.rollout, f"{ROLLOUTS} line 1"),
    "turn": (Draft.turn, f"{ROLLOUTS} line 1: segments[0][0]"),
    "commit": (lambda d: d.rollout()["commits"][1], f"{ROLLOUTS} line 1: commits[1]"),
    "provenance": (lambda d: d.rollout()["provenance"], f"{ROLLOUTS} line 1: provenance"),
    "decision": (lambda d: d.turn()["decisions"][0], f"{ROLLOUTS} line 1: segments[0][0].decisions[0]"),
    "outcome": (lambda d: d.rollout()["terminal_outcomes"][0], f"{ROLLOUTS} line 1: terminal_outcomes[0]"),
    "observation": (lambda d: d.rollout()[OBSERVATIONS][0], f"{ROLLOUTS} line 1: {OBSERVATIONS}[0]"),
    "completion": (Draft.completion, "attributed_completions.jsonl line 2"),
    "abandonment": (lambda d: d.completion("c4")["abandonment"], "attributed_completions.jsonl line 3: abandonment"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_an_unknown_key_is_refused_in_every_record(draft: Draft, tmp_path: Path, name: str):
    find, place = RECORDS[name]
    find(draft)["zzz"] = None
    message = refusal(draft.write(tmp_path / "b"))
    assert message.startswith(f"{place}: expected no key besides ")
    assert message.endswith("got 'zzz'")


def test_no_key_of_any_record_can_be_left_out(derived_draft: Draft, draft: Draft, tmp_path: Path):
    for name, (find, place) in RECORDS.items():
        record = find(draft)
        for key in list(record):
            value = record.pop(key)
            message = refusal(draft.write(tmp_path / f"{name} {key}".replace(" ", "-")))
            joint = "." if ": " in place else ": "
            assert message == f"{place}{joint}{key}: expected a value, got no such key", (name, key)
            record[key] = value


CASES: list[tuple[str, str, object, str]] = [
    ("call", "schema_version", 1.0, "expected the integer 1, got 1.0"),
    ("call", "schema_version", True, "expected the integer 1, got true"),
    ("call", "schema_version", 2, "expected the integer 1, got 2"),
    ("call", "model", " sim-1", "expected 'sim-1', got ' sim-1'"),
    ("call", "model", "", "expected a non-blank string"),
    ("call", "org_id", "ACME", "expected 'acme', got 'ACME'"),
    ("call", "session_id", "s1 ", "expected 's1', got 's1 '"),
    ("call", "user_id", "", "expected a non-blank string"),
    ("call", "gateway_provider", "LiteLLM", "expected 'litellm'"),
    ("call", "input_tokens", 5.0, "expected 5, got 5.0"),
    ("call", "input_tokens", "5", "expected 5, got '5'"),
    ("call", "input_tokens", True, "expected 1, got true"),
    ("call", "input_tokens", 2**63, "expected an integer from 0 to 2^63-1"),
    ("call", "observed_at", 1772442000, "expected a timestamp like"),
    ("call", "observed_at", "2026-03-02 09:00:00Z", "expected a timestamp like"),
    ("call", "observed_at", "2026-03-02T09:00:00", "expected a timestamp"),
    ("call", "observed_at", "2026-03-02T09:00Z", "expected a timestamp like"),
    ("call", "observed_at", "2026-03-02t09:00:00z", "expected a timestamp like"),
    ("call", "raw", [], "expected an object, got []"),
    ("call", "raw", "{}", "expected an object, got '{}'"),
    ("call", "input_messages", None, "expected an array, got null"),
    ("call", "input_messages", {}, "expected an array, got {}"),
    ("message", "role", None, "expected a string, got null"),
    ("message", "parts", None, "expected an array, got null"),
    ("message", "finish_reason", 0, "expected a string, got 0"),
    ("text", "type", "image", "expected one of text, reasoning, tool_call, tool_call_response, got 'image'"),
    ("text", "type", ["text"], "expected one of text"),
    ("text", "content", None, "expected a string, got null"),
    ("tool call", "id", "t1 ", "expected 't1', got 't1 '"),
    ("tool call", "id", "", "expected a non-blank string"),
    ("tool call", "id", 1, "expected a non-blank string"),
    ("tool call", "name", None, "expected a string, got null"),
    ("tool call", "arguments", "{}", "expected an object, got '{}'"),
    ("tool call", "arguments", None, "expected an object, got null"),
    ("response", "id", "\u00a0t1", "expected 't1', got '\\xa0t1'"),
    ("identity", "call_ids", None, "expected an array, got null"),
    ("identity", "observed_at", 0, "expected a timestamp like"),
    ("evidence", "source_table", "edit_observations", "expected 'pushes'"),
    ("evidence", "role", "head_repo", "expected repo for pushes, got head_repo"),
    ("evidence", "repo", "Acme/widget", "expected 'acme/widget', got 'Acme/widget'"),
    ("evidence", "source_push_id", "p2", "expected null for pushes, got 'p2'"),
    ("observation evidence", "source_push_id", None, "expected an id for session_commit_observations, got null"),
    ("identified evidence", "repository_host", "GitHub.com", "expected 'github.com', got 'GitHub.com'"),
    ("identified evidence", "repository_id", 42, "expected a repository id"),
    ("rename", "new_repo", "acme/gadget", "expected a name other than old_repo"),
    ("rename", "schema_version", 2, "expected the integer 1, got 2"),
    ("rollout", "split", "test", "expected 'train'"),
    ("rollout", "attribution_source", None, "expected 'git_notes'"),
    ("rollout", "segments", None, "expected an array, got null"),
    ("rollout", "commits", {}, "expected an array, got {}"),
    ("turn", "completion", None, "expected a string, got null"),
    ("turn", "inference_call_id", " c1", "expected 'c1', got ' c1'"),
    ("turn", "decisions", None, "expected an array, got null"),
    ("commit", "repo", " ", "expected a non-blank string, got ' '"),
    ("commit", "commit_sha", "A" * 40, "expected 'aaaaaaaa"),
    ("commit", "commit_sha", "abc", "expected a whole commit id"),
    ("commit", "repository_identity", {}, "expected a value, got no such key"),
    ("provenance", "quarantine_revision", "0", "expected 0, got '0'"),
    ("provenance", "policy_digest", None, "expected"),
    ("decision", "accepted", 1, "expected true, got 1"),
    ("decision", "accepted", "true", "expected true, got 'true'"),
    ("decision", "edit_retention_score", "0.5", "expected 0.5, got '0.5'"),
    ("decision", "edit_retention_score", True, "expected 1.0, got true"),
    ("decision", "edit_retention_score", 1.5, "expected a number from 0 to 1"),
    ("outcome", "repository_id", None, "expected repository_provider, repository_host and repository_id all set"),
    ("outcome", "schema_version", 1, "expected the integer 2 with repository identity"),
    ("outcome", "branch", "refs/heads/main", "expected 'main', got 'refs/heads/main'"),
    ("outcome", "run_attempt", 1.0, "expected an integer from 1"),
    ("outcome", "workflow_name", "CI ", "expected 'CI', got 'CI '"),
    ("outcome", "reason", "x" * 4097, "expected a string of at most 4096 characters"),
    ("observation", "repo", "", "expected a repository owner/name"),
    ("completion", "similarity_score", True, "expected 1.0, got true"),
    ("completion", "repo", "", "expected a non-blank string, got ''"),
    ("completion", "source_push_id", 1, "expected a non-blank string"),
    ("abandonment", "accepted_decisions", 0, "expected"),
    ("abandonment", "accepted_decisions", "1", "expected 1, got '1'"),
]


@pytest.mark.parametrize(("name", "key", "value", "problem"), CASES)
def test_values_that_are_refused(draft: Draft, tmp_path: Path, name: str, key: str, value: object, problem: str):
    find, place = RECORDS[name]
    find(draft)[key] = value
    message = refusal(draft.write(tmp_path / "b"))
    assert message.startswith(place)
    assert f"{key}" in message
    assert problem in message


@pytest.mark.parametrize(
    "spelling",
    [
        "2026-03-02T09:00:00Z",
        "2026-03-02T11:00:00+02:00",
        "2026-03-02T09:00:00.0000009+00:00",
        "2026-03-01T23:30:00.0-09:30",
    ],
)
def test_a_time_may_use_any_offset_and_longer_fractions(draft: Draft, tmp_path: Path, spelling: str):
    draft.call()["observed_at"] = spelling
    draft.identity()["observed_at"] = "2026-03-02T09:00:00+00:00"
    draft.manifest["as_of"] = "2026-03-02T09:08:00.000000000+00:00"
    assert accepted(draft.write(tmp_path / "b")) == ["s1", "s2", "s3"]


def test_an_integer_is_a_number(draft: Draft, tmp_path: Path):
    draft.completion()["similarity_score"] = 1
    draft.turn(0, "s2")["decisions"][0]["edit_retention_score"] = 1
    draft.completion()["decisions"][0]["edit_retention_score"] = 1.0
    assert accepted(draft.write(tmp_path / "b")) == ["s1", "s2", "s3"]
