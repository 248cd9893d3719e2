"""Observable sources: the Fact tables and the mirrors, whose versions say when a day may be stale."""

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from resources.evidence_store import EvidenceStore
from sediment_assets.adapters.fact_store.counts import OrganizationCount, TableCount
from sediment_assets.defs.keys import FACT_KEYS, FACTS_GROUP, MIRRORS, MIRRORS_GROUP, OWNERS
from sediment_assets.defs.metadata import COLUMN_SCHEMA, NONE, TABLE_NAME, column_schema, counts_table
from sediment_assets.facts.instants import format_z
from sediment_assets.facts.tables import JSONL_MODELS, QUARANTINE_FILE
from sediment_assets.publish.record import digest_of

_VERSION_CHARACTERS = 16


def fact_assets() -> dg.AssetsDefinition:
    """One observable source per Fact table and for the quarantine log, observed together in one snapshot."""

    observe = dg.multi_observable_source_asset(
        name="observe_facts",
        specs=[
            dg.AssetSpec(
                key,
                group_name=FACTS_GROUP,
                description=(JSONL_MODELS[table].__doc__ or "").strip(),
                owners=OWNERS,
                kinds={"sql"},
                metadata={
                    TABLE_NAME: "fact_quarantine" if table == QUARANTINE_FILE else table,
                    COLUMN_SCHEMA: column_schema(JSONL_MODELS[table]),
                },
            )
            for table, key in FACT_KEYS.items()
        ],
    )

    def observe_facts(evidence: EvidenceStore) -> Iterator[dg.ObserveResult]:
        counts = evidence.counts()
        for table, key in FACT_KEYS.items():
            metadata = _table_metadata(table, counts)
            # A Fact is never changed or deleted, so its table's counts and span change whenever one arrives.
            version = digest_of({name: str(value) for name, value in metadata.items()})
            yield dg.ObserveResult(
                asset_key=key, data_version=dg.DataVersion(version[:_VERSION_CHARACTERS]), metadata=metadata
            )

    asset: dg.AssetsDefinition = observe(observe_facts)
    return asset


def _table_metadata(table: str, counts: OrganizationCount | None) -> Mapping[str, Any]:
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


def mirror_asset() -> dg.AssetsDefinition:
    """The bare mirrors of the organization, observed by their refs."""

    observe = dg.multi_observable_source_asset(
        name="observe_mirrors",
        specs=[
            dg.AssetSpec(
                MIRRORS,
                group_name=MIRRORS_GROUP,
                description="Bare Git mirrors of the organization's repositories: commits, notes and patches are read "
                "from here, never fetched or written. The version covers every ref of every mirror.",
                owners=OWNERS,
                kinds={"git"},
            )
        ],
    )

    def observe_mirrors(evidence: EvidenceStore) -> Iterator[dg.ObserveResult]:
        revisions = evidence.mirror_revisions()
        yield dg.ObserveResult(
            asset_key=MIRRORS,
            data_version=dg.DataVersion(digest_of(revisions)[:_VERSION_CHARACTERS]),
            metadata={
                "mirrors": len(revisions),
                "refs": counts_table({key: len(refs) for key, refs in revisions.items()}, header="mirror"),
            },
        )

    asset: dg.AssetsDefinition = observe(observe_mirrors)
    return asset
