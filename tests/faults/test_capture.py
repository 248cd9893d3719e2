"""A capture that is killed or ended while its input is still coming: nothing is stored, nothing looks complete."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.command import BASE_ENVIRONMENT, COMMAND, default_signals
from tests.fact_files import store_content
from tests.gateway_payloads import payload

RECORDS = 600
"""More than a batch of rows and a buffer of a file, so that some were written when the end comes."""
MESSAGES = [{"role": "user", "content": "Go. " * 600}]
LOG = b"".join(json.dumps(payload(id=f"c{number}", messages=MESSAGES)).encode() + b"\n" for number in range(RECORDS))


def capture(directory: Path, *arguments: str) -> "subprocess.Popen[bytes]":
    env = BASE_ENVIRONMENT | {"SEDIMENT_ORG_ID": "acme", "SEDIMENT_DATABASE_URL": f"sqlite:///{directory}/facts.db"}
    return subprocess.Popen(
        [*COMMAND, "capture", "litellm", "-", *arguments],
        cwd=directory,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=default_signals,
    )


def is_writing(directory: Path) -> bool:
    """Whether a transaction has begun to change the store, or a staged file has content."""
    return any(directory.glob("facts.db-journal")) or any(
        path.stat().st_size for path in directory.glob(".facts.*/*.jsonl")
    )


def end_in_the_middle(directory: Path, number: signal.Signals, *arguments: str) -> int:
    """Start a capture, feed it, end it while it waits for more input."""
    process = capture(directory, *arguments)
    assert process.stdin is not None
    process.stdin.write(LOG)
    process.stdin.flush()
    deadline = time.monotonic() + 60
    while not is_writing(directory):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(number)
    process.communicate()
    return process.returncode


def finish(directory: Path, *arguments: str) -> None:
    process = capture(directory, *arguments)
    out, err = process.communicate(LOG)
    assert process.returncode == 0, (out, err)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_an_ended_run_stores_nothing_and_the_next_one_everything(tmp_path: Path, number: signal.Signals):
    url = f"sqlite:///{tmp_path}/facts.db"
    assert end_in_the_middle(tmp_path, number) != 0
    assert store_content(url)["inference_calls"] == []
    finish(tmp_path)
    assert len(store_content(url)["inference_calls"]) == RECORDS


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_an_ended_emission_leaves_no_directory_and_the_next_one_a_whole_one(tmp_path: Path, number: signal.Signals):
    assert end_in_the_middle(tmp_path, number, "--emit", "facts") != 0
    assert not (tmp_path / "facts").exists()
    if number is not signal.SIGKILL:
        assert list(tmp_path.iterdir()) == []
    finish(tmp_path, "--emit", "facts")
    assert (tmp_path / "facts" / "inference_calls.jsonl").read_bytes().count(b"\n") == RECORDS
