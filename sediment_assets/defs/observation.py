"""Which version of the evidence each day has, recorded where it changed: so only what changed becomes stale.

Every observation is an event, so a day that is as it was is not recorded again. How versions come about is
``rollouts/evidence_versions.py``; what is requested because of them is ``late_evidence.py``.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import dagster as dg

from resources.evidence_store import EvidenceStore
from resources.generations import DATA_VERSION, NoGenerationError, newest_materialized
from sediment_assets.defs.keys import FACT_KEYS, MIRRORED_COMMITS, ROLLOUTS
from sediment_assets.derive.attribution_memo import AttributionMemo
from sediment_assets.derive.policy import DEFAULT_POLICY
from sediment_assets.rollouts.derivation import gather_evidence
from sediment_assets.rollouts.evidence_versions import (
    NO_EVIDENCE,
    DayVersions,
    EvidenceKind,
    KindVersion,
    evidence_version,
    session_parts,
)

EVIDENCE: Final = "sediment/evidence"
"""Tag of ``mirrors/commits`` observed and of Rollouts materialized: version of everything a day is derived from."""
POLICY: Final = "sediment/policy"
"""Tag of Rollouts materialized: digest of the derivation policy."""
CHANGED: Final = "changed"
"""Metadata key of an observation of ``mirrors/commits``: the kinds of evidence that changed with it."""

KIND_KEYS: Final[Mapping[EvidenceKind, dg.AssetKey]] = {
    kind: MIRRORED_COMMITS if kind is EvidenceKind.COMMITS else FACT_KEYS[kind.value] for kind in EvidenceKind
}
"""The asset whose partitions carry the versions of a kind of evidence."""

VERSION_CHARACTERS: Final = 16
_TAG_CHARACTERS: Final = 40
_ABSENT: Final = KindVersion("none", 0)

Days = dict[str, dict[EvidenceKind, KindVersion]]


def tag_of(digest: str) -> str:
    """Shorten a digest to what a tag may hold, which is less than 64 characters."""
    return digest[:_TAG_CHARACTERS]


def table_observation(key: dg.AssetKey, metadata: Mapping[str, Any], version: str | None) -> dg.AssetObservation:
    """Say what a whole source holds; a source with days has no version as a whole."""
    tags = {} if version is None else {DATA_VERSION: version[:VERSION_CHARACTERS]}
    return dg.AssetObservation(key, metadata=metadata, tags=tags)


def day_observations(
    instance: dg.DagsterInstance,
    evidence: EvidenceStore,
    partitions: dg.TimeWindowPartitionsDefinition,
    memo: AttributionMemo,
) -> Iterator[dg.AssetObservation]:
    """Yield an observation of every kind of evidence of every day that is not as it was when last observed.

    What similarity finds is left in ``memo``, for the days that are materialized because of it.
    ``mirrors/commits`` comes last of a day, whatever changed, and carries the version of all its evidence.
    """
    days = _days(evidence, partitions, memo)
    before = {kind: _observed(instance, key) for kind, key in KIND_KEYS.items()}
    known = {day for versions in before.values() for day in versions}
    unseen = instance.get_materialized_partitions(ROLLOUTS) - known - set(days)
    lost = {day for day in unseen if _had_evidence(instance, day)}
    # Days before a partition start that was moved since are nobody's any more.
    for day in sorted({*days, *known, *lost} & set(partitions.get_partition_keys())):
        yield from _day(day, days.get(day, {}), {kind: before[kind].get(day) for kind in EvidenceKind})


def _had_evidence(instance: dg.DagsterInstance, day: str) -> bool:
    """Whether a day that has no evidence now, and was never observed, was materialized from some.

    A day that never had any is not observed: its first observation would make it look stale.
    """
    try:
        tags = newest_materialized(instance, ROLLOUTS, day).tags
    except NoGenerationError:
        return False
    return tags.get(EVIDENCE, tag_of(NO_EVIDENCE)) != tag_of(NO_EVIDENCE)


def _day(
    day: str, versions: Mapping[EvidenceKind, KindVersion], before: Mapping[EvidenceKind, str | None]
) -> Iterator[dg.AssetObservation]:
    now = {kind: versions.get(kind, _ABSENT) for kind in EvidenceKind}
    changed = [kind for kind in EvidenceKind if _spelled(now[kind]) != (before[kind] or _spelled(_ABSENT))]
    if not changed and before[EvidenceKind.COMMITS] is not None:
        return
    for kind in changed:
        if kind is not EvidenceKind.COMMITS:
            yield dg.AssetObservation(
                KIND_KEYS[kind],
                partition=day,
                tags={DATA_VERSION: _spelled(now[kind])},
                metadata={"facts_of_this_day": now[kind].items},
            )
    yield dg.AssetObservation(
        MIRRORED_COMMITS,
        partition=day,
        tags={DATA_VERSION: _spelled(now[EvidenceKind.COMMITS]), EVIDENCE: tag_of(evidence_version(versions))},
        metadata={"commits_of_this_day": now[EvidenceKind.COMMITS].items, CHANGED: ", ".join(changed) or "none"},
    )


def _spelled(version: KindVersion) -> str:
    return version.digest[:VERSION_CHARACTERS]


def _days(evidence: EvidenceStore, partitions: dg.TimeWindowPartitionsDefinition, memo: AttributionMemo) -> Days:
    """Return the versions of every day that is a partition; other days have no place in the graph."""
    versions = DayVersions()
    with evidence.open() as opened:
        gathered = gather_evidence(opened.facts, opened.mirrors, DEFAULT_POLICY, memo)
        for session, parts in session_parts(opened.facts, opened.mirrors, gathered):
            versions.add(session, parts)
    keys = set(partitions.get_partition_keys())
    return {day.isoformat(): found for day, found in versions.days().items() if day.isoformat() in keys}


def _observed(instance: dg.DagsterInstance, key: dg.AssetKey) -> Mapping[str, str]:
    """Return the version last observed of each day, in one query, for which there is no public name."""
    tags = instance.event_log_storage.get_latest_tags_by_partition(
        key, dg.DagsterEventType.ASSET_OBSERVATION, [DATA_VERSION]
    )
    return {day: found[DATA_VERSION] for day, found in tags.items() if DATA_VERSION in found}
