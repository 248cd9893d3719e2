"""One export: Rollouts of a source, projected for one target, published as one generation (targets.md §11–13).

``stage_export`` does the work and makes nothing visible; ``export_rlvr`` is the whole of it. The asset graph uses the
same stages with an IO manager in the place of the last step.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sediment_assets import __version__
from sediment_assets.ci.policy import CI_POLICY
from sediment_assets.derive.tally import sorted_counts
from sediment_assets.facts.json_values import encode_row
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.publish.generation import Generation, claimed_directory
from sediment_assets.publish.lines import RowFiles
from sediment_assets.publish.record import (
    FileRecord,
    GenerationRecord,
    PopulationRecord,
    content_version,
    digest_of,
    file_record,
    spelled_instant,
)
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout
from sediment_assets.rollouts.source import RolloutSource
from sediment_assets.targets.environment_manifest import EnvironmentManifest, RuntimeSettings
from sediment_assets.targets.projection import ExplainedSkip, Projector
from sediment_assets.targets.registry import ENVIRONMENT_MANIFEST, TARGETS, Population, Target
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


@dataclass(frozen=True, slots=True)
class ExportSummary:
    """The result of an export, in the order of targets.md §13.

    ``written`` maps the name of each row file to its rows, in the order of publication.
    """

    target: Target
    rollouts: int
    task_rows: int
    task_skipped: dict[str, int]
    rollout_rows: int
    rollout_skipped: dict[str, int]
    written: dict[str, int]
    environment_manifest: str | None
    fragmented: dict[str, int]
    warnings: tuple[str, ...]
    explained: tuple[ExplainedSkip, ...]


@dataclass(frozen=True, slots=True)
class StagedExport:
    """Everything of one export, on the device but not visible. ``files`` are in the order of publication."""

    summary: ExportSummary
    files: dict[str, FileRecord]
    record: GenerationRecord


def export_rlvr(
    source: RolloutSource,
    mirrors: MirrorStore | None,
    out: Path,
    *,
    target: Target,
    settings: ExportSettings | None = None,
    progress: Progress | None = None,
) -> ExportSummary:
    """Export the Rollouts of a source for one target into a fresh directory.

    :param mirrors: needed by targets with Reference patches, see ``targets.registry``.
    :raises MirrorsRequiredError: before the directory is touched, when mirrors are needed and missing.
    :raises ClaimError: when the directory is in use, another target's or not fresh.
    :raises PublishError: when the operating system refuses; nothing was published then.
    """
    settings = settings or ExportSettings()
    projector = Projector(target, source.resolver, settings.commands, mirrors)
    with claimed_directory(out, target) as generation:
        staged = stage_export(generation, source, projector, settings, progress=progress)
        generation.publish(list(staged.files))
        generation.complete(staged.record)
    return staged.summary


def stage_export(
    generation: Generation,
    source: RolloutSource,
    projector: Projector,
    settings: ExportSettings,
    *,
    ci_of: CIOfRollout = resolve_rollout,
    asset_keys: Sequence[str] = (),
    partition: str | None = None,
    progress: Progress | None = None,
) -> StagedExport:
    """Project every Rollout and stage every file of a generation."""
    manifest = EnvironmentManifest(source.policy.split_enabled, settings.runtime)
    with _row_files(generation, names_splits=source.policy.split_enabled) as rows:
        for rollout in source.rollouts():
            for projected in projector.project(rollout, ci_of(rollout, source.resolver)):
                rows.write(projected.population, projected.split, encode_row(projected.row.model_dump()))
                if isinstance(projected.row, SedimentTaskRow):
                    manifest.add(projected.row)
            if progress is not None:
                progress(rollout)
        files = rows.finish()
    written = {name: found.rows or 0 for name, found in files.items()}
    warnings = [*settings.commands.warnings, *_empty_warnings(projector)]
    if TARGETS[projector.target].writes_environment_manifest:
        warnings += manifest.warnings
        _stage_manifest(generation, manifest, files)
    summary = _summary(projector, source, written, tuple(warnings), has_manifest=ENVIRONMENT_MANIFEST in files)
    record = _record(summary, source, files, asset_keys, partition)
    return StagedExport(summary, files, record)


@contextmanager
def _row_files(generation: Generation, *, names_splits: bool) -> Iterator[RowFiles]:
    rows = RowFiles(generation.staging, generation.out, names_splits=names_splits)
    try:
        yield rows
    except BaseException:
        rows.abandon()
        raise


def _stage_manifest(generation: Generation, manifest: EnvironmentManifest, files: dict[str, FileRecord]) -> None:
    text = manifest.render()
    if text is not None:
        generation.stage_text(ENVIRONMENT_MANIFEST, text)
        files[ENVIRONMENT_MANIFEST] = file_record(generation.staging / ENVIRONMENT_MANIFEST, None)


def _empty_warnings(projector: Projector) -> Iterator[str]:
    rows = {Population.TASKS: projector.task_rows, Population.ROLLOUTS: projector.rollout_rows}
    for spec in TARGETS[projector.target].populations:
        if not rows[spec.population]:
            yield f"jsonl_empty_input_no_write: no {spec.population} row, so no {spec.file_stem} file is written"


def _summary(
    projector: Projector,
    source: RolloutSource,
    written: dict[str, int],
    warnings: tuple[str, ...],
    *,
    has_manifest: bool,
) -> ExportSummary:
    return ExportSummary(
        target=projector.target,
        rollouts=projector.rollouts,
        task_rows=projector.task_rows,
        task_skipped=projector.task_skips.as_dict(),
        rollout_rows=projector.rollout_rows,
        rollout_skipped=projector.rollout_skips.as_dict(),
        written=written,
        environment_manifest=ENVIRONMENT_MANIFEST if has_manifest else None,
        fragmented=sorted_counts(source.fragmented),
        warnings=warnings,
        explained=tuple(projector.explained),
    )


def _record(
    summary: ExportSummary,
    source: RolloutSource,
    files: dict[str, FileRecord],
    asset_keys: Sequence[str],
    partition: str | None,
) -> GenerationRecord:
    tallies = {
        Population.TASKS: PopulationRecord(rows=summary.task_rows, skipped=summary.task_skipped),
        Population.ROLLOUTS: PopulationRecord(rows=summary.rollout_rows, skipped=summary.rollout_skipped),
    }
    return GenerationRecord(
        target=summary.target,
        asset_keys=tuple(asset_keys),
        partition=partition,
        data_version=content_version(files),
        org_id=source.org_id,
        policy_digest=source.policy.digest,
        ci_policy_digest=CI_POLICY.digest,
        bundle_digest=source.bundle_digest,
        as_of=spelled_instant(source.as_of),
        quarantine_revision=source.quarantine_revision,
        mirror_revisions_digest=digest_of(source.mirror_revisions),
        rollouts=summary.rollouts,
        populations={spec.population: tallies[spec.population] for spec in TARGETS[summary.target].populations},
        fragmented=summary.fragmented,
        files=files,
        program_version=__version__,
    )
