"""``sediment capture transcripts`` as a team without a gateway uses it: its agents' own files, up to rows."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.cli.main import main
from tests.transcript_writers import Step, claude_code, codex, swe_agent
from tests.transcripts import SESSION, ClaudeFile, text

STEPS = [Step("fix \x1b[31mit\x1b[0m\r\n", "looking", "hm", 2, 0), Step("", "done", "", 0, 1)]

Run = Callable[..., tuple[int, str, str]]


def write(path: Path, records: Sequence[Any], end: str = "\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(json.dumps(record) + end for record in records).encode())


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """What Claude Code and Codex leave in a home directory, with CRLF line ends as on Windows."""
    sub = ClaudeFile(name="c", isSidechain=True, agentId="a0ad4f")
    sub.user("search")
    sub.assistant("msg_000000000000a001", text("found"))
    write(tmp_path / "claude" / "-repo" / f"{SESSION}.jsonl", claude_code(STEPS), "\r\n")
    write(tmp_path / "claude" / "-repo" / SESSION / "subagents" / "agent-a0ad4f.jsonl", sub)
    write(tmp_path / "codex" / "2026" / "rollout-1.jsonl", codex(STEPS))
    return tmp_path


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("SEDIMENT_ORG_ID", "acme")
    monkeypatch.setenv("SEDIMENT_DATABASE_URL", f"sqlite:///{home}/facts.db")
    monkeypatch.setenv("SEDIMENT_MIRROR_PATH", str(home / "mirrors"))
    monkeypatch.chdir(home)
    (home / "mirrors").mkdir()

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(list(arguments))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_an_agents_own_files_become_rows_and_capturing_again_changes_nothing(run: Run, home: Path) -> None:
    code, shown, _ = run("capture", "transcripts", "claude", "codex")
    assert code == 0
    assert "inference_calls      5       5        0" in shown
    assert "unexpected" not in shown
    _, again, _ = run("capture", "transcripts", "claude", "codex")
    assert "inference_calls      5       0        5" in again
    assert run("export", "rlvr", "--target", "nemo-gym", "--out", "out")[0] == 0
    rows = [
        json.loads(line)
        for path in sorted((home / "out").glob("rollouts.*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
    ]
    turns = {row["metadata"]["session_id"]: len(row["response"]["turns"]) for row in rows}
    assert turns == {SESSION: 2, f"{SESSION}/agent-a0ad4f": 1, "019c4b43-1451-7af3-be4c-000000000001": 2}
    (first,) = (row for row in rows if row["metadata"]["session_id"] == SESSION)
    assert first["responses_create_params"]["input"][0]["parts"][0]["content"] == "fix \x1b[31mit\x1b[0m\r\n"


def test_a_truncated_copy_stores_nothing_and_says_where_it_broke(run: Run, home: Path) -> None:
    whole = home / "claude" / "-repo" / f"{SESSION}.jsonl"
    whole.write_bytes(whole.read_bytes()[:-40])
    lines = whole.read_bytes().count(b"\n") + 1
    code, shown, problems = run("capture", "transcripts", "claude")
    assert code == 1
    assert f"{SESSION}.jsonl:{lines}: expected JSON" in shown + problems
    assert "no Facts" in run("facts")[1]


def test_trajectories_without_a_time_are_refused_until_it_is_stated(run: Run, home: Path) -> None:
    write(home / "runs" / "i-1.traj", swe_agent(STEPS))
    _, shown, _ = run("capture", "transcripts", "runs", "--dry-run")
    assert "no_instant" in shown
    assert "--instant states one" in shown
    _, stated, _ = run("capture", "transcripts", "runs", "--instant", "2026-01-31T12:00:00Z")
    assert "inference_calls      2       2        0" in stated
