"""Which Turn a Developer decision sits on (derivation.md §5.1)."""

from typing import Any

import pytest

from sediment_assets.rollouts.decisions import attach_decisions, without_subsumed
from tests.builders import make_decision

ALIASES = {"c1": {"t1", "shared"}, "c2": {"t2", "shared"}}


@pytest.mark.parametrize(
    ("call_id", "reason"),
    [
        (None, "missing_decision_call_id"),
        ("nobody", "unmatched_decision_call_id"),
        ("c1", "unmatched_decision_call_id"),
        ("shared", "ambiguous_decision_call_id"),
    ],
)
def test_a_decision_without_exactly_one_call_is_counted(call_id: str | None, reason: str) -> None:
    found = attach_decisions([make_decision(call_id=call_id)], ALIASES)
    assert not found.by_call
    assert found.skipped == {reason: 1}


def test_decisions_of_a_turn_order_by_instant_then_id() -> None:
    decisions = [
        make_decision(decision_id="b", call_id="t1", occurred_at="2026-01-02T10:00:00+00:00"),
        make_decision(decision_id="a", call_id="t1", occurred_at="2026-01-02T11:00:00+01:00"),
        make_decision(decision_id="c", call_id="t1", occurred_at="2026-01-02T09:59:59Z"),
    ]
    found = attach_decisions(decisions, ALIASES)
    assert [decision.decision_id for decision in found.by_call["c1"]] == ["c", "a", "b"]
    assert not found.skipped


def codex(decision_id: str, file_path: str, **values: Any) -> Any:
    return make_decision(
        **{"decision_id": decision_id, "agent_harness": "codex", "file_path": file_path, "call_id": "t1", **values}
    )


@pytest.mark.parametrize(
    ("decisions", "kept"),
    [
        ([codex("bare", ""), codex("path", "a.py")], ["path"]),
        ([codex("bare", "", user_id="u", commit_sha="a" * 40), codex("path", "a.py")], ["path"]),
        ([codex("bare1", ""), codex("bare2", "")], ["bare1", "bare2"]),
        ([codex("reject", "", accepted=False), codex("path", "a.py", accepted=True)], ["reject", "path"]),
        ([codex("bare", "", call_id=None), codex("path", "a.py", call_id=None)], ["bare", "path"]),
        ([codex("bare", "", call_id="t2"), codex("path", "a.py")], ["bare", "path"]),
        ([codex("bare", "", explicit=False), codex("path", "a.py")], ["bare", "path"]),
        ([codex("bare", "", interaction_mode="inline"), codex("path", "a.py")], ["bare", "path"]),
        ([codex("bare", "", captured_at="2026-03-03T09:00:00Z"), codex("path", "a.py")], ["path"]),
        ([codex("bare", "", occurred_at="2026-03-02T10:00:00+01:00"), codex("path", "a.py")], ["path"]),
        ([codex("bare", "", agent_harness="cursor"), codex("path", "a.py")], ["bare", "path"]),
        ([codex("bare", ""), codex("path", "a.py", agent_harness="cursor")], ["bare", "path"]),
        ([codex("bare", ""), codex("path", "a.py", occurred_at="2026-03-02T10:00:01Z")], ["bare", "path"]),
    ],
)
def test_codex_row_without_path_gives_way_to_its_siblings_with_path(decisions: list[Any], kept: list[str]) -> None:
    assert [decision.decision_id for decision in without_subsumed(decisions)] == kept


def test_a_subsumed_decision_is_not_counted_as_unmatched() -> None:
    found = attach_decisions([codex("bare", "", call_id="x"), codex("path", "a.py", call_id="x")], ALIASES)
    assert found.skipped == {"unmatched_decision_call_id": 1}
