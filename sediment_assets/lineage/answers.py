"""What every target says about one Rollout: its rows, or the first rule that declined it, by the targets' own code."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.reasons import Reason
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout
from sediment_assets.rollouts.source import RolloutSource
from sediment_assets.targets.projection import Projector
from sediment_assets.targets.registry import TARGETS, Population, Target
from sediment_assets.targets.rollout_evidence import RolloutCI, resolve_rollout
from sediment_assets.targets.skips import RolloutSkip, RowSkip, TaskSkip, vocabulary
from sediment_assets.targets.verification_commands import VerificationCommands


@dataclass(frozen=True, slots=True)
class Declined:
    """A reason for which a Rollout, or ``count`` of its Segments, gave no row."""

    reason: Reason
    count: int
    detail: str | None = None
    """What git answered, when there is more to say."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one target says about one Rollout in one of its populations."""

    target: Target
    population: Population
    rows: tuple["AnsweredRow", ...]
    declined: tuple[Declined, ...]
    noted: Mapping[str, int]
    """CI evidence that was not used; it alone declines nothing."""


@dataclass(frozen=True, slots=True)
class AnsweredRow:
    """A row: its ``instance_id`` and its line as it would be published, without LF."""

    instance_id: str
    line: bytes


_DECLINING = (TaskSkip, RolloutSkip, RowSkip)


def answers(
    rollout: Rollout,
    ci: RolloutCI,
    resolver: RepositoryResolver,
    mirrors: MirrorStore,
    commands: VerificationCommands,
    targets: Iterable[Target] = tuple(Target),
) -> tuple[Answer, ...]:
    """Ask every target about one Rollout.

    :raises MirrorError: when a mirror cannot be read at all.
    """
    return tuple(
        answer for target in targets for answer in _answers_of(target, rollout, ci, resolver, mirrors, commands)
    )


def _answers_of(
    target: Target,
    rollout: Rollout,
    ci: RolloutCI,
    resolver: RepositoryResolver,
    mirrors: MirrorStore,
    commands: VerificationCommands,
) -> Iterator[Answer]:
    projector = Projector(target, resolver, commands, mirrors)
    projected = list(projector.project(rollout, ci))
    details: Mapping[Reason, str] = {skip.reason: skip.detail for skip in projector.explained}
    for spec in TARGETS[target].populations:
        is_tasks = spec.population is Population.TASKS
        counts = (projector.task_skips if is_tasks else projector.rollout_skips).as_dict()
        counted = [reason for reason in vocabulary(target, spec.population) if counts.get(reason.value)]
        yield Answer(
            target,
            spec.population,
            tuple(
                AnsweredRow(str(_instance_id(one.row)), one.line)
                for one in projected
                if one.population is spec.population
            ),
            tuple(
                Declined(reason, counts[reason.value], details.get(reason))
                for reason in counted
                if isinstance(reason, _DECLINING)
            ),
            {reason.value: counts[reason.value] for reason in counted if not isinstance(reason, _DECLINING)},
        )


def _instance_id(row: object) -> object:
    about = row if hasattr(row, "instance_id") else getattr(row, "metadata", None)
    return getattr(about, "instance_id", "")


def declined(
    source: RolloutSource,
    mirrors: MirrorStore,
    commands: VerificationCommands,
    targets: Iterable[Target] = tuple(Target),
) -> Iterator[tuple[str, tuple[Answer, ...]]]:
    """Yield every Session of a source with what the targets say about it, declined or not.

    :raises SedimentError: whatever reading the source or a mirror raises.
    """
    for rollout in source.rollouts():
        ci = resolve_rollout(rollout, source.resolver)
        yield rollout.session_id, answers(rollout, ci, source.resolver, mirrors, commands, targets)
