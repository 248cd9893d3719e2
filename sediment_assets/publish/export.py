"""One export: Rollouts of a source, projected for one target, published as one generation (targets.md §11–13).

``export_rlvr`` is the whole of it; ``stage_export`` does the work and makes nothing visible, for callers that hold the
claim themselves. One Rollout is in memory at a time: projected, encoded once, written.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sediment_assets.derive.split import Split
from sediment_assets.derive.tally import sorted_counts
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.publish.artifacts import row_file_name
from sediment_assets.publish.generation import Generation, claimed_directory
from sediment_assets.publish.lines import RowFiles
from sediment_assets.publish.origin import origin_of
from sediment_assets.publish.record import (
    FileRecord,
    GenerationRecord,
    PopulationRecord,
    content_version,
)
from sediment_assets.publish.summary import ExportSummary, ExportWarning, WarningEvent
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout
from sediment_assets.rollouts.source import RolloutSource
from sediment_assets.targets.environment_manifest import EnvironmentManifest, RuntimeSettings, frameworks
from sediment_assets.targets.projection import Projector
from sediment_assets.targets.registry import ENVIRONMENT_MANIFEST, TARGETS, Population, Target, parse_target
from sediment_assets.targets.rollout_evidence import RolloutCI, resolve_rollout
from sediment_assets.targets.rows.sediment import SedimentTaskRow
from sediment_assets.targets.verification_commands import VerificationCommands

CIOfRollout = Callable[[Rollout, RepositoryResolver], RolloutCI]
"""How a Rollout's CI resolutions are found: resolved again, or looked up in frozen ones."""

Progress = Callable[[Rollout], None]
"""Called after each Rollout."""


@dataclass(frozen=True, slots=True)
class ExportSettings:
    """What an operator adds to the evidence: verification commands and runtime references."""

    commands: VerificationCommands = field(default_factory=VerificationCommands)
    runtime: RuntimeSettings = field(default_factory=RuntimeSettings)


_NO_SETTINGS = ExportSettings()


@dataclass(frozen=True, slots=True)
class StagedExport:
    """Everything of one export, on the device but not visible. ``files`` are in the order of publication."""

    summary: ExportSummary
    files: dict[str, FileRecord]
    record: GenerationRecord


def export_rlvr(
    source: RolloutSource,
    mirrors: MirrorStore | None,
    out: str | os.PathLike[str],
    *,
    target: Target | str,
    settings: ExportSettings = _NO_SETTINGS,
    ci_of: CIOfRollout = resolve_rollout,
    asset_keys: Sequence[str] = (),
    partition: str | None = None,
    progress: Progress | None = None,
) -> ExportSummary:
    """Export the Rollouts of a source for one target into a fresh directory, as one complete generation.

    ``mirrors`` may be None for a target without Reference patches (``targets.registry``). Nothing to write is success:
    the claim and the completion record are left, and no artifact.

    Raises:
        UnknownTargetError, MirrorsRequiredError: before the directory is touched.
        ClaimError: the directory is in use, another target's or not fresh.
        PublishError: the operating system refused; nothing was published.
        SedimentError: whatever reading Facts, mirrors or a bundle raises; nothing was published.
    """
    projector = Projector(parse_target(target), source.resolver, settings.commands, mirrors)
    with claimed_directory(out, projector.target) as generation:
        staged = stage_export(
            generation,
            source,
            projector,
            settings,
            ci_of=ci_of,
            asset_keys=asset_keys,
            partition=partition,
            progress=progress,
        )
        generation.publish(staged.files)
        generation.complete(staged.record)
    return staged.summary


def stage_export(
    generation: Generation,
    source: RolloutSource,
    projector: Projector,
    settings: ExportSettings = _NO_SETTINGS,
    *,
    ci_of: CIOfRollout = resolve_rollout,
    asset_keys: Sequence[str] = (),
    partition: str | None = None,
    progress: Progress | None = None,
) -> StagedExport:
    """Project every Rollout and stage every file of a generation. Use a new ``projector`` each time.

    Raises:
        PublishError: the operating system refused.
    """
    manifest = EnvironmentManifest(source.policy.split_enabled, settings.runtime)
    files = _stage_rows(generation, source, projector, manifest, ci_of, progress)
    if TARGETS[projector.target].writes_environment_manifest and (text := manifest.render()) is not None:
        files[ENVIRONMENT_MANIFEST] = generation.stage_text(ENVIRONMENT_MANIFEST, text)
    record = _record(projector, source, files, asset_keys, partition)
    warnings = (*command_warnings(settings.commands), *_warnings(projector.target, source, settings, files))
    return StagedExport(_summary(generation, projector, record, files, warnings), files, record)


