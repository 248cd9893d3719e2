"""The project step as a whole: Rollouts in, rows and counted skips out, for any target (targets.md §5).

One place decides what is counted and when, so that every way to export counts alike. Nothing is kept but counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sediment_assets.derive.split import Split
from sediment_assets.errors import SedimentError
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout
from sediment_assets.targets import nemo_gym, sediment, swe_bench
from sediment_assets.targets.registry import TARGETS, Population, Target
from sediment_assets.targets.representation import Spelled
from sediment_assets.targets.rollout_evidence import RolloutCI, RolloutEvidence
from sediment_assets.targets.rows.shared import RowModel
from sediment_assets.targets.skips import (
    RolloutSkip,
    RolloutSkipped,
    RowSkip,
    Skipped,
    SkipTally,
    TaskSkip,
    TaskSkipped,
)
from sediment_assets.targets.verification_commands import VerificationCommands

SpelledRow = Spelled[RowModel]


class MirrorsRequiredError(SedimentError):
    """A target with Reference patches was asked for without mirrors."""


@dataclass(frozen=True, slots=True)
class ProjectedRow:
    """One row on its way to a file: which population and side of the split it belongs to."""

    population: Population
    split: Split
    spelled: SpelledRow

    @property
    def line(self) -> bytes:
        """The row as it is published, without LF."""
        return self.spelled.line

    @property
    def row(self) -> RowModel:
        """The row as its model."""
        return self.spelled.row


@dataclass(frozen=True, slots=True)
class ExplainedSkip:
    """A skip with more to say than its reason, for a person: which Session, and what git answered."""

    session_id: str
    reason: TaskSkip | RolloutSkip | RowSkip
    detail: str


MAX_EXPLAINED: Final = 20
"""So many explained skips are kept; all of them are counted."""


@dataclass(slots=True)
class Projector:
    """Projects Rollouts for one target and counts as it goes. Make a new one for every export.

    Raises:
        MirrorsRequiredError: the target makes Reference patches and ``mirrors`` is None.
    """

    target: Target
    resolver: RepositoryResolver
    commands: VerificationCommands = field(default_factory=VerificationCommands)
    mirrors: MirrorStore | None = None
    rollouts: int = field(default=0, init=False)
    """Rollouts projected so far."""
    task_rows: int = field(default=0, init=False)
    """Task rows yielded so far."""
    rollout_rows: int = field(default=0, init=False)
    """Rollout rows yielded so far."""
    task_skips: SkipTally[TaskSkip | RowSkip] = field(init=False)
    rollout_skips: SkipTally[RolloutSkip | RowSkip] = field(init=False)
    explained: list[ExplainedSkip] = field(default_factory=list, init=False)
    """The first MAX_EXPLAINED skips that have more to say than their reason."""

    def __post_init__(self) -> None:
        if TARGETS[self.target].needs_mirrors and self.mirrors is None:
            raise MirrorsRequiredError(
                f"target {self.target}: expected a mirror store for its Reference patches, got none"
            )
        self.task_skips = SkipTally(Population.TASKS)
        self.rollout_skips = SkipTally(Population.ROLLOUTS)

    def project(self, rollout: Rollout, ci: RolloutCI) -> Iterator[ProjectedRow]:
        """Yield the rows of one Rollout, task first. Counts are complete once the iterator is exhausted."""
        self.rollouts += 1
        evidence = RolloutEvidence(rollout, ci, self.resolver)
        task = self._task(evidence)
        if task is not None and (done := self._count_task(evidence, task)) is not None:
            yield ProjectedRow(Population.TASKS, rollout.split, done)
        for index, result in enumerate(self._rollout_rows(evidence)):
            if (done := self._count_rollout(evidence, result, first=index == 0)) is not None:
                yield ProjectedRow(Population.ROLLOUTS, rollout.split, done)

    def _task(self, evidence: RolloutEvidence) -> SpelledRow | TaskSkipped | None:
        if self.mirrors is None:
            return None
        match self.target:
            case Target.SEDIMENT:
                return sediment.project_task(evidence, self.mirrors, self.commands)
            case Target.SWE_BENCH:
                return swe_bench.project_task(evidence, self.mirrors, self.commands)
            case Target.NEMO_GYM:
                return None

    def _rollout_rows(self, evidence: RolloutEvidence) -> Iterator[SpelledRow | RolloutSkipped]:
        match self.target:
            case Target.SEDIMENT:
                yield from sediment.project_rollout(evidence)
            case Target.NEMO_GYM:
                yield from nemo_gym.project_rollout(evidence, self.commands)
            case Target.SWE_BENCH:
                return

    def _count_task(self, evidence: RolloutEvidence, result: SpelledRow | TaskSkipped) -> SpelledRow | None:
        """Count one task decision; a Rollout without commits does not bring its CI counters (targets.md §5.1)."""
        session_id = evidence.rollout.session_id
        no_commit = isinstance(result, Skipped) and result.reason is TaskSkip.NO_ATTRIBUTED_COMMIT
        if not no_commit:
            self.task_skips.add_ci(evidence.ci.skipped, session_id)
        if isinstance(result, Skipped):
            self.task_skips.add(result.reason, session_id)
            if result.detail is not None and len(self.explained) < MAX_EXPLAINED:
                self.explained.append(ExplainedSkip(session_id, result.reason, result.detail))
            return None
        self.task_rows += 1
        return result

    def _count_rollout(
        self, evidence: RolloutEvidence, result: SpelledRow | RolloutSkipped, *, first: bool
    ) -> SpelledRow | None:
        """Count one Segment; CI counters come once per Rollout, before its first Segment (targets.md §5.2)."""
        session_id = evidence.rollout.session_id
        no_segments = isinstance(result, Skipped) and result.reason is RolloutSkip.NO_SEGMENTS
        if first and not no_segments:
            self.rollout_skips.add_ci(evidence.ci.skipped, session_id)
        if isinstance(result, Skipped):
            self.rollout_skips.add(result.reason, session_id)
            return None
        self.rollout_rows += 1
        return result
