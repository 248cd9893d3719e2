"""The event log and the generations on disk: ``python -m sediment_assets.defs.registration register|known ROOT``.

``register`` records complete generations again after the instance lost its history; ``known`` says, as JSON, which
generations readers get and which partitions have a run in progress, for ``sediment generations prune``.
"""

import json
import os.path
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

import dagster as dg

from resources.generations import DATA_VERSION, GENERATION, NoGenerationError, newest_generation
from sediment_assets.adapters.generations.catalog import ROLLOUTS_KIND, FoundGeneration, find_generations
from sediment_assets.adapters.resolutions import CI_RESOLUTIONS as RESOLUTIONS_KIND
from sediment_assets.adapters.settings import Settings
from sediment_assets.bundle.encoding import Population as BundlePopulation
from sediment_assets.defs.canonical import partition_version, resolutions_version
from sediment_assets.defs.keys import CI_RESOLUTIONS, ROLLOUTS, output_key, outputs_of
from sediment_assets.defs.metadata import NONE, ROW_COUNT
from sediment_assets.defs.observation import POLICY, tag_of
from sediment_assets.defs.target_metadata import files_of
from sediment_assets.errors import SedimentError, error_text, one_line
from sediment_assets.publish.record import content_version, spelled_instant
from sediment_assets.targets.registry import Target
from sediment_assets.words import quantity

PARTITION_TAG: Final = "dagster/partition"
REGISTERED: Final = "registered"
"""Metadata key of a record that was restored, not written by a run."""
_PAGE: Final = 100
_IN_PROGRESS: Final = [
    dg.DagsterRunStatus.QUEUED,
    dg.DagsterRunStatus.NOT_STARTED,
    dg.DagsterRunStatus.STARTING,
    dg.DagsterRunStatus.STARTED,
    dg.DagsterRunStatus.CANCELING,
]


@dataclass(frozen=True, slots=True)
class Lost:
    """One output of a complete generation, as the materialization that a run would have recorded."""

    key: dg.AssetKey
    generation: FoundGeneration
    data_version: str
    metadata: Mapping[str, Any]
    tags: Mapping[str, str] = field(default_factory=dict)


def outputs(one: FoundGeneration, bundles: Mapping[str, FoundGeneration]) -> Iterator[Lost]:
    """Yield what to record of one complete generation; ``bundles`` by digest.

    CI resolutions whose bundle is gone have no version to be known by, and are left out.
    """
    if one.manifest is not None:
        about = {"as_of": spelled_instant(one.manifest.as_of) or NONE, "policy_digest": one.manifest.policy.digest}
        rows = one.manifest.files[BundlePopulation.ROLLOUTS].rows
        # What its evidence was is not in a bundle; without that tag, late evidence requests the day once more.
        tags = {POLICY: tag_of(one.manifest.policy.digest)}
        yield Lost(ROLLOUTS, one, partition_version(one.manifest), _metadata(one, rows, about), tags)
    elif one.record is not None and one.kind == RESOLUTIONS_KIND:
        bundle = bundles.get(one.bundle_digest or "")
        if bundle is not None and bundle.manifest is not None:
            version = resolutions_version(partition_version(bundle.manifest), one.record.data_version)
            yield Lost(CI_RESOLUTIONS, one, version, _metadata(one, sum(one.rows.values()), {}))
    elif one.record is not None:
        target = Target(one.kind)
        about = {"as_of": one.record.as_of or NONE, "policy_digest": one.record.policy_digest}
        for output in outputs_of(target):
            files = files_of(output, one.record.files)
            rows = one.rows.get(output, len(files))
            yield Lost(output_key(target, output), one, content_version(files), _metadata(one, rows, about))


def _metadata(one: FoundGeneration, rows: int, about: Mapping[str, str]) -> dict[str, Any]:
    return {
        ROW_COUNT: rows,
        GENERATION: dg.MetadataValue.path(str(one.path)),
        **about,
        "bundle_digest": one.bundle_digest or NONE,
        REGISTERED: "restored from the generation's completion file by sediment generations register",
    }


