"""The hook and the commands that docs/capture/notes.md prints, in real repositories."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sediment_assets.mirrors.notes import note_sessions

PAGE = Path(__file__).parents[2] / "docs" / "capture" / "notes.md"
HOOK, REWRITE, PUSH, MERGE = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)


class Developer:
    """A clone with the page's hook, and a shell that knows ``sediment``."""

    def __init__(self, directory: Path, home: Path) -> None:
        self.directory = directory
        self.environment = {"PATH": f"{home}:{os.environ['PATH']}", "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(self, script: str, **variables: str) -> str:
        done = subprocess.run(
            ["sh", "-ec", script], cwd=self.directory, env=self.environment | variables, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def commit(self, name: str, *options: str, **variables: str) -> str:
        self.run(f"echo {name} > {name}; git add {name}; git commit -q -m {name} {' '.join(options)}", **variables)
        return self.run("git rev-parse HEAD")

    def sessions(self, revision: str = "HEAD") -> set[str]:
        body = self.run(f"git notes --ref=sediment show {revision} || true").encode()
        return {session.session_id for session in note_sessions(body) or ()}


@pytest.fixture
def developers(tmp_path: Path) -> tuple[Developer, Developer]:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Ada\n\temail = ada@example.test\n[init]\n\tdefaultBranch = main\n"
    )
    program = home / "sediment"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m sediment_assets.cli.main "$@"\n')
    program.chmod(0o755)
    first = Developer(tmp_path, home)
    first.run(
        "git init -q --bare upstream.git; git clone -q upstream.git ada 2>/dev/null; git clone -q upstream.git bob"
    )
    found = (Developer(tmp_path / "ada", home), Developer(tmp_path / "bob", home))
    for developer in found:
        hook = developer.directory / ".git/hooks/post-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(HOOK)
        hook.chmod(0o755)
        developer.run(REWRITE)
    return found


def test_the_hook_stamps_commits_of_a_session_and_no_others(developers: tuple[Developer, Developer]):
    ada, _ = developers
    by_hand = ada.commit("a")
    made = ada.commit("b", SEDIMENT_SESSION_ID="s1", SEDIMENT_HARNESS="codex")
    assert (ada.sessions(by_hand), ada.sessions(made)) == (set(), {"s1"})


def test_notes_follow_amended_and_rebased_commits_and_a_rebase_stamps_nothing(developers: tuple[Developer, Developer]):
    ada, _ = developers
    ada.commit("a")
    ada.commit("b", SEDIMENT_SESSION_ID="s1")
    ada.commit("b", "--amend", SEDIMENT_SESSION_ID="s2")
    assert ada.sessions() == {"s1", "s2"}
    ada.run("git checkout -q -b base HEAD~1")
    ada.commit("c")
    ada.run("git checkout -q main; git rebase -q base", SEDIMENT_SESSION_ID="s3")
    assert ada.sessions() == {"s1", "s2"}


def test_notes_of_two_developers_are_merged_before_they_are_pushed(developers: tuple[Developer, Developer]):
    ada, bob = developers
    shared = ada.commit("a", SEDIMENT_SESSION_ID="s1")
    ada.run("git push -q origin main; " + PUSH)
    bob.run("git pull -q origin main")
    bob.run(f"sediment notes stamp --session s2 --commit {shared}")
    bob.run(MERGE)
    ada.run("sediment notes stamp --session s3")
    ada.run(MERGE)
    assert ada.sessions(shared) == {"s1", "s2", "s3"}
    upstream = Developer(ada.directory.parent / "upstream.git", Path(ada.environment["HOME"]))
    assert upstream.sessions(shared) == {"s1", "s2", "s3"}


def test_the_settings_for_claude_code_are_json_and_name_both_events():
    [settings] = [
        block
        for block in re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
        if "hooks" in block
    ]
    hooks = json.loads(settings)["hooks"]
    assert set(hooks) == {"PreToolUse", "PostToolUse"}
    assert {hook["command"] for event in hooks.values() for entry in event for hook in entry["hooks"]} == {
        "sediment notes stamp --hook"
    }
