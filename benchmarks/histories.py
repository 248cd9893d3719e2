"""The repositories of the benchmark as bare mirrors, and the Facts that speak of their commits.

One repository at a time: its history goes to ``git fast-import`` as it is made, and the commit ids that come back make
its Pushes, CI outcomes and SessionCommitObservations.
"""

import heapq
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import IO, Any, Final
from uuid import UUID

from benchmarks.plans import (
    BASE_MODULES,
    BEGIN,
    BLOCKS,
    ORG,
    Change,
    SessionPlan,
    Size,
    base_path,
    plans,
    repository_key,
    repository_slug,
)
from benchmarks.text import code, log, prose
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.repositories.keys import IdentifiedKey

BASE_COMMITS: Final = 800
OTHER_COMMITS: Final = 2
"""Commits by people, without an agent, for each Session's."""
NOBODY: Final = "0" * 40
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class PushPlan:
    """A Push by marks of ``git fast-import``; mark 0 is no commit. ``session_id`` is whose commit comes with it."""

    at: datetime
    ref: str
    before: int
    after: int
    session_id: str | None


@dataclass(slots=True)
class _History:
    """One repository while it is written."""

    stream: IO[bytes]
    rng: Random
    blocks: dict[str, list[str]] = field(default_factory=dict)
    marks: int = 0
    heads: dict[str, int] = field(default_factory=dict)
    notes: list[tuple[int, SessionPlan, datetime]] = field(default_factory=list)
    pushes: list[PushPlan] = field(default_factory=list)

    def commit(self, ref: str, at: datetime, files: dict[str, bytes], message: str, merged: int = 0) -> int:
        """Write one commit on a ref and return its mark."""
        self.marks += 1
        who = f"dev <dev@example.test> {int(at.timestamp())} +0000\n"
        head = f"commit {ref}\nmark :{self.marks}\nauthor {who}committer {who}"
        self.stream.write(head.encode() + _data(message.encode()))
        for verb, parent in (("from", self.heads.get(ref, 0)), ("merge", merged)):
            if parent:
                self.stream.write(f"{verb} :{parent}\n".encode())
        for path, content in files.items():
            self.stream.write(f"M 100644 inline {path}\n".encode() + _data(content))
        self.heads[ref] = self.marks
        return self.marks

    def applied(self, change: Change) -> bytes:
        """Carry out a change and return the file's new content."""
        if change.block is None:
            return change.text.encode()
        self.blocks[change.path][change.block] = change.text
        return self.content(change.path)

    def content(self, path: str) -> bytes:
        """Return a base module; some come from Windows."""
        content = "\n\n".join(self.blocks[path])
        return (content.replace("\n", "\r\n") if path.endswith("7.py") else content).encode()

    def edit(self, repository: int) -> dict[str, bytes]:
        """Return what a person's commit changes."""
        path = base_path(repository, self.rng.randrange(BASE_MODULES))
        files = {path: self.applied(Change(path, self.rng.randrange(BLOCKS), code(self.rng, 30)))}
        if self.rng.random() < 0.02:
            files["docs/diagram.png"] = b"\x89PNG\r\n\x1a\n\0" + self.rng.randbytes(6_000)
        return files

    def push(self, at: datetime, ref: str, before: int, session_id: str | None) -> None:
        """Note that a ref was pushed, a little after it moved."""
        later = at + timedelta(seconds=self.rng.randint(20, 150))
        self.pushes.append(PushPlan(later, ref, before, self.heads[ref], session_id))


