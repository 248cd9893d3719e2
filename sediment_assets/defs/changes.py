"""What differs between the two newest generations of a target's day, and why: numbers and tables for a check."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import dagster as dg

from resources.evidence_store import EvidenceStore
from resources.generations import Materialized
from sediment_assets.adapters.generations.comparison import compare_generations
from sediment_assets.defs.metadata import NONE, PREVIEW_ROWS, preview
from sediment_assets.errors import SedimentError
from sediment_assets.lineage.causes import Cause
from sediment_assets.lineage.diff import Difference, GenerationDiff, RowDifference
from sediment_assets.publish.record import read_record

CHANGES_EXPLAINED: Final = "changes_explained"
CHANGES_DESCRIPTION: Final = (
    "Rows of all outputs that were added, removed or changed since the generation before, each with its cause: a new "
    "CI attempt, a note, a quarantine, a mirror, a policy, another version of this program. Warns of rows without one."
)


class Changes(NamedTuple):
    """Whether every difference has a cause, that in one sentence, and what to show."""

    explained: bool
    description: str
    metadata: Mapping[str, Any]


def changes(evidence: EvidenceStore, newest: Materialized, older: Iterator[Materialized]) -> Changes:
    """Compare the newest complete generation of a target's day with the one before."""
    before = next(older, None)
    if before is None:
        return Changes(True, "The first generation of this day.", {})
    try:
        return _told(_compared(evidence, before, newest), before)
    except SedimentError as error:
        return Changes(False, f"Cannot be compared: {error}", {"before": dg.MetadataValue.path(str(before.path))})


def _compared(evidence: EvidenceStore, before: Materialized, newest: Materialized) -> GenerationDiff:
    old, new = read_record(before.path).quarantine_revision, read_record(newest.path).quarantine_revision
    log = evidence.quarantine_between(old, new) if new > old else {}
    return compare_generations(before.path, newest.path, quarantine=log)


def _equal(rows: int) -> str:
    return "The one row is equal." if rows == 1 else f"All {rows} rows are equal."


def _told(diff: GenerationDiff, before: Materialized) -> Changes:
    counts = {difference: diff.count(difference) for difference in Difference}
    causes = diff.counts()
    what = ", ".join(f"{difference} {count}" for difference, count in counts.items() if count)
    why = ", ".join(cause.value for cause in causes)
    same = sum(diff.same.values())
    return Changes(
        explained=Cause.UNKNOWN not in causes,
        description=f"Rows {what}, equal {same}; because of: {why}." if what else _equal(same),
        metadata={
            **{f"rows_{difference}": count for difference, count in counts.items()},
            "rows_equal": same,
            "causes": _causes_table(diff) if causes else NONE,
            "rows": preview(map(_cells, diff.telling_first()[:PREVIEW_ROWS])) if diff.differences else NONE,
            "before": dg.MetadataValue.path(str(before.path)),
        },
    )


def _causes_table(diff: GenerationDiff) -> dg.TableMetadataValue | dg.TextMetadataValue:
    return preview(
        {"cause": cause.value, **{d.value: str(counted[d]) for d in Difference}, "meaning": cause.meaning}
        for cause, counted in diff.counts().items()
    )


def _cells(row: RowDifference) -> Mapping[str, str]:
    return {
        "row": row.instance_id,
        "of": row.population,
        "difference": row.difference.value,
        "fields": ", ".join(row.fields),
        "cause": "; ".join(f"{found.cause.value}: {found.detail}" for found in row.causes),
    }
