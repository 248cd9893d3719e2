"""Small real repositories from fast-import streams: fixed identity and dates, no configuration but their own."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sediment_assets.mirrors.diff_paths import quote_path

FILE, PROGRAM, LINK, GITLINK = "100644", "100755", "120000", "160000"
EPOCH = 1_772_355_600
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "LC_ALL": "C",
}


class File(NamedTuple):
    """One file of a commit; the data of a gitlink is the commit id in ASCII."""

    data: bytes
    mode: str = FILE


Files = Mapping[bytes, File | bytes | None]
"""Path to content; a bare content is a plain file, None deletes."""


def git(directory: Path, *arguments: str, stdin: bytes | None = None, **variables: str) -> bytes:
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        input=stdin,
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


def init(directory: Path, object_format: str = "sha1") -> Path:
    directory.mkdir(parents=True)
    git(directory, "init", "--bare", "--quiet", f"--object-format={object_format}", ".")
    return directory


def fast_import(directory: Path, stream: bytes) -> list[str]:
    """Import a stream and return the ids of its marks :1, :2, …"""
    marks = directory / "marks"
    git(directory, "fast-import", "--quiet", "--done", f"--export-marks={marks}", stdin=stream + b"done\n")
    found = dict(line.split() for line in marks.read_text().splitlines())
    marks.unlink()
    return [found[f":{number}"] for number in range(1, len(found) + 1)]


def commit(
    mark: int, files: Files, *, parents: Sequence[int] = (), branch: str = "main", time: int | None = None
) -> bytes:
    """Return the stream of one commit; ``parents`` are marks."""
    when = EPOCH + 60 * mark if time is None else time
    lines = [
        f"commit refs/heads/{branch}\nmark :{mark}\n".encode(),
        f"committer Dev One <dev@example.test> {when} +0000\ndata 2\nm{mark % 10}\n".encode(),
        *(f"{'merge' if n else 'from'} :{parent}\n".encode() for n, parent in enumerate(parents)),
    ]
    for path, file in files.items():
        if file is None:
            lines.append(b"D " + quote_path(path) + b"\n")
            continue
        data, mode = file if isinstance(file, File) else File(file)
        if mode == GITLINK:
            lines.append(b"M 160000 " + data + b" " + quote_path(path) + b"\n")
        else:
            head = b"M " + mode.encode() + b" inline " + quote_path(path)
            lines.append(head + b"\ndata %d\n" % len(data) + data + b"\n")
    return b"".join(lines)


def linear(directory: Path, *states: Files, object_format: str = "sha1") -> list[str]:
    """Make a repository whose commits apply these changes one after the other; return their ids."""
    init(directory, object_format)
    parents: list[Sequence[int]] = [(), *((mark,) for mark in range(1, len(states)))]
    stream = [commit(mark, files, parents=parents[mark - 1]) for mark, files in enumerate(states, 1)]
    return fast_import(directory, b"".join(stream))


def unpack(directory: Path) -> None:
    """Turn packs into loose objects, so that a test can damage one of them."""
    packs = [path.read_bytes() for path in (directory / "objects/pack").glob("*.pack")]
    for path in (directory / "objects/pack").iterdir():
        path.unlink()
    for data in packs:
        git(directory, "unpack-objects", "-q", stdin=data)


def object_path(directory: Path, oid: str) -> Path:
    """Where a loose object lies; made writable."""
    path = directory / "objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    return path


def tree_of(directory: Path, commit_id: str) -> str:
    return git(directory, "rev-parse", f"{commit_id}^{{tree}}").decode().strip()


def applied_tree(directory: Path, base: str, patch: str, scratch: Path) -> str:
    """Apply a patch to a commit's tree with ``git apply --cached``; return the tree, writing nothing there."""
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "objects").mkdir(exist_ok=True)
    variables = {
        "GIT_DIR": str(directory),
        "GIT_INDEX_FILE": str(scratch / "index"),
        "GIT_OBJECT_DIRECTORY": str(scratch / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(directory / "objects"),
    }
    git(directory, "read-tree", base, **variables)
    if patch:
        git(directory, "apply", "--cached", "-", stdin=patch.encode(), **variables)
    return git(directory, "write-tree", **variables).decode().strip()


def content_of(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, to show that it did not change."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