def register(instance: dg.DagsterInstance, root: Path, org_id: str) -> int:
    """Record every complete generation that is newer than all the event log knows of its partition; return how many.

    Older ones are left out: the last record is what readers get. So are those of another organization, and those that
    do not lie in the directory of their partition. Registering again records nothing.
    """
    found = [one for one in find_generations(root.absolute()) if one.is_complete and _is_of(one, org_id)]
    bundles = {one.bundle_digest: one for one in found if one.manifest is not None and one.bundle_digest}
    lost: defaultdict[tuple[dg.AssetKey, str], list[Lost]] = defaultdict(list)
    for output in chain.from_iterable(outputs(one, bundles) for one in found):
        lost[output.key, output.generation.partition].append(output)
    return sum(_record(instance, known, of_partition) for known, of_partition in lost.items())


def _is_of(one: FoundGeneration, org_id: str) -> bool:
    if one.manifest is not None:  # a bundle knows no partition
        return one.manifest.org_id == org_id
    return one.record is not None and (one.record.org_id, one.record.partition) == (org_id, one.partition)


def _record(instance: dg.DagsterInstance, of: tuple[dg.AssetKey, str], newest_last: Sequence[Lost]) -> int:
    key, partition = of
    recorded = _recorded_paths(instance, key, partition)
    known = [position for position, one in enumerate(newest_last) if one.generation.path.resolve() in recorded]
    missing = newest_last[known[-1] + 1 if known else 0 :]
    for one in missing:
        instance.report_runless_asset_event(
            dg.AssetMaterialization(
                asset_key=key,
                partition=partition,
                metadata=dict(one.metadata),
                tags={DATA_VERSION: one.data_version, **one.tags},
            )
        )
    return len(missing)


def _recorded_paths(instance: dg.DagsterInstance, key: dg.AssetKey, partition: str) -> Collection[Path]:
    """Return the generations that the event log names for an asset's partition."""
    paths: set[Path] = set()
    cursor: str | None = None
    while True:
        page = instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition]), limit=_PAGE, cursor=cursor
        )
        for record in page.records:
            value = record.asset_materialization and record.asset_materialization.metadata.get(GENERATION)
            if isinstance(value, dg.PathMetadataValue) and value.value:
                paths.add(Path(value.value).resolve())
        if not page.has_more:
            return paths
        cursor = page.cursor


def known(instance: dg.DagsterInstance, root: Path) -> dict[str, list[str]]:
    """Return the generations that readers get of every partition on disk, and the partitions being worked on."""
    newest = set()
    for kind, partition in {(one.kind, one.partition) for one in find_generations(root)}:
        for key in _keys_of(kind):
            try:
                newest.add(str(newest_generation(instance, key, partition)))
            except NoGenerationError:
                continue
    runs = instance.get_runs(dg.RunsFilter(statuses=_IN_PROGRESS))
    busy = {run.tags[PARTITION_TAG] for run in runs if PARTITION_TAG in run.tags}
    return {"newest": sorted(newest), "busy": sorted(busy)}


def _keys_of(kind: str) -> list[dg.AssetKey]:
    if kind == ROLLOUTS_KIND:
        return [ROLLOUTS]
    if kind == RESOLUTIONS_KIND:
        return [CI_RESOLUTIONS]
    return [output_key(Target(kind), output) for output in outputs_of(Target(kind))]


def main(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code."""
    try:
        with dg.DagsterInstance.get() as instance:
            if arguments[0] == "known":
                sys.stdout.write(json.dumps(known(instance, Path(arguments[1]))))
                return 0
            settings = Settings.load()
            root = settings.export_root(Path("exports"))
            count = register(instance, root, settings.organization().org_id)
            sys.stdout.write(one_line(f"{os.path.relpath(root)}: {quantity(count, 'record')} restored") + "\n")
            return 0
    except SedimentError as error:
        sys.stderr.write(error_text(error) + "\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
