"""The Fact models: fields, defaults, cross-field rules, explained errors (facts.md §3–5, targets.md §6.1)."""

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from sediment_assets.facts.json_values import decode
from sediment_assets.facts.model import Fact, explain_errors
from sediment_assets.facts.tables import FACT_MODELS, JSONL_MODELS, QUARANTINE_FILE
from sediment_assets.facts.vocabulary import (
    AgentHarness,
    CIProvider,
    CIResult,
    FactTable,
    ForgeProvider,
    GatewayProvider,
    InteractionMode,
    QuarantineAction,
)
from tests.builders import (
    IDENTITY,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
)

FIELDS = {
    "inference_calls": "schema_version inference_call_id org_id session_id user_id gateway_provider model_provider "
    "model input_messages output_messages input_tokens output_tokens duration_ms model_call_id observed_at raw",
    "developer_decisions": "decision_id org_id session_id user_id agent_harness file_path accepted explicit "
    "interaction_mode commit_sha call_id edit_retention_score observation_delay_ms occurred_at captured_at raw",
    "ci_outcomes": "schema_version repository_provider repository_host repository_id outcome_id org_id provider run_id "
    "run_attempt repo commit_sha branch result workflow_name workflow_id workflow_path run_url provider_result "
    "error_type reason source_event_type source_spec_version source_event_id pr_number captured_at raw",
    "pushes": "schema_version repository_provider repository_host repository_id push_id org_id provider repo clone_url "
    "ref before_sha after_sha forced captured_at",
    "session_commit_observations": "schema_version repository_provider repository_host repository_id observation_id "
    "org_id repo commit_sha session_id source_push_id captured_at",
    "repository_renames": "schema_version rename_id org_id repository_provider repository_host repository_id old_repo "
    "new_repo source_event_id occurred_at captured_at",
    "quarantine": "quarantine_id org_id fact_table fact_id action reason recorded_at",
}
REQUIRED = {
    "inference_calls": "org_id session_id gateway_provider input_messages output_messages",
    "developer_decisions": "org_id session_id agent_harness file_path accepted explicit interaction_mode occurred_at",
    "ci_outcomes": "org_id provider run_id repo commit_sha branch result",
    "pushes": "org_id provider repo clone_url ref before_sha after_sha",
    "session_commit_observations": "org_id repo commit_sha session_id source_push_id",
    "repository_renames": "org_id repository_provider repository_host repository_id old_repo new_repo",
    "quarantine": "org_id fact_table fact_id action reason",
}
MAKERS = {
    "inference_calls": make_call,
    "developer_decisions": make_decision,
    "ci_outcomes": make_outcome,
    "pushes": make_push,
    "session_commit_observations": make_observation,
    "repository_renames": make_rename,
    "quarantine": make_quarantine,
}


def refusals(make, **values):
    with pytest.raises(ValidationError) as caught:
        make(**values)
    return dict(explain_errors(caught.value))


@pytest.mark.parametrize("table", JSONL_MODELS)
def test_fields_stand_in_the_contracts_order(table):
    assert " ".join(JSONL_MODELS[table].model_fields) == FIELDS[table]
    assert list(MAKERS[table]().model_dump()) == FIELDS[table].split()


@pytest.mark.parametrize("table", JSONL_MODELS)
def test_required_fields(table):
    fields = JSONL_MODELS[table].model_fields
    assert " ".join(name for name, field in fields.items() if field.is_required()) == REQUIRED[table]
    with pytest.raises(ValidationError) as caught:
        JSONL_MODELS[table].model_validate({})
    missing = [(name, "expected a value, got no such key") for name in REQUIRED[table].split()]
    assert explain_errors(caught.value) == missing


@pytest.mark.parametrize("model", JSONL_MODELS.values())
def test_every_field_is_described(model):
    assert all(field.description for field in model.model_fields.values())


def test_tables_name_their_models():
    assert all(issubclass(model, Fact) and table == model.TABLE for table, model in FACT_MODELS.items())
    assert set(JSONL_MODELS) - set(FACT_MODELS) == {QUARANTINE_FILE}
    assert all(model.KEY in model.model_fields for model in JSONL_MODELS.values())


@pytest.mark.parametrize("make", MAKERS.values())
def test_a_dump_validates_to_the_same_record_and_unknown_keys_are_dropped(make):
    record = make()
    assert type(record).model_validate(record.model_dump() | {"unknown": 1, "\ud800": 2}) == record


