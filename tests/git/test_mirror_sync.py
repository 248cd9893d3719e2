"""Creating and refreshing mirrors with real git and real servers on loopback (mirrors.md §2–5)."""

import fcntl
import multiprocessing
import os
import shutil
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from sediment_assets.adapters.git_fetch import AT_WORK_MARK, Fetcher, FetchError
from sediment_assets.adapters.git_host_config import HostGitConfig
from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.adapters.mirror_jobs import SyncJob
from sediment_assets.adapters.mirror_locks import fetch_lock
from sediment_assets.adapters.mirror_run import MirrorSync, SyncOutcome
from sediment_assets.adapters.mirror_sync import SyncStatus, remove_stale_locks
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.clone_url import CloneUrlPolicy
from sediment_assets.mirrors.layout import incoming_path, mirror_path
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from tests.builders import ORG
from tests.git.repositories import commit, content_of, fast_import, git, init, linear
from tests.git.servers import git_daemon, http_server

KEY = LegacyKey(ORG, "acme/widget")
DEVELOPMENT = CloneUrlPolicy(development=True)
LOOPBACK = CloneUrlPolicy(allowed_hosts=frozenset({"127.0.0.1"}))
IDENTITY_VARIABLES = {
    f"GIT_{role}_{part}": "t@example.test" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
}


def sync(base: Path, url: str, policy=LOOPBACK, *, key=KEY, pushes=(), timeout=30.0, progress=None) -> SyncOutcome:
    runner = MirrorSync(base, None, policy, timeout=timeout)
    return runner.run(SyncJob(key, "acme/widget", str(url), tuple(pushes)), progress)


def refs(base: Path, key=KEY) -> dict[str, str]:
    with GitMirrorStore(base) as store:
        mirror = store.open(key)
        assert mirror is not None
        return mirror.refs()


