"""``sediment generations prune`` beside readers, beside itself, and killed at every moment."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sediment_assets.adapters.generations.catalog import find_generations
from sediment_assets.adapters.generations.intact import verify_files
from sediment_assets.adapters.generations.prune import Removal, Verdict, plan_pruning, remove
from sediment_assets.publish.durable import remove_tree
from sediment_assets.publish.generation import claimed_directory
from sediment_assets.targets.registry import Target
from tests import forked_command
from tests.cli.command import BASE_ENVIRONMENT, COMMAND
from tests.directories import names
from tests.faults.moments import CountMoments, KillAt
from tests.generation_root import DAY, Root

PRUNE = ("generations", "prune", "exports", "--keep", "1", "--no-instance", "--yes")
READER = """
import sys
from pathlib import Path
from sediment_assets.publish.reading import held_for_reading
with held_for_reading(Path(sys.argv[1])):
    print("reading", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """Two complete generations of a day, the empty one of another superseded, and an export that failed."""
    root = Root(tmp_path / "exports")
    root.rows("old.0")
    root.rows("new.0")
    with pytest.raises(RuntimeError), claimed_directory(root.place("nemo-gym", "failed.0"), Target.NEMO_GYM):
        raise RuntimeError
    return root


def prune(root: Root, fault: forked_command.Fault | None = None) -> subprocess.CompletedProcess[str]:
    return forked_command.sediment(PRUNE, cwd=root.path.parent, env=BASE_ENVIRONMENT, fault=fault)


@contextmanager
def reader_of(generation: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process in the middle of reading."""
    process = subprocess.Popen(
        [sys.executable, "-c", READER, str(generation)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "reading\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_generation_that_another_process_reads_is_left_alone(root: Root):
    old = root.path / "nemo-gym" / DAY / "old.0"
    with reader_of(old) as reader:
        done = prune(root)
        assert (done.returncode, done.stderr) == (0, "")
        assert "old.0: left alone: it is being read" in done.stdout
        verify_files(old)
        os.kill(reader.pid, signal.SIGKILL)  # a reader that dies holds nothing
        reader.wait()
        assert "removed 1 of 1 generation," in prune(root).stdout
    assert names(old.parent) == ["new.0"]


def test_killed_at_any_moment_nothing_half_removed_is_ever_taken_for_a_generation(root: Root, tmp_path: Path):
    pristine = tmp_path / "pristine"
    shutil.copytree(root.path, pristine, copy_function=shutil.copy2)
    count = tmp_path / "count"
    assert prune(root, CountMoments(count)).returncode == 0
    total = int(count.read_text())
    assert total > 10
    day = root.path / "nemo-gym" / DAY
    for moment in range(total):
        shutil.rmtree(root.path)
        shutil.copytree(pristine, root.path, copy_function=shutil.copy2)
        assert prune(root, KillAt(moment)).returncode == -signal.SIGKILL
        complete = [one for one in find_generations(root.path) if one.is_complete]
        assert "new.0" in {one.name for one in complete}
        assert all(verify_files(one.path) for one in complete)
        done = prune(root)
        assert (done.returncode, done.stderr) == (0, "")
        # Between its two locks a killed removal leaves no proof, like a killed export; a person is told.
        left = set(names(day)) - {"new.0"}
        assert left <= {"failed.0"}
        assert not left or "failed.0: incomplete, and not provably dead" in done.stdout


def test_two_prunings_at_once_remove_everything_once(root: Root):
    for number in range(20):
        root.rows(f"more{number}.0")
    environment = {**BASE_ENVIRONMENT}
    processes = [
        subprocess.Popen(
            [*COMMAND, *PRUNE], cwd=root.path.parent, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in processes:
        _, stderr = process.communicate()
        assert (process.returncode, stderr) == (0, "")
    assert names(root.path / "nemo-gym" / DAY) == ["more19.0"]


@pytest.mark.parametrize("verdict", [verdict for verdict in Verdict if verdict.value in {"superseded", "dead"}])
def test_what_another_pruning_took_meanwhile_is_removed(root: Root, verdict: Verdict):
    (decision,) = (one for one in plan_pruning(root.path, 1) if one.verdict is verdict and one.partition == DAY)
    assert remove(decision) is Removal.REMOVED
    assert remove(decision) is Removal.REMOVED


def test_a_tree_that_two_processes_remove_is_removed_by_the_slower_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "left").touch()
    attempts = iter([FileNotFoundError("an entry that the other process took")])
    rmtree = shutil.rmtree

    def remove_after_the_other(path: Path) -> None:
        if (failure := next(attempts, None)) is not None:
            raise failure
        rmtree(path)

    monkeypatch.setattr(shutil, "rmtree", remove_after_the_other)
    remove_tree(tree)
    assert not tree.exists()
