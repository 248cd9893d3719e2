"""Git histories in memory: commits with the ids git gives them, and the ``git fast-import`` stream that rebuilds them.

Ids are computed here, so that tool results, notes and Facts can name a commit before any repository exists; planting
proves that git agrees. Not here: what is in the histories (``ledger_*``, ``dashboard_*``).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

YEAR: Final = 2026
NOTES_REF: Final = "refs/notes/sediment"
MAIN: Final = "main"

Change = bytes | str | tuple[str, str] | None
"""New content of a file, ``(old, new)`` text inside it, or None to delete it."""


def on(moment: str) -> datetime:
    """Read a moment of the demo: ``"11-02 09:12"`` is 2 November 2026, 09:12 UTC."""
    return datetime.strptime(f"{YEAR}-{moment}", "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


@dataclass(frozen=True)
class Commit:
    """One commit: what git hashes, and the files it leaves behind."""

    parents: tuple["Commit", ...]
    files: Mapping[str, bytes]
    author: str
    at: datetime
    message: str
    branch: str
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        lines = [f"tree {_tree_id(self.files)}", *(f"parent {parent.sha}" for parent in self.parents)]
        who = _signature(self.author, self.at)
        text = "\n".join([*lines, f"author {who}", f"committer {who}", "", self.message])
        object.__setattr__(self, "sha", _object_id("commit", text.encode()))

    def __repr__(self) -> str:
        return f"Commit({self.sha[:7]} {self.message.splitlines()[0]!r})"

    def first_parent(self) -> "Commit | None":
        """Return the commit it is compared with, or None for a root commit."""
        return self.parents[0] if self.parents else None


def _signature(author: str, at: datetime) -> str:
    return f"{author} <{author}@example.test> {int(at.timestamp())} +0000"


def _object_id(kind: str, content: bytes) -> str:
    # Git names objects by SHA-1; nothing here relies on it for security.
    return hashlib.sha1(b"%s %d\0" % (kind.encode(), len(content)) + content, usedforsecurity=False).hexdigest()


def _tree_id(files: Mapping[str, bytes]) -> str:
    entries: dict[str, tuple[str, str]] = {}
    folders: dict[str, dict[str, bytes]] = {}
    for path, content in files.items():
        name, slash, rest = path.partition("/")
        if slash:
            folders.setdefault(name, {})[rest] = content
        else:
            entries[name] = ("100644", _object_id("blob", content))
    # Git sorts a directory as if its name ended in a slash.
    entries.update({f"{name}/": ("40000", _tree_id(inside)) for name, inside in folders.items()})
    body = b"".join(
        f"{mode} {name.removesuffix('/')}\0".encode() + bytes.fromhex(object_id)
        for name, (mode, object_id) in sorted(entries.items())
    )
    return _object_id("tree", body)


def changed(files: Mapping[str, bytes], changes: Mapping[str, Change]) -> dict[str, bytes]:
    """Apply changes to a tree and return the new one.

    :raises ValueError: when a text to replace is not there exactly once, or a file to delete is not there.
    """
    after = dict(files)
    for path, change in changes.items():
        if change is None:
            if path not in after:
                raise ValueError(f"{path}: expected a file to delete, got none")
            del after[path]
        elif isinstance(change, tuple):
            after[path] = replaced(path, after[path], *change)
        else:
            after[path] = change.encode() if isinstance(change, str) else change
    return after


def replaced(path: str, content: bytes, old: str, new: str) -> bytes:
    """Replace the one place where ``old`` stands in a file.

    :raises ValueError: when it stands there never or more than once.
    """
    count = content.count(old.encode())
    if count != 1:
        raise ValueError(f"{path}: expected the text to replace once, got it {count} times: {old!r}")
    return content.replace(old.encode(), new.encode())


class History:
    """Commits of one repository in the order they were made, its branches, and its notes."""

    def __init__(self) -> None:
        self.branches: dict[str, Commit] = {}
        self._commits: list[Commit] = []
        self._notes: dict[str, tuple[datetime, bytes]] = {}

    def commit(
        self,
        at: datetime,
        author: str,
        message: str,
        files: Mapping[str, bytes],
        *,
        branch: str = MAIN,
        merge: Commit | None = None,
    ) -> Commit:
        """Add a commit with these files on top of ``branch``, which it moves; a new branch begins with a root commit.

        :raises ValueError: when the commit would be older than its parent.
        """
        head = self.branches.get(branch)
        parents = tuple(parent for parent in (head, merge) if parent is not None)
        if any(parent.at > at for parent in parents):
            raise ValueError(f"expected commits in order of time, got {message!r} at {at:%m-%d %H:%M}")
        commit = Commit(parents, dict(files), author, at, message + "\n", branch)
        self._commits.append(commit)
        self.branches[branch] = commit
        return commit

    def change(self, moment: str, author: str, message: str, changes: Mapping[str, Change]) -> Commit:
        """Add a commit to the main branch that changes some files of its head."""
        head = self.branches.get(MAIN)
        return self.commit(on(moment), author, message, changed(head.files if head else {}, changes))

    def stamp(self, commit: Commit, session_id: str, tool: str) -> None:
        """Annotate a commit with the Session that made it (mirrors.md §7.1)."""
        entry = {"tool": tool, "session_id": session_id, "stamped_at": f"{commit.at:%Y-%m-%dT%H:%M:%S}+00:00"}
        self.note(commit, json.dumps({"v": 1, "sessions": [entry]}) + "\n")

    def note(self, commit: Commit, text: str) -> None:
        """Annotate a commit with any text."""
        self._notes[commit.sha] = (commit.at + timedelta(seconds=2), text.encode())

    def reachable(self) -> list[Commit]:
        """Return the commits some branch still reaches, in the order they were made: what a mirror holds."""
        found: set[str] = set()
        pending = list(self.branches.values())
        while pending:
            commit = pending.pop()
            if commit.sha not in found:
                found.add(commit.sha)
                pending.extend(commit.parents)
        return [commit for commit in self._commits if commit.sha in found]

    def stream(self) -> bytes:
        """Return the ``git fast-import`` stream of branches and notes."""
        commits = self.reachable()
        marks = {commit.sha: mark for mark, commit in enumerate(commits, start=1)}
        # A commit that came by a branch deleted since is written on main; the resets below put every branch right.
        parts = [
            _commit_command(commit, marks, commit.branch if commit.branch in self.branches else MAIN)
            for commit in commits
        ]
        parts += [
            f"reset refs/heads/{branch}\nfrom :{marks[head.sha]}\n\n".encode()
            for branch, head in sorted(self.branches.items())
        ]
        noted = sorted((at, sha, body) for sha, (at, body) in self._notes.items() if sha in marks)
        parts += [_note_command(at, marks[sha], body) for at, sha, body in noted]
        return b"".join([*parts, b"done\n"])


def _commit_command(commit: Commit, marks: Mapping[str, int], branch: str) -> bytes:
    who = _signature(commit.author, commit.at)
    lines = [f"commit refs/heads/{branch}", f"mark :{marks[commit.sha]}", f"author {who}", f"committer {who}"]
    head = "\n".join(lines).encode() + b"\n" + _data(commit.message.encode())
    verbs = ("from", "merge")
    links = (f"{verb} :{marks[parent.sha]}\n" for verb, parent in zip(verbs, commit.parents, strict=False))
    return head + "".join(links).encode() + b"".join(_file_commands(commit)) + b"\n"


def _file_commands(commit: Commit) -> Iterator[bytes]:
    parent = commit.first_parent()
    before = parent.files if parent else {}
    for path in sorted(before.keys() - commit.files.keys()):
        yield f"D {path}\n".encode()
    for path, content in sorted(commit.files.items()):
        if before.get(path) != content:
            yield f"M 100644 inline {path}\n".encode() + _data(content)


def _note_command(at: datetime, mark: int, body: bytes) -> bytes:
    who = _signature("sediment", at)
    head = f"commit {NOTES_REF}\nauthor {who}\ncommitter {who}\n".encode() + _data(b"Stamp the Session\n")
    return head + f"N inline :{mark}\n".encode() + _data(body) + b"\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"
