"""Which lines are one Fact: redeliveries, conflicts, source Pushes, Sessions, the quarantine log (facts.md §5, §6)."""

# ruff: noqa: E501  (a case is one line of its table)

from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import pytest
from sqlalchemy import select

from sediment_assets.adapters.fact_store.engine import create_store, read_snapshot, reading_engine, writing_engine
from sediment_assets.adapters.fact_store.importer import FactImportError, import_paths
from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.adapters.fact_store.quarantine_log import (
    AppendedRecords,
    QuarantineConflictError,
    append_quarantine,
)
from sediment_assets.adapters.fact_store.schema import fact_quarantine, sessions
from sediment_assets.facts.instants import format_z
from tests.builders import (
    IDENTITY,
    OTHER_SHA,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
)
from tests.fact_files import store_content, write_facts

LATER = "2026-03-02T10:00:00Z"
ANOTHER = IDENTITY | {"repository_id": "43"}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/facts.db"


class Importer:
    """Imports records, one import per call."""

    def __init__(self, url: str, tmp_path: Path) -> None:
        self.url = url
        self._tmp_path = tmp_path
        self._count = 0

    def __call__(self, *records) -> tuple[int, int]:
        """Import in one go; (stored, present)."""
        self._count += 1
        directory = write_facts(self._tmp_path / f"import-{self._count}", records)
        tables = import_paths(writing_engine(self.url), [directory]).tables
        return sum(table.stored for table in tables), sum(table.present for table in tables)


@pytest.fixture
def importing(url: str, tmp_path: Path) -> Importer:
    return Importer(url, tmp_path)


# (id, builder, values of the first, values of the second): the second is a redelivery of the first.
REDELIVERED = [
    ("call: same id", make_call, {}, {"session_id": "s2", "observed_at": LATER}),
    ("call: same model call", make_call, {"model_call_id": "m"}, {"model_call_id": "m", "inference_call_id": "c2", "session_id": "s2"}),
    ("decision: same id", make_decision, {}, {"accepted": False, "org_id": "other"}),
    ("decision: claude-code with call", make_decision, {}, {"decision_id": "d2", "file_path": "other.py", "observation_delay_ms": 5}),
    ("decision: claude-code without call", make_decision, {"call_id": None}, {"call_id": None, "decision_id": "d2", "user_id": "u"}),
    ("decision: other harness", make_decision, {"agent_harness": "codex"}, {"agent_harness": "codex", "decision_id": "d2", "raw": {"a": 1}}),
    ("ci: other result", make_outcome, {}, {"outcome_id": "o2", "result": "failed", "branch": "x", "captured_at": LATER}),
    ("ci: no attempt", make_outcome, {"run_attempt": None}, {"run_attempt": None, "outcome_id": "o2"}),
    ("ci: identified under a new label", make_outcome, IDENTITY, IDENTITY | {"outcome_id": "o2", "repo": "acme/renamed"}),
    ("push: legacy", make_push, {}, {"push_id": "p2", "clone_url": "", "forced": True, "captured_at": LATER}),
    ("push: identified under a new label", make_push, IDENTITY, IDENTITY | {"push_id": "p2", "repo": "acme/renamed"}),
    ("observation: other source push", make_observation, {}, {"observation_id": "ob2", "source_push_id": "p2", "captured_at": LATER}),
    ("rename: same event", make_rename, {"source_event_id": "e"}, {"source_event_id": "e", "rename_id": "n2", "captured_at": LATER}),
    ("rename: same id", make_rename, {}, {"captured_at": LATER}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "first", "second"), [case[1:] for case in REDELIVERED], ids=[case[0] for case in REDELIVERED]
)
@pytest.mark.parametrize("together", [True, False], ids=["one import", "two imports"])
def test_a_redelivery_changes_nothing(importing: Importer, make: Callable, first: dict, second: dict, together: bool):
    if together:
        assert importing(make(**first), make(**second)) == (1, 1)
        return
    assert importing(make(**first)) == (1, 0)
    before = store_content(importing.url)
    assert importing(make(**second)) == (0, 1)
    assert store_content(importing.url) == before


