"""A repository as it is captured: its Git history, and the Pushes, observations, CI outcomes and renames about it.

What a forge and a CI system would have sent is made here from the history itself, so that the two cannot disagree.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from sediment_assets.demo.commits import MAIN, Change, Commit, History, on
from sediment_assets.demo.evidence import ORG, Evidence
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.push import Push
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryKey

HOST: Final = "git.example.test"
_ZEROS: Final = "0" * 40
_CONCLUSIONS: Final = {
    "passed": "success",
    "failed": "failure",
    "error": "startup_failure",
    "cancelled": "cancelled",
    "timed_out": "timed_out",
}


@dataclass(frozen=True)
class Workflow:
    """One CI workflow of a repository."""

    name: str
    workflow_id: str
    path: str


class Repository:
    """One repository of the demo.

    ``repository_id`` makes it *identified*: its Facts carry the forge's id, and Sessions bind by observation. Without
    it, it is *legacy*: Sessions bind by the notes in its mirror.
    """

    def __init__(
        self, evidence: Evidence, slug: str, repository_id: str | None, workflows: tuple[Workflow, ...]
    ) -> None:
        self.history = History()
        self.slug = slug
        self._evidence = evidence
        self._repository_id = repository_id
        self._workflows = {workflow.name: workflow for workflow in workflows}
        self._pushed: dict[str, Commit] = {}
        self._clock = on("10-26 00:00")
        self._sessions: dict[str, str] = {}
        self._counts = {"push": 0, "observation": 0, "outcome": 0, "run": 0}
        self._prefix = slug.partition("/")[2]

    @property
    def key(self) -> RepositoryKey:
        """Where its mirror lies."""
        if self._repository_id is None:
            return LegacyKey(ORG, self.slug)
        return IdentifiedKey(ORG, ForgeProvider.GITHUB, HOST, self._repository_id)

    @property
    def _identity(self) -> Mapping[str, str]:
        if self._repository_id is None:
            return {}
        return {"repository_provider": "github", "repository_host": HOST, "repository_id": self._repository_id}

    def begin_capture(self) -> None:
        """From here on Pushes are captured; what is on the branches now was pushed before."""
        self._pushed = dict(self.history.branches)

    def stamp(self, commit: Commit, session_id: str, tool: str) -> None:
        """Note the Session that made a commit; the next Push of the commit observes it."""
        self.history.stamp(commit, session_id, tool)
        self._sessions[commit.sha] = session_id

    def push(self, at: datetime, *, branch: str = MAIN, forced: bool = False) -> Push:
        """Push a branch as it is now."""
        before, after = self._pushed.get(branch), self.history.branches[branch]
        push = self._evidence.add(
            Push,
            **self._identity,
            push_id=self._next("push"),
            provider="github",
            repo=self.slug,
            clone_url=f"https://{HOST}/{self.slug}.git",
            ref=f"refs/heads/{branch}",
            before_sha=before.sha if before else _ZEROS,
            after_sha=after.sha,
            forced=forced,
            captured_at=at,
        )
        for commit in _pushed_commits(before, after, forced):
            self._observe(commit, push)
        self._pushed[branch] = after
        self._clock = at
        return push

    def _observe(self, commit: Commit, push: Push) -> None:
        # A legacy repository's notes are read from its mirror, but the server observes them all the same.
        session_id = self._sessions.get(commit.sha)
        if session_id is not None:
            self._evidence.add(
                SessionCommitObservation,
                **self._identity,
                observation_id=self._next("observation"),
                repo=self.slug,
                commit_sha=commit.sha,
                session_id=session_id,
                source_push_id=push.push_id,
                captured_at=push.captured_at + timedelta(seconds=3),
            )

    def ci(
        self,
        commit: Commit,
        result: str,
        *,
        workflow: str = "CI",
        rerun_of: CIOutcome | None = None,
        **values: Any,
    ) -> CIOutcome:
        """Report one attempt of a CI run, four minutes after the last thing that happened here."""
        self._clock += timedelta(minutes=4)
        run_id = rerun_of.run_id if rerun_of else self._next_run()
        attempt = (rerun_of.run_attempt or 0) + 1 if rerun_of else 1
        flow = self._workflows[workflow]
        run = {"id": int(run_id), "run_attempt": attempt, "event": "push", "conclusion": _CONCLUSIONS[result]}
        return self._evidence.add(
            CIOutcome,
            **{
                **self._identity,
                "outcome_id": self._next("outcome"),
                "provider": "github_actions",
                "run_id": run_id,
                "run_attempt": attempt,
                "repo": self.slug,
                "commit_sha": commit.sha,
                "branch": commit.branch,
                "result": result,
                "workflow_name": flow.name,
                "workflow_id": flow.workflow_id,
                "workflow_path": flow.path,
                "run_url": f"https://{HOST}/{self.slug}/actions/runs/{run_id}/attempts/{attempt}",
                "provider_result": _CONCLUSIONS[result],
                "source_event_type": "workflow_run.completed",
                "captured_at": self._clock,
                "raw": {"action": "completed", "workflow_run": run},
                **values,
            },
        )

    def work(self, moment: str, author: str, message: str, changes: Mapping[str, Change]) -> Commit:
        """Let a developer commit to the main branch by hand and push; its CI passes."""
        commit = self.history.change(moment, author, message, changes)
        self.push(on(moment) + timedelta(minutes=2))
        self.ci(commit, "passed")
        return commit

    def rename(self, slug: str, moment: str) -> None:
        """Give the repository a new name on its forge."""
        self._evidence.add(
            RepositoryRename,
            **self._identity,
            rename_id=f"rename-{self._prefix}-1",
            old_repo=self.slug,
            new_repo=slug,
            source_event_id=f"delivery-{self._prefix}-rename",
            occurred_at=on(moment),
            captured_at=on(moment) + timedelta(seconds=2),
        )
        self.slug = slug

    def _next(self, kind: str) -> str:
        self._counts[kind] += 1
        return f"{self._prefix}-{kind}-{self._counts[kind]:02d}"

    def _next_run(self) -> str:
        # GitHub counts runs over all repositories; a number per repository keeps stories independent of each other.
        self._counts["run"] += 1
        base = sum(ord(letter) for letter in self._prefix) * 100_000
        return str(19_400_000_000 + base + self._counts["run"] * 37)


def _pushed_commits(before: Commit | None, after: Commit, forced: bool) -> list[Commit]:
    """Return what a Push brings, oldest first; only its head when history was rewritten or the branch is new (§5)."""
    if before is None or forced:
        return [after]
    commits: list[Commit] = []
    at: Commit | None = after
    while at is not None and at is not before:
        commits.append(at)
        at = at.first_parent()
    return commits[::-1]
