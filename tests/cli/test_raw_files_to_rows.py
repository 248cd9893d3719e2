"""From a gateway log, a webhook folder and a repository to rows, by the commands of docs/quickstart.md as printed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.publish.record import verify_generation
from tests import github_payloads
from tests.gateway_payloads import chat_response, function_call, payload
from tests.git.repositories import applied_tree, git, tree_of

QUICKSTART = Path(__file__).parents[2] / "docs" / "quickstart.md"
SESSION = "fix-rounding-0611"
CLONE_URL = "https://github.com/acme/widget.git"
BEFORE = b"def fee(amount):\r\n    return amount * 0.029\r\n"
AFTER = b"def fee(amount):\r\n    return round(amount * 0.029, 2)\r\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", QUICKSTART.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def make_repository(directory: Path) -> tuple[str, str]:
    """Make a working clone with an upstream, a commit before the Session's, and the Session's; return both."""
    identity = {
        f"GIT_{role}_{part}": "a@example.test" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
    }
    dates = {"GIT_AUTHOR_DATE": "1772442000 +0000", "GIT_COMMITTER_DATE": "1772442000 +0000"}
    work, commits = directory / "widget", []
    git(directory, "init", "--quiet", "--bare", "--initial-branch=main", "upstream.git")
    git(directory, "init", "--quiet", "--initial-branch=main", "widget")
    git(work, "remote", "add", "origin", str(directory / "upstream.git"))
    for content in (BEFORE, AFTER):
        (work / "fees.py").write_bytes(content)
        git(work, "add", "fees.py")
        git(work, "commit", "--quiet", "-m", "Change fees", **identity, **dates)
        commits.append(git(work, "rev-parse", "HEAD").decode().strip())
    git(work, "push", "--quiet", "origin", "main")
    return commits[0], commits[1]


def log_lines() -> list[dict[str, Any]]:
    """Two calls of one Session, the second after its tool call was answered."""
    ask = [{"role": "user", "content": "Fees have too many digits. Round them to cents."}]
    edit = function_call("t1", "edit", json.dumps({"path": "fees.py"}))
    called = {"role": "assistant", "content": None, "tool_calls": [edit]}
    answered = {"role": "tool", "tool_call_id": "t1", "content": "ok"}
    first = payload(messages=ask, response=chat_response(called))
    second = payload(
        messages=[*ask, called, answered], response=chat_response({"role": "assistant", "content": "Done."})
    )
    for number, line in enumerate((first, second)):
        line |= {
            "id": f"chatcmpl-{number}",
            "startTime": line["startTime"] + number,
            "endTime": line["endTime"] + number,
        }
        line["response"]["id"] = line["id"]
        line["metadata"] = {**line.get("metadata", {}), "session_id": SESSION}
    return [first, second]


def deliveries(base: str, head: str) -> dict[str, dict[str, Any]]:
    repository = github_payloads.repository(
        name="widget", full_name="acme/widget", html_url="https://github.com/acme/widget", clone_url=CLONE_URL,
        pushed_at=1772442060,
    )  # fmt: skip
    push = github_payloads.push(before=base, after=head, repository=repository)
    run = github_payloads.workflow_run(head_sha=head, repository=repository, updated_at="2026-03-02T09:05:00Z")
    return {
        "push.json": github_payloads.delivery(push, "push"),
        "ci.json": github_payloads.delivery({**run, "repository": repository}, "workflow_run"),
    }


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    directory = tmp_path_factory.mktemp("team")
    base, head = make_repository(directory)
    (directory / "logs").mkdir()
    (directory / "logs/litellm.jsonl").write_text("".join(json.dumps(line) + "\n" for line in log_lines()))
    (directory / "deliveries").mkdir()
    for name, body in deliveries(base, head).items():
        (directory / "deliveries" / name).write_text(json.dumps(body))
    return directory, base, head


@pytest.fixture(scope="module")
def done(team: tuple[Path, str, str]) -> "subprocess.CompletedProcess[str]":
    """The whole page, run by one shell."""
    directory, _, _ = team
    (directory / "home/bin").mkdir(parents=True)
    program = directory / "home/bin/sediment"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m sediment_assets.cli.main "$@"\n')
    program.chmod(0o755)
    (directory / "home/.gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.test\n"
        f'[url "file://{directory}/upstream.git"]\n\tinsteadOf = {CLONE_URL}\n'  # there is no network here
    )
    environment = {
        "PATH": f"{directory}/home/bin:{os.environ['PATH']}",
        "HOME": f"{directory}/home",
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
        "SEDIMENT_DEV_MODE": "true",
    }
    script = "set -euo pipefail\n" + "\n".join(blocks("bash"))
    return subprocess.run(["bash", "-c", script], cwd=directory, env=environment, capture_output=True, text=True)


def test_every_printed_command_works_and_says_what_the_page_says(done: "subprocess.CompletedProcess[str]"):
    assert done.returncode == 0, done.stderr
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["jsonl_empty_input_no_write"]  # no eval rows
    shown = blocks("text")
    assert len(shown) >= 3
    assert [block for block in shown if block not in done.stdout] == [], f"said instead:\n{done.stdout}"


def test_the_row_holds_the_request_the_verdict_and_a_patch_that_applies(
    done: "subprocess.CompletedProcess[str]", team: tuple[Path, str, str], tmp_path: Path
):
    directory, base, head = team
    assert done.returncode == 0, done.stderr
    record = verify_generation(directory / "rows/sediment")
    assert record.populations["tasks"].rows == 1
    [row] = map(json.loads, (directory / "rows/sediment/tasks.train.jsonl").read_bytes().splitlines())
    assert row["problem_statement"] == "Fees have too many digits. Round them to cents."
    assert row["base_commit"] == base
    patch = next(value for value in row.values() if isinstance(value, str) and value.startswith("diff --git"))
    assert applied_tree(directory / "upstream.git", base, patch, tmp_path / "scratch") == tree_of(
        directory / "upstream.git", head
    )
    assert '"passed"' in json.dumps(row)
