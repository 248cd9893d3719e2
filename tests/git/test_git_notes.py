"""Notes of a mirror, whatever their tree looks like (mirrors.md §7.2), compared with ``git notes``."""

import json
import os

import pytest

from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.adapters.git_process import GitInterruptedError
from sediment_assets.derive.bindings import Bindings, bind_notes
from sediment_assets.mirrors.notes import note_sessions
from sediment_assets.mirrors.reader import MirrorError, Note
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.git.processes import git_children
from tests.git.repositories import LINK, File, commit, fast_import, git, init, linear, object_path, unpack

A, B, C = "a" * 40, "b" * 40, "c" * 40


def body(*session_ids: str) -> bytes:
    entries = [{"tool": "t", "session_id": session_id, "stamped_at": ""} for session_id in session_ids]
    return json.dumps({"v": 1, "sessions": entries}).encode()


def with_notes(directory, files, object_format="sha1"):
    """Make a repository whose notes ref has this tree."""
    init(directory, object_format)
    stream = commit(1, files).replace(b"refs/heads/main", b"refs/notes/sediment")
    fast_import(directory, stream)
    return directory


def read(directory) -> list[Note]:
    with GitMirror(directory) as mirror:
        return list(mirror.notes())


@pytest.mark.parametrize("cut", ["{}", "{0:.2}/{1}", "{0:.2}/{2:.2}/{3}"])
def test_every_fanout_is_read(tmp_path, cut):
    files = {cut.format(sha, sha[2:], sha[2:], sha[4:]).encode(): body(sha[0]) for sha in (C, A, B)}
    repository = with_notes(tmp_path / "m", files)
    assert read(repository) == [Note(sha, body(sha[0])) for sha in (A, B, C)]
    listed = git(repository, "notes", "--ref=sediment", "list").decode().split()[1::2]
    assert listed == [A, B, C]


def test_other_entries_are_no_notes(tmp_path):
    files = {
        A.encode(): body("s"),
        b"README": b"x",
        b"aa/README": b"x",
        b"zz/" + b"c" * 38: b"x",
        b"a" * 39: b"x",
        b"a" * 42: b"x",
        b"abc/" + b"d" * 37: b"x",
        b"bb/" + b"b" * 37: b"x",
        B.encode(): File(b"target", LINK),
        C.encode() + b"/x": b"x",
    }
    repository = with_notes(tmp_path / "m", files)
    assert read(repository) == [Note(A, body("s"))]
    assert git(repository, "notes", "--ref=sediment", "list").decode().split()[1::2] == [A]


def test_upper_case_names_are_read_as_git_reads_them(tmp_path):
    repository = with_notes(tmp_path / "m", {A.upper().encode(): body("s")})
    assert read(repository) == [Note(A, body("s"))]
    assert git(repository, "notes", "--ref=sediment", "list").decode().split()[1::2] == [A]


def test_two_entries_of_one_object_are_joined(tmp_path):
    files = {A.encode(): body("s1") + b"\n", f"{A[:2]}/{A[2:]}".encode(): body("s2")}
    repository = with_notes(tmp_path / "m", files)
    [note] = read(repository)
    assert note.annotated == A
    sessions = note_sessions(note.body)
    assert sorted(session.session_id for session in sessions) == ["s1", "s2"]


def test_annotated_objects_need_not_exist_and_may_be_anything(tmp_path):
    [sha] = linear(tmp_path / "m", {b"a": b"x\n"})
    tree = git(tmp_path / "m", "rev-parse", f"{sha}^{{tree}}").decode().strip()
    identity = {
        f"GIT_{role}_{part}": "t@example.test" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
    }
    for target in (sha, tree):
        git(tmp_path / "m", "notes", "--ref=sediment", "add", "-m", "text", target, **identity)
    assert sorted(note.annotated for note in read(tmp_path / "m")) == sorted([sha, tree])


