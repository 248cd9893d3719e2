"""What makes two Facts the same one: the unique indexes of facts.md §6, declared once for schema and import.

A natural key has its own space of rows (``where``): legacy and identified rows never meet, and a key that needs a
nullable field does not apply without it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sediment_assets.facts.vocabulary import AgentHarness

Row = Mapping[str, object]
"""One row by column name, values as in memory."""


@dataclass(frozen=True, slots=True)
class NaturalKey:
    """One unique index. ``defaults`` stands in for null in a column; ``where`` and ``applies`` say the same thing."""

    name: str
    columns: tuple[str, ...]
    where: str
    applies: Callable[[Row], bool]
    defaults: Mapping[str, str | int] = field(default_factory=dict)


def _is_identified(row: Row) -> bool:
    return row["repository_id"] is not None


def _is_legacy(row: Row) -> bool:
    return row["repository_id"] is None


def _is_claude_code_call(row: Row) -> bool:
    return row["agent_harness"] == AgentHarness.CLAUDE_CODE and row["call_id"] is not None


def _is_other_decision(row: Row) -> bool:
    return not _is_claude_code_call(row)


_IDENTITY = ("repository_provider", "repository_host", "repository_id")
_IDENTIFIED = "repository_id IS NOT NULL"
_LEGACY = "repository_id IS NULL"
_DECISION = (
    "org_id",
    "agent_harness",
    "session_id",
    "accepted",
    "explicit",
    "interaction_mode",
    "occurred_at",
)

NATURAL_KEYS: Mapping[str, tuple[NaturalKey, ...]] = {
    "inference_calls": (
        NaturalKey(
            "uq_inference_calls_model_call",
            ("org_id", "gateway_provider", "model_call_id"),
            "model_call_id IS NOT NULL",
            lambda row: row["model_call_id"] is not None,
        ),
    ),
    "developer_decisions": (
        NaturalKey(
            "uq_developer_decisions_claude_code",
            (*_DECISION, "call_id"),
            "agent_harness = 'claude-code' AND call_id IS NOT NULL",
            _is_claude_code_call,
        ),
        NaturalKey(
            "uq_developer_decisions_other",
            (*_DECISION, "file_path", "call_id", "observation_delay_ms"),
            "agent_harness <> 'claude-code' OR call_id IS NULL",
            _is_other_decision,
            {"call_id": "", "observation_delay_ms": -1},
        ),
    ),
    "ci_outcomes": (
        NaturalKey(
            "uq_ci_outcomes_legacy",
            ("org_id", "provider", "run_id", "run_attempt"),
            _LEGACY,
            _is_legacy,
            {"run_attempt": 0},
        ),
        # Without repository_id: a run id belongs to a host, so its reuse by another repository is a conflict.
        NaturalKey(
            "uq_ci_outcomes_identified",
            ("org_id", "repository_provider", "repository_host", "provider", "run_id", "run_attempt"),
            _IDENTIFIED,
            _is_identified,
            {"run_attempt": 0},
        ),
    ),
    "pushes": (
        NaturalKey("uq_pushes_legacy", ("org_id", "repo", "ref", "before_sha", "after_sha"), _LEGACY, _is_legacy),
        NaturalKey(
            "uq_pushes_identified",
            ("org_id", *_IDENTITY, "ref", "before_sha", "after_sha"),
            _IDENTIFIED,
            _is_identified,
        ),
    ),
    "session_commit_observations": (
        NaturalKey(
            "uq_session_commit_observations_legacy",
            ("org_id", "repo", "commit_sha", "session_id"),
            _LEGACY,
            _is_legacy,
        ),
        NaturalKey(
            "uq_session_commit_observations_identified",
            ("org_id", *_IDENTITY, "commit_sha", "session_id"),
            _IDENTIFIED,
            _is_identified,
        ),
    ),
    "repository_renames": (
        NaturalKey(
            "uq_repository_renames_source_event",
            ("org_id", "repository_provider", "repository_host", "source_event_id"),
            "source_event_id IS NOT NULL",
            lambda row: row["source_event_id"] is not None,
        ),
    ),
}
"""Natural keys by table, in the order of facts.md §6. Tables without one are told apart by their primary key."""

COMPARED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "inference_calls": ("org_id", "gateway_provider", "model_call_id"),
    "ci_outcomes": (
        "org_id",
        *_IDENTITY,
        "provider",
        "run_id",
        "run_attempt",
        "commit_sha",
        "workflow_id",
        "workflow_path",
    ),
    "pushes": ("org_id", *_IDENTITY, "provider", "ref", "before_sha", "after_sha"),
    "session_commit_observations": ("org_id", *_IDENTITY, "commit_sha", "session_id"),
    "repository_renames": (
        "org_id",
        *_IDENTITY,
        "old_repo",
        "new_repo",
        "source_event_id",
        "occurred_at",
    ),
}
"""Fields in which a redelivery must agree with the retained row. DeveloperDecisions are not compared at all."""

COMPARED_WHEN_LEGACY: Mapping[str, tuple[str, ...]] = {
    "ci_outcomes": ("repo",),
    "pushes": ("repo",),
    "session_commit_observations": ("repo",),
}
"""Fields compared besides when the Fact is legacy; an identified repository may have changed its name."""
