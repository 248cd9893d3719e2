"""Git processes: isolation, time, death, reaping (design.md §7)."""

import os
import time
from pathlib import Path

import pytest

from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.adapters.git_mirror_store import MAX_LIVE_MIRRORS, GitMirrorStore
from sediment_assets.adapters.git_process import Conversation, Git, GitUnavailableError
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import LegacyKey
from tests.git.patch_cases import EDITED, LINES
from tests.git.processes import git_children
from tests.git.repositories import git, init, linear


def fake_git(directory: Path, monkeypatch, script: str) -> None:
    """Put a program named git first on PATH that answers the first question and then does as told."""
    directory.mkdir()
    program = directory / "git"
    program.write_text(f'#!/bin/sh\ncase "$*" in *rev-parse*) echo sha1; exit 0;; esac\n{script}\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")


def test_processes_live_between_questions_and_are_reaped_on_close(tmp_path):
    base, head = linear(tmp_path / "m", {b"a": LINES}, {b"a": EDITED})
    before = git_children()
    mirror = GitMirror(tmp_path / "m")
    assert git_children() == before
    for _ in range(5):
        mirror.commit_patch(head)
        mirror.reference_patch(base, head)
        mirror.first_parent(head)
    assert len(git_children()) == len(before) + 3
    mirror.close()
    assert git_children() == before
    assert mirror.commit_patch(head)
    mirror.close()
    mirror.close()
    assert git_children() == before


def test_forgotten_mirror_leaves_no_process(tmp_path):
    [head] = linear(tmp_path / "m", {b"a": LINES})
    before = git_children()
    mirror = GitMirror(tmp_path / "m")
    mirror.commit_patch(head)
    del mirror
    assert git_children() == before


def test_store_bounds_its_processes(tmp_path):
    heads = {}
    for number in range(MAX_LIVE_MIRRORS + 3):
        if number == 0:
            heads[number] = linear(tmp_path / "acme%2Fo%2Fr0", {b"a": LINES})
        else:
            (tmp_path / f"acme%2Fo%2Fr{number}").symlink_to(tmp_path / "acme%2Fo%2Fr0")
    [head] = heads[0]
    before = len(git_children())
    with GitMirrorStore(tmp_path) as store:
        for _ in range(2):
            for number in range(MAX_LIVE_MIRRORS + 3):
                assert store.open(LegacyKey("acme", f"o/r{number}")).commit_exists(head)
        assert len(git_children()) - before <= MAX_LIVE_MIRRORS
    assert len(git_children()) == before


def test_killed_process_fails_its_question_and_is_replaced(tmp_path):
    [head] = linear(tmp_path / "m", {b"a": LINES})
    before = git_children()
    with GitMirror(tmp_path / "m") as mirror:
        patch = mirror.commit_patch(head)
        for pid in set(git_children()) - set(before):
            os.kill(int(pid), 9)
        time.sleep(0.05)
        with pytest.raises(MirrorError, match="git diff-tree"):
            mirror.commit_patch(head)
        assert mirror.commit_patch(head) == patch


@pytest.mark.parametrize("script", ["exec sleep 60", "while read line; do :; done", "yes no-answer"])
def test_silent_git_is_an_error_within_the_time(tmp_path, monkeypatch, script):
    init(tmp_path / "m")
    fake_git(tmp_path / "bin", monkeypatch, script)
    mirror = GitMirror(tmp_path / "m", timeout=0.3)
    start = time.monotonic()
    with pytest.raises(MirrorError):
        mirror.first_parent("a" * 40)
    mirror.close()
    assert time.monotonic() - start < 10


def test_silent_single_command_is_an_error_within_the_time(tmp_path, monkeypatch):
    init(tmp_path / "m")
    fake_git(tmp_path / "bin", monkeypatch, "exec sleep 60")
    with GitMirror(tmp_path / "m", timeout=0.3) as mirror, pytest.raises(MirrorError, match=r"for-each-ref.*0\.3 s"):
        mirror.refs()


def test_timeout_names_the_mirror_the_command_and_the_time(tmp_path, monkeypatch):
    init(tmp_path / "m")
    fake_git(tmp_path / "bin", monkeypatch, "exec sleep 60")
    with GitMirror(tmp_path / "m", timeout=0.2) as mirror, pytest.raises(MirrorError) as caught:
        mirror.first_parent("a" * 40)
    message = str(caught.value)
    assert message.startswith(f"mirror {tmp_path / 'm'}: git cat-file: expected an answer, got no answer within 0.2 s")
    assert "\n" not in message


def test_git_that_talks_on_standard_error_does_not_block(tmp_path, monkeypatch):
    init(tmp_path / "m")
    talk = "head -c 3000000 /dev/zero | tr '\\0' '\\n' >&2"
    fake_git(tmp_path / "bin", monkeypatch, f"{talk}; echo fatal: enough >&2; exit 1")
    with GitMirror(tmp_path / "m", timeout=20) as mirror, pytest.raises(MirrorError, match="fatal: enough"):
        mirror.first_parent("a" * 40)


def test_message_of_git_is_one_printable_line(tmp_path, monkeypatch):
    init(tmp_path / "m")
    said = "fatal: \\033[31mred\\007\\342\\200\\256 %0300d\\nhint: x\\n"
    fake_git(tmp_path / "bin", monkeypatch, f"printf '{said}' 0 >&2; exit 1")
    with GitMirror(tmp_path / "m") as mirror, pytest.raises(MirrorError) as caught:
        mirror.refs()
    assert str(caught.value).isprintable()
    assert "red" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_git_missing_from_path_is_an_error_with_a_remedy(tmp_path, monkeypatch):
    init(tmp_path / "m")
    monkeypatch.setenv("PATH", str(tmp_path))
    with GitMirror(tmp_path / "m") as mirror:
        for question in (mirror.refs, lambda: mirror.commit_exists("a" * 40)):
            with pytest.raises(GitUnavailableError, match="install git"):
                question()


def test_git_that_cannot_start_is_an_error(tmp_path, monkeypatch):
    init(tmp_path / "m")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/git").write_text("#!/nonexistent/interpreter\n")
    (tmp_path / "bin/git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    with GitMirror(tmp_path / "m") as mirror, pytest.raises(MirrorError, match="No such file"):
        mirror.refs()


def test_directory_that_is_no_repository_is_a_clear_error(tmp_path):
    """Also when a parent directory is one: git must not search."""
    linear(tmp_path / "outer", {b"a": LINES})
    broken = tmp_path / "outer/broken"
    broken.mkdir()
    (broken / "HEAD").write_text("ref: refs/heads/main\n")
    with GitMirror(broken) as mirror:
        for question in (mirror.refs, lambda: mirror.commit_exists("a" * 40), lambda: list(mirror.notes())):
            with pytest.raises(MirrorError, match=r"not a git repository.*fetch it again") as caught:
                question()
            assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_mirror_of_another_user_is_read(tmp_path):
    [head] = linear(tmp_path / "m", {b"a": LINES})
    for path in [tmp_path / "m", *(tmp_path / "m").rglob("*")]:
        os.chown(path, 12345, 12345)
    with GitMirror(tmp_path / "m") as mirror:
        assert mirror.commit_exists(head)
        assert mirror.refs() == {"refs/heads/main": head}


def test_interrupted_answer_is_not_taken_for_the_next_one(tmp_path):
    [head] = linear(tmp_path / "m", {b"a": LINES})
    conversation = Conversation(Git(tmp_path / "m"), "cat-file", "--batch")
    question = f"{head}\n".encode()

    def interrupted():
        with conversation.question(question) as answer:
            answer.exactly(5)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not conversation.running
    with conversation.question(f"{head}^{{tree}}\n".encode()) as answer:
        assert answer.line().split()[1] == b"tree"
    conversation.close()


def test_nothing_is_fetched_for_a_missing_object_of_a_partial_clone(tmp_path):
    """A promisor remote would make git run a transport: here a program that leaves a mark."""
    base, head = linear(tmp_path / "m", {b"a": LINES}, {b"a": EDITED})
    mark = tmp_path / "mark"
    for setting in (
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::sh -c touch% {mark}"),
        ("protocol.ext.allow", "always"),
        ("core.repositoryFormatVersion", "1"),
    ):
        git(tmp_path / "m", "config", *setting)
    with GitMirror(tmp_path / "m") as mirror:
        assert not mirror.commit_exists("d" * 40)
        assert mirror.commit_exists(head)
        with pytest.raises(MirrorError):
            mirror.reference_patch(base, "d" * 40)
    assert not mark.exists()
