"""``sediment export rlvr`` as a process: at a terminal, stopped, killed, and what it imports."""

import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD
from tests.cli.command import BASE_ENVIRONMENT, COMMAND, EXPORT, SEDIMENT, Evidence, default_signals, error_of, sediment
from tests.directories import names


def test_an_export_never_imports_dagster(tmp_path: Path, evidence: Evidence):
    code = (
        "import sys\n"
        "from sediment_assets.cli.main import main\n"
        f"assert main({list(SEDIMENT)}) == 0\n"
        "assert 'sqlalchemy' in sys.modules\n"
        "assert not [name for name in sys.modules if name.partition('.')[0] in ('dagster', 'resources', 'rich')]\n"
    )
    done = subprocess.run(
        [COMMAND[0], "-c", code], cwd=tmp_path, env=BASE_ENVIRONMENT | evidence.settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def on_terminal(cwd: Path, settings: dict[str, str], *arguments: str) -> str:
    """Run with a terminal as output and error stream; return what it received."""
    terminal, end = os.openpty()
    process = subprocess.Popen([*COMMAND, *arguments], cwd=cwd, env=BASE_ENVIRONMENT | settings, stdout=end, stderr=end)
    os.close(end)
    received = b""
    try:
        while chunk := os.read(terminal, 65536):
            received += chunk
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    process.wait()
    return received.decode()


def test_a_terminal_gets_marks_colours_and_notes_unless_it_declines(tmp_path: Path, evidence: Evidence):
    settings = evidence.settings | {"TERM": "xterm", "SEDIMENT_VERIFIER_COMMANDS_FILE": "no.toml"}
    text = on_terminal(tmp_path, settings, *SEDIMENT)
    assert "\x1b[32m✓\x1b[0m wrote out/tasks.train.jsonl (1 rows)" in text
    assert "no.toml: no such file" in text
    assert "\x1b[2mnote: no rows for tasks.eval.jsonl, rollouts.eval.jsonl, so no such file is written\x1b[0m" in text
    assert "jsonl_empty_input_no_write" not in text
    assert "\x1b[31m✗\x1b[0m error: out: already holds an export" in on_terminal(tmp_path, settings, *SEDIMENT)
    for decline in ({"NO_COLOR": ""}, {"TERM": "dumb"}):
        out = f"out-{next(iter(decline))}"
        text = on_terminal(tmp_path, settings | decline, *EXPORT, "--target", "nemo-gym", "--out", out)
        assert f"wrote {out}/rollouts.train.jsonl (1 rows)" in text
        assert "jsonl_empty_input_no_write: no rows for " in text
        assert "\x1b" not in text


def start_and_stop_while_projecting(
    tmp_path: Path, evidence: Evidence, number: int
) -> subprocess.CompletedProcess[str]:
    """Start an export, and send a signal while it holds the claim and waits for git."""
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout.strip()
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\n[ -e "{tmp_path}/out/{LOCK}" ] && exec sleep 30\nexec {real} "$@"\n')
    slow.chmod(slow.stat().st_mode | stat.S_IXUSR)
    environment = BASE_ENVIRONMENT | evidence.settings
    environment["PATH"] = f"{slow.parent}:{environment['PATH']}"
    process = subprocess.Popen(
        [*COMMAND, *SEDIMENT],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=default_signals,
    )
    deadline = time.monotonic() + 300
    while not (tmp_path / "out" / CLAIM).exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(number)
    output, error = process.communicate(timeout=300)
    return subprocess.CompletedProcess(process.args, process.returncode, output, error)


@pytest.mark.parametrize(
    ("number", "code", "error"),
    [
        (signal.SIGINT, 130, "error: interrupted; nothing was left half-written\n"),
        (signal.SIGTERM, 143, ""),
        (signal.SIGHUP, 129, ""),
    ],
)
def test_a_stopped_export_leaves_only_the_claim(tmp_path: Path, evidence: Evidence, number: int, code: int, error: str):
    done = start_and_stop_while_projecting(tmp_path, evidence, number)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", error)
    assert names(tmp_path / "out") == [CLAIM]


def test_a_killed_export_refuses_the_next_until_its_lock_is_removed(tmp_path: Path, evidence: Evidence):
    assert start_and_stop_while_projecting(tmp_path, evidence, signal.SIGKILL).returncode == -signal.SIGKILL
    assert LOCK in names(tmp_path / "out")
    assert "in progress, or was killed" in error_of(sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings))
    (tmp_path / "out" / LOCK).rmdir()
    assert sediment(*SEDIMENT, cwd=tmp_path, settings=evidence.settings).returncode == 0
    assert names(tmp_path / "out") == [RECORD, CLAIM, "environment.yaml", "rollouts.train.jsonl", "tasks.train.jsonl"]
