"""The target assets: one multi-asset per target, all of its outputs in one claimed generation.

Everything is projected and staged first; then the IO manager publishes output by output, ``environment.yaml`` last;
then the completion record says that the generation may be read. An output without rows is a materialization with
0 rows, never a skipped one. What the UI says about them is ``target_metadata.py``.

The graph is a chain, Rollouts to CI resolutions to targets, although a target reads the Rollouts, too: its step looks
up the bundle that the resolutions belong to. With a second edge past ``ci_resolutions``, the web server refuses some
ranges of days ("Targeted subset must match between every key in a non-subsettable multi-asset"): it walks the graph in
the order of a set, merges the days of what it reaches twice, and compares merged with unmerged ones field by field
(``TimeWindowPartitionsSubset`` has an ``__eq__``, but a tuple's ``__ne__``).
"""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import dagster as dg

from resources.bundles import BundleReader
from resources.evidence_store import EvidenceStore, ExportOptions
from resources.generation_io_managers import StagedFiles
from resources.generations import GenerationStore, newest_generation
from sediment_assets import __version__
from sediment_assets.adapters.resolutions import read_resolutions
from sediment_assets.ci.resolution import CIResolution
from sediment_assets.defs.checks import Examples, step_check_results, step_check_specs
from sediment_assets.defs.keys import (
    CI_RESOLUTIONS,
    ENVIRONMENT_OUTPUT,
    GENERATION_IO,
    MIRRORED_COMMITS,
    OWNERS,
    ROLLOUTS,
    output_key,
    outputs_of,
    segment,
    target_group,
)
from sediment_assets.defs.metadata import COLUMN_SCHEMA, DOCS, column_schema
from sediment_assets.defs.partitions import EVERY_MORNING
from sediment_assets.defs.target_metadata import files_of, output_metadata
from sediment_assets.publish.export import StagedExport, stage_export
from sediment_assets.publish.generation import Generation, claimed_directory
from sediment_assets.publish.record import content_version
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import Rollout
from sediment_assets.targets.projection import Projector
from sediment_assets.targets.registry import TARGETS, Population, Target
from sediment_assets.targets.rollout_evidence import RolloutCI, stored_resolutions

DESCRIPTIONS: Final[Mapping[tuple[Target, str], str]] = {
    (Target.SEDIMENT, "tasks"): (
        "Audit tasks: problem statement, base commit, Reference patch that is proven to rebuild the verified commit, "
        "and the CI evidence for and against it. Failed changes stay, with their verdict."
    ),
    (Target.SEDIMENT, "rollouts"): (
        "One row per Segment: all Turns with the developer's decisions, every CI outcome and resolution of the "
        "Session's commits."
    ),
    (Target.SEDIMENT, "environment"): (
        "`environment.yaml`: what the tasks have in common, for environment tooling. Published last; absent (0 rows) "
        "on a day without tasks."
    ),
    (Target.SWE_BENCH, "tasks"): (
        "SWE-bench tasks of passed changes: `instance_id`, `base_commit`, `problem_statement` and `patch`, with "
        "Sediment's evidence under `metadata`. Test lists are never made up."
    ),
    (Target.NEMO_GYM, "rollouts"): (
        "NeMo Gym rollouts: one row per Segment with the opening input, all Turns, and reward 1.0 or 0.0 when CI "
        "decided, no reward otherwise."
    ),
}


def target_asset(target: Target, partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetsDefinition:
    """Project one day's Rollouts for one target and publish them as one generation."""

    @dg.multi_asset(
        name=f"publish_{segment(target)}",
        specs=[_spec(target, output, partitions) for output in outputs_of(target)],
        ins={"ci_resolutions": dg.AssetIn(key=CI_RESOLUTIONS, input_manager_key=GENERATION_IO)},
        check_specs=[
            check
            for spec in TARGETS[target].populations
            for check in step_check_specs(
                output_key(target, spec.population.value), target, spec.population, partitions
            )
        ],
        pool=f"publish_{segment(target)}",
    )
    def publish(
        context: dg.AssetExecutionContext,
        bundles: BundleReader,
        evidence: EvidenceStore,
        options: ExportOptions,
        generations: GenerationStore,
        ci_resolutions: Path,
    ) -> Iterator[dg.MaterializeResult[StagedFiles]]:
        out = generations.new_path(target.value, context)
        settings = options.settings()
        bundle = bundles.read(newest_generation(context.instance, ROLLOUTS, context.partition_key))
        resolutions = read_resolutions(ci_resolutions, bundle.bundle_digest)
        mirrors = evidence.patch_mirrors()
        with claimed_directory(out, target) as generation:
            staged = stage_export(
                generation,
                bundle,
                Projector(target, bundle.resolver, settings.commands, mirrors),
                settings,
                ci_of=partial(_frozen, resolutions),
                asset_keys=[output_key(target, output).to_user_string() for output in outputs_of(target)],
                partition=context.partition_key,
            )
            for warning in staged.summary.warnings:
                context.log.info(str(warning))
            for output in outputs_of(target):
                yield _result(target, output, generation, staged)
            generation.complete(staged.record)

    return publish


def _frozen(resolutions: Mapping[CommitKey, CIResolution], rollout: Rollout, resolver: RepositoryResolver) -> RolloutCI:
    return stored_resolutions(rollout, resolver, resolutions)


def _spec(target: Target, output: str, partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetSpec:
    return dg.AssetSpec(
        output_key(target, output),
        deps=[CI_RESOLUTIONS, MIRRORED_COMMITS],
        group_name=target_group(target),
        partitions_def=partitions,
        description=DESCRIPTIONS[target, output],
        owners=OWNERS,
        kinds={"python", "yaml" if output == ENVIRONMENT_OUTPUT else "jsonl"},
        tags={"sediment/layer": "targets", "sediment/target": target.value},
        freshness_policy=EVERY_MORNING,
        code_version=__version__,
        metadata=_definition_metadata(target, output),
    ).with_io_manager_key(GENERATION_IO)


def _definition_metadata(target: Target, output: str) -> Mapping[str, Any]:
    """The columns are in the definition: so they show before, and whatever, a day has rows."""
    docs = {DOCS: "docs/reference/rows.md, docs/reference/reasons.md"}
    if output == ENVIRONMENT_OUTPUT:
        return docs
    population = TARGETS[target].population(Population(output))
    assert population is not None
    return {COLUMN_SCHEMA: column_schema(population.row_model), "schema_id": population.schema_id, **docs}


def _result(
    target: Target, output: str, generation: Generation, staged: StagedExport
) -> dg.MaterializeResult[StagedFiles]:
    files = files_of(output, staged.files)
    key = output_key(target, output)
    checks: list[dg.AssetCheckResult] = []
    examples: Examples = {}
    if output != ENVIRONMENT_OUTPUT:
        population = Population(output)
        examples = staged.summary.skip_examples[population]
        checks = step_check_results(key, target, population, staged.record, examples)
    return dg.MaterializeResult(
        asset_key=key,
        value=StagedFiles(generation, tuple(files)),
        data_version=dg.DataVersion(content_version(files)),
        metadata=output_metadata(target, output, generation, files, staged.record, examples),
        check_results=checks,
    )