def write_repository(size: Size, repository: int, mirrors: Path) -> Iterator[tuple[str, Record]]:
    """Make one mirror; yield the Facts about it as (table, record)."""
    directory = mirrors / mirror_path(repository_key(repository))
    directory.mkdir(parents=True)
    _git(directory, "init", "--quiet", "--bare", "--template=", "--initial-branch=main", ".")
    importing = ("fast-import", "--quiet", "--done", "--export-marks=marks")
    with subprocess.Popen(["git", *importing], cwd=directory, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        history = _History(process.stdin, Random(f"repository {repository}"))
        _write_history(history, repository, [plan for plan in plans(size) if plan.repository == repository])
        process.stdin.write(b"done\n")
    if process.returncode:
        raise RuntimeError(f"git fast-import failed in {directory}")
    branches = [ref for ref in history.heads if ref != "refs/heads/main"]
    _git(directory, "update-ref", "--stdin", stdin="".join(f"delete {ref}\n" for ref in branches))
    _git(directory, "repack", "-a", "-d", "-f", "-q")  # as a clone arrives: the newest contents whole
    shas = dict(line.split() for line in (directory / "marks").read_text().splitlines())
    (directory / "marks").unlink()
    yield from _facts(history, repository, shas)


def _git(directory: Path, *arguments: str, stdin: str = "") -> None:
    subprocess.run(["git", *arguments], cwd=directory, input=stdin.encode(), check=True)


def _write_history(history: _History, repository: int, sessions: list[SessionPlan]) -> None:
    main, rng = "refs/heads/main", history.rng
    for module in range(BASE_MODULES):
        history.blocks[base_path(repository, module)] = [code(rng, 30) for _ in range(BLOCKS)]
    files = {path: history.content(path) for path in history.blocks}
    start = BEGIN - timedelta(hours=BASE_COMMITS + 1)
    history.commit(main, start, files, "Begin\n")
    for hour in range(1, BASE_COMMITS):
        history.commit(main, start + timedelta(hours=hour), history.edit(repository), "Change a module\n")
    for at, plan, number in _events(sessions):
        if number < 0:
            before = history.heads[main]
            history.commit(main, at, history.edit(repository), prose(rng, 1) + "\n")
            history.push(at, main, before, None)
        elif number == len(plan.commits):
            before, branch = history.heads[main], _branch(plan)
            files = {c.path: history.applied(c) for commit in plan.commits for c in commit.changes}
            history.commit(main, at, files, f"Merge branch {branch}\n", history.heads[branch])
            history.push(at, main, before, None)
        else:
            _session_commit(history, at, plan, number)
    for mark, plan, at in history.notes:
        _write_note(history.stream, mark, plan, at)


def _events(sessions: list[SessionPlan]) -> Iterator[tuple[datetime, SessionPlan, int]]:
    """Yield (when, Session, number of its commit) in order of time; -1 is a commit by somebody else."""
    heap: list[tuple[datetime, int, int]] = []
    by_index = {plan.index: plan for plan in sessions}
    for plan in sessions:
        rng = Random(f"around {plan.index}")
        for _ in range(OTHER_COMMITS):
            heap.append((plan.turn_times[0] + timedelta(minutes=rng.uniform(-200, 200)), plan.index, -1))
        for number, commit in enumerate(plan.commits):
            heap.append((plan.commit_time(commit), plan.index, number))
        if plan.commits and plan.on_branch:
            heap.append((plan.commit_time(plan.commits[-1]) + timedelta(minutes=40), plan.index, len(plan.commits)))
    heapq.heapify(heap)
    while heap:
        at, index, number = heapq.heappop(heap)
        yield at, by_index[index], number


def _branch(plan: SessionPlan) -> str:
    return f"refs/heads/agent/{plan.session_id}" if plan.on_branch else "refs/heads/main"


def _session_commit(history: _History, at: datetime, plan: SessionPlan, number: int) -> None:
    ref = _branch(plan)
    before = history.heads.get(ref, 0)
    if not before:
        history.heads[ref] = history.heads["refs/heads/main"]
    # A branch changes files of its own only when it is merged: here the files of main are enough for both.
    files = {change.path: history.applied(change) for change in plan.commits[number].changes}
    mark = history.commit(ref, at, files, prose(history.rng, 1) + "\n")
    history.push(at, ref, before, plan.session_id)
    if plan.bound:
        history.notes.append((mark, plan, at))


def _write_note(stream: IO[bytes], mark: int, plan: SessionPlan, at: datetime) -> None:
    entry = {
        "tool": plan.harness.name.value,
        "session_id": plan.session_id,
        "stamped_at": f"{at:%Y-%m-%dT%H:%M:%S}+00:00",
    }
    body = json.dumps({"v": 1, "sessions": [entry]}) + "\n"
    head = f"commit refs/notes/sediment\ncommitter dev <dev@example.test> {int(at.timestamp())} +0000\n"
    stream.write(head.encode() + _data(b"Stamp\n") + f"N inline :{mark}\n".encode() + _data(body.encode()))


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _facts(history: _History, repository: int, shas: dict[str, str]) -> Iterator[tuple[str, Record]]:
    rng = Random(f"facts {repository}")
    noted = {mark: plan for mark, plan, _ in history.notes}
    key = repository_key(repository)
    identity: Record = {"repository_provider": None, "repository_host": None, "repository_id": None}
    if isinstance(key, IdentifiedKey):
        identity = {
            "repository_provider": key.provider,
            "repository_host": key.host,
            "repository_id": key.repository_id,
        }
    slug = repository_slug(repository)
    for push in history.pushes:
        push_id, after = new_id(rng), shas[f":{push.after}"]
        before = shas[f":{push.before}"] if push.before else NOBODY
        yield "pushes", {
            "schema_version": 2, **identity, "push_id": push_id, "org_id": ORG, "provider": "github", "repo": slug,
            "clone_url": f"https://git.example.test/{slug}.git", "ref": push.ref, "before_sha": before,
            "after_sha": after, "forced": False, "captured_at": spelled(push.at),
        }  # fmt: skip
        if isinstance(key, IdentifiedKey) and push.after in noted:
            plan = noted[push.after]
            yield "session_commit_observations", {
                "schema_version": 2, **identity, "observation_id": new_id(rng), "org_id": ORG, "repo": slug,
                "commit_sha": after, "session_id": plan.session_id, "source_push_id": push_id,
                "captured_at": spelled(push.at + timedelta(seconds=1)),
            }  # fmt: skip
        if push.session_id is not None or rng.random() < 0.5:
            for outcome in _outcomes(rng, push, after, slug):
                yield "ci_outcomes", {"schema_version": 2, **identity, **outcome}


_ATTEMPTS: Final = (("passed",), ("failed",), ("failed", "passed"), ("cancelled", "passed"), ("timed_out", "failed"))


def _outcomes(rng: Random, push: PushPlan, sha: str, slug: str) -> Iterator[Record]:
    """Yield the attempts of one or two workflows on a pushed commit."""
    for number, workflow in enumerate(("CI", "Lint")[: rng.choices((1, 2), (70, 30))[0]], 1):
        run_id = str(rng.randrange(10**10, 10**11))
        for attempt, result in enumerate(rng.choices(_ATTEMPTS, (75, 13, 7, 3, 2))[0], 1):
            at = push.at + timedelta(minutes=6 * attempt, seconds=rng.randrange(200))
            path = f".github/workflows/{workflow.lower()}.yml"
            raw = {
                "action": "completed", "workflow": {"id": number, "name": workflow, "path": path},
                "workflow_run": {"id": int(run_id), "run_attempt": attempt, "head_sha": sha, "conclusion": result,
                                 "created_at": spelled(push.at), "jobs_tail": log(rng, 16)},
                "repository": {"full_name": slug, "private": True, "default_branch": "main"},
            }  # fmt: skip
            yield {
                "outcome_id": new_id(rng), "org_id": ORG, "provider": "github_actions", "run_id": run_id,
                "run_attempt": attempt, "repo": slug, "commit_sha": sha,
                "branch": push.ref.removeprefix("refs/heads/"), "result": result, "workflow_name": workflow,
                "workflow_id": str(number), "workflow_path": path,
                "run_url": f"https://git.example.test/{slug}/actions/runs/{run_id}", "provider_result": result,
                "error_type": None, "reason": None, "source_event_type": "workflow_run", "source_spec_version": None,
                "source_event_id": None, "pr_number": None, "captured_at": spelled(at), "raw": raw,
            }  # fmt: skip


def new_id(rng: Random) -> str:
    """Return an id such as Facts have: random, so that ids are in no order."""
    return str(UUID(int=rng.getrandbits(128), version=4))


def spelled(at: datetime) -> str:
    """Spell an instant as canonical Facts do."""
    return at.isoformat().replace("+00:00", "Z")
