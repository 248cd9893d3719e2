"""The deployment of docs/several-machines.md, for real: one queue, two workers, PostgreSQL for everything shared.

Every machine is a home directory of its own here; what they share is the broker, two databases, the mirrors and the
export root.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from sediment_assets.defs.keys import segment
from sediment_assets.demo import plant_evidence
from sediment_assets.publish.record import verify_generation
from sediment_assets.targets.registry import Target
from tests.ports import free_port
from tests.postgres.conftest import Server, new_database, server

__all__ = ["new_database", "server"]  # fixtures of this module, too

REDIS = shutil.which("redis-server")
if REDIS is None:
    pytest.skip("no redis-server on this machine", allow_module_level=True)
pytest.importorskip("dagster_celery", reason="the extra `celery` is not installed")

DEPLOYMENT = Path(__file__).resolve().parents[2] / "docs/deployment/celery"
BIN = Path(sys.executable).parent
DAYS = [f"2026-11-{day:02}" for day in range(2, 9)]
START_SECONDS = 120
BACKFILL_SECONDS = 600

RUNS = """
import dagster as dg
with dg.DagsterInstance.get() as instance:
    for run in instance.get_runs(dg.RunsFilter(job_name="materialize_day")):  # a sensor may observe meanwhile
        print(run.tags["dagster/partition"], run.status.value)
"""


@dataclass(frozen=True)
class Cluster:
    """The shared parts as settings, and where each machine's home is made."""

    work: Path
    environment: Mapping[str, str]

    def machine(self, name: str) -> dict[str, str]:
        """The environment of one machine, its home prepared as the guide says."""
        home = self.work / name
        home.mkdir()
        shutil.copy(DEPLOYMENT / "dagster.yaml", home)
        return {**self.environment, "DAGSTER_HOME": str(home)}

    def log(self, name: str) -> str:
        return (self.work / f"{name}.log").read_text(errors="replace")

    @contextmanager
    def running(self, name: str, *command: str, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
        """A process in a group of its own: Celery's children survive their parent otherwise."""
        with (self.work / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.work, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
            try:
                yield process
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    process.wait(20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def wait_for_words(self, name: str, words: str) -> None:
        """Wait until a process that was started says that it is ready."""
        self.wait(name, lambda: words in self.log(name), START_SECONDS)

    def wait(self, name: str, done: Callable[[], bool], seconds: float) -> None:
        limit = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < limit, f"{name}: not within {seconds} s\n{self.log(name)[-3000:]}"
            time.sleep(0.5)


@pytest.fixture
def cluster(tmp_path: Path, new_database: Callable[[], str], server: Server) -> Iterator[Cluster]:
    demo = plant_evidence(tmp_path / "demo")
    port = free_port()
    environment = {
        **os.environ,
        **demo.settings,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "SEDIMENT_DATABASE_URL": server.url(new_database()),
        "SEDIMENT_EXPORT_ROOT": str(tmp_path / "exports"),
        "SEDIMENT_INSTANCE_URL": server.url(new_database()).replace("postgresql:", "postgresql+psycopg2:"),
        "SEDIMENT_CELERY_BROKER": f"redis://127.0.0.1:{port}/0",
        "SEDIMENT_CELERY_BACKEND": f"redis://127.0.0.1:{port}/1",
    }
    subprocess.run([BIN / "sediment", "facts", "import", demo.facts_directory], env=environment, check=True)
    found = Cluster(tmp_path, environment)
    redis = [str(REDIS), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    with found.running("redis", *redis, environment=environment):
        found.wait_for_words("redis", "Ready to accept connections")
        yield found


def test_a_backfill_is_shared_by_two_workers_and_every_generation_is_whole(cluster: Cluster) -> None:
    control = cluster.machine("control")
    workspace = control["DAGSTER_HOME"] + "/workspace.yaml"
    Path(workspace).write_text("load_from:\n  - python_module: sediment_assets.definitions\n")
    for target in Target:
        limit = [str(BIN / "dagster"), "instance", "concurrency", "set", f"publish_{segment(target)}", "2"]
        subprocess.run(limit, env=control, check=True, capture_output=True, timeout=START_SECONDS)
    workers = ("worker-1", "worker-2")
    with ExitStack() as processes:
        for name in workers:
            command = [str(BIN / "dagster-celery"), "worker", "start", "-A", "dagster_celery.app", "-q", "dagster"]
            command += ["-y", str(DEPLOYMENT / "worker.yaml"), "-n", name, "--", "--concurrency", "1"]
            processes.enter_context(cluster.running(name, *command, environment=cluster.machine(name)))
        for name in workers:
            cluster.wait_for_words(name, " ready.")
        daemon = [str(BIN / "dagster-daemon"), "run", "-w", workspace]
        processes.enter_context(cluster.running("daemon", *daemon, environment=control))
        subprocess.run(
            [BIN / "dagster", "job", "backfill", "-w", workspace, "-j", "materialize_day", "--noprompt",
             "--from", DAYS[0], "--to", DAYS[-1]],
            env=control, check=True, capture_output=True, timeout=START_SECONDS,
        )  # fmt: skip
        runs: list[str] = []

        def ended() -> bool:
            shown = subprocess.check_output([sys.executable, "-c", RUNS], env=control, text=True)
            runs[:] = sorted(shown.splitlines())
            return len(runs) == len(DAYS) and not _unfinished(runs)

        try:
            cluster.wait("daemon", ended, BACKFILL_SECONDS)
        finally:
            print(*runs, *(f"{name}: {cluster.log(name)[-3000:]}" for name in workers), sep="\n")
    assert runs == [f"{day} SUCCESS" for day in DAYS]
    assert all(" succeeded in " in cluster.log(name) for name in workers), "one worker did everything"
    for target in Target:
        for day in DAYS:
            (generation,) = (cluster.work / "exports" / target / day).iterdir()
            verify_generation(generation)


def _unfinished(runs: list[str]) -> list[str]:
    return [run for run in runs if run.split()[1] not in {"SUCCESS", "FAILURE", "CANCELED"}]
