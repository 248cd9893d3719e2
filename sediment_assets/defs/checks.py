"""Asset checks of the step that publishes: what it counted. What it published is ``published_checks.py``'s.

* ``counts_add_up``: rows and declined Rollouts or Segments account for every Rollout.
* ``skips_are_known``: one number for each skip reason, zeros included; a reason without a meaning fails it.

The UI lists checks by name, so the counts come first.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import dagster as dg

from sediment_assets.defs.metadata import SKIP_PREFIX, reasons_table
from sediment_assets.publish.record import GenerationRecord
from sediment_assets.reasons import Reason
from sediment_assets.targets.registry import Population, Target
from sediment_assets.targets.skips import SkipUnit, unit_of, vocabulary

COUNTS_ADD_UP: Final = "counts_add_up"
SKIPS_ARE_KNOWN: Final = "skips_are_known"

Examples = Mapping[str, Sequence[str]]
"""Reason to the first few Sessions it was counted for."""


def step_check_specs(
    key: dg.AssetKey, target: Target, population: Population, partitions: dg.PartitionsDefinition[str]
) -> list[dg.AssetCheckSpec]:
    """Declare the checks of one population; the description explains every reason."""
    reasons = vocabulary(target, population)
    table = "\n".join(f"| `{reason}` | {unit_of(reason, population)} | {reason.meaning} |" for reason in reasons)
    return [
        dg.AssetCheckSpec(
            COUNTS_ADD_UP,
            asset=key,
            partitions_def=partitions,
            description="Every Rollout gives a row or a counted reason; nothing is lost silently.",
        ),
        dg.AssetCheckSpec(
            SKIPS_ARE_KNOWN,
            asset=key,
            partitions_def=partitions,
            description="One number for each skip reason, zeros included, and no reason without a meaning. They count "
            "different things. The plots below are in order of execution; the asset's own are day by day.\n\n"
            f"| reason | counts | meaning |\n|---|---|---|\n{table}",
        ),
    ]


def step_check_results(
    key: dg.AssetKey, target: Target, population: Population, record: GenerationRecord, examples: Examples
) -> list[dg.AssetCheckResult]:
    """Report whether rows and declined ones add up, and each skip reason as a number."""
    return [
        _counts(key, target, population, record),
        _skips(key, target, population, record, examples),
    ]


def _declined(target: Target, population: Population, skipped: Mapping[str, int]) -> int:
    units = (SkipUnit.ROLLOUT, SkipUnit.SEGMENT)
    return sum(
        skipped.get(reason.value, 0)
        for reason in vocabulary(target, population)
        if unit_of(reason, population) in units
    )


def _counts(key: dg.AssetKey, target: Target, population: Population, record: GenerationRecord) -> dg.AssetCheckResult:
    rows = record.populations[population.value].rows
    declined = _declined(target, population, record.populations[population.value].skipped)
    # A Rollout gives one task or one reason; of rollout rows it gives one per Segment, so only a lower bound is known.
    is_tasks = population is Population.TASKS
    adds_up = rows + declined == record.rollouts if is_tasks else rows + declined >= record.rollouts
    return dg.AssetCheckResult(
        check_name=COUNTS_ADD_UP,
        asset_key=key,
        passed=adds_up,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={
            "day": record.partition or "",
            "rollouts_considered": record.rollouts,
            "rows": rows,
            f"{'rollouts' if is_tasks else 'segments'}_declined": declined,
        },
        description=_sentence(population, record.rollouts, rows, declined),
    )


def _skips(
    key: dg.AssetKey, target: Target, population: Population, record: GenerationRecord, examples: Examples
) -> dg.AssetCheckResult:
    skipped = record.populations[population.value].skipped
    reasons = vocabulary(target, population)
    unknown = sorted(set(skipped) - {reason.value for reason in reasons})
    units: dict[Reason, str] = {reason: unit_of(reason, population).value for reason in reasons}
    counted = ", ".join(f"{reason} {count}" for reason, count in skipped.items()) or "nothing"
    return dg.AssetCheckResult(
        check_name=SKIPS_ARE_KNOWN,
        asset_key=key,
        passed=not unknown,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={
            "day": record.partition or "",
            "sessions": reasons_table(skipped, reasons, units, examples),
            **{f"{SKIP_PREFIX}{reason}": skipped.get(reason.value, 0) for reason in reasons},
            **({"unknown_reasons": ", ".join(unknown)} if unknown else {}),
        },
        description=f"Skipped: {counted}.",
    )


def _sentence(population: Population, rollouts: int, rows: int, declined: int) -> str:
    unit = "Rollouts" if population is Population.TASKS else "Segments"
    return f"Rollouts considered: {rollouts}. Rows written: {rows}. {unit} declined for a counted reason: {declined}."
