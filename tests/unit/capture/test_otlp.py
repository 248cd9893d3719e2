"""OTLP logs of coding agents → DeveloperDecision: which events, which words, whose Session (facts.md §3.2, §6)."""

from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.capture_files import find_capture_files
from sediment_assets.capture.contract import CaptureOptions, Remainder, Translated, Untranslated, closing_note
from sediment_assets.capture.sources.github import SOURCE as GITHUB
from sediment_assets.capture.sources.otlp import SOURCE
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.vocabulary import AgentHarness
from tests.builders import ORG
from tests.captured import only_fact, only_remainder, translate
from tests.otlp_payloads import request, tool_decision

FIXTURES = Path(__file__).parents[2] / "fixtures" / "capture" / "otlp"


def test_decision_carries_what_the_event_tells() -> None:
    record = tool_decision(tool_use_id="toolu_1", tool_parameters='{"file_path": "/srv/octo/app.py"}')
    told = only_fact(SOURCE, request(record)).model_dump()
    assert len(told.pop("decision_id")) == 36
    raw = told.pop("raw")
    assert raw["logRecord"] == record
    assert told == {
        "org_id": "acme",
        "session_id": "s-1",
        "user_id": "u-1",
        "agent_harness": AgentHarness.CLAUDE_CODE,
        "file_path": "/srv/octo/app.py",
        "accepted": True,
        "explicit": True,
        "interaction_mode": "agent",
        "commit_sha": None,
        "call_id": "toolu_1",
        "edit_retention_score": None,
        "observation_delay_ms": None,
        "occurred_at": parse_instant("2026-01-01T00:00:01.5Z"),
        "captured_at": parse_instant("2026-01-01T00:00:02.000001Z"),
    }


@pytest.mark.parametrize(
    ("agent", "decision", "source", "accepted", "explicit"),
    [
        ("claude_code", "accept", "user_temporary", True, True),
        ("claude_code", "accept", "user_permanent", True, True),
        ("claude_code", "accept", "config", True, False),
        ("claude_code", "accept", "hook", True, False),
        ("claude_code", "reject", "user_reject", False, True),
        ("claude_code", "reject", "user_abort", False, True),
        ("claude_code", "reject", "config", False, False),
        ("codex", "approved", "user", True, True),
        ("codex", "approved_for_session", "config", True, False),
        ("codex", "approved_execpolicy_amendment", "user", True, True),
        ("codex", "denied", "user", False, True),
        ("codex", "abort", "user", False, True),
        ("codex", "timed_out", "user", False, False),
        ("codex", "approved", "automated_reviewer", True, False),
    ],
)
def test_words_say_whether_and_by_whom(agent: str, decision: str, source: str, accepted: bool, explicit: bool) -> None:
    record = tool_decision(agent, None, decision=decision, source=source)
    fact = only_fact(SOURCE, request(record, service="claude-code" if agent == "claude_code" else "codex_cli_rs"))
    assert (fact.accepted, fact.explicit) == (accepted, explicit)
    assert fact.agent_harness.value == {"claude_code": "claude-code", "codex": "codex"}[agent]


@pytest.mark.parametrize(
    ("key", "value"), [("source", None), ("source", "someone"), ("decision", None), ("decision", 1)]
)
def test_word_that_is_not_known_is_never_guessed(key: str, value: Any) -> None:
    reason, detail = only_remainder(SOURCE, request(tool_decision(**{key: value})))
    assert (reason, detail.partition(":")[0]) == (Remainder.INVALID_VALUE, key)


def test_absent_call_file_and_user_stay_absent() -> None:
    fact = only_fact(SOURCE, request(tool_decision(user__id=None)))
    assert (fact.call_id, fact.file_path, fact.user_id) == (None, "", None)


@pytest.mark.parametrize(
    ("record", "service", "scope", "harness"),
    [
        (tool_decision(), "anything", "", "claude-code"),
        (tool_decision(body=None), "claude-code", "", "claude-code"),
        (tool_decision(body=None), "anything", "com.anthropic.claude_code.events", "claude-code"),
        (tool_decision("codex", None), "anything", "", "codex"),
        ({**tool_decision(body=None), "eventName": "claude_code.tool_decision"}, "anything", "", "claude-code"),
    ],
)
def test_agent_is_known_by_event_service_or_scope(record: Any, service: str, scope: str, harness: str) -> None:
    assert only_fact(SOURCE, request(record, service=service, scope=scope)).agent_harness.value == harness


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (tool_decision(body="claude_code.user_prompt", event__name="user_prompt"), Remainder.NO_EVIDENCE),
        (tool_decision(body="claude_code.tool_result", event__name="tool_result"), Remainder.NO_EVIDENCE),
        (tool_decision(body="gemini_cli.tool_call", event__name="gemini_cli.tool_call"), Remainder.INVALID_VALUE),
        (tool_decision(body="gemini_cli.config", event__name=None, decision=None), Remainder.NO_EVIDENCE),
        (tool_decision(session__id=None), Remainder.NO_SESSION),
        (tool_decision(event__timestamp="soon"), Remainder.INVALID_VALUE),
    ],
)
def test_other_events_are_counted_for_what_they_are(record: Any, reason: Remainder) -> None:
    assert only_remainder(SOURCE, request(record))[0] is reason