def listed(base: Path) -> list[object]:
    with GitMirrorStore(base) as store:
        return store.keys(ORG)


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A remote with everything a forge has: branches, a pull request, notes of several tools, tags."""
    directory = tmp_path / "remotes/widget.git"
    first, second = linear(directory, {b"a.txt": b"one\n"}, {b"a.txt": b"two\n"})
    git(directory, "update-ref", "refs/heads/side", first)
    git(directory, "update-ref", "refs/pull/7/head", second)
    git(directory, "update-ref", "refs/pull/7/merge", second)
    git(directory, "tag", "v1", first)
    git(directory, "tag", "-m", "t", "v2", second, **IDENTITY_VARIABLES)
    for ref in ("sediment", "sedimentary", "ai", "commits"):
        git(directory, "notes", f"--ref={ref}", "add", "-m", "text", second, **IDENTITY_VARIABLES)
    return directory


HELD = [
    "refs/heads/main", "refs/heads/side", "refs/notes/sediment", "refs/notes/sedimentary", "refs/pull/7/head",
    "refs/tags/v1", "refs/tags/v2",
]  # fmt: skip


def test_a_mirror_holds_branches_pull_heads_our_notes_and_followed_tags(tmp_path, remote):
    outcome = sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    assert (outcome.status, outcome.problem, outcome.refs) == (SyncStatus.CREATED, None, len(HELD))
    found = refs(tmp_path / "m")
    assert list(found) == HELD
    assert found == {name: git(remote, "rev-parse", name).decode().strip() for name in HELD}
    directory = tmp_path / "m" / mirror_path(KEY)
    assert git(directory, "config", "--get-all", "remote.origin.fetch").decode().split() == [
        "+refs/heads/*:refs/heads/*",
        "+refs/notes/sediment*:refs/notes/sediment*",
        "+refs/pull/*/head:refs/pull/*/head",
    ]
    assert git(directory, "rev-parse", "--is-bare-repository") == b"true\n"
    assert not (directory / "hooks").exists()


@pytest.mark.parametrize("transport", ["file", "path", "http", "git"])
def test_every_transport_gives_the_same_mirror(tmp_path, remote, transport):
    if transport in ("file", "path"):
        url = remote.as_uri() if transport == "file" else str(remote)
        assert sync(tmp_path / "m", url, DEVELOPMENT).status is SyncStatus.CREATED
    elif transport == "http":
        with http_server(remote.parent) as server:
            assert sync(tmp_path / "m", server.url("widget.git")).status is SyncStatus.CREATED
    else:
        with git_daemon(remote.parent) as url:
            assert sync(tmp_path / "m", f"{url}/widget.git").status is SyncStatus.CREATED
    assert list(refs(tmp_path / "m")) == HELD


def test_an_identified_repository_has_its_own_place(tmp_path, remote):
    key = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42")
    assert sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT, key=key).status is SyncStatus.CREATED
    assert (tmp_path / "m/repositories-v1/acme/github/github.com/42/HEAD").is_file()
    assert listed(tmp_path / "m") == [key]


def test_a_refresh_prunes_branches_moves_rewritten_ones_and_keeps_tags(tmp_path, remote):
    base = tmp_path / "m"
    sync(base, remote.as_uri(), DEVELOPMENT)
    assert sync(base, remote.as_uri(), DEVELOPMENT).status is SyncStatus.UNCHANGED
    first = git(remote, "rev-parse", "v1").decode().strip()
    old = git(remote, "rev-parse", "main").decode().strip()
    git(remote, "update-ref", "refs/heads/main", first)
    for name in ("refs/heads/side", "refs/tags/v2", "refs/notes/sedimentary"):
        git(remote, "update-ref", "-d", name)
    assert sync(base, remote.as_uri(), DEVELOPMENT).status is SyncStatus.REFRESHED
    assert list(refs(base)) == [name for name in HELD if name not in ("refs/heads/side", "refs/notes/sedimentary")]
    assert refs(base)["refs/heads/main"] == first
    assert git(base / mirror_path(KEY), "cat-file", "-t", old) == b"commit\n"  # still evidence


def test_a_branch_may_become_a_directory_of_branches(tmp_path, remote):
    sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    oid = git(remote, "rev-parse", "side").decode().strip()
    git(remote, "update-ref", "-d", "refs/heads/side")
    git(remote, "update-ref", "refs/heads/side/one", oid)
    assert sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT).status is SyncStatus.REFRESHED
    assert "refs/heads/side/one" in refs(tmp_path / "m")


def test_the_remote_is_always_rewritten_and_nothing_else(tmp_path, remote):
    sync(tmp_path / "m", "/nonexistent", DEVELOPMENT)
    sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    directory = tmp_path / "m" / mirror_path(KEY)
    git(directory, "config", "remote.origin.url", "https://elsewhere.invalid/x")
    git(directory, "config", "--add", "remote.origin.fetch", "+refs/*:refs/*")
    git(directory, "config", "remote.origin.uploadpack", "false")
    git(directory, "config", "sediment.kept", 'a "b" \\c ; d')
    odd = remote.parent / 'odd "name" \\ ; #'
    remote.rename(odd)
    assert sync(tmp_path / "m", str(odd), DEVELOPMENT).problem is None
    entries = git(directory, "config", "--file", "config", "--list").decode().splitlines()
    assert f"remote.origin.url={odd}" in entries
    assert sum(entry.startswith("remote.origin.") for entry in entries) == 4
    assert 'sediment.kept=a "b" \\c ; d' in entries
    before = (directory / "config").stat().st_ino
    assert sync(tmp_path / "m", str(odd), DEVELOPMENT).status is SyncStatus.UNCHANGED
    assert (directory / "config").stat().st_ino == before


def test_a_remote_of_longer_ids_gives_a_mirror_of_longer_ids(tmp_path):
    [head] = linear(tmp_path / "r", {b"a": b"x\n"}, object_format="sha256")
    outcome = sync(tmp_path / "m", (tmp_path / "r").as_uri(), DEVELOPMENT)
    assert outcome.problem is None
    assert refs(tmp_path / "m") == {"refs/heads/main": head}


def test_an_empty_remote_gives_an_empty_mirror(tmp_path):
    init(tmp_path / "r")
    assert sync(tmp_path / "m", (tmp_path / "r").as_uri(), DEVELOPMENT).status is SyncStatus.CREATED
    assert refs(tmp_path / "m") == {}


@pytest.mark.parametrize("url", ["file:///srv/r", "/srv/r", "ext::sh -c id", "git@h:o/r", "ftp://h/r", "https:///r", "",
                                 "https://localhost/r", "http://127.1/r", "http://2130706433/r"])  # fmt: skip
def test_a_refused_url_touches_nothing(tmp_path, url):
    outcome = sync(tmp_path / "m", url, CloneUrlPolicy())
    assert (outcome.status, outcome.failed) == (SyncStatus.REFUSED, True)
    assert "clone URL" in (outcome.problem or "")
    assert not (tmp_path / "m").exists()


def test_git_itself_refuses_other_transports_even_in_development(tmp_path):
    mark = tmp_path / "ran"
    outcome = sync(tmp_path / "m", f"ext::touch {mark}", DEVELOPMENT)
    assert outcome.status is SyncStatus.FAILED
    assert not mark.exists()


def test_a_local_path_is_out_of_reach_of_a_rewritten_url_outside_development(tmp_path, remote, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.file://{remote.parent}/.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://git.test/")
    outcome = sync(tmp_path / "m", "https://git.test/widget.git", CloneUrlPolicy(allowed_hosts=frozenset({"git.test"})))
    assert "transport 'file' not allowed" in (outcome.problem or "")
    assert sync(tmp_path / "m", "https://git.test/widget.git", DEVELOPMENT).status is SyncStatus.CREATED


def test_no_redirect_is_followed(tmp_path, remote, monkeypatch):
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.http://127.0.0.1.followRedirects")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "true")
    with http_server(remote.parent) as real, http_server(remote.parent, redirect=real.url("").rstrip("/")) as other:
        outcome = sync(tmp_path / "m", other.url("widget.git"))
        assert outcome.status is SyncStatus.FAILED
        assert real.authorizations == []
    assert listed(tmp_path / "m") == []


SECRET = "hunter-22-secret"


def test_credentials_of_a_url_reach_the_server_and_nothing_else(tmp_path, remote):
    with http_server(remote.parent, user="ada", password=SECRET) as server:
        seen = []

        def look(doing: str) -> None:
            seen.append(subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout + doing)

        url = server.url("widget.git", f"ada:{SECRET}")
        outcome = sync(tmp_path / "m", url, progress=look)
        assert outcome.status is SyncStatus.CREATED
        assert sync(tmp_path / "m", url).status is SyncStatus.UNCHANGED
    assert seen
    assert SECRET not in "".join(seen) + repr(outcome)
    assert not [name for name, data in content_of(tmp_path / "m").items() if SECRET.encode() in data]


@pytest.mark.parametrize("userinfo", [f"ada:{SECRET}", SECRET, f"ada:{SECRET.replace('-', '%2D')}"])
@pytest.mark.parametrize("fault", ["refused", "absent", "closed"])
def test_no_failure_shows_a_credential(tmp_path, remote, userinfo, fault):
    with http_server(remote.parent, user="ada", password="another") as server:
        if fault != "refused":
            server.user = None
        url = server.url("widget.git" if fault == "refused" else f"absent-{SECRET}.git", userinfo)
        if fault == "closed":
            url = f"http://{userinfo}@127.0.0.1:1/widget.git?token={SECRET}"
        outcome = sync(tmp_path / "m", url)
    assert outcome.status is SyncStatus.FAILED
    assert outcome.problem
    assert "http://127.0.0.1" in outcome.problem
    assert SECRET not in outcome.problem
    assert "%2D" not in outcome.problem
    assert "absent-" not in outcome.problem


def test_helpers_of_the_host_are_asked_and_nobody_is_prompted(tmp_path, remote, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    with http_server(remote.parent, user="ada", password=SECRET) as server:
        start = time.monotonic()
        outcome = sync(tmp_path / "m", server.url("widget.git"))
        assert "could not read Username" in (outcome.problem or "")
        assert time.monotonic() - start < 10
        (home / "credentials").write_text(f"http://ada:{SECRET}@127.0.0.1%3a{server.port}\n")
        (home / ".gitconfig").write_text(f"[credential]\n\thelper = store --file {home}/credentials\n")
        assert sync(tmp_path / "m", server.url("widget.git")).status is SyncStatus.CREATED


def test_other_settings_of_the_host_change_nothing(tmp_path, remote, monkeypatch):
    home = tmp_path / "home"
    (home / "hooks").mkdir(parents=True)
    hook = home / "hooks/reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {home}/ran\n")
    hook.chmod(0o755)
    (home / ".gitconfig").write_text(
        f'[core]\n\thooksPath = {home}/hooks\n[remote "origin"]\n\tfetch = +refs/notes/*:refs/notes/*\n'
        "[fetch]\n\tprune = false\n\tpruneTags = true\n[init]\n\tdefaultObjectFormat = sha256\n"
    )
    monkeypatch.setenv("HOME", str(home))
    assert sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT).status is SyncStatus.CREATED
    assert list(refs(tmp_path / "m")) == HELD
    assert not (home / "ran").exists()


def test_git_gets_none_of_our_settings_and_none_of_gits_own_variables(monkeypatch):
    for name in ("SEDIMENT_DATABASE_URL", "GIT_DIR", "GIT_INDEX_FILE", "SSH_ASKPASS", "GIT_TRACE"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("GIT_SSH_COMMAND", "ssh -i key")
    config = HostGitConfig((("credential.helper", "store"),), HostGitConfig.load().variables)
    found = config.environment(development=False, url="https://h/r", credentials=None)
    assert not {"SEDIMENT_DATABASE_URL", "GIT_DIR", "GIT_INDEX_FILE", "SSH_ASKPASS", "GIT_TRACE"} & found.keys()
    assert found["GIT_SSH_COMMAND"] == "ssh -i key"
    assert found["GIT_ALLOW_PROTOCOL"] == "git:http:https:ssh"
    assert found["GIT_TERMINAL_PROMPT"] == "0"


def test_a_failed_first_fetch_leaves_no_mirror(tmp_path):
    outcome = sync(tmp_path / "m", "/nonexistent/r.git", DEVELOPMENT)
    assert outcome.status is SyncStatus.FAILED
    assert outcome.problem == (
        "git fetch from a local path: fatal: '/nonexistent/r.git' does not appear to be a git repository"
    )
    assert listed(tmp_path / "m") == []
    assert not list((tmp_path / "m").rglob("HEAD"))


def test_a_failed_refresh_leaves_the_mirror_as_it_was(tmp_path, remote):
    sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT)
    before = refs(tmp_path / "m")
    remote.rename(remote.parent / "gone")
    assert sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT).status is SyncStatus.FAILED
    assert refs(tmp_path / "m") == before


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


def _sync_in_a_process(base: str, url: str) -> None:
    sync(Path(base), url)


def test_a_sync_killed_in_its_first_fetch_leaves_no_mirror_and_the_next_makes_one(tmp_path, remote):
    base = tmp_path / "m"
    with http_server(remote.parent) as server:
        server.gate.clear()
        process = multiprocessing.get_context("spawn").Process(
            target=_sync_in_a_process, args=(str(base), server.url("widget.git"))
        )
        process.start()
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
        process = multiprocessing.get_context("spawn").Process(
            target=_sync_in_a_process, args=(str(tmp_path / "m"), server.url("widget.git"))
        )
        process.start()
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
        process = multiprocessing.get_context("spawn").Process(
            target=_sync_in_a_process, args=(str(base), server.url("widget.git"))
        )
        process.start()
        assert server.pack_requested.wait(30)
        process.kill()
        process.join()
        assert refs(base) == before
        git(base / mirror_path(KEY), "fsck", "--connectivity-only")
        server.gate.set()
        assert sync(base, server.url("widget.git")).status in (SyncStatus.REFRESHED, SyncStatus.UNCHANGED)
    assert "refs/heads/later" in refs(base)


def test_concurrent_syncs_of_one_mirror_wait_for_each_other(tmp_path, remote):
    outcomes, waited = [], []

    def run() -> None:
        outcomes.append(sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT, progress=waited.append).status)

    with fetch_lock(_made(tmp_path / "m"), KEY):
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 20
        while waited.count("waiting for its lock") < 4 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert waited.count("waiting for its lock") == 4
        assert listed(tmp_path / "m") == []
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == [SyncStatus.CREATED, *[SyncStatus.UNCHANGED] * 3]
    assert list(refs(tmp_path / "m")) == HELD


def _made(path: Path) -> Path:
    path.mkdir()
    return path


def test_files_without_a_head_in_the_place_of_a_mirror_are_not_replaced(tmp_path, remote):
    directory = tmp_path / "m" / mirror_path(KEY)
    directory.mkdir(parents=True)
    assert sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT).status is SyncStatus.CREATED
    other = LegacyKey(ORG, "acme/other")
    (tmp_path / "m" / mirror_path(other)).mkdir()
    (tmp_path / "m" / mirror_path(other) / "file").write_text("x")
    outcome = sync(tmp_path / "m", remote.as_uri(), DEVELOPMENT, key=other)
    assert "files without HEAD" in (outcome.problem or "")
    assert (tmp_path / "m" / mirror_path(other) / "file").read_text() == "x"


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


def test_a_base_that_cannot_be_made_is_one_line(tmp_path, remote):
    (tmp_path / "file").touch()
    outcome = sync(tmp_path / "file/m", remote.as_uri(), DEVELOPMENT)
    assert outcome.status is SyncStatus.FAILED
    assert str(tmp_path) in (outcome.problem or "")
    assert "\n" not in (outcome.problem or "")


def test_a_fetch_error_is_raised_with_the_reason(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(FetchError, match="does not appear to be a git repository"):
        Fetcher(HostGitConfig.load(), development=True).create(tmp_path / "x", "/nonexistent")
