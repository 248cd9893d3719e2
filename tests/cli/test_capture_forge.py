"""``sediment capture github``, ``ci`` and ``otlp`` as an operator runs them: folders, pages, repetition, remarks."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.cli.capture import add_parser
from sediment_assets.errors import SedimentError
from tests.ci_payloads import gitlab, gitlab_project, jenkins
from tests.github_payloads import ZEROS, delivery, push, renamed, run, workflow_run
from tests.otlp_payloads import request, tool_decision


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SEDIMENT_DATABASE_URL", f"sqlite:///{tmp_path}/facts.db")
    monkeypatch.setenv("SEDIMENT_ORG_ID", "acme")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "facts.db"


def capture(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> list[str]:
    """Run the command and return what it printed, runs of blanks made one."""
    parser = argparse.ArgumentParser(prog="sediment")
    add_parser(parser.add_subparsers())
    args = parser.parse_args(["capture", *map(str, arguments)])
    assert args.run(args) == 0
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def webhooks(tmp_path: Path) -> Path:
    folder = tmp_path / "webhooks"
    folder.mkdir()
    deliveries: list[Any] = [
        delivery(push(before=ZEROS, created=True), "push"),
        workflow_run("requested", conclusion=None, status="queued"),
        delivery(workflow_run(conclusion="failure"), "workflow_run"),
        delivery(workflow_run(run_attempt=2), "workflow_run"),
        renamed(),
        delivery({"action": "created"}, "star"),
    ]
    for number, value in enumerate(deliveries):
        (folder / f"{number}.json").write_text(json.dumps(value))
    return folder


def test_webhook_folder_and_rest_pages_overlap_without_harm(
    webhooks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = capture(capsys, "github", webhooks)
    assert "ci_outcomes 2 2 0 -" in first
    assert "pushes 1 1 0 -" in first
    assert "repository_renames 1 1 0 -" in first
    assert "no_evidence 1 1 event star created" in first
    assert "not_terminal 1 1 workflow_run with action 'requested'" in first
    pages = tmp_path / "pages.json"
    pages.write_text(
        json.dumps({"total_count": 2, "workflow_runs": [run(run_attempt=2)]})
        + json.dumps({"total_count": 2, "workflow_runs": [run(id=9002)]})
    )
    assert "ci_outcomes 2 1 1 -" in capture(capsys, "github", pages)
    assert "ci_outcomes 2 0 2 -" in capture(capsys, "github", webhooks)


def test_broken_delivery_stops_everything_and_is_named(
    webhooks: Path, store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = webhooks / "9.json"
    broken.write_text(json.dumps(push())[:-20])
    with pytest.raises(SedimentError, match=r"9\.json"):
        capture(capsys, "github", webhooks)
    broken.unlink()
    assert "pushes 1 1 0 -" in capture(capsys, "github", webhooks)


def test_settings_name_the_repositories_that_records_do_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = tmp_path / "ends.jsonl"
    nested = {**gitlab(), "project": gitlab_project("octo/team/web")}
    unnamed = jenkins(actions=[{"lastBuiltRevision": {"SHA1": "4c" * 20}}])
    records.write_text("".join(json.dumps(value) + "\n" for value in (nested, unnamed)))
    refused = capture(capsys, "ci", records, "--dry-run")
    assert "no_repository 2 unexpected" in refused
    told = capture(capsys, "ci", records, "--set", "repo=octo/site", "--set", "repo:octo/team/web=octo/web")
    assert "ci_outcomes 2 2 0 -" in told


def test_summary_of_otlp_says_that_decisions_alone_give_no_rollout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs = tmp_path / "agents.jsonl"
    logs.write_text(json.dumps(request(tool_decision())) + "\n" + json.dumps(request(tool_decision(decision="reject"))))
    told = capture(capsys, "otlp", logs)
    assert "developer_decisions 2 2 0 -" in told
    assert any(line.startswith("note: ") and "no Rollout" in line for line in told)
