"""Several exports into one directory at once, as real processes: one publishes, the others say why they did not."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD
from sediment_assets.publish.record import verify_generation
from tests.cli.command import BASE_ENVIRONMENT, COMMAND, Evidence
from tests.directories import names

Start = Callable[..., "subprocess.Popen[str]"]

LOST = re.compile(
    r"error: out(/\.sediment-rlvr-export\.lock: an export .*in progress.*"
    r"|: already holds an export.*|: belongs to target \S+, not \S+: .*|/\S+: another program claimed .*)\n"
)


@pytest.fixture
def start(tmp_path: Path, evidence: Evidence) -> Iterator[Start]:
    """Start an export into ``out``; what still runs in the end is killed."""
    running: list[subprocess.Popen[str]] = []

    def start(target: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [*COMMAND, "export", "rlvr", "--target", target, "--out", "out"],
            cwd=tmp_path,
            env=BASE_ENVIRONMENT | evidence.settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate()


def stop_when_there(process: "subprocess.Popen[str]", path: Path) -> None:
    """Suspend a process as soon as it has made a path."""
    deadline = time.monotonic() + 60
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.0005)
    os.kill(process.pid, signal.SIGSTOP)


@pytest.mark.parametrize("target", ["sediment", "swe-bench"])
def test_while_one_export_runs_another_is_refused_at_once(tmp_path: Path, start: Start, target: str):
    first = start("sediment")
    stop_when_there(first, tmp_path / "out" / LOCK)
    before = names(tmp_path / "out")
    if RECORD in before:
        pytest.skip("this machine was too fast to be stopped within an export")
    second = start(target)
    stdout, stderr = second.communicate()
    assert (second.returncode, stdout) == (1, "")
    assert LOST.fullmatch(stderr)
    assert "in progress" in stderr
    assert names(tmp_path / "out") == before
    first.send_signal(signal.SIGCONT)
    assert first.wait() == 0
    record = verify_generation(tmp_path / "out")
    assert names(tmp_path / "out") == sorted([CLAIM, RECORD, *record.files])


@pytest.mark.parametrize("targets", [("sediment",) * 3, ("sediment", "nemo-gym", "swe-bench")])
def test_of_exports_started_together_one_wins_and_the_others_say_why(tmp_path: Path, start: Start, targets):
    rivals = [(target, start(target)) for target in targets]
    ended = [(target, *process.communicate(), process.returncode) for target, process in rivals]
    winners = [target for target, _, _, code in ended if code == 0]
    assert len(winners) == 1
    for _, stdout, stderr, code in ended:
        if code:
            assert (code, stdout) == (1, "")
            assert LOST.fullmatch(stderr), stderr
    record = verify_generation(tmp_path / "out")
    assert record.target == winners[0]
    assert names(tmp_path / "out") == sorted([CLAIM, RECORD, *record.files])


def test_exports_of_one_store_into_several_directories_do_not_disturb_each_other(tmp_path: Path, evidence: Evidence):
    """They share mirror locks, so they wait for each other and then write the same."""
    command = [*COMMAND, "export", "rlvr", "--target", "sediment", "--out"]
    env = BASE_ENVIRONMENT | evidence.settings
    processes = [
        subprocess.Popen([*command, f"out{number}"], cwd=tmp_path, env=env, stdout=subprocess.DEVNULL)
        for number in range(3)
    ]
    assert [process.wait() for process in processes] == [0, 0, 0]
    records = [verify_generation(tmp_path / f"out{number}") for number in range(3)]
    assert records[0] == records[1] == records[2]
