"""Observed sources: the Fact tables, and the commits that the mirrors show for each day's Sessions.

Their partitions are the days of the Rollouts. What is recorded of a day, and when, is ``observation.py``.
"""

from collections.abc import Iterator
from typing import Any, Final

import dagster as dg

from resources.evidence_store import EvidenceStore
from resources.generations import GenerationStore
from sediment_assets.adapters.fact_store.counts import OrganizationCount, TableCount
from sediment_assets.defs.keys import (
    FACT_KEYS,
    FACTS_GROUP,
    MIRRORED_COMMITS,
    MIRRORS,
    MIRRORS_GROUP,
    OWNERS,
    QUARANTINE,
    REPOSITORIES,
)
from sediment_assets.defs.metadata import COLUMN_SCHEMA, NONE, TABLE_NAME, column_schema, counts_table
from sediment_assets.defs.observation import KIND_KEYS, VERSION_CHARACTERS, day_observations, table_observation
from sediment_assets.facts.instants import format_z
from sediment_assets.facts.tables import JSONL_MODELS, QUARANTINE_FILE
from sediment_assets.publish.record import digest_of

OBSERVE_STEP: Final = "observe_sources"
OBSERVE_MIRRORS_STEP: Final = "observe_mirrors"


def observed_assets(partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetsDefinition:
    """All observed sources but the mirrors' refs, looked at together in one snapshot; each can be looked at alone."""

    observe = dg.multi_observable_source_asset(
        name=OBSERVE_STEP,
        specs=[*(_table_spec(table, partitions) for table in FACT_KEYS), _commits_spec(partitions)],
        can_subset=True,
    )

    def observe_evidence(
        context: dg.AssetExecutionContext, evidence: EvidenceStore, generations: GenerationStore
    ) -> Iterator[dg.AssetObservation]:
        selected = context.selected_asset_keys
        counts = evidence.counts()
        tables: dict[dg.AssetKey, dict[str, Any]] = {
            FACT_KEYS[table]: dict(_table_metadata(table, counts)) for table in FACT_KEYS
        }
        versions = {QUARANTINE: digest_of(tables[QUARANTINE])}
        if selected & set(KIND_KEYS.values()):
            memo = generations.attributions()
            for observation in day_observations(context.instance, evidence, partitions, memo):
                if observation.asset_key in selected:
                    yield observation
        for key, metadata in tables.items():
            if key in selected:
                yield table_observation(key, metadata, versions.get(key))

    asset: dg.AssetsDefinition = observe(observe_evidence)
    return asset


def _table_spec(table: str, partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetSpec:
    is_log = table == QUARANTINE_FILE
    return dg.AssetSpec(
        FACT_KEYS[table],
        deps=[] if is_log else [QUARANTINE],
        group_name=FACTS_GROUP,
        partitions_def=None if is_log else partitions,
        description=f"{(JSONL_MODELS[table].__doc__ or '').strip()}\n\n{_ABOUT_LOG if is_log else _ABOUT_DAYS}",
        owners=OWNERS,
        kinds={"sql"},
        tags={"sediment/layer": "facts"},
        metadata={
            TABLE_NAME: "fact_quarantine" if is_log else table,
            COLUMN_SCHEMA: column_schema(JSONL_MODELS[table]),
        },
    )


_ABOUT_DAYS: Final = (
    "A partition is what this table says about the Sessions of that day, whenever it was captured: a CI outcome that "
    "arrives in March for a Session of January changes January's partition, and no other."
)
_ABOUT_LOG: Final = (
    "What it hides is missing from the other tables, and what it releases is there again: their partitions change, and "
    "only those."
)


def observed_mirrors() -> dg.AssetsDefinition:
    """The refs of all mirrors. A step of its own: it has no days, and what it looks at is fetched by repository."""

    observe = dg.multi_observable_source_asset(name=OBSERVE_MIRRORS_STEP, specs=[_mirrors_spec()], can_subset=True)

    def observe_mirrors(evidence: EvidenceStore) -> dg.ObserveResult:
        mirrors = evidence.mirror_revisions()
        refs = counts_table({key: len(refs) for key, refs in mirrors.items()}, header="mirror")
        return dg.ObserveResult(
            asset_key=MIRRORS,
            data_version=dg.DataVersion(digest_of(mirrors)[:VERSION_CHARACTERS]),
            metadata={"mirrors": len(mirrors), "refs": refs},
        )

    asset: dg.AssetsDefinition = observe(observe_mirrors)
    return asset


def _mirrors_spec() -> dg.AssetSpec:
    return dg.AssetSpec(
        MIRRORS,
        deps=[dg.AssetDep(REPOSITORIES, partition_mapping=dg.AllPartitionMapping())],
        group_name=MIRRORS_GROUP,
        description="Bare Git mirrors of the organization's repositories: commits, notes and patches are read from "
        "here, never fetched or written. The version covers every ref of every mirror.",
        owners=OWNERS,
        kinds={"git"},
        tags={"sediment/layer": "mirrors"},
    )


def _commits_spec(partitions: dg.TimeWindowPartitionsDefinition) -> dg.AssetSpec:
    return dg.AssetSpec(
        MIRRORED_COMMITS,
        deps=[MIRRORS, FACT_KEYS["pushes"]],
        group_name=MIRRORS_GROUP,
        partitions_def=partitions,
        description="The commits of each day's Sessions, as notes, observations and similarity find them, and whether "
        "their objects are there. A mirror that appears later, or a new note, changes the days whose Sessions it "
        "concerns.",
        owners=OWNERS,
        kinds={"git"},
        tags={"sediment/layer": "mirrors"},
    )


def _table_metadata(table: str, counts: OrganizationCount | None) -> dict[str, int | str]:
    if table == QUARANTINE_FILE:
        return {
            "records": counts.quarantine_records if counts else 0,
            "quarantine_revision": counts.quarantine_revision if counts else 0,
        }
    tables = counts.tables if counts else ()
    found = next((count for count in tables if count.table == table), TableCount(table, 0, 0, None, None))
    return {
        "facts": found.facts,
        "quarantined": found.quarantined,
        "first": format_z(found.first) if found.first else NONE,
        "last": format_z(found.last) if found.last else NONE,
    }
