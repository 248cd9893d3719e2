"""Private staging, and sweeping what dead runs left (targets.md §11)."""

import fcntl
import os
from pathlib import Path

import pytest

from sediment_assets.publish.artifacts import STAGE_LOCK_SUFFIX, STAGE_PREFIX
from sediment_assets.publish.staging import staging_directory, sweep
from tests.directories import names

DEAD = f"{STAGE_PREFIX}0123abcd"
DEAD_LOCK = DEAD + STAGE_LOCK_SUFFIX


def test_staging_is_private_and_gone_afterwards(tmp_path: Path):
    old = os.umask(0)
    try:
        with staging_directory(tmp_path) as stage:
            assert stage.parent == tmp_path
            assert stage.name.startswith(".sediment-training-")
            assert stage.stat().st_mode & 0o7777 == 0o700
            assert (tmp_path / f"{stage.name}.sediment-stage-lock").is_file()
            (stage / "file").touch()
    finally:
        os.umask(old)
    assert names(tmp_path) == []


def test_staging_is_gone_after_a_failure(tmp_path: Path):
    def fill_and_fail(stage: Path) -> None:
        (stage / "deep").mkdir()
        (stage / "deep").mkdir()

    with pytest.raises(FileExistsError), staging_directory(tmp_path) as stage:
        fill_and_fail(stage)
    assert names(tmp_path) == []


def test_a_dead_run_is_swept(tmp_path: Path):
    (tmp_path / DEAD).mkdir()
    (tmp_path / DEAD / "tasks.jsonl").touch()
    (tmp_path / DEAD_LOCK).touch()
    (tmp_path / f"{STAGE_PREFIX}x{STAGE_LOCK_SUFFIX}").touch()  # died before, or after, its directory was there
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_a_living_run_is_not_swept(tmp_path: Path):
    with staging_directory(tmp_path) as stage:
        (stage / "tasks.jsonl").touch()
        sweep(tmp_path)
        assert (stage / "tasks.jsonl").exists()


def test_a_foreign_process_that_holds_the_lock_is_alive(tmp_path: Path):
    (tmp_path / DEAD).mkdir()
    with (tmp_path / DEAD_LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep(tmp_path)
        assert names(tmp_path) == [DEAD, DEAD_LOCK]


@pytest.mark.parametrize("name", [DEAD, f"{STAGE_PREFIX}..{STAGE_LOCK_SUFFIX}", f"x{DEAD_LOCK}", f"{DEAD_LOCK}x"])
def test_what_is_not_provably_dead_staging_is_left_alone(tmp_path: Path, name: str):
    (tmp_path / name).mkdir()
    sweep(tmp_path)
    assert names(tmp_path) == [name]


def test_sweeping_follows_no_link(tmp_path: Path):
    out, precious = tmp_path / "out", tmp_path / "precious"
    out.mkdir()
    precious.mkdir()
    (precious / "file").touch()
    (out / DEAD).symlink_to(precious)
    (out / DEAD_LOCK).touch()
    (out / f"{STAGE_PREFIX}b").mkdir()
    (out / f"{STAGE_PREFIX}b" / "link").symlink_to(precious)
    (out / f"{STAGE_PREFIX}b{STAGE_LOCK_SUFFIX}").touch()
    (out / f"{STAGE_PREFIX}c{STAGE_LOCK_SUFFIX}").symlink_to(precious / "file")
    os.mkfifo(out / f"{STAGE_PREFIX}d{STAGE_LOCK_SUFFIX}")
    sweep(out)
    assert (precious / "file").exists()
    assert not (out / f"{STAGE_PREFIX}b").exists()
