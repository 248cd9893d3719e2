"""Moments of a process: before each of its operations on files and processes, as Python's audit events tell them."""

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

OPERATIONS = {
    "fcntl.flock", "os.chmod", "os.link", "os.listdir", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.scandir",
    "sqlite3.connect", "subprocess.Popen",
}  # fmt: skip


def _is_operation(event: str, arguments: Any) -> bool:
    return event in OPERATIONS or (event == "open" and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))


def _at_each(action: Callable[[int], None]) -> None:
    number = -1
    busy = False

    def hook(event: str, arguments: Any) -> None:
        nonlocal number, busy
        if not busy and _is_operation(event, arguments):
            number += 1
            busy = True
            try:
                action(number)
            finally:
                busy = False

    sys.addaudithook(hook)


@dataclass(frozen=True)
class CountMoments:
    """Writes how many moments there were into a file."""

    path: Path

    def __call__(self) -> None:
        sink = os.open(self.path, os.O_WRONLY | os.O_CREAT)
        _at_each(lambda number: os.pwrite(sink, b"%8d" % (number + 1), 0) and None)


@dataclass(frozen=True)
class KillAt:
    """Kills the process, as ``kill -9`` does, at one moment."""

    moment: int

    def __call__(self) -> None:
        def kill(number: int) -> None:
            if number == self.moment:
                os.kill(os.getpid(), signal.SIGKILL)

        _at_each(kill)
