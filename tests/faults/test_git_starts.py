"""When git cannot be started in the middle of an export, nothing is published: no row is lost for want of memory."""

import errno
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.publish.artifacts import CLAIM
from tests import forked_command
from tests.cli.command import BASE_ENVIRONMENT, Evidence
from tests.directories import names


@dataclass(frozen=True)
class RefuseStart:
    """Refuses one start of a process, as the kernel does; counts them in a file."""

    number: int
    error: int
    count: Path

    def __call__(self) -> None:
        started = -1

        def hook(event: str, _: Any) -> None:
            nonlocal started
            if event == "subprocess.Popen":
                started += 1
                self.count.write_text(str(started + 1))
                if started == self.number:
                    raise OSError(self.error, os.strerror(self.error))

        sys.addaudithook(hook)


@pytest.fixture
def export(tmp_path: Path, evidence: Evidence) -> Callable[..., Any]:
    env = BASE_ENVIRONMENT | evidence.settings

    def export(out: str, fault: RefuseStart) -> Any:
        arguments = ["export", "rlvr", "--target", "sediment", "--out", out]
        return forked_command.sediment(arguments, cwd=tmp_path, env=env, fault=fault)

    return export


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENOMEM, errno.EAGAIN])
def test_git_that_cannot_be_started_fails_the_export(tmp_path: Path, export: Callable[..., Any], error: int):
    count = tmp_path / "count"
    assert export("counted", RefuseStart(-1, error, count)).returncode == 0
    starts = int(count.read_text())
    assert starts > 2
    for number in range(starts):
        out = f"out{number}"
        done = export(out, RefuseStart(number, error, count))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1
        assert done.stderr.startswith("error: git: cannot be started for ")
        assert os.strerror(error) in done.stderr
        assert not (tmp_path / out).exists() or names(tmp_path / out) == [CLAIM]
