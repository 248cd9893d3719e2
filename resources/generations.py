"""Resource: the export root, with one new directory per materialization, and the look-up of complete ones.

The event log says which generations exist for an asset and a partition; a directory counts only when it is complete.
The newest complete one is what readers get. Paths follow ``<root>/<kind>/<partition>/<run id>.<attempt>``.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import dagster as dg

from sediment_assets.adapters.attribution_files import AttributionFiles
from sediment_assets.bundle.encoding import MANIFEST
from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.publish.artifacts import RECORD
from sediment_assets.publish.durable import reported

GENERATION = "generation"
"""Metadata key under which a materialization names its generation."""

DATA_VERSION = "dagster/data_version"
"""Tag of a materialization or observation: its data version."""

_PAGE = 20


class NoGenerationError(dg.Failure):
    """A partition was never materialized completely."""


class PartitionKeyError(SedimentError):
    """A partition key that is no day, and so never becomes a path."""


class GenerationStore(dg.ConfigurableResource):  # type: ignore[type-arg]  # generic over its own value, as Dagster documents
    """All generations under one root directory."""

    root: str

    def new_path(self, kind: str, context: dg.AssetExecutionContext) -> Path:
        """Return the path of this attempt's generation; its parent exists, the directory itself does not."""
        parent = Path(self.root, kind, _day(context.partition_key)).absolute()
        with reported(parent, "create the directory of generations"):
            parent.mkdir(parents=True, exist_ok=True)
        return parent / f"{context.run.run_id}.{context.retry_number}"

    def attributions(self) -> AttributionFiles:
        """Return the memo that the days of one state of the evidence share; it may be removed at any time."""
        return AttributionFiles(Path(self.root).absolute())


def _day(partition_key: str) -> str:
    """Return a partition key that may become a path: a day, spelled in the one form in which Dagster names it."""
    try:
        day = date.fromisoformat(partition_key).isoformat()
    except ValueError:
        day = None
    if day != partition_key:
        raise PartitionKeyError(f"partition: expected a day such as 2026-11-02, got {shown(partition_key)}")
    return day


def is_complete(generation: Path) -> bool:
    """Whether a generation may be read: published whole, which its last file says."""
    return (generation / RECORD).is_file() or (generation / MANIFEST).is_file()


@dataclass(frozen=True, slots=True)
class Materialized:
    """A complete generation as the event log knows it."""

    path: Path
    data_version: str | None
    tags: Mapping[str, str]


def newest_generation(
    instance: dg.DagsterInstance,
    key: dg.AssetKey,
    partition: str,
    *,
    complete: Callable[[Path], bool] = is_complete,
) -> Path:
    """Return the newest complete generation of an asset's partition.

    :raises NoGenerationError: when the event log names none that is complete.
    """
    return newest_materialized(instance, key, partition, complete=complete).path


def newest_materialized(
    instance: dg.DagsterInstance,
    key: dg.AssetKey,
    partition: str,
    *,
    complete: Callable[[Path], bool] = is_complete,
) -> Materialized:
    """Return the newest complete generation of an asset's partition, with what its materialization says of it.

    :raises NoGenerationError: when the event log names none that is complete.
    """
    return first_of(complete_generations(instance, key, partition, complete=complete), key, partition)


def first_of(generations: Iterator[Materialized], key: dg.AssetKey, partition: str) -> Materialized:
    """Take the newest of an asset's partition; the older ones stay, and cost no second look into the event log.

    :raises NoGenerationError: when there is none.
    """
    newest = next(generations, None)
    if newest is None:
        raise NoGenerationError(
            f"{key.to_user_string()} {partition}: no complete generation; materialize this partition first",
            allow_retries=False,
        )
    return newest


def complete_generations(
    instance: dg.DagsterInstance,
    key: dg.AssetKey,
    partition: str,
    *,
    complete: Callable[[Path], bool] = is_complete,
) -> Iterator[Materialized]:
    """Yield the complete generations of an asset's partition that the event log names, newest first."""
    cursor: str | None = None
    while True:
        page = instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=key, asset_partitions=[partition]), limit=_PAGE, cursor=cursor
        )
        for record in page.records:
            path = _generation_of(record.asset_materialization)
            if path is not None and complete(path):
                tags = (record.asset_materialization and record.asset_materialization.tags) or {}
                yield Materialized(path, tags.get(DATA_VERSION), tags)
        if not page.has_more:
            return
        cursor = page.cursor


def _generation_of(materialization: dg.AssetMaterialization | None) -> Path | None:
    value = materialization.metadata.get(GENERATION) if materialization is not None else None
    return Path(value.value) if isinstance(value, dg.PathMetadataValue) and value.value else None
