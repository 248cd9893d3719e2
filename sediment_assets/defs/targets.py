"""The target assets: one multi-asset per target, all of its outputs in one claimed generation.

Everything is projected and staged first; then the IO manager publishes output by output, ``environment.yaml`` last;
then the completion record says that the generation may be read. An output without rows is a materialization with
0 rows, never a skipped one.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg

from resources.evidence_store import EvidenceStore, ExportOptions
from resources.generation_io_managers import StagedFiles
from resources.generations import GENERATION, GenerationStore
from sediment_assets import __version__
from sediment_assets.adapters.bundle_dir import open_bundle
from sediment_assets.adapters.resolutions import read_resolutions
from sediment_assets.defs.canonical import DIRECTORIES
from sediment_assets.defs.checks import skip_check_result, skip_check_spec
from sediment_assets.defs.keys import (
    CI_RESOLUTIONS,
    ENVIRONMENT_OUTPUT,
    OWNERS,
    ROLLOUTS,
    output_key,
    outputs_of,
    segment,
    target_group,
)
from sediment_assets.defs.metadata import PREVIEW_ROWS, column_schema, counts_table, preview
from sediment_assets.facts.json_values import decode
from sediment_assets.publish.export import StagedExport, stage_export
from sediment_assets.publish.generation import Generation, claimed_directory
from sediment_assets.publish.record import FileRecord, GenerationRecord, content_version
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout
from sediment_assets.targets.projection import Projector
from sediment_assets.targets.registry import ENVIRONMENT_MANIFEST, TARGETS, Population, Target
from sediment_assets.targets.rollout_evidence import RolloutCI, stored_resolutions

ROWS = "rows"
"""Resource key of the IO manager that publishes row files."""

DESCRIPTIONS: Mapping[tuple[Target, str], str] = {
    (
        Target.SEDIMENT,
        "tasks",
    ): "Audit tasks: problem statement, base commit, Reference patch that is proven to rebuild "
    "the verified commit, and the CI evidence for and against it. Failed changes stay, with their verdict.",
    (
        Target.SEDIMENT,
        "rollouts",
    ): "One row per Segment: all Turns with the developer's decisions, every CI outcome and "
    "resolution of the Session's commits.",
    (Target.SEDIMENT, "environment"): "`environment.yaml`: what the tasks have in common, for environment tooling. "
    "Published last; absent (0 rows) on a day without tasks.",
    (Target.SWE_BENCH, "tasks"): "SWE-bench tasks of passed changes: `instance_id`, `base_commit`, `problem_statement` "
    "and `patch`, with Sediment's evidence under `metadata`. Test lists are never made up.",
    (
        Target.NEMO_GYM,
        "rollouts",
    ): "NeMo Gym rollouts: one row per Segment with the opening input, all Turns, and reward "
    "1.0 or 0.0 when CI decided, no reward otherwise.",
}


def target_asset(target: Target, partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetsDefinition:
    """Project one day's Rollouts for one target and publish them as one generation."""

    @dg.multi_asset(
        name=f"publish_{segment(target)}",
        specs=[_spec(target, output, partitions) for output in outputs_of(target)],
        ins={
            "rollouts": dg.AssetIn(key=ROLLOUTS, input_manager_key=DIRECTORIES),
            "ci_resolutions": dg.AssetIn(key=CI_RESOLUTIONS, input_manager_key=DIRECTORIES),
        },
        check_specs=[
            skip_check_spec(output_key(target, spec.population.value), partitions)
            for spec in TARGETS[target].populations
        ],
        pool=f"publish_{segment(target)}",
    )
    def publish(
        context: dg.AssetExecutionContext,
        evidence: EvidenceStore,
        options: ExportOptions,
        generations: GenerationStore,
        rollouts: Path,
        ci_resolutions: Path,
    ) -> Iterator[dg.MaterializeResult[Any]]:
        out = generations.new_path(target.value, context)
        settings = options.settings()
        with (
            open_bundle(rollouts) as bundle,
            evidence.mirrors() as mirrors,
            claimed_directory(out, target) as generation,
        ):
            staged = stage_export(
                generation,
                bundle,
                Projector(target, bundle.resolver, settings.commands, mirrors),
                settings,
                ci_of=partial(_frozen, read_resolutions(ci_resolutions, bundle.bundle_digest)),
                asset_keys=[output_key(target, output).to_user_string() for output in outputs_of(target)],
                partition=context.partition_key,
            )
            for warning in staged.summary.warnings:
                context.log.info(str(warning))
            for output in outputs_of(target):
                yield _result(target, output, generation, staged)
            generation.complete(staged.record)

    return publish