def test_generated_values_are_random_ids_and_now_in_utc():
    required = {name: value for name, value in make_call().model_dump().items() if name in REQUIRED["inference_calls"]}
    first, second = (type(make_call()).model_validate(required) for _ in range(2))
    assert uuid.UUID(first.inference_call_id).version == 4
    assert first.inference_call_id != second.inference_call_id
    assert abs(datetime.now(UTC) - first.observed_at) < timedelta(minutes=1)
    assert first.raw == {}


@pytest.mark.parametrize(
    ("vocabulary", "spellings"),
    [
        (GatewayProvider, "litellm portkey helicone unknown"),
        (CIProvider, "github_actions jenkins gitlab_ci circleci buildkite other"),
        (CIResult, "passed failed error timed_out cancelled skipped neutral unknown"),
        (ForgeProvider, "github"),
        (AgentHarness, "claude-code copilot codex cursor pi"),
        (InteractionMode, "agent inline"),
        (
            FactTable,
            "inference_calls developer_decisions ci_outcomes pushes pull_request_merges pull_request_revisions "
            "edit_observations rejected_edits retry_linkages session_commit_observations repository_renames",
        ),
        (QuarantineAction, "quarantine release"),
    ],
)
def test_vocabularies(vocabulary, spellings):
    assert " ".join(vocabulary) == spellings


@pytest.mark.parametrize(
    ("make", "field", "value"),
    [
        (make_call, "schema_version", True),
        (make_call, "schema_version", "1"),
        (make_call, "schema_version", 1.0),
        (make_call, "schema_version", 2),
        (make_call, "gateway_provider", "LiteLLM"),
        (make_call, "gateway_provider", "\ud800"),
        (make_call, "user_id", ""),
        (make_call, "model", " "),
        (make_call, "model_call_id", ""),
        (make_call, "session_id", 5),
        (make_call, "input_tokens", 5.5),
        (make_call, "input_messages", None),
        (make_call, "input_messages", {}),
        (make_call, "observed_at", "2026-03-02"),
        (make_call, "raw", None),
        (make_call, "raw", "{}"),
        (make_call, "raw", []),
        (make_call, "raw", {"a": {1: 2}}),
        (make_call, "raw", {"a": b"x"}),
        (make_call, "raw", {"a": datetime(2026, 1, 1, tzinfo=UTC)}),
        (make_decision, "accepted", None),
        (make_decision, "agent_harness", "claude_code"),
        (make_decision, "commit_sha", ""),
        (make_decision, "edit_retention_score", float("nan")),
        (make_decision, "edit_retention_score", float("inf")),
        (make_decision, "edit_retention_score", 1.1),
        (make_decision, "file_path", "\0"),
        (make_decision, "occurred_at", None),
        (make_outcome, "schema_version", 3),
        (make_outcome, "schema_version", True),
        (make_outcome, "run_id", 5),
        (make_outcome, "run_attempt", "1"),
        (make_outcome, "workflow_name", None),
        (make_outcome, "run_url", ""),
        (make_outcome, "reason", "x" * 4097),
        (make_outcome, "pr_number", 0),
        (make_outcome, "result", "PASSED"),
        (make_push, "ref", ""),
        (make_push, "clone_url", None),
        (make_push, "provider", "gitlab"),
        (make_observation, "repo", ""),
        (make_observation, "source_push_id", " "),
        (make_rename, "schema_version", 2),
        (make_rename, "repository_id", None),
        (make_rename, "repository_id", 42),
        (make_quarantine, "fact_table", "sessions"),
        (make_quarantine, "action", "Release"),
        (make_quarantine, "reason", " \u2003"),
    ],
)
def test_a_refused_field_is_named_and_explained(make, field, value):
    ((path, message),) = refusals(make, **{field: value}).items()
    assert path == field
    assert message.startswith("expected ")
    assert ", got " in message
    assert message.isprintable()


