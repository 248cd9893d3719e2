"""Running one command and saying what it cost: seconds, processor seconds, peak memory. Medians of several runs."""

import os
import platform
import sqlite3
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


class CommandError(Exception):
    """A measured command failed; what it said is in the message."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command cost: ``cpu`` counts the processes it waited for; ``peak`` (MB) is the largest process's."""

    wall: float
    cpu: float
    peak: float


def run(command: Sequence[str], env: Mapping[str, str], cwd: Path) -> Cost:
    """Run a command to its end. Call it from a small process: a child's peak begins with its parent's size.

    :raises CommandError: when it fails.
    """
    log = cwd / "output.log"
    with log.open("wb") as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, env=dict(env), cwd=cwd, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise CommandError(f"{' '.join(command)}: exit code {process.returncode}\n{log.read_text()[-2000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def median(runs: int, measured: Callable[[], Cost]) -> Cost:
    """Measure several times and return the median of each figure."""
    return medians([measured() for _ in range(runs)])


def medians(costs: Sequence[Cost]) -> Cost:
    """Return the median of each figure."""
    figures = [asdict(cost) for cost in costs]
    return Cost(**{name: statistics.median(cost[name] for cost in figures) for name in figures[0]})


def machine() -> dict[str, Any]:
    """Name the machine and the programs that matter."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), platform.processor())
    return {
        "processor": f"{model}, {os.cpu_count()} cores",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GB",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "git": subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[2],
    }
