"""Creating and refreshing mirrors with real git: what they hold, and what a failure leaves (mirrors.md §2–5)."""

import threading
import time
from pathlib import Path

import pytest

from sediment_assets.adapters.git_fetch import Fetcher, FetchError
from sediment_assets.adapters.git_host_config import HostGitConfig
from sediment_assets.adapters.mirror_locks import fetch_lock
from sediment_assets.adapters.mirror_sync import SyncStatus
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from tests.builders import ORG
from tests.git.repositories import git, init, linear
from tests.git.servers import git_daemon, http_server
from tests.git.syncing import DEVELOPMENT, HELD, KEY, listed, refs, sync


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
