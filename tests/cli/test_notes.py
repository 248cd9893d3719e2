"""``sediment notes stamp`` in real working repositories: what it writes, what it leaves alone, who else writes."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.capture.observations import read_notes
from sediment_assets.cli.main import main
from sediment_assets.mirrors.notes import MAX_NOTE_BYTES, NoteSession, note_sessions
from tests.cli.command import BASE_ENVIRONMENT, COMMAND

REAL = Path(os.environ.get("SHARED_REAL", Path(__file__).parents[2].parent / "shared" / "real")) / "notes"

FOREIGN = {
    "git-ai": 'src/app.py\n  a1b2c3d 1-4,9\n---\n{\n  "schema_version": "authorship/3.0.0",\n  "prompts": {}\n}\n',
    "git-ai, no lines": '---\n{"schema_version": "authorship/3.0.0", "session_id": "s1"}\n',
    "git-ai, first format": '{"version": "0.0.1", "files": {}, "sessions": ["s1"]}\n',
    "gerrit": "Verified+1: Build <build@example.com>\nCode-Review+2: Ada <ada@example.com>\nBranch: refs/heads/main\n",
    "agent-trace": '{"version": "0.1.0", "id": "x", "files": [{"path": "a", "conversations": []}]}\n',
    "entire": '{"checkpoint_id": "1", "session_id": "s1", "agent": "Claude Code"}\n',
    "trailers": "Co-authored-by: Agent <agent@example.com>\nClaude-Session: s1\n",
    "another version": '{"v": 2, "sessions": [{"tool": "t", "session_id": "s1", "stamped_at": ""}]}\n',
    "one key more": '{"v": 1, "sessions": [], "model": "m"}\n',
    "ours, and text behind it": '{"v": 1, "sessions": []}\nSigned-off-by: Ada\n',
}
"""Notes as other tools write them."""


@dataclass
class Work:
    """A working repository with one commit, and the command run in this process."""

    directory: Path
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def git(self, *arguments: str, stdin: bytes | None = None) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.directory, input=stdin, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip()

    def commit(self, name: str) -> str:
        (self.directory / name).write_text(name)
        self.git("add", name)
        self.git("commit", "-q", "-m", name)
        return self.git("rev-parse", "HEAD")

    def stamp(self, *arguments: str, stdin: object = None) -> subprocess.CompletedProcess[str]:
        if stdin is not None:
            text = io.TextIOWrapper(io.BytesIO(json.dumps(stdin).encode()))
            self.monkeypatch.setattr(sys, "stdin", text)
        self.capsys.readouterr()
        status = main(["notes", "stamp", *arguments])
        return subprocess.CompletedProcess([], status, *self.capsys.readouterr())

    def note(self, revision: str = "HEAD", ref: str = "sediment") -> bytes:
        command = ["git", "notes", f"--ref={ref}", "show", revision]
        return subprocess.run(command, cwd=self.directory, capture_output=True, check=True).stdout

    def sessions(self, revision: str = "HEAD") -> list[tuple[str, str]]:
        found = note_sessions(self.note(revision))
        assert found is not None
        return [(session.tool, session.session_id) for session in found]

    def noted(self) -> set[str]:
        return set(self.git("notes", "--ref=sediment", "list").split()[1::2])


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Work]:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.test\n")
    for name, value in {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    directory = tmp_path / "work"
    subprocess.run(["git", "init", "-q", "-b", "main", str(directory)], check=True)
    monkeypatch.chdir(directory)
    found = Work(directory, monkeypatch, capsys)
    found.commit("a.txt")
    return found


def test_a_stamp_is_a_note_of_the_contracts_shape(work):
    head = work.git("rev-parse", "HEAD")
    done = work.stamp("--session", "s1", "--harness", "codex")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"stamped {head[:12]} with Session s1\n", "")
    note = json.loads(work.note())
    [entry] = note.pop("sessions")
    assert note == {"v": 1}
    assert (entry.pop("tool"), entry.pop("session_id")) == ("codex", "s1")
    assert entry.pop("stamped_at").endswith("Z")
    assert entry == {}
    assert work.git("log", "-1", "--format=%an", "refs/notes/sediment") == "Ada"
    assert work.git("status", "--porcelain") == ""


def test_stamping_again_changes_nothing(work):
    work.stamp("--session", "s1", "--harness", "codex")
    before = work.git("rev-parse", "refs/notes/sediment")
    assert work.stamp("--session", " s1 ", "--harness", "codex").stdout.startswith("already stamped ")
    assert work.git("rev-parse", "refs/notes/sediment") == before


def test_other_sessions_of_the_note_stay_byte_for_byte(work):
    there = b'{"v": 1,  "sessions": [{"tool":"x","session_id":"s0","stamped_at":"?"}]}'
    work.git("notes", "--ref=sediment", "add", "-F", "-", stdin=there)
    work.stamp("--session", "s1")
    work.stamp("--session", "s1", "--harness", "codex")
    assert work.note().startswith(there.rstrip() + b"\n")
    assert work.sessions() == [("x", "s0"), ("unknown", "s1"), ("codex", "s1")]


def test_any_commit_may_be_named_and_others_are_left_alone(work):
    first = work.git("rev-parse", "HEAD")
    second = work.commit("b.txt")
    work.git("tag", "-a", "-m", "t", "v1", first)
    work.stamp("--session", "s1", "--commit", "v1")
    assert work.noted() == {first}
    work.stamp("--session", "s2")
    assert work.noted() == {first, second}
    assert work.sessions(first) == [("unknown", "s1")]


def test_session_and_harness_may_come_from_the_environment(work):
    work.monkeypatch.setenv("SEDIMENT_SESSION_ID", "s9")
    work.monkeypatch.setenv("SEDIMENT_HARNESS", "pi")
    work.stamp()
    work.stamp("--session", "s1")
    assert work.sessions() == [("pi", "s9"), ("pi", "s1")]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [([], "expected the Session's id, got nothing"), (["--session", " "], "got nothing"),
     (["--session", "a\0b"], "got other text"), (["--session", "\udc80"], "got other text"),
     (["--session", "s", "-C", "/"], "expected a commit"),
     *((["--session", "s", f"--commit={bad}"], "expected a commit") for bad in ("nowhere", "--all", "HEAD^{tree}"))],
)  # fmt: skip
def test_misuse_is_one_line_and_writes_nothing(work, arguments, problem):
    done = work.stamp(*arguments)
    assert done.returncode == 1
    assert problem in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert work.git("for-each-ref", "refs/notes") == ""


@pytest.mark.parametrize("tool", FOREIGN)
def test_a_note_of_another_tool_is_not_ours_and_not_touched(work, tool):
    text = FOREIGN[tool].encode()
    assert note_sessions(text) is None
    for ref in ("ai", "commits", "sediment"):
        work.git("notes", f"--ref={ref}", "add", "-F", "-", stdin=text)
    before = {ref: work.git("rev-parse", f"refs/notes/{ref}") for ref in ("ai", "commits", "sediment")}
    done = work.stamp("--session", "s1")
    assert done.returncode == 1
    assert "expected a note that names Sessions, got another text" in done.stderr
    work.git("update-ref", "-d", "refs/notes/sediment")
    assert work.stamp("--session", "s1").returncode == 0
    assert {ref: work.git("rev-parse", f"refs/notes/{ref}") for ref in ("ai", "commits")} == {
        ref: before[ref] for ref in ("ai", "commits")
    }


def real_bodies() -> Iterator[tuple[str, bytes]]:
    """Every note, record and trailer text of the collection, whatever its file."""
    for path in sorted(REAL.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            yield str(path), data
            lines = data.split(b"\n") if path.suffix == ".jsonl" else []
            for number, line in enumerate(filter(None, lines)):
                yield f"{path}:{number}", line
                yield from ((f"{path}:{number}.{key}", text) for key, text in _texts(json.loads(line)))


def _texts(value: object, key: str = "") -> Iterator[tuple[str, bytes]]:
    if isinstance(value, str):
        yield key, value.encode("utf-8", "surrogatepass")
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, f"{key}.{name}")
            yield f"{key}.{name}", json.dumps(inner).encode()
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)


@pytest.mark.skipif(not REAL.is_dir(), reason=f"no real notes at {REAL}; SHARED_REAL may name another folder")
def test_no_real_note_of_another_tool_is_ever_taken_for_ours(work):
    bodies = dict(real_bodies())
    assert len(bodies) > 300
    assert [name for name, body in bodies.items() if note_sessions(body) is not None] == []
    # Even in our own ref they name no Session, and are counted.
    files = sorted(REAL.glob("git-ai/*.note"))
    shas = [work.commit(path.stem) for path in files]
    for sha, path in zip(shas, files, strict=True):
        work.git("notes", "--ref=sediment", "add", "-F", str(path), sha)
    with GitMirror(work.directory / ".git") as mirror:
        noted = read_notes(mirror.notes())
    assert (noted.sessions, noted.notes, noted.unreadable) == ({}, len(files), len(files))


def test_a_note_that_would_grow_too_large_is_left_as_it_is(work):
    entries = [NoteSession("t", f"{number:05}", "")._asdict() for number in range(1_000)]
    lines = "".join(json.dumps({"v": 1, "sessions": [entry]}) + "\n" for entry in entries)
    there = lines.encode()[: MAX_NOTE_BYTES - 100].rpartition(b"\n")[0] + b"\n"
    work.git("notes", "--ref=sediment", "add", "-F", "-", stdin=there)
    assert "at most 65536 bytes" in work.stamp("--session", "s" * 100).stderr
    assert work.note() == there


def test_many_commits_with_notes_keep_them_all(work):
    head = work.git("rev-parse", "HEAD")
    stream = [b"commit refs/notes/sediment\ncommitter A <a@b> 0 +0000\ndata 1\nx\n"]
    for number in range(700):  # git spreads so many over directories
        stream.append(b"M 100644 inline %040x\ndata 1\nx\n" % number)
    subprocess.run(["git", "fast-import", "--quiet"], input=b"".join(stream), check=True, cwd=work.directory)
    work.stamp("--session", "s1")
    assert len(work.noted()) == 701
    assert work.sessions(head) == [("unknown", "s1")]


def test_concurrent_stamps_lose_nothing(work):
    head = work.git("rev-parse", "HEAD")
    other = work.commit("b.txt")
    processes = [
        subprocess.Popen(
            [*COMMAND, "notes", "stamp", "--session", f"s{number}", "--commit", commit],
            cwd=work.directory,
            env=BASE_ENVIRONMENT | {"HOME": os.environ["HOME"]},
            stdout=subprocess.DEVNULL,
        )
        for number in range(4)
        for commit in (head, other)
    ]
    work.git("notes", "--ref=sediment", "append", "-m", '{"v":1,"sessions":[]}', head)  # somebody else, meanwhile
    assert [process.wait() for process in processes] == [0] * 8
    for commit in (head, other):
        assert sorted(work.sessions(commit)) == [("unknown", f"s{number}") for number in range(4)]


def test_notes_of_two_clones_merge_by_lines(work):
    work.stamp("--session", "s0")
    clone = work.directory.parent / "clone"
    work.git("clone", "-q", str(work.directory), str(clone))
    fetch = ("fetch", "-q", "origin", "refs/notes/sediment:refs/notes/sediment")
    work.git("-C", str(clone), *fetch)
    assert work.stamp("--session", "s1", "-C", str(clone)).returncode == 0
    work.stamp("--session", "s2")
    work.git("fetch", "-q", str(clone), "refs/notes/sediment:refs/notes/theirs")
    work.git("notes", "--ref=sediment", "merge", "-q", "-s", "cat_sort_uniq", "refs/notes/theirs")
    assert sorted(work.sessions()) == [("unknown", "s0"), ("unknown", "s1"), ("unknown", "s2")]


def test_a_linked_worktree_writes_the_notes_of_its_repository(work):
    work.git("worktree", "add", "-q", "../tree", "-b", "side")
    work.stamp("--session", "s1", "-C", "../tree")
    assert work.sessions() == [("unknown", "s1")]


def test_without_an_identity_a_stamp_is_written_all_the_same(work):
    Path(os.environ["HOME"], ".gitconfig").write_text("[user]\n\tuseConfigOnly = true\n")
    assert work.stamp("--session", "s1").returncode == 0
    assert work.git("log", "-1", "--format=%an", "refs/notes/sediment") == "sediment"


def hook(event: str, work: Work, **values: object) -> dict[str, object]:
    tool = {"tool_name": "Bash", "tool_input": {"command": "git commit"}, "tool_use_id": "t1"}
    return {"session_id": "s1", "cwd": str(work.directory), "hook_event_name": event, **tool, **values}


def test_a_hook_stamps_what_its_tool_call_committed_and_nothing_else(work):
    first = work.git("rev-parse", "HEAD")
    assert work.stamp("--hook", stdin=hook("PreToolUse", work)).stdout == ""
    made = {work.commit("b.txt"), work.commit("c.txt")}
    done = work.stamp("--hook", stdin=hook("PostToolUse", work))
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    assert work.noted() == made
    assert first not in made
    assert work.sessions() == [("claude-code", "s1")]


def test_a_tool_call_that_commits_nothing_stamps_nothing(work):
    work.git("branch", "other")
    work.commit("b.txt")
    work.stamp("--hook", stdin=hook("PreToolUse", work))
    work.git("checkout", "-q", "other")
    work.git("merge", "-q", "--ff-only", "main")
    work.git("reset", "-q", "--hard", "HEAD~1")
    work.git("cherry-pick", "main")
    assert work.stamp("--hook", stdin=hook("PostToolUse", work)).stdout == ""
    assert work.git("for-each-ref", "refs/notes") == ""


@pytest.mark.parametrize("kind", ["amend", "merge", "revert"])
def test_every_way_of_making_a_commit_is_known(work, kind):
    work.git("checkout", "-q", "-b", "side")
    work.commit("b.txt")
    work.git("checkout", "-q", "main")
    work.commit("c.txt")
    work.stamp("--hook", stdin=hook("PreToolUse", work))
    if kind == "amend":
        work.git("commit", "-q", "--amend", "-m", "again")
    elif kind == "merge":
        work.git("merge", "-q", "--no-edit", "side")
    else:
        work.git("revert", "--no-edit", "HEAD")
    work.stamp("--hook", stdin=hook("PostToolUse", work))
    assert work.noted() == {work.git("rev-parse", "HEAD")}


def test_parallel_tool_calls_have_marks_of_their_own(work):
    work.stamp("--hook", stdin=hook("PreToolUse", work, tool_use_id="t1"))
    made = work.commit("b.txt")
    work.stamp("--hook", stdin=hook("PreToolUse", work, tool_use_id="t2"))
    assert work.stamp("--hook", stdin=hook("PostToolUse", work, tool_use_id="t2")).stdout == ""
    work.stamp("--hook", stdin=hook("PostToolUse", work, tool_use_id="t1"))
    assert work.noted() == {made}


def test_a_hook_without_its_mark_stamps_nothing_and_says_why(work):
    done = work.stamp("--hook", stdin=hook("PostToolUse", work))
    assert done.returncode == 1
    assert "PreToolUse" in done.stderr
    assert work.git("for-each-ref", "refs/notes") == ""


def test_a_hook_outside_a_repository_does_nothing(work):
    for event in ("PreToolUse", "PostToolUse"):
        done = work.stamp("--hook", stdin=hook(event, work, cwd=str(work.directory.parent)))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("values", [[], {}, {"session_id": 1}, "x"])
def test_a_hook_with_other_input_is_one_line(work, values):
    done = work.stamp("--hook", stdin=values)
    assert done.returncode == 1
    assert "expected a hook's JSON object" in done.stderr


def test_the_environment_outranks_the_hooks_own_session(work):
    work.monkeypatch.setenv("SEDIMENT_SESSION_ID", "gateway-id")
    work.stamp("--hook", stdin=hook("PreToolUse", work))
    work.commit("b.txt")
    work.stamp("--hook", stdin=hook("PostToolUse", work))
    assert work.sessions() == [("claude-code", "gateway-id")]


def test_a_stamp_imports_neither_models_nor_databases():
    code = (
        "import sys; from sediment_assets.cli.notes import _session; from datetime import datetime;"
        "import sediment_assets.adapters.head_moves, sediment_assets.facts.defaults;"
        "_session('t', 's', datetime(2026, 1, 1)); print(sorted({'sqlalchemy', 'dagster', 'yaml'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