def _stage_rows(
    generation: Generation,
    source: RolloutSource,
    projector: Projector,
    manifest: EnvironmentManifest,
    ci_of: CIOfRollout,
    progress: Progress | None,
) -> dict[str, FileRecord]:
    rows = RowFiles(generation.staging, generation.out, names_splits=source.policy.split_enabled)
    try:
        for rollout in source.rollouts():
            for projected in projector.project(rollout, ci_of(rollout, source.resolver)):
                rows.write(projected.population, projected.split, projected.line)
                if isinstance(projected.spelled.built, SedimentTaskRow):
                    manifest.add(projected.spelled.built)
            if progress is not None:
                progress(rollout)
        return rows.finish()
    finally:
        rows.abandon()


def _record(
    projector: Projector,
    source: RolloutSource,
    files: dict[str, FileRecord],
    asset_keys: Sequence[str],
    partition: str | None,
) -> GenerationRecord:
    """Say what the generation is; the source's counters are complete by now."""
    tallies = {
        Population.TASKS: PopulationRecord(rows=projector.task_rows, skipped=projector.task_skips.as_dict()),
        Population.ROLLOUTS: PopulationRecord(rows=projector.rollout_rows, skipped=projector.rollout_skips.as_dict()),
    }
    return GenerationRecord(
        target=projector.target.value,
        asset_keys=tuple(asset_keys),
        partition=partition,
        data_version=content_version(files),
        rollouts=projector.rollouts,
        populations={spec.population.value: tallies[spec.population] for spec in TARGETS[projector.target].populations},
        derivation_skipped=sorted_counts(source.skipped),
        fragmented=sorted_counts(source.fragmented),
        files=files,
        **origin_of(source),
    )


def _summary(
    generation: Generation,
    projector: Projector,
    record: GenerationRecord,
    files: dict[str, FileRecord],
    warnings: tuple[ExportWarning, ...],
) -> ExportSummary:
    out = generation.out
    return ExportSummary(
        target=projector.target,
        rollouts=projector.rollouts,
        task_rows=projector.task_rows,
        task_skipped=projector.task_skips.as_dict(),
        rollout_rows=projector.rollout_rows,
        rollout_skipped=projector.rollout_skips.as_dict(),
        written={out / name: file.rows for name, file in files.items() if file.rows is not None},
        environment_manifest=out / ENVIRONMENT_MANIFEST if ENVIRONMENT_MANIFEST in files else None,
        fragmented=record.fragmented,
        record=record,
        warnings=warnings,
        explained=tuple(projector.explained),
        skip_examples={
            Population.TASKS: projector.task_skips.examples(),
            Population.ROLLOUTS: projector.rollout_skips.examples(),
        },
    )


def command_warnings(commands: VerificationCommands) -> Iterator[ExportWarning]:
    """Name what was wrong with the verification commands file."""
    entry, whole = WarningEvent.VERIFIER_COMMAND_ENTRY_INVALID, WarningEvent.VERIFIER_COMMANDS_UNUSABLE
    for text in commands.warnings:
        yield ExportWarning(entry if commands.usable else whole, text)


def _warnings(
    target: Target, source: RolloutSource, settings: ExportSettings, files: dict[str, FileRecord]
) -> Iterator[ExportWarning]:
    """One line per matter, never one per Rollout (design.md §7)."""
    splits = tuple(Split) if source.policy.split_enabled else (None,)
    names = [row_file_name(spec.population, split) for spec in TARGETS[target].populations for split in splits]
    empty = [name for name in names if name not in files]
    if empty:
        explanation = f"no rows for {', '.join(empty)}, so no such file is written"
        yield ExportWarning(WarningEvent.JSONL_EMPTY_INPUT_NO_WRITE, explanation)
    if not TARGETS[target].writes_environment_manifest:
        return
    for text in frameworks(settings.runtime).warnings:
        yield ExportWarning(WarningEvent.RUNTIME_SETTING_IGNORED, text)
    if ENVIRONMENT_MANIFEST not in files:
        explanation = f"no task row, so no {ENVIRONMENT_MANIFEST} is written"
        yield ExportWarning(WarningEvent.ENVIRONMENT_MANIFEST_NO_TASKS, explanation)