@pytest.mark.parametrize(
    ("make", "field", "value", "stored"),
    [
        (make_call, "model_provider", " ", " "),
        (make_call, "model_provider", "", ""),
        (make_call, "input_messages", [], ()),
        (make_call, "org_id", "ACME", "acme"),
        (make_call, "duration_ms", "5", 5),
        (make_call, "duration_ms", True, 1),
        (make_decision, "accepted", "off", False),
        (make_decision, "file_path", " ", " "),
        (make_decision, "observation_delay_ms", 5, 5),
        (make_decision, "edit_retention_score", 1, 1.0),
        (make_outcome, "branch", "refs/heads/x", "x"),
        (make_outcome, "branch", "", ""),
        (make_outcome, "repo", " ", ""),
        (make_outcome, "workflow_path", " ", ""),
        (make_outcome, "workflow_name", "\ud800\0", "\ud800\0"),
        (make_outcome, "reason", "", ""),
        (make_outcome, "run_url", " u ", "u"),
        (make_outcome, "schema_version", 1, 1),
        (make_push, "ref", " refs/heads/main ", "refs/heads/main"),
        (make_push, "clone_url", "", ""),
        (make_rename, "occurred_at", None, None),
        (make_quarantine, "reason", " because ", " because "),
    ],
)
def test_an_accepted_field_is_normalised(make, field, value, stored):
    assert getattr(make(**{field: value}), field) == stored


@pytest.mark.parametrize("make", [make_outcome, make_push, make_observation])
def test_repository_identity_is_whole_or_absent(make):
    assert make(**IDENTITY).is_identified
    assert not make().is_identified
    assert not make(schema_version=2).is_identified
    for name in IDENTITY:
        assert set(refusals(make, **(IDENTITY | {name: None}))) == {"repository_id"}
        assert set(refusals(make, **{name: IDENTITY[name]})) == {"repository_id"}


@pytest.mark.parametrize("make", [make_outcome, make_push, make_observation])
def test_schema_version_1_has_no_repository_identity(make):
    assert refusals(make, schema_version=1, **IDENTITY) == {
        "schema_version": "expected the integer 2 with repository identity, got 1"
    }


def test_a_rename_changes_the_normalised_name():
    assert refusals(make_rename, old_repo="A/B", new_repo="a/b") == {
        "new_repo": "expected a name other than old_repo, got 'a/b'"
    }


def test_errors_name_every_field_and_every_path():
    parts = [{"type": "text", "content": 5}, {"type": "tool_call", "id": "t", "name": "n", "arguments": []}]
    found = refusals(make_call, org_id="a b", input_messages=[{"role": "u", "parts": parts}, 5], raw={"k": (1,)})
    assert list(found.items()) == [
        ("org_id", "expected an organization id (1-64 of a-z 0-9 . _ -, starting with a letter or digit), got 'a b'"),
        ("input_messages[0].parts[0].content", "expected a string, got 5"),
        ("input_messages[0].parts[1].arguments", "expected an object, got []"),
        ("input_messages[1]", "expected an object, got 5"),
        ("raw", "expected a JSON value, got a Python tuple"),
    ]


@pytest.mark.parametrize(("plain", "got"), [(None, "null"), (5, "5"), ([], "[]"), ("x", "'x'")])
def test_a_record_is_an_object(plain, got):
    with pytest.raises(ValidationError) as caught:
        JSONL_MODELS["pushes"].model_validate(plain)
    assert explain_errors(caught.value) == [("", f"expected an object, got {got}")]


def test_long_and_unprintable_values_are_cut_and_escaped():
    message = refusals(make_outcome, commit_sha="\x1b[31m\u202e\ud800" + "x" * 10_000)["commit_sha"]
    assert message.isprintable()
    assert len(message) < 200


def test_errors_show_no_credential():
    found = refusals(make_call, raw='{"api_key":"hunter2","n":1}', session_id=5)
    assert found["raw"] == """expected an object, got '{"api_key":"[REDACTED_CREDENTIAL]","n":1}'"""
    assert "AAAA" not in refusals(make_outcome, commit_sha="x" * 40 + " sk-" + "A" * 1000)["commit_sha"]


def test_captured_json_is_handed_on_at_full_depth():
    raw = decode('{"a":' * 1000 + "{}" + "}" * 1000)
    fact = make_outcome(raw=raw)
    assert fact.raw is raw
    assert fact.model_dump()["raw"] is raw


def test_instants_are_utc_in_memory_and_in_dumps():
    call = make_call(observed_at="2026-03-02T09:00:00.5+02:00")
    assert call.model_dump()["observed_at"] == datetime(2026, 3, 2, 7, 0, 0, 500_000, tzinfo=UTC)
    assert call.observed_at.tzinfo is UTC


def test_facts_are_immutable():
    with pytest.raises(ValidationError):
        make_call().org_id = "other"
