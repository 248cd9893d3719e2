"""Payloads that are damaged at random: no source crashes, every record is accounted for, nothing depends on the run."""

import copy
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.fact_store.import_lines import parse_line
from sediment_assets.capture.contract import CaptureOptions, Document, Record, Source, Translated, Untranslated
from sediment_assets.capture.registry import SOURCES
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import MAX_DEPTH, decode, encode_stored
from tests import ci_payloads as ci
from tests import gateway_payloads as gateway
from tests import github_payloads as github
from tests.builders import ORG
from tests.otlp_payloads import request, tool_decision

DEEP: Any = {}
for _ in range(50):
    DEEP = {"a": [DEEP]}
JUNK: list[Any] = [
    *(None, True, False, 0, -1, 1, 2**63, 10**30, 1.5, float("nan")),
    *("", " ", "x", "\x00", "\ud800", "a/b/c", "=", "9" * 25, "2026-01-01", "0001-01-01T00:00:00Z", "https://["),
    *([], [[]], [None], {}, {"": None}, {"id": {}}, DEEP),
]
"""Values of every kind, and texts that break careless readers."""
KEYS = [
    "action",
    "workflow_run",
    "workflow_runs",
    "headers",
    "body",
    "payload",
    "request",
    "event",
    "object_kind",
    "resourceLogs",
    "scopeLogs",
    "logRecords",
    "attributes",
    "context",
    "type",
    "values",
    "run",
    "build",
]
PAYLOADS: dict[str, list[Any]] = {
    "github": [
        github.run(pull_requests=[{"number": 1, "base": {"repo": {"id": 70112}}}]),
        github.workflow_run(),
        {"total_count": 1, "workflow_runs": [github.run()]},
        github.delivery(github.push(), "push"),
        {"x-github-event": "repository", "body": github.renamed(), "timestamp": 1767225600000},
        {"guid": "d", "delivered_at": ci.ENDED, "request": {"headers": {}, "payload": github.push()}},
        github.renamed(changes={"owner": {"from": {"user": {"login": "mona"}}}}),
    ],
    "ci": [
        ci.neutral(),
        {**ci.gitlab("failed"), "builds": [ci.gitlab_job("runner_system_failure")]},
        ci.bitbucket(),
        ci.bitbucket_status(),
        ci.forgejo(prettyref="#1", event_payload='{"pull_request": {"head": {"ref": "x"}}}'),
        {"headers": {"x-gitea-event": "workflow_run"}, "body": ci.gitea()},
        ci.circleci(),
        [ci.circleci_pipeline(), ci.circleci_workflow()],
        ci.buildkite(pull_request={"id": "12"}),
        ci.jenkins(),
        ci.jenkins_message(),
        ci.azure(),
        ci.azure(None, "succeeded", sourceVersion=None, sourceGetVersion=f"LG:refs/heads/main:{ci.SHA}"),
        ci.azure_run(),
        ci.cdevents(),
    ],
    "otlp": [
        request(tool_decision(), tool_decision(source="config", tool_use_id="toolu_1")),
        request(tool_decision(tool_parameters='{"file_path": "a.py"}'), service="codex_cli_rs"),
        {"resource_logs": [{"scope_logs": [{"log_records": [tool_decision()]}]}]},
    ],
    "litellm": gateway.LITELLM,
    "exchanges": gateway.EXCHANGES,
}


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) inside a value."""
    found: list[tuple[Any, Any]] = []
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        found.append((value, key))
        found += _places(value[key])
    return found


def _damaged(value: Any, random: Random) -> Any:
    value = copy.deepcopy(value)
    for _ in range(random.randint(1, 4)):
        places = _places(value)
        if not places:
            return value
        container, key = random.choice(places)
        new = random.choice([random.choice(JUNK), [container[key]], _DROP])
        if new is not _DROP:
            container[key] = copy.deepcopy(new)
        elif isinstance(container, dict):
            del container[key]
        else:
            container.pop(key)
    return value


_DROP = object()


def _translate(source: Source, values: list[Any], options: CaptureOptions) -> list[Translated | Untranslated]:
    records = [Record(f"in:{number}", value) for number, value in enumerate(values, 1)]
    return list(source.translate([Document("in", records)], options))


def _told_by(one: Translated | Untranslated) -> list[str]:
    return [one.place, *(one.others if isinstance(one, Translated) else ())]


def _check(name: str, values: list[Any], options: CaptureOptions) -> None:
    told = _translate(SOURCES[name], values, options)
    for number in range(1, len(values) + 1):
        place = f"in:{number}"
        assert any(at == place or at.startswith((f"{place}.", f"{place}[")) for one in told for at in _told_by(one)), (
            values
        )
    for one in told:
        if isinstance(one, Untranslated):
            assert one.detail
            assert "\n" not in one.detail
        else:
            line = encode_stored(one.fact.model_dump()).encode()
            assert parse_line(one.fact.TABLE.value, line).model_dump().keys() == one.fact.model_dump().keys()
    again = _translate(SOURCES[name], copy.deepcopy(values), options)
    assert [repr(one) for one in again] == [repr(one) for one in told]


@pytest.mark.parametrize("name", PAYLOADS)
@settings(max_examples=250)
@given(seed=st.integers(0, 2**32), instant=st.sampled_from([None, "2026-02-02T00:00:00Z"]))
def test_damaged_payloads_are_accounted_for(name: str, seed: int, instant: str | None) -> None:
    random = Random(seed)
    values = [_damaged(random.choice(PAYLOADS[name]), random) for _ in range(3)]
    options = CaptureOptions(ORG, instant=None if instant is None else parse_instant(instant))
    _check(name, [*values, values[0]], options)


@pytest.mark.parametrize("name", PAYLOADS)
@settings(max_examples=50)
@given(
    value=st.recursive(
        st.sampled_from(JUNK),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
        max_leaves=8,
    )
)
def test_any_json_is_accounted_for(name: str, value: Any) -> None:
    _check(name, [value], CaptureOptions(ORG))


@pytest.mark.parametrize("name", PAYLOADS)
def test_whole_payloads_give_facts(name: str) -> None:
    for payload in PAYLOADS[name]:
        assert any(isinstance(one, Translated) for one in _translate(SOURCES[name], [payload], CaptureOptions(ORG)))


def _nested(leaf: Any, depth: int, wrap: Callable[[Any], Any]) -> Any:
    for _ in range(depth):
        leaf = wrap(leaf)
    return leaf


@pytest.mark.parametrize("name", PAYLOADS)
@pytest.mark.parametrize(
    "wrap", [lambda inner: [inner], lambda inner: {"values": [inner]}, lambda inner: {"body": inner}]
)
def test_deepest_json_is_accounted_for(name: str, wrap: Callable[[Any], Any]) -> None:
    told = _translate(SOURCES[name], [_nested(None, MAX_DEPTH // 2, wrap)], CaptureOptions(ORG))
    assert len(told) == 1
    assert isinstance(told[0], Untranslated)


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        ("github", github.run()),
        ("github", github.workflow_run()),
        ("ci", ci.neutral(raw={})),
        ("ci", ci.gitlab()),
        ("otlp", tool_decision()),
        ("otlp", request(tool_decision())),
    ],
)
def test_payload_as_deep_as_a_file_may_hold_is_kept_whole(name: str, payload: dict[str, Any]) -> None:
    holder = (
        payload["raw"]
        if "raw" in payload
        else payload["resourceLogs"][0]["resource"]
        if "resourceLogs" in payload
        else payload
    )
    holder["extra"] = _nested(None, MAX_DEPTH - 8, lambda inner: [inner])
    decode(encode_stored(payload))
    (told,) = _translate(SOURCES[name], [payload], CaptureOptions(ORG))
    assert isinstance(told, Translated)
    decode(encode_stored(told.fact.raw))  # type: ignore[attr-defined]