def _frozen(resolutions: Mapping[Any, Any], rollout: Rollout, resolver: RepositoryResolver) -> RolloutCI:
    return stored_resolutions(rollout, resolver, resolutions)


def _spec(target: Target, output: str, partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetSpec:
    metadata: dict[str, Any] = {}
    if output != ENVIRONMENT_OUTPUT:
        population = TARGETS[target].population(Population(output))
        assert population is not None
        metadata = {
            "dagster/column_schema": column_schema(population.row_model),
            "schema": population.schema_id,
        }
    return dg.AssetSpec(
        output_key(target, output),
        deps=[ROLLOUTS, CI_RESOLUTIONS],
        group_name=target_group(target),
        partitions_def=partitions,
        description=DESCRIPTIONS[target, output],
        owners=OWNERS,
        kinds={"python", "yaml" if output == ENVIRONMENT_OUTPUT else "jsonl"},
        code_version=__version__,
        metadata=metadata,
    ).with_io_manager_key(ROWS)


def _result(
    target: Target, output: str, generation: Generation, staged: StagedExport
) -> dg.MaterializeResult[StagedFiles]:
    files = {name: file for name, file in staged.files.items() if _output_of(name) == output}
    key = output_key(target, output)
    is_rows = output != ENVIRONMENT_OUTPUT
    return dg.MaterializeResult(
        asset_key=key,
        value=StagedFiles(generation, tuple(files)),
        data_version=dg.DataVersion(content_version(files)),
        metadata={
            "dagster/row_count": sum(file.rows or 0 for file in files.values()) if is_rows else len(files),
            GENERATION: dg.MetadataValue.path(str(generation.out)),
            **_file_metadata(generation.out, files),
            **(_rows_metadata(output, generation.staging, files, staged.record) if is_rows else {}),
            **_provenance_metadata(staged.record),
        },
        check_results=[skip_check_result(key, target, Population(output), staged.record)] if is_rows else [],
    )


def _output_of(name: str) -> str:
    return ENVIRONMENT_OUTPUT if name == ENVIRONMENT_MANIFEST else name.partition(".")[0]


def _file_metadata(out: Path, files: Mapping[str, FileRecord]) -> dict[str, Any]:
    if not files:
        return {"files": "none: there is nothing to write"}
    return {f"file/{name}": dg.MetadataValue.path(str(out / name)) for name in files}


def _rows_metadata(
    output: str, staging: Path, files: Mapping[str, FileRecord], record: GenerationRecord
) -> dict[str, Any]:
    tally = record.populations[output]
    sides = {name.split(".")[1]: file.rows or 0 for name, file in files.items() if name.count(".") > 1}
    return {
        "preview": preview(map(_row_cells, _first_rows(staging, tuple(files)))),
        "rollouts_considered": record.rollouts,
        "skipped": counts_table(tally.skipped, header="reason"),
        **{f"split/{side}": rows for side, rows in sides.items()},
    }


def _provenance_metadata(record: GenerationRecord) -> dict[str, Any]:
    return {
        "policy_digest": record.policy_digest,
        "as_of": record.as_of or "none",
        "quarantine_revision": record.quarantine_revision,
        "bundle_digest": record.bundle_digest or "none",
    }


def _first_rows(staging: Path, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    left = PREVIEW_ROWS
    for name in names:
        with (staging / name).open("rb") as lines:
            for line in islice(lines, left):
                left -= 1
                yield decode(line)


def _row_cells(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Pick what tells rows apart: identity, split, reward, and the first words of the problem."""
    about = {**row, **row.get("metadata", {})}
    resolution = about.get("ci_resolution") or {}
    return {
        "instance_id": about["instance_id"],
        "split": about["split"],
        "reward_source": about.get("reward_source", "none"),
        "reliability": resolution.get("reliability"),
        "repo": resolution.get("repo"),
        "problem": about.get("problem_statement") or f"Segment {about.get('segment_index')}",
    }
