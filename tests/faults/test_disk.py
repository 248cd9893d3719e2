"""Full and read-only places, and other limits: one line that names the place, and nothing half-written."""

import resource
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from sediment_assets.publish.artifacts import CLAIM, PUBLICATION_ORDER, RECORD
from sediment_assets.publish.record import verify_generation
from tests import forked_command
from tests.cli.command import BASE_ENVIRONMENT, Evidence
from tests.directories import names
from tests.faults.mounts import read_only, small

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, evidence: Evidence) -> Run:
    """Run a command on the evidence in a directory of its own."""

    def run(*arguments: str, fault: forked_command.Fault | None = None, **settings: str) -> CompletedProcess[str]:
        env = BASE_ENVIRONMENT | evidence.settings | settings
        return forked_command.sediment(arguments, cwd=tmp_path, env=env, fault=fault)

    return run


def export(out: str, *extra: str) -> list[str]:
    return ["export", "rlvr", "--target", "sediment", "--out", out, *extra]


def only_line(done: CompletedProcess[str]) -> str:
    """The one error of a failed run."""
    assert (done.returncode, done.stdout) == (1, "")
    errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.stderr.splitlines()[-1:] == errors
    return errors[0]


@pytest.mark.parametrize("limit", ["size={pages}k", "nr_inodes={number}"])
def test_a_full_disk_leaves_only_the_claim(tmp_path: Path, run: Run, limit: str):
    """Every size of disk up to one that suffices, so that each step of publishing is the first to fail in some run."""
    disk = tmp_path / "disk"
    disk.mkdir()
    for number in range(1, 40):
        with small(disk, limit.format(number=number, pages=4 * number)):
            done = run(*export("disk/out"))
            if done.returncode == 0:
                verify_generation(disk / "out")
                break
            assert only_line(done).startswith("error: disk/out")
            assert "No space left on device" in only_line(done)
            assert not (disk / "out").exists() or set(names(disk / "out")) <= {CLAIM}
    assert 3 < number < 39


def test_after_a_full_disk_the_same_directory_serves(tmp_path: Path, run: Run):
    disk = tmp_path / "disk"
    disk.mkdir()
    with small(disk, "nr_inodes=9"):
        only_line(run(*export("disk/out")))
        assert names(disk / "out") == [CLAIM]
        subprocess.run(["mount", "-o", "remount,nr_inodes=100", disk], check=True)
        assert run(*export("disk/out")).returncode == 0
        verify_generation(disk / "out")


@pytest.mark.parametrize("limit", ["size={pages}k", "nr_inodes={number}"])
def test_a_full_disk_during_a_derivation_leaves_nothing(tmp_path: Path, run: Run, limit: str):
    disk = tmp_path / "disk"
    disk.mkdir()
    for number in range(1, 80):
        with small(disk, limit.format(number=number, pages=4 * number)):
            done = run("derive", "--out", "disk/bundle")
            if done.returncode == 0:
                break
            assert only_line(done).startswith("error: disk/")
            assert names(disk) == []
    assert 3 < number < 79


def test_a_full_temporary_directory_stops_an_export_of_a_bundle(tmp_path: Path, run: Run):
    assert run("derive", "--out", "bundle").returncode == 0
    disk = tmp_path / "disk"
    disk.mkdir()
    for number in range(1, 80):
        with small(disk, f"size={4 * number}k"):
            done = run(*export("out", "--from", "bundle"), TMPDIR=str(disk))
            assert names(disk) == []
            if done.returncode == 0:
                break
            assert str(disk) in only_line(done)
            assert not (tmp_path / "out").exists()
    assert 3 < number < 79


@dataclass(frozen=True)
class FewDescriptors:
    number: int

    def __call__(self) -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (self.number, self.number))


@pytest.mark.parametrize("number", range(5, 40, 2))
def test_too_few_file_descriptors_fail_and_never_cost_a_row(tmp_path: Path, run: Run, number: int):
    done = run(*export("out"), fault=FewDescriptors(number))
    if done.returncode:
        only_line(done)
        assert not (tmp_path / "out" / RECORD).exists()
        assert run(*export("out")).returncode == 0
    assert names(tmp_path / "out") == sorted(
        [CLAIM, RECORD, "tasks.train.jsonl", "rollouts.train.jsonl", "environment.yaml"]
    )
    verify_generation(tmp_path / "out")


@pytest.mark.parametrize("out", ["place/out", "place"])
def test_a_read_only_place_is_refused(tmp_path: Path, run: Run, out: str):
    (tmp_path / "place").mkdir()
    with read_only(tmp_path / "place"):
        message = only_line(run(*export(out)))
        assert message.startswith(f"error: {out}")
        assert message.endswith("Read-only file system")
        assert only_line(run("derive", "--out", "place/bundle")).endswith("Read-only file system")
        assert names(tmp_path / "place") == []


def test_a_store_in_a_read_only_place_is_refused(tmp_path: Path, run: Run, evidence: Evidence):
    """SQLite keeps an index of its write-ahead log beside the store, also to read."""
    (tmp_path / "store").mkdir()
    shutil.copy(evidence.directory / "facts.db", tmp_path / "store" / "facts.db")
    with read_only(tmp_path / "store"):
        message = only_line(run(*export("out"), SEDIMENT_DATABASE_URL="sqlite:///store/facts.db"))
    assert message.startswith("error: Fact store store/facts.db: the file cannot be opened")
    assert not (tmp_path / "out").exists()


def test_read_only_mirrors_are_refused_because_of_their_locks(tmp_path: Path, run: Run, evidence: Evidence):
    shutil.copytree(evidence.directory / "mirrors", tmp_path / "mirrors")
    shutil.rmtree(tmp_path / "mirrors" / ".locks", ignore_errors=True)
    with read_only(tmp_path / "mirrors"):
        message = only_line(run(*export("out"), SEDIMENT_MIRROR_PATH="mirrors"))
    assert "mirrors/.locks" in message
    assert "Read-only file system" in message
    assert not (tmp_path / "out").exists()


def test_a_link_to_a_directory_elsewhere_is_that_directory(tmp_path: Path, run: Run):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to("elsewhere")
    done = run(*export("out"))
    assert done.returncode == 0, done.stderr
    assert "wrote out/tasks.train.jsonl (1 rows)\n" in done.stdout
    verify_generation(tmp_path / "elsewhere")
    assert set(names(tmp_path / "elsewhere")) <= {*PUBLICATION_ORDER, CLAIM, RECORD}
