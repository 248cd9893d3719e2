"""Which URLs are fetched from, and what git gets and never gets: hosts, redirects, credentials (mirrors.md §2, §3)."""

import subprocess
import time

import pytest

from sediment_assets.adapters.git_host_config import HostGitConfig
from sediment_assets.adapters.mirror_sync import SyncStatus
from sediment_assets.mirrors.clone_url import CloneUrlPolicy
from tests.git.repositories import content_of
from tests.git.servers import http_server
from tests.git.syncing import DEVELOPMENT, HELD, listed, refs, sync

SECRET = "hunter-22-secret"


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
