"""A mirror's fingerprint: another one whenever git could answer otherwise, the same while it cannot."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.mirrors.reader import MirrorError
from sediment_assets.repositories.keys import LegacyKey
from tests.git.repositories import git, linear, object_path, unpack

KEY, ABSENT = LegacyKey("acme", "acme/w"), LegacyKey("acme", "acme/none")
STATES = ({b"a.py": b"a = 1\n"}, {b"a.py": b"a = 2\n"}, {b"b.py": b"b = 1\n"})


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    path = tmp_path / "mirrors" / mirror_path(KEY)
    linear(path, *STATES)
    unpack(path)
    return path


def fingerprint(mirror: Path) -> str | None:
    """As a process of its own sees it."""
    with GitMirrorStore(mirror.parent) as store:
        return store.fingerprint([KEY, ABSENT])


def head(mirror: Path) -> str:
    return git(mirror, "rev-parse", "main").decode().strip()


def lose(mirror: Path) -> None:
    object_path(mirror, head(mirror)).unlink()


def borrow(mirror: Path) -> None:
    """Move all objects where only an alternate finds them."""
    elsewhere = mirror.parent.parent / "elsewhere"
    shutil.copytree(mirror / "objects", elsewhere)
    (mirror / "objects/info/alternates").write_text(f"# shared\n{elsewhere}\n")


def damage(mirror: Path) -> None:
    """Change a byte, and set the time back as a bad disk does."""
    path = object_path(mirror, head(mirror))
    times = path.stat()
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def write(name: str, text: str) -> Callable[[Path], None]:
    def change(mirror: Path) -> None:
        path = mirror / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(text)

    return change


CHANGES: dict[str, Callable[[Path], object]] = {
    "ref": lambda mirror: git(mirror, "update-ref", "refs/heads/new", head(mirror)),
    "ref elsewhere": lambda mirror: git(mirror, "update-ref", "refs/heads/main", f"{head(mirror)}~1"),
    "note": lambda mirror: git(mirror, "update-ref", "refs/notes/sediment", head(mirror)),
    "loose object": lambda mirror: git(mirror, "hash-object", "-w", "--stdin", stdin=b"new"),
    "lost object": lose,
    "damaged object": damage,
    "pack": lambda mirror: git(mirror, "repack", "-q", "-a"),
    "packed": lambda mirror: git(mirror, "gc", "-q", "--prune=now"),
    "alternates": borrow,
    "shallow": lambda mirror: write("shallow", f"{head(mirror)}\n")(mirror),
    "setting": lambda mirror: git(mirror, "config", "diff.orderFile", "x"),
    "attributes": write("info/attributes", "*.py -diff\n"),
    "absent": lambda mirror: mirror.rename(mirror.parent / "away"),
    "other mirror": lambda mirror: linear(mirror.parent / mirror_path(ABSENT), *STATES),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_could_change_an_answer_changes_the_fingerprint(mirror: Path, change: str):
    before = fingerprint(mirror)
    assert before is not None
    CHANGES[change](mirror)
    assert fingerprint(mirror) not in (before, None)


def test_what_changes_in_an_alternate_counts(mirror: Path):
    borrow(mirror)
    before = fingerprint(mirror)
    (mirror.parent.parent / "elsewhere/ab").mkdir(exist_ok=True)
    (mirror.parent.parent / "elsewhere/ab/cd").write_bytes(b"")
    assert fingerprint(mirror) not in (before, None)


def test_an_object_that_is_repaired_is_another_one_than_the_damaged(mirror: Path):
    sound = object_path(mirror, head(mirror)).read_bytes()
    damage(mirror)
    before = fingerprint(mirror)
    object_path(mirror, head(mirror)).write_bytes(sound)
    assert fingerprint(mirror) != before


def test_reading_and_locking_change_nothing(mirror: Path):
    before = fingerprint(mirror)
    with GitMirrorStore(mirror.parent) as store, store.locked([KEY]):
        opened = store.open(KEY)
        assert opened is not None
        opened.push_commits(f"{head(mirror)}", "0" * 40, forced=False, limit=2)
        assert [isinstance(patch, str) for patch in opened.commit_patches([head(mirror), "0" * 40])] == [True, False]
        opened.reference_patch(git(mirror, "rev-parse", "main~1").decode().strip(), head(mirror))
        assert list(opened.notes()) == []
        assert store.fingerprint([ABSENT, KEY]) == before, "a commit that is missing is no failure of git"
    assert fingerprint(mirror) == before


UNPROVEN: dict[str, Callable[[Path], object]] = {
    "included settings": lambda mirror: git(mirror, "config", "include.path", "/etc/more"),
    "objects elsewhere": write("commondir", "..\n"),
    "quoted alternate": write("objects/info/alternates", '"/a\\"b"\n'),
    "alternate that is gone": write("objects/info/alternates", "/nowhere/at/all\n"),
    "dangling link": lambda mirror: (mirror / "objects/pack/p.pack").symlink_to("gone"),
    "no repository": lambda mirror: (mirror / "HEAD").write_text("what\n"),
}


@pytest.mark.parametrize("change", UNPROVEN)
def test_what_cannot_be_followed_proves_nothing(mirror: Path, change: str):
    UNPROVEN[change](mirror)
    assert fingerprint(mirror) is None


def processes_of(mirror: Path) -> Iterator[int]:
    """Ids of this process's children that work on a mirror."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    yield from (int(child) for child in children if str(mirror).encode() in Path(f"/proc/{child}/environ").read_bytes())


def test_after_a_git_was_killed_the_fingerprint_is_another(mirror: Path):
    with GitMirrorStore(mirror.parent) as store:
        before = store.fingerprint([KEY])
        opened = store.open(KEY)
        assert opened is not None
        assert opened.commit_exists(head(mirror))
        for child in processes_of(mirror):
            os.kill(child, 9)
        with pytest.raises(MirrorError):
            opened.first_parent(git(mirror, "rev-parse", "main~1").decode().strip())
        assert store.fingerprint([KEY]) not in (before, None)
    with GitMirrorStore(mirror.parent) as store:
        assert store.fingerprint([KEY]) == before


def test_another_git_is_another_fingerprint(mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    before = fingerprint(mirror)
    real = shutil.which("git")
    wrapper = tmp_path / "bin/git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo git version 99 || exec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    assert subprocess.run(["git", "--version"], capture_output=True, check=True).stdout == b"git version 99\n"
    assert fingerprint(mirror) not in (before, None)


def test_an_organization_without_mirrors_has_a_fingerprint(tmp_path: Path):
    with GitMirrorStore(tmp_path / "none") as store:
        assert store.fingerprint([KEY]) == store.fingerprint([KEY])
        assert store.fingerprint([]) not in (store.fingerprint([KEY]), None)