def test_many_notes(tmp_path):
    shas = [f"{number:040x}" for number in range(0, 60_000, 97)]
    repository = with_notes(tmp_path / "m", {f"{sha[:2]}/{sha[2:]}".encode(): body(sha) for sha in shas})
    assert read(repository) == [Note(sha, body(sha)) for sha in shas]


def test_note_too_large_to_be_legal_has_no_body(tmp_path):
    files = {A.encode(): b" " * 131_073, B.encode(): b" " * 131_072}
    notes = read(with_notes(tmp_path / "m", files))
    assert [(note.annotated, note.body is None) for note in notes] == [(A, True), (B, False)]


@pytest.mark.parametrize("fault", ["missing", "corrupt"])
def test_unreadable_blob_spoils_only_its_own_note(tmp_path, fault):
    repository = with_notes(tmp_path / "m", {sha.encode(): body(sha) for sha in (A, B, C)})
    unpack(repository)
    oid = git(repository, "rev-parse", f"refs/notes/sediment:{B}").decode().strip()
    path = object_path(repository, oid)
    if fault == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:20])
    assert read(repository) == [Note(A, body(A)), Note(B, None), Note(C, body(C))]


def test_sha256_repository(tmp_path):
    annotated = "ab" * 32
    repository = with_notes(tmp_path / "m", {f"ab/{annotated[2:]}".encode(): body("s")}, "sha256")
    assert read(repository) == [Note(annotated, body("s"))]


@pytest.mark.parametrize("other", ["refs/notes/sedimentary", "refs/notes/commits", "refs/heads/sediment"])
def test_other_refs_are_not_read(tmp_path, other):
    repository = with_notes(tmp_path / "m", {A.encode(): body("s")})
    git(repository, "update-ref", other, "refs/notes/sediment")
    git(repository, "update-ref", "-d", "refs/notes/sediment")
    assert read(repository) == []


def test_notes_ref_that_holds_no_tree_gives_none(tmp_path):
    repository = init(tmp_path / "m")
    oid = git(repository, "hash-object", "-w", "--stdin", stdin=b"x").decode().strip()
    git(repository, "update-ref", "refs/notes/sediment", oid)
    assert read(repository) == []


def test_a_git_that_is_killed_while_notes_are_listed_loses_none_of_them_silently(tmp_path):
    shas = [f"{number:040x}" for number in range(600)]
    before = set(git_children())
    with GitMirror(with_notes(tmp_path / "m", {sha.encode(): body(sha) for sha in shas})) as mirror:
        notes = mirror.notes()
        assert next(notes).annotated == shas[0]
        for pid in set(git_children()) - before:
            os.kill(int(pid), 9)
        with pytest.raises(GitInterruptedError, match="git cat-file: expected an answer, got its end by signal 9"):
            list(notes)
        assert len(list(mirror.notes())) == 600


def test_a_git_that_dies_before_the_first_note_stops_the_derivation(tmp_path, monkeypatch):
    with_notes(tmp_path / "mirrors/acme%2Fo%2Fr", {A.encode(): body("s")})
    program = tmp_path / "bin/git"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\ncase "$*" in *rev-parse*) echo sha1; exit 0;; esac\nkill -9 $$\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    with GitMirrorStore(tmp_path / "mirrors") as mirrors, pytest.raises(MirrorError, match="signal 9"):
        bind_notes(mirrors, RepositoryResolver.build("acme", (), ()), Bindings())


@pytest.mark.parametrize("fault", ["missing", "corrupt"])
def test_a_notes_tree_that_cannot_be_read_is_an_error(tmp_path, fault):
    repository = with_notes(tmp_path / "m", {f"{A[:2]}/{A[2:]}".encode(): body("s"), B.encode(): body("s")})
    unpack(repository)
    path = object_path(repository, git(repository, "rev-parse", f"refs/notes/sediment:{A[:2]}").decode().strip())
    if fault == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:10])
    with pytest.raises(MirrorError, match="git cat-file"):
        read(repository)
