"""``sediment mirror sync`` and ``sediment mirror list`` on real remotes."""

import json
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from sediment_assets.adapters.fact_store.engine import reading_engine, writing_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from sediment_assets.cli.main import main
from sediment_assets.facts.model import Fact
from tests.builders import IDENTITY, ORG, make_call, make_outcome, make_push
from tests.cli.command import BASE_ENVIRONMENT, COMMAND, default_signals, sediment
from tests.fact_files import store_content, write_facts
from tests.git.repositories import git, linear
from tests.git.servers import http_server
from tests.stores import fill_store

COMMITTER = {f"GIT_{role}_{part}": "t@example.test" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
IDENTIFIED = "repositories-v1/acme/github/github.com/42"


def note_text(*session_ids: str) -> str:
    return json.dumps(
        {"v": 1, "sessions": [{"tool": "t", "session_id": name, "stamped_at": ""} for name in session_ids]}
    )


def annotate(repository: Path, sha: str, text: str) -> None:
    git(repository, "notes", "--ref=sediment", "add", "-f", "-m", text, sha, **COMMITTER)


@dataclass
class Team:
    """A remote of three commits, the second with a note, and Facts of one Session that CI passed on the last."""

    directory: Path
    commits: list[str]
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SEDIMENT_ORG_ID": ORG,
            "SEDIMENT_DATABASE_URL": f"sqlite:///{self.directory}/facts.db",
            "SEDIMENT_MIRROR_PATH": str(self.directory / "mirrors"),
            "SEDIMENT_DEV_MODE": "true",
        }

    @property
    def remote(self) -> Path:
        return self.directory / "remotes/widget.git"

    def store(self, *facts: Fact) -> None:
        fill_store(writing_engine(self.settings["SEDIMENT_DATABASE_URL"]), facts)

    def push(self, push_id: str = "p1", **values) -> Fact:
        defaults = {"clone_url": self.remote.as_uri(), "before_sha": self.commits[0], "after_sha": self.commits[2]}
        return make_push(push_id=push_id, **(defaults | values))

    def run(self, *arguments: object, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run in this process: starting an interpreter for each of so many cases takes too long."""
        for name, value in (self.settings | settings).items():
            self.monkeypatch.setenv(name, value)
        self.capsys.readouterr()
        status = main(["mirror", *map(str, arguments)])
        out, err = self.capsys.readouterr()
        return subprocess.CompletedProcess([], status, out, err)

    def observations(self):
        with open_facts(reading_engine(self.settings["SEDIMENT_DATABASE_URL"]), ORG) as facts:
            return list(facts.observations())


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Team:
    commits = linear(
        tmp_path / "remotes/widget.git", {b"a.txt": b"one\n"}, {b"a.txt": b"two\n"}, {b"a.txt": b"three\n"}
    )
    annotate(tmp_path / "remotes/widget.git", commits[1], note_text("s1"))
    monkeypatch.chdir(tmp_path)
    return Team(tmp_path, commits, monkeypatch, capsys)


def test_a_sync_from_push_facts_binds_the_noted_session_to_its_commit(team):
    team.store(make_call(), team.push(**IDENTITY), make_outcome(commit_sha=team.commits[1], **IDENTITY))
    first = team.run("sync")
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == (
        "repository   status   refs  notes  observed  mirror\n"
        f"acme/widget  created     2      1         1  {IDENTIFIED}\n"
        f"new mirror base: {team.directory}/mirrors\n"
    )
    [observation] = team.observations()
    assert (observation.commit_sha, observation.session_id, observation.source_push_id) == (team.commits[1], "s1", "p1")
    assert observation.captured_at.isoformat() == "2026-03-02T09:00:00+00:00"
    content = store_content(team.settings["SEDIMENT_DATABASE_URL"])
    again = team.run("sync")
    assert again.stdout.splitlines()[1] == f"acme/widget  unchanged     2      1         0  {IDENTIFIED}"
    assert store_content(team.settings["SEDIMENT_DATABASE_URL"]) == content
    exported = sediment(
        "export", "rlvr", "--target", "sediment", "--out", "rows", cwd=team.directory, settings=team.settings
    )
    assert exported.stdout.splitlines()[:2] == ["rollouts derived: 1", "task rows: 1  skipped: {}"]


def test_a_note_that_arrives_after_its_push_is_observed_by_the_next_sync(team):
    team.store(team.push(**IDENTITY))
    team.run("sync")
    annotate(team.remote, team.commits[2], note_text("s2", "s1"))
    assert team.run("sync").stdout.splitlines()[1].split()[1:5] == ["refreshed", "2", "2", "2"]
    assert {(o.commit_sha, o.session_id) for o in team.observations()} == {
        (team.commits[1], "s1"),
        (team.commits[2], "s1"),
        (team.commits[2], "s2"),
    }


def test_commits_that_no_push_brought_are_not_observed(team):
    annotate(team.remote, team.commits[0], note_text("s0"))
    team.store(team.push(**IDENTITY))
    team.run("sync")
    assert {o.session_id for o in team.observations()} == {"s1"}


def test_one_repository_that_fails_stops_no_other(team):
    team.store(
        team.push("p1", repo="acme/a", clone_url="file:///nonexistent/a"),
        team.push("p2", repo="acme/b", clone_url="https://ada:hunter-22@127.0.0.1:1/b?token=hunter-22"),
        team.push("p3", repo="acme/c"),
        team.push("p4", repo="acme/d", clone_url=""),
    )
    found = team.run("sync")
    assert found.returncode == 1
    assert [line.split()[:2] for line in found.stdout.splitlines()[1:-1]] == [
        ["acme/a", "failed"], ["acme/b", "failed"], ["acme/c", "created"], ["acme/d", "declined"],
    ]  # fmt: skip
    assert [line.split(": ")[:2] for line in found.stderr.splitlines()] == [
        ["mirror_failed", "acme/a"], ["mirror_failed", "acme/b"], ["mirror_declined", "acme/d"],
    ]  # fmt: skip
    assert "hunter-22" not in found.stdout + found.stderr


def test_outside_development_a_file_url_is_refused(team):
    team.store(team.push())
    found = team.run("sync", SEDIMENT_DEV_MODE="no")
    assert found.returncode == 1
    assert "need SEDIMENT_DEV_MODE=true" in found.stderr
    with http_server(team.remote.parent) as server:
        url = server.url("widget.git")
        assert "an internal address" in team.run("sync", "acme/widget", "--clone-url", url, SEDIMENT_DEV_MODE="").stderr
        hosts = {"SEDIMENT_DEV_MODE": "0", "SEDIMENT_ALLOWED_CLONE_HOSTS": '["127.0.0.1"]'}
        assert team.run("sync", "acme/widget", "--clone-url", url, **hosts).returncode == 0


def test_a_local_path_stands_in_for_the_clone_url_of_a_known_repository(team):
    team.store(team.push(clone_url="https://github.example/acme/widget.git", **IDENTITY))
    found = team.run("sync", "Acme/Widget", "--clone-url", "remotes/widget.git")
    assert found.stdout.splitlines()[1] == f"acme/widget  created     2      1         1  {IDENTIFIED}"


def test_a_list_names_repositories_and_their_ids(team):
    (team.directory / "lists").mkdir()
    listing = team.directory / "lists/repos.toml"
    listing.write_text(
        f'[repos."acme/Gadget"]\nclone_url = "{team.remote.as_uri()}"\nrepository_id = "43"\n'
        '[repos."acme/old"]\nclone_url = "../remotes/widget.git"\n'
    )
    found = team.run("sync", "--from", listing, SEDIMENT_DATABASE_URL="")
    assert (found.returncode, found.stderr) == (0, "")
    assert [line.split()[0::5] for line in found.stdout.splitlines()[1:-1]] == [
        ["acme/gadget", "repositories-v1/acme/github/github.com/43"], ["acme/old", "acme%2Facme%2Fold"],
    ]  # fmt: skip
    only = team.run("sync", "acme/old", "--from", listing, SEDIMENT_DATABASE_URL="")
    assert len(only.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected tables"), ("x = 1\n", "expected tables"), ("[repos]\n", "expected tables"),
        ("[", "expected TOML"),
        ('[repos."acme/x"]\n', "expected clone_url"), ('[repos."acme/x"]\nclone_url = 1\n', "expected text"),
        ('[repos."acme/x"]\nclone_url = "/r"\nurl = "u"\n', "other keys"),
        ('[repos.x]\nclone_url = "/r"\n', "expected a repository owner/name"),
        ('[repos."a/x"]\nclone_url = "/r"\nrepository_id = "07"\n', "expected a repository id"),
        ('[repos."a/x"]\nclone_url = "/r"\n[repos."A/X"]\nclone_url = "/s"\n', "expected each repository once"),
    ],
)  # fmt: skip
def test_a_list_of_another_form_is_one_line(team, text, problem):
    (team.directory / "repos.toml").write_text(text)
    found = team.run("sync", "--from", "repos.toml", SEDIMENT_DATABASE_URL="")
    assert found.returncode == 1
    assert problem in found.stderr
    assert len(found.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--clone-url", "/r"], "exactly one REPO"), (["a/b", "c/d", "--clone-url", "/r"], "exactly one REPO"),
        (["a/b", "--repository-id", "1"], "together with --clone-url"), (["a/b", "--clone-url", ""], "expected a URL"),
        (["acme/unknown"], "expected a repository that a Push names (acme/widget)"),
        (["--from", "absent.toml"], "cannot be read"),
    ],
)  # fmt: skip
def test_misuse_is_one_line(team, arguments, problem):
    team.store(team.push())
    found = team.run("sync", *arguments)
    assert found.returncode == 1
    assert problem in found.stderr


@pytest.mark.parametrize(
    ("setting", "value"),
    [("SEDIMENT_DEV_MODE", "maybe"), ("SEDIMENT_ORG_ID", "-"), ("SEDIMENT_MIRROR_PATH", ""),
     *(("SEDIMENT_ALLOWED_CLONE_HOSTS", value) for value in ("github.com", "{}", "[1]", '[""]', "["))],
)  # fmt: skip
def test_a_wrong_setting_is_named(team, setting, value):
    team.store(team.push())
    found = team.run("sync", **{setting: value})
    assert found.returncode == 1
    assert f"error: {setting}: expected" in found.stderr


def test_a_list_shows_mirrors_and_what_is_missing(team):
    team.store(team.push(**IDENTITY), team.push("p2", repo="acme/later", ref="refs/heads/x"))
    annotate(team.remote, team.commits[0], "not ours")
    team.run("sync", "acme/widget")
    found = team.run("list")
    lines = found.stdout.splitlines()
    assert lines[0] == f"mirrors: {team.directory}/mirrors"
    assert lines[2].split()[:4] == ["acme/widget", "2", "2", "1"]
    assert lines[2].split()[4].startswith("20")
    assert lines[2].split()[5] == IDENTIFIED
    assert lines[3].split() == ["acme/later", "-", "-", "-", "absent", "acme%2Facme%2Flater"]
    assert found.returncode == 0


def test_a_list_without_a_store_shows_the_mirrors(team):
    assert team.run("list", SEDIMENT_DATABASE_URL="").stdout.endswith(
        "no mirror, and no Push that names a repository\n"
    )
    team.run("sync", "acme/widget", "--clone-url", team.remote, SEDIMENT_DATABASE_URL="")
    assert team.run("list", SEDIMENT_DATABASE_URL="").stdout.splitlines()[2].startswith("acme/widget")


def test_a_damaged_mirror_is_named_and_the_others_are_shown(team):
    team.store(team.push(**IDENTITY), team.push("p2", repo="acme/other", ref="refs/heads/x"))
    team.run("sync")
    (team.directory / "mirrors" / IDENTIFIED / "HEAD").write_text("nonsense\n")
    found = team.run("list")
    assert found.returncode == 0
    assert found.stdout.splitlines()[2].split()[:5] == ["acme/widget", "-", "-", "-", "unreadable"]
    assert found.stdout.splitlines()[3].split()[:2] == ["acme/other", "2"]
    assert found.stderr.startswith("mirror_unreadable: acme/widget: ")


def test_a_list_as_json_says_what_is_there_missing_and_damaged(team):
    team.store(
        team.push(**IDENTITY),
        team.push("p2", repo="acme/later", ref="refs/heads/x"),
        team.push("p3", repo="acme/other", ref="refs/heads/y"),
    )
    team.run("sync", "acme/widget", "acme/other")
    (team.directory / "mirrors/acme%2Facme%2Fother/HEAD").write_text("nonsense\n")
    widget, later, other = json.loads(team.run("list", "--json").stdout)
    assert widget.pop("last_sync").endswith("Z")
    assert widget == {
        "repository": "acme/widget", "provider": "github", "host": "github.com", "repository_id": "42",
        "mirror": IDENTIFIED, "state": "present", "problem": None, "refs": 2, "notes": 1, "unreadable_notes": 0,
        "pushed": True,
    }  # fmt: skip
    assert later == dict.fromkeys(widget) | {
        "last_sync": None, "repository": "acme/later", "mirror": "acme%2Facme%2Flater", "state": "absent",
        "pushed": True,
    }  # fmt: skip
    assert (other["state"], other["refs"], "%2Fother" in other["problem"]) == ("unreadable", None, True)


def test_a_mirror_that_cannot_be_looked_into_is_not_absent(team):
    team.store(team.push(**IDENTITY))
    team.run("sync")
    mirror = team.directory / "mirrors" / IDENTIFIED
    mirror.rename(team.directory / "away")
    mirror.symlink_to(mirror)
    found = team.run("list")
    assert found.stdout.splitlines()[2].split()[:5] == ["acme/widget", "-", "-", "-", "unreadable"]
    assert found.stderr.startswith("mirror_unreadable: acme/widget: ")


def test_a_base_that_is_not_there_is_told_and_a_new_one_too(team):
    team.store(team.push(**IDENTITY))
    base = team.directory / "mirrors"
    first = team.run("list").stdout.splitlines()[0]
    assert first == f"mirrors: {base}: no such directory; sediment mirror sync makes it"
    assert not base.exists()
    assert team.run("sync").stdout.splitlines()[-1] == f"new mirror base: {base}"
    assert "new mirror base" not in team.run("sync").stdout


def test_pushes_that_cannot_be_resolved_are_told(team, tmp_path):
    write_facts(tmp_path / "facts", [team.push(repo="")])
    sediment("facts", "import", "facts", cwd=team.directory, settings=team.settings)
    found = team.run("sync")
    assert found.returncode == 0
    assert found.stdout == "no repository: no visible Push names one\n"
    assert found.stderr.startswith("repository_identity_absent: no repository name: 1 Push: ")


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_sync_that_is_ended_takes_everything_back(team, number, status):
    team.store(team.push(**IDENTITY))
    with http_server(team.remote.parent) as server:
        server.gate.clear()
        process = subprocess.Popen(
            [*COMMAND, "mirror", "sync", "acme/widget", "--clone-url", server.url("widget.git")],
            cwd=team.directory,
            env=BASE_ENVIRONMENT | team.settings,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=default_signals,
        )
        assert server.pack_requested.wait(30)
        process.send_signal(number)
        process.communicate(timeout=20)
        assert process.returncode == status
        listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
        assert server.url("widget.git") not in listed
    assert not [path for path in (team.directory / "mirrors").rglob("*") if path.name == "HEAD"]


def test_a_repository_that_was_named_and_is_declined_fails(team):
    other = {**IDENTITY, "repository_id": "43"}
    team.store(team.push("p1", **IDENTITY), team.push("p2", **other))
    assert team.run("sync").returncode == 0
    found = team.run("sync", "acme/widget")
    assert found.returncode == 1
    assert [line.split(": ")[:3] for line in found.stderr.splitlines()] == [
        ["mirror_declined", "acme/widget", "repository_mirror_identity_unresolved"]
    ] * 2