# Pairs that look alike and are two Facts.
DISTINCT = [
    ("call: without model call", make_call, {}, {"inference_call_id": "c2"}),
    ("call: other gateway", make_call, {"model_call_id": "m"}, {"model_call_id": "m", "inference_call_id": "c2", "gateway_provider": "portkey"}),
    ("call: other organization", make_call, {"model_call_id": "m"}, {"model_call_id": "m", "inference_call_id": "c2", "org_id": "other"}),
    ("decision: claude-code, other call", make_decision, {}, {"decision_id": "d2", "call_id": "t2"}),
    ("decision: claude-code, no call and other path", make_decision, {"call_id": None}, {"call_id": None, "decision_id": "d2", "file_path": "b"}),
    ("decision: other harness, other call", make_decision, {"agent_harness": "codex"}, {"agent_harness": "codex", "decision_id": "d2", "call_id": None}),
    ("decision: other harness, other delay", make_decision, {"agent_harness": "codex"}, {"agent_harness": "codex", "decision_id": "d2", "observation_delay_ms": 0}),
    ("decision: other moment", make_decision, {}, {"decision_id": "d2", "occurred_at": "2026-03-02T09:00:00.000001Z"}),
    ("ci: other attempt", make_outcome, {}, {"outcome_id": "o2", "run_attempt": 2}),
    ("ci: attempt and none", make_outcome, {}, {"outcome_id": "o2", "run_attempt": None}),
    ("ci: other provider", make_outcome, {}, {"outcome_id": "o2", "provider": "jenkins"}),
    ("ci: other host", make_outcome, IDENTITY, IDENTITY | {"outcome_id": "o2", "repository_host": "ghe.example"}),
    ("ci: legacy and identified", make_outcome, {}, IDENTITY | {"outcome_id": "o2"}),
    ("push: legacy and identified", make_push, {}, IDENTITY | {"push_id": "p2"}),
    ("push: other repository", make_push, IDENTITY, ANOTHER | {"push_id": "p2"}),
    ("push: other slug", make_push, {}, {"push_id": "p2", "repo": "acme/gadget"}),
    ("push: other ref", make_push, {}, {"push_id": "p2", "ref": "refs/heads/x"}),
    ("observation: other Session", make_observation, {}, {"observation_id": "ob2", "session_id": "s2"}),
    ("rename: without event", make_rename, {}, {"rename_id": "n2"}),
    ("rename: other host", make_rename, {"source_event_id": "e"}, {"source_event_id": "e", "rename_id": "n2", "repository_host": "ghe.example"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "first", "second"), [case[1:] for case in DISTINCT], ids=[case[0] for case in DISTINCT]
)
def test_facts_that_differ_in_their_natural_key_are_both_kept(
    importing: Importer, make: Callable, first: dict, second: dict
):
    assert importing(make(**first), make(**second)) == (2, 0)


CONFLICTS = [
    ("call: same id, other organization", make_call, {}, {"org_id": "other"}, "org_id: expected 'acme' as in the stored 'c1', got 'other' in 'c1'"),
    ("call: same id, other gateway", make_call, {}, {"gateway_provider": "portkey"}, "gateway_provider: expected 'litellm' as in the stored 'c1', got 'portkey' in 'c1'"),
    ("call: same id, other model call", make_call, {}, {"model_call_id": "m"}, "model_call_id: expected null as in the stored 'c1', got 'm' in 'c1'"),
    ("ci: other commit", make_outcome, {}, {"outcome_id": "o2", "commit_sha": OTHER_SHA}, f"commit_sha: expected '{'a' * 40}' as in the stored 'o1', got '{OTHER_SHA}' in 'o2'"),
    ("ci: other workflow", make_outcome, {}, {"outcome_id": "o2", "workflow_id": None}, "workflow_id: expected 'w1' as in the stored 'o1', got null in 'o2'"),
    ("ci: other workflow path", make_outcome, {}, {"outcome_id": "o2", "workflow_path": ""}, "workflow_path: expected '.github/workflows/ci.yml' as in the stored 'o1', got '' in 'o2'"),
    ("ci: legacy, other slug", make_outcome, {}, {"outcome_id": "o2", "repo": "acme/gadget"}, "repo: expected 'acme/widget' as in the stored 'o1', got 'acme/gadget' in 'o2'"),
    ("ci: run id reused by another repository of the host", make_outcome, IDENTITY, ANOTHER | {"outcome_id": "o2"}, "repository_id: expected '42' as in the stored 'o1', got '43' in 'o2'"),
    ("ci: same id, now identified", make_outcome, {}, IDENTITY, "repository_provider: expected null as in the stored 'o1', got 'github' in 'o1'"),
    ("push: same id, other commits", make_push, {}, {"after_sha": OTHER_SHA}, f"after_sha: expected '{'a' * 40}' as in the stored 'p1', got '{OTHER_SHA}' in 'p1'"),
    ("observation: same id, other commit", make_observation, {}, {"commit_sha": OTHER_SHA}, f"commit_sha: expected '{'a' * 40}' as in the stored 'ob1', got '{OTHER_SHA}' in 'ob1'"),
    ("rename: same event, other name", make_rename, {"source_event_id": "e"}, {"source_event_id": "e", "rename_id": "n2", "new_repo": "acme/x"}, "new_repo: expected 'acme/gadget' as in the stored 'n1', got 'acme/x' in 'n2'"),
    ("rename: same event, other moment", make_rename, {"source_event_id": "e"}, {"source_event_id": "e", "rename_id": "n2", "occurred_at": None}, "occurred_at: expected 2026-03-02T09:00:00Z as in the stored 'n1', got null in 'n2'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "first", "second", "problem"), [case[1:] for case in CONFLICTS], ids=[case[0] for case in CONFLICTS]
)
@pytest.mark.parametrize("together", [True, False], ids=["one import", "two imports"])
def test_a_contradiction_is_a_conflict_that_names_both(
    importing: Importer, make: Callable, first: dict, second: dict, problem: str, together: bool
):
    if not together:
        importing(make(**first))
        before = store_content(importing.url)
    with pytest.raises(FactImportError) as refused:
        importing(*([make(**first)] if together else []), make(**second), make_call(inference_call_id="c9"))
    (found,) = refused.value.problems
    assert found.endswith(f".jsonl:{2 if together else 1}: {problem}")
    if not together:
        assert store_content(importing.url) == before


def test_a_line_that_matches_two_stored_facts_is_a_conflict(importing: Importer):
    importing(make_push(), make_push(push_id="p2", ref="refs/heads/x"))
    with pytest.raises(
        FactImportError, match="push_id: expected at most one stored Fact to match, got 'p2' matching 'p1' and 'p2'"
    ):
        importing(make_push(push_id="p2"))


def test_conflicts_are_listed_beside_each_other(importing: Importer):
    importing(make_push(), make_outcome())
    with pytest.raises(FactImportError) as refused:
        importing(make_push(after_sha=OTHER_SHA), make_outcome(commit_sha=OTHER_SHA))
    assert [problem.split(": ")[1] for problem in refused.value.problems] == ["after_sha", "commit_sha"]


# --- source Pushes


def test_an_identified_observation_needs_its_push(importing: Importer):
    with pytest.raises(FactImportError) as refused:
        importing(make_observation(**IDENTITY))
    (problem,) = refused.value.problems
    assert problem.endswith(
        ":1: source_push_id: expected a stored Push 'p1' of the same repository for 'ob1', got none"
    )


@pytest.mark.parametrize("push", [make_push(), make_push(**ANOTHER), make_push(org_id="other", **IDENTITY)])
def test_the_source_push_has_the_observations_organization_and_identity(importing: Importer, push):
    with pytest.raises(FactImportError, match="for 'ob1', got one of another organization or repository"):
        importing(push, make_observation(**IDENTITY))


def test_a_quarantined_source_push_will_do(importing: Importer):
    importing(make_push(**IDENTITY), make_quarantine(fact_table="pushes", fact_id="p1"))
    assert importing(make_observation(**IDENTITY)) == (1, 0)


def test_a_legacy_observation_needs_no_push(importing: Importer):
    assert importing(make_observation()) == (1, 0)


# --- Sessions


def session_rows(url: str) -> dict[str, tuple]:
    with read_snapshot(reading_engine(url)) as connection:
        return {
            row.session_id: (
                row.user_id, row.user_id_conflict, format_z(row.first_observed_at), format_z(row.last_observed_at),
            )
            for row in connection.execute(select(sessions))
        }  # fmt: skip


def test_sessions_sum_up_calls_decisions_and_observations(importing: Importer):
    importing(
        make_call(user_id=None, observed_at="2026-03-02T09:00:00Z"),
        make_decision(user_id="u", captured_at="2026-03-02T08:00:00Z", occurred_at="2026-01-01T00:00:00Z"),
        make_observation(captured_at="2026-03-02T12:00:00Z"),
        make_observation(observation_id="ob2", session_id="s2", captured_at=LATER),
        make_outcome(captured_at="2027-01-01T00:00:00Z"),
        make_push(captured_at="2027-01-01T00:00:00Z"),
        make_rename(captured_at="2027-01-01T00:00:00Z"),
    )
    assert session_rows(importing.url) == {
        "s1": ("u", False, "2026-03-02T08:00:00Z", "2026-03-02T12:00:00Z"),
        "s2": (None, False, LATER, LATER),
    }


@pytest.mark.parametrize("order", list(permutations(range(4))))
@pytest.mark.parametrize("together", [True, False], ids=["one import", "one by one"])
def test_a_session_of_two_users_has_none_whatever_the_order(
    importing: Importer, order: tuple[int, ...], together: bool
):
    users = ["u1", None, "u2", "u1"]
    calls = [
        make_call(inference_call_id=f"c{n}", user_id=users[n], observed_at=f"2026-03-02T0{n}:00:00Z") for n in order
    ]
    if together:
        importing(*calls)
    else:
        for call in calls:
            importing(call)
    assert session_rows(importing.url) == {"s1": (None, True, "2026-03-02T00:00:00Z", "2026-03-02T03:00:00Z")}


def test_a_redelivery_does_not_touch_its_session(importing: Importer):
    importing(make_call(model_call_id="m"))
    importing(make_call(model_call_id="m", inference_call_id="c2", user_id="other", observed_at=LATER))
    assert session_rows(importing.url) == {"s1": ("dev-1", False, "2026-03-02T09:00:00Z", "2026-03-02T09:00:00Z")}


# --- the quarantine log


def log_of(url: str) -> list[tuple[int, str, str]]:
    with read_snapshot(reading_engine(url)) as connection:
        log = fact_quarantine.c
        query = select(log.quarantine_revision, log.quarantine_id, log.reason).order_by(log.quarantine_revision)
        return [tuple(row) for row in connection.execute(query)]


def test_the_log_keeps_the_order_of_lines_not_of_clocks(importing: Importer):
    importing(
        make_quarantine(quarantine_id="q2", recorded_at=LATER, reason=" é\ud800 "),
        make_quarantine(quarantine_id="q1", action="release"),
    )
    assert log_of(importing.url) == [(1, "q2", " é\ud800 "), (2, "q1", "captured by mistake")]


def test_a_known_record_is_not_appended_again(importing: Importer):
    assert importing(make_quarantine(), make_quarantine()) == (1, 1)
    assert importing(make_quarantine(quarantine_id="q2"), make_quarantine()) == (1, 1)
    assert [entry[:2] for entry in log_of(importing.url)] == [(1, "q1"), (2, "q2")]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"action": "release"}, "action: expected 'quarantine' as in the stored record 'q1', got 'release'"),
        ({"fact_id": "c2"}, "fact_id: expected 'c1' as in the stored record 'q1', got 'c2'"),
        ({"recorded_at": LATER}, "recorded_at: expected 2026-03-02T09:00:00Z as in the stored record 'q1', got 2026-03-02T10:00:00Z"),
    ],
)  # fmt: skip
def test_a_record_that_changes_its_mind_is_a_conflict(importing: Importer, values: dict, problem: str):
    importing(make_quarantine())
    with pytest.raises(FactImportError) as refused:
        importing(make_call(), make_quarantine(quarantine_id="q0"), make_quarantine(**values))
    (found,) = refused.value.problems
    assert found.endswith(f"quarantine.jsonl:2: {problem}")
    assert [entry[1] for entry in log_of(importing.url)] == ["q1"]


def test_commands_append_records_all_or_none(url: str):
    engine = writing_engine(url)
    create_store(engine)
    first = [make_quarantine(), make_quarantine(quarantine_id="q2", action="release")]
    assert append_quarantine(engine, first) == AppendedRecords(stored=2, present=0)
    assert append_quarantine(engine, first) == AppendedRecords(stored=0, present=2)
    with pytest.raises(QuarantineConflictError, match="fact_id: expected 'c1' as in the stored record 'q1', got 'x'"):
        append_quarantine(engine, [make_quarantine(quarantine_id="q3"), make_quarantine(fact_id="x")])
    assert [entry[1] for entry in log_of(url)] == ["q1", "q2"]


def test_records_are_not_appended_to_a_store_of_another_revision(url: str):
    engine = writing_engine(url)
    create_store(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0010_repository_identity'")
    with pytest.raises(FactStoreError, match="expected schema revision"):
        append_quarantine(engine, [make_quarantine()])