def test_event_of_an_unknown_program_is_an_unknown_shape() -> None:
    record = tool_decision(body="app.tool_decision", event__name="app.tool_decision")
    reason, detail = only_remainder(SOURCE, request(record, service="app"))
    assert (reason, detail) == (
        Remainder.UNKNOWN_SHAPE,
        "expected an event of Claude Code or Codex, got 'app.tool_decision'",
    )


def test_session_key_of_the_operator_comes_first() -> None:
    record = tool_decision(gateway__session="g-1")
    assert only_fact(SOURCE, request(record), session_keys=("gateway.session",)).session_id == "g-1"
    assert only_fact(SOURCE, request(tool_decision()), session_keys=("gateway.session",)).session_id == "s-1"


def test_session_may_be_an_attribute_of_the_resource() -> None:
    logs = request(tool_decision(session__id=None))
    logs["resourceLogs"][0]["resource"]["attributes"].append({"key": "session.id", "value": {"stringValue": "r-1"}})
    assert only_fact(SOURCE, logs).session_id == "r-1"


def test_time_is_the_events_else_the_records_else_the_operators() -> None:
    record = tool_decision(event__timestamp=None)
    assert only_fact(SOURCE, request(record)).occurred_at == parse_instant("2026-01-01T00:00:02Z")
    timeless = {**record, "timeUnixNano": "0", "observedTimeUnixNano": 0}
    assert only_remainder(SOURCE, request(timeless))[0] is Remainder.NO_INSTANT
    at = parse_instant("2026-02-02T00:00:00Z")
    fact = only_fact(SOURCE, request(timeless), instant=at)
    assert (fact.occurred_at, fact.captured_at) == (at, at)


def test_both_spellings_of_the_protocol_are_one() -> None:
    record = tool_decision()
    snake = {
        "resource_logs": [
            {
                "resource": {"attributes": []},
                "scope_logs": [
                    {
                        "log_records": [
                            {
                                "time_unix_nano": 1767225602000000000,
                                "observed_time_unix_nano": "1767225602000001000",
                                "body": {"string_value": "claude_code.tool_decision"},
                                "attributes": [
                                    {"key": item["key"], "value": {"string_value": item["value"]["stringValue"]}}
                                    for item in record["attributes"]
                                ],
                            }
                        ]
                    }
                ],
            }
        ]
    }
    told = [only_fact(SOURCE, value).model_copy(update={"raw": {}}) for value in (request(record), snake, record)]
    assert told[0] == told[1] == told[2]


def test_record_exported_again_is_repeated() -> None:
    again = {**tool_decision(), "observedTimeUnixNano": "1767225609000000000"}
    told = translate(SOURCE, request(tool_decision(), again), request(tool_decision(decision="reject")))
    assert [getattr(one, "reason", None) for one in told] == [None, Remainder.REPEATED, None]
    assert told[1].place == "in:1.resourceLogs[0].scopeLogs[0].logRecords[1]"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"resourceSpans": []}, Remainder.NO_EVIDENCE),
        ({"resourceMetrics": []}, Remainder.NO_EVIDENCE),
        ({"resourceLogs": []}, Remainder.NO_EVIDENCE),
        ({"resourceLogs": [{"scopeLogs": [{"logRecords": []}]}]}, Remainder.NO_EVIDENCE),
        ({"resourceLogs": {}}, Remainder.UNKNOWN_SHAPE),
        ({"resourceLogs": [{"scopeLogs": [{"logRecords": ["x"]}]}]}, Remainder.UNKNOWN_SHAPE),
        ({}, Remainder.UNKNOWN_SHAPE),
        (None, Remainder.UNKNOWN_SHAPE),
    ],
)
def test_what_holds_no_log_records_is_counted(value: Any, reason: Remainder) -> None:
    assert only_remainder(SOURCE, value)[0] is reason


def test_fixtures_give_decisions_and_count_the_rest() -> None:
    told = list(SOURCE.translate(find_capture_files([str(FIXTURES)]).documents(), CaptureOptions(ORG)))
    decisions = [one.fact for one in told if isinstance(one, Translated)]
    assert {one.TABLE.value for one in decisions} == {"developer_decisions"}
    assert [one.reason for one in told if isinstance(one, Untranslated)].count(Remainder.NO_EVIDENCE) == 5
    assert len(decisions) == 6


def test_source_says_that_decisions_alone_give_no_rollout() -> None:
    assert "no Rollout" in closing_note(SOURCE)
    assert closing_note(GITHUB) == ""
