"""The vendor-neutral CI shape: CIOutcome's field names, strictly (facts.md §4.1)."""

import re
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.capture.ci_systems.neutral import KEYS
from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.sources.ci import SOURCE
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.instants import format_z, parse_instant
from sediment_assets.facts.json_values import decode
from tests.captured import only_fact, only_remainder
from tests.ci_payloads import SHA, neutral

WHOLE = {
    "repository_provider": "github",
    "repository_host": "github.com",
    "repository_id": "70112",
    "provider": "jenkins",
    "run_id": "web-31",
    "run_attempt": 2,
    "repo": "octo/web",
    "commit_sha": SHA,
    "branch": "main",
    "result": "error",
    "workflow_name": "unit tests",
    "workflow_id": "web",
    "workflow_path": "Jenkinsfile",
    "run_url": "https://ci.octo.example/web/31",
    "provider_result": "FAILURE",
    "error_type": "agent_lost",
    "reason": "the agent went away",
    "source_event_type": "build.done",
    "source_spec_version": "1",
    "source_event_id": "e-1",
    "pr_number": 12,
    "captured_at": "2026-01-01T00:04:00Z",
    "raw": {"anything": [1, None]},
}


def test_whole_object_is_the_fact() -> None:
    outcome = only_fact(SOURCE, WHOLE)
    told = outcome.model_dump(exclude={"outcome_id", "org_id", "schema_version"})
    assert told | {"captured_at": format_z(outcome.captured_at)} == WHOLE
    assert tuple(WHOLE) == KEYS


def test_smallest_object_leaves_the_rest_absent() -> None:
    outcome = only_fact(SOURCE, neutral())
    absent = CIOutcome.model_validate({**neutral(), "outcome_id": outcome.outcome_id, "org_id": "acme"})
    assert outcome == absent
    assert outcome.run_attempt is None


@pytest.mark.parametrize(
    ("changed", "reason", "detail"),
    [
        ({"workflow": "x"}, Remainder.INVALID_VALUE, "'workflow': expected only the keys of this shape"),
        ({"org_id": "acme"}, Remainder.INVALID_VALUE, "'org_id': expected only the keys of this shape; stored Facts"),
        ({"provider": "travis"}, Remainder.INVALID_VALUE, "provider: expected 'github_actions', 'jenkins'"),
        ({"result": "ok"}, Remainder.INVALID_VALUE, "result: expected 'passed', 'failed'"),
        ({"run_id": 7}, Remainder.INVALID_VALUE, "run_id: expected a non-blank string"),
        ({"run_id": None}, Remainder.INVALID_VALUE, "run_id: expected a value"),
        ({"branch": None}, Remainder.INVALID_VALUE, "branch: expected a value"),
        ({"run_attempt": "1"}, Remainder.INVALID_VALUE, "run_attempt: expected an integer"),
        ({"repository_id": "5"}, Remainder.INVALID_VALUE, "repository_id: expected repository_provider"),
        ({"captured_at": "2026-01-01"}, Remainder.INVALID_VALUE, "captured_at: expected a time with an offset"),
        ({"captured_at": None}, Remainder.NO_INSTANT, "the record does not say when"),
        ({"raw": []}, Remainder.INVALID_VALUE, "raw: expected"),
        ({"repo": "web"}, Remainder.NO_REPOSITORY, "repo: expected owner/name, got a path of 1 parts"),
    ],
)
def test_mistake_is_refused_by_its_name(changed: dict[str, Any], reason: Remainder, detail: str) -> None:
    got = only_remainder(SOURCE, neutral(**changed))
    assert got[0] is reason
    assert got[1].startswith(detail), got[1]


def test_refusal_never_shows_the_value() -> None:
    assert "hunter2" not in only_remainder(SOURCE, neutral(result="hunter2"))[1]


def test_operators_instant_serves_objects_without_a_time() -> None:
    at = parse_instant("2026-02-02T00:00:00Z")
    assert only_fact(SOURCE, neutral(captured_at=None), instant=at).captured_at == at


def test_example_of_the_page_is_of_this_shape() -> None:
    page = (Path(__file__).parents[3] / "docs" / "capture" / "ci.md").read_text()
    examples = [decode(text) for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    assert len(examples) >= 2
    for example in examples:
        assert only_fact(SOURCE, example).repo == "octo/web"
