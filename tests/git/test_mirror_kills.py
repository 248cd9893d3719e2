"""Syncs that are killed or never end, and what they leave for the next one (mirrors.md §4, §5)."""

import fcntl
import multiprocessing
import os
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from pathlib import Path

import pytest

from sediment_assets.adapters.git_fetch import AT_WORK_MARK
from sediment_assets.adapters.mirror_sync import SyncStatus, remove_stale_locks
from sediment_assets.mirrors.layout import incoming_path, mirror_path
from tests.git.repositories import commit, fast_import, git
from tests.git.servers import http_server
from tests.git.syncing import DEVELOPMENT, HELD, KEY, listed, refs, sync


def git_processes() -> set[str]:
    found = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True).stdout.splitlines()
    return {line.split()[0] for line in found if "remote-http" in line}


def test_a_silent_server_ends_in_time_with_every_process(tmp_path, remote):
    before = git_processes()
    with http_server(remote.parent) as server:
        server.gate.clear()
        start = time.monotonic()
        outcome = sync(tmp_path / "m", server.url("widget.git"), timeout=1.0)
        assert time.monotonic() - start < 10
        assert "expected an end within 1 s" in (outcome.problem or "")
        while not git_processes() <= before and time.monotonic() - start < 15:
            time.sleep(0.05)  # killed helpers are somebody else's to reap
        assert git_processes() <= before
    assert listed(tmp_path / "m") == []


def started(base: Path, url: str) -> SpawnProcess:
    """Sync in a process of its own, to be killed."""
    process = multiprocessing.get_context("spawn").Process(target=sync, args=(base, url))
    process.start()
    return process


def test_a_sync_killed_in_its_first_fetch_leaves_no_mirror_and_the_next_makes_one(tmp_path, remote):
    base = tmp_path / "m"
    with http_server(remote.parent) as server:
        server.gate.clear()
        process = started(base, server.url("widget.git"))
        assert server.pack_requested.wait(30)
        process.kill()
        process.join()
        assert list((base / ".incoming").rglob("HEAD"))  # it had begun
        assert listed(base) == []
        server.gate.set()
        assert sync(base, server.url("widget.git")).status is SyncStatus.CREATED
    assert list(refs(base)) == HELD
    assert not list((base / ".incoming").rglob("HEAD"))


def test_remains_that_somebody_still_writes_do_not_stop_a_first_fetch(tmp_path, remote):
    remains = tmp_path / "m" / incoming_path(KEY) / "old/refs"
    is_over = threading.Event()

    def write() -> None:
        number = 0
        while not is_over.is_set():  # as a git does that outlived its sync
            number += 1
            with suppress(OSError):
                remains.mkdir(parents=True, exist_ok=True)
                (remains / f"{number}.lock").touch()
                (remains / f"{number - 1}.lock").unlink(missing_ok=True)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    try:
        outcome = sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    finally:
        is_over.set()
        for writer in writers:
            writer.join()
    assert (outcome.status, outcome.problem) == (SyncStatus.CREATED, None)
    assert list(refs(tmp_path / "m")) == HELD


def is_running(process_id: str) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", process_id], capture_output=True, text=True).stdout
    return found.strip() != "" and not found.startswith("Z")


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv of util-linux")
def test_git_ends_with_a_sync_that_is_killed(tmp_path, remote):
    with http_server(remote.parent) as server:
        server.gate.clear()
        process = started(tmp_path / "m", server.url("widget.git"))
        assert server.pack_requested.wait(30)
        command = ["ps", "-o", "pid=,comm=", "--ppid", str(process.pid)]
        children = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
        [git_id] = [line.split()[0] for line in children if line.split()[1] == "git"]
        assert is_running(git_id)
        process.kill()
        process.join()
        deadline = time.monotonic() + 20
        while is_running(git_id) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_running(git_id)  # though its server is silent
        server.gate.set()


def test_a_sync_killed_in_a_refresh_leaves_a_whole_mirror(tmp_path, remote):
    base = tmp_path / "m"
    with http_server(remote.parent) as server:
        sync(base, server.url("widget.git"))
        before = refs(base)
        head = before["refs/heads/main"]
        stream = commit(1, {b"b.txt": b"new\n"}, branch="later").replace(
            b"data 2\nm1\n", f"data 2\nm1\nfrom {head}\n".encode()
        )
        fast_import(remote, stream)
        server.gate.clear()
        server.pack_requested.clear()
        process = started(base, server.url("widget.git"))
        assert server.pack_requested.wait(30)
        process.kill()
        process.join()
        assert refs(base) == before
        git(base / mirror_path(KEY), "fsck", "--connectivity-only")
        server.gate.set()
        assert sync(base, server.url("widget.git")).status in (SyncStatus.REFRESHED, SyncStatus.UNCHANGED)
    assert "refs/heads/later" in refs(base)


def test_lock_files_that_a_killed_git_left_are_removed_when_they_are_old(tmp_path, remote):
    sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    directory = tmp_path / "m" / mirror_path(KEY)
    stale = [directory / "packed-refs.lock", directory / "refs/heads/main.lock"]
    for file in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    remove_stale_locks(directory)
    assert all(file.exists() for file in stale)
    git(remote, "update-ref", "-d", "refs/heads/side")
    outcome = sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    assert outcome.status is SyncStatus.FAILED
    assert outcome.problem == (
        f"git fetch: expected no other git at work in {directory}, got its lock file packed-refs.lock; sync again when "
        "that git has ended; if it was killed, a sync 10 minutes later removes the file"
    )
    for file in stale:
        os.utime(file, (1, 1))
    assert sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT).status is SyncStatus.REFRESHED
    assert not any(file.exists() for file in stale)


def test_lock_files_that_a_killed_fetch_left_are_removed_when_its_last_git_has_ended(tmp_path, remote):
    sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    directory = tmp_path / "m" / mirror_path(KEY)
    mark, stale = directory / AT_WORK_MARK, directory / "packed-refs.lock"
    assert not mark.exists()
    mark.touch()
    stale.touch()
    git(remote, "update-ref", "-d", "refs/heads/side")
    with mark.open() as orphan:
        fcntl.flock(orphan, fcntl.LOCK_SH)
        assert "lock file packed-refs.lock" in (sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT).problem or "")
    assert stale.exists()
    assert not mark.exists()  # this git ended by itself, and nobody knows whose file it met
    mark.touch()
    stale.touch()
    assert sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT).status is SyncStatus.REFRESHED
    assert not stale.exists()
    assert not mark.exists()
