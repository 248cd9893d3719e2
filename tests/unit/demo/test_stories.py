"""The demo's evidence holds together: valid Facts, whole histories, edits that became commits."""

import ast
import json
import re
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sediment_assets.demo.cases import CASES, case_table
from sediment_assets.demo.commits import changed
from sediment_assets.demo.sessions import build_demo
from sediment_assets.derive.split import Split
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import decode
from sediment_assets.facts.push import Push
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.facts.tables import JSONL_MODELS
from sediment_assets.facts.vocabulary import AgentHarness

DEMO = build_demo()
CALLS = DEMO.evidence.of(InferenceCall)


def test_every_line_is_a_canonical_fact():
    for name, content in DEMO.evidence.files().items():
        model = JSONL_MODELS[Path(name).stem]
        for line in content.splitlines():
            plain = decode(line)
            assert list(plain) == list(model.model_fields)
            assert model.model_validate(plain).model_dump(mode="python") is not None


def test_every_kind_of_fact_is_there():
    kinds = (InferenceCall, DeveloperDecision, CIOutcome, Push, SessionCommitObservation, RepositoryRename)
    assert all(DEMO.evidence.of(kind) for kind in kinds)
    assert DEMO.evidence.quarantine_log


def test_cases_name_every_session_on_its_day():
    first: dict[str, datetime] = {}
    for call in CALLS:
        first.setdefault(call.session_id, call.observed_at)
    assert {case.session_id: case.day for case in CASES} == {session_id: f"{at:%d}" for session_id, at in first.items()}


def test_cases_are_in_order_of_time():
    first: dict[str, datetime] = {}
    for call in CALLS:
        first.setdefault(call.session_id, call.observed_at)
    assert [case.session_id for case in CASES] == sorted(first, key=first.__getitem__)


def test_sessions_spread_over_one_week_with_an_empty_day():
    assert {case.day for case in CASES} == {"02", "03", "04", "05", "06", "08"}
    assert all(
        datetime(2026, 11, 2, tzinfo=UTC) < call.observed_at < datetime(2026, 11, 9, tzinfo=UTC) for call in CALLS
    )


def test_both_sides_of_the_split_have_tasks():
    tasks = [case for case in CASES if case.task in ("passed", "failed")]
    assert {case.split for case in tasks} == {Split.TRAIN, Split.EVAL}
    assert {case.split for case in CASES if case.swe_bench == "passed"} == {Split.TRAIN, Split.EVAL}


def test_several_agents_and_models_are_seen():
    harnesses = {decision.agent_harness for decision in DEMO.evidence.of(DeveloperDecision)}
    assert harnesses == set(AgentHarness)
    assert len({call.model for call in CALLS}) == 5
    assert {call.gateway_provider.value for call in CALLS} == {"litellm"}


def test_sessions_have_two_to_twelve_calls():
    counts: dict[str, int] = defaultdict(int)
    for call in CALLS:
        counts[call.session_id] += 1
    assert min(counts.values()) == 2
    assert max(counts.values()) <= 12


def test_ids_are_unique():
    ids = [(fact.TABLE, fact.fact_id) for fact in DEMO.evidence.facts]
    assert len(ids) == len(set(ids))


def test_commits_never_run_back_in_time():
    for repository in DEMO.mirrored:
        for commit in repository.history.reachable():
            assert all(parent.at <= commit.at for parent in commit.parents)


def test_histories_are_small_and_real_sized():
    assert [15 <= len(repository.history.reachable()) <= 40 for repository in DEMO.mirrored] == [True, True]


def test_every_python_file_of_every_commit_parses():
    sources = {
        content
        for repository in DEMO.mirrored
        for commit in repository.history.reachable()
        for path, content in commit.files.items()
        if path.endswith(".py")
    }
    assert len(sources) > 20
    for source in sources:
        ast.parse(source)


def test_accepted_text_of_a_session_is_in_a_commit():
    """What ``Edit`` and ``Write`` put in, a later commit of some repository holds (lines, as edits may follow)."""
    committed = "\n".join(
        content.decode("utf-8", "replace")
        for repository in DEMO.mirrored
        for commit in repository.history.reachable()
        for content in commit.files.values()
    )
    rejected = {d.call_id for d in DEMO.evidence.of(DeveloperDecision) if not d.accepted}
    elsewhere = ("mobile-", "ledger-fx-spike")  # no mirror, and a deleted branch
    seen = 0
    for call in CALLS:
        for message in call.output_messages:
            for part in message.parts:
                if part.type == "tool_call" and part.id not in rejected and not call.session_id.startswith(elsewhere):
                    text = part.arguments.get("new_string") or part.arguments.get("content") or ""
                    seen += bool(text)
                    missing = [line for line in text.splitlines() if line.rstrip("\r") not in committed]
                    assert missing == []
    assert seen > 20


def test_addresses_are_of_reserved_names():
    streams = [repository.history.stream() for repository in DEMO.mirrored]
    text = b"".join([*DEMO.evidence.files().values(), *streams]).decode("utf-8", "replace")
    hosts = set(re.findall(r"https?://([\w.-]+)", text)) | set(re.findall(r"\w@([\w-]+\.[\w.-]+)", text))
    assert hosts
    assert {host for host in hosts if not host.endswith("example.test")} == set()


def test_a_text_to_replace_must_stand_exactly_once():
    with pytest.raises(ValueError, match="expected the text to replace once, got it 2 times"):
        changed({"a.py": b"x x"}, {"a.py": ("x", "y")})


def test_the_documentation_holds_the_case_table():
    page = Path(__file__).parents[3] / "docs" / "demo.md"
    assert case_table() in page.read_text()


def test_the_page_begins_its_commands_where_the_settings_are_and_names_a_day_with_rows():
    page = (Path(__file__).parents[3] / "docs" / "demo.md").read_text()
    assert page.index("cd .demo && . ../.venv/bin/activate") < page.index("sediment explain")
    [day] = re.findall(r"/assets/targets/sediment/tasks\?view=partitions&partition=2026-11-(\d\d)>", page)
    assert day in {case.day for case in CASES}


def test_notes_name_the_sessions_that_committed():
    for repository in DEMO.mirrored:
        stream = repository.history.stream().decode("utf-8", "replace")
        stamped = {
            json.loads(line)["sessions"][0]["session_id"] for line in stream.splitlines() if line.startswith('{"v"')
        }
        observed = {
            o.session_id for o in DEMO.evidence.of(SessionCommitObservation) if o.repo in _names(repository.slug)
        }
        gone = {"ledger-fx-spike"}
        assert stamped == observed - gone


def _names(slug: str) -> set[str]:
    return {"acme/ledger", "acme/payments-ledger"} if slug == "acme/ledger" else {slug}
