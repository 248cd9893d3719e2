"""Asset checks, split three ways: what a step counted, what was really published, and whether it still is intact.

* ``skipped`` (in the step): one number per skip reason, zeros included, so that each has its plot; passes when rows
  and declined Rollouts or Segments add up.
* ``rows_match_schema`` (own step, blocking): reads the published files back and validates every row.
* ``generation_intact`` (own step, blocking): hashes every published file again.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg

from resources.generations import newest_generation
from sediment_assets.defs.keys import output_key, outputs_of
from sediment_assets.derive.split import Split
from sediment_assets.errors import SedimentError
from sediment_assets.publish.artifacts import row_file_name
from sediment_assets.publish.record import GenerationRecord, RecordError, verify_generation
from sediment_assets.targets.registry import TARGETS, Population, PopulationSpec, Target
from sediment_assets.targets.row_check import RowError, validate_line
from sediment_assets.targets.skips import SkipUnit, unit_of, vocabulary

SKIPPED = "skipped"
ROWS_MATCH_SCHEMA = "rows_match_schema"
GENERATION_INTACT = "generation_intact"


def skip_check_spec(key: dg.AssetKey, partitions: dg.PartitionsDefinition[str]) -> dg.AssetCheckSpec:
    """Declare the ``skipped`` check of one population."""
    return dg.AssetCheckSpec(
        SKIPPED,
        asset=key,
        partitions_def=partitions,
        description="Every Rollout gives a row or exactly one counted reason. One number per reason; units differ: "
        "Rollouts, Segments, CI runs, commits or CI outcomes.",
    )


def skip_check_result(
    key: dg.AssetKey, target: Target, population: Population, record: GenerationRecord
) -> dg.AssetCheckResult:
    """Report each skip reason as a number, and whether rows and declined ones add up."""
    tally = record.populations[population.value]
    reasons = vocabulary(target, population)
    unknown = sorted(set(tally.skipped) - {reason.value for reason in reasons})
    counts = {reason.value: tally.skipped.get(reason.value, 0) for reason in reasons}
    declined = sum(
        count
        for reason, count in ((reason, counts[reason.value]) for reason in reasons)
        if unit_of(reason, population) in (SkipUnit.ROLLOUT, SkipUnit.SEGMENT)
    )
    # A Rollout gives one task or one reason; of rollout rows it gives one per Segment, so only a lower bound is known.
    adds_up = (
        tally.rows + declined == record.rollouts
        if population is Population.TASKS
        else tally.rows + declined >= record.rollouts
    )
    return dg.AssetCheckResult(
        check_name=SKIPPED,
        asset_key=key,
        passed=adds_up and not unknown,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={
            "rollouts_considered": record.rollouts,
            "rows": tally.rows,
            "declined": declined,
            **{f"skip/{reason}": count for reason, count in counts.items()},
            **({"unknown_reasons": ", ".join(unknown)} if unknown else {}),
        },
        description=_sentence(population, record.rollouts, tally.rows, declined),
    )


def _sentence(population: Population, rollouts: int, rows: int, declined: int) -> str:
    unit = "Rollouts" if population is Population.TASKS else "Segments"
    return f"{rollouts} Rollouts considered: {rows} rows written, {declined} {unit} declined for a counted reason."


def target_checks(target: Target, partitions: dg.PartitionsDefinition[str]) -> list[dg.AssetChecksDefinition]:
    """Make the checks of one target that read what was published."""
    populations = [_schema_check(target, spec, partitions) for spec in TARGETS[target].populations]
    return [*populations, _intact_check(target, partitions)]


def _schema_check(
    target: Target, spec: PopulationSpec, partitions: dg.PartitionsDefinition[str]
) -> dg.AssetChecksDefinition:
    key = output_key(target, spec.population.value)

    @dg.asset_check(
        asset=key,
        name=ROWS_MATCH_SCHEMA,
        blocking=True,
        partitions_def=partitions,
        description=f"Every published row is exactly a {spec.row_model.__name__} ({spec.schema_id}), its id is "
        "unique in the day, and its Session is on one side of the split.",
    )
    def rows_match_schema(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        generation = newest_generation(context.instance, key, context.partition_key)
        return _checked(lambda: _read_back(generation, spec))

    return rows_match_schema


def _read_back(generation: Path, spec: PopulationSpec) -> Mapping[str, int]:
    """Validate every row of a population.

    :raises RowError: naming file and line of the first row that is none.
    """
    seen: set[str] = set()
    rows = 0
    for name, number, line in _lines(generation, spec.population):
        try:
            row: Any = validate_line(spec.row_model, line)
        except RowError as error:
            raise RowError(f"{generation / name}:{number}: {error}") from None
        identity = getattr(row, "instance_id", None) or row.metadata.instance_id
        if identity in seen:
            raise RowError(f"{generation / name}:{number}: instance_id {identity!r} is there twice")
        seen.add(identity)
        rows += 1
    return {"rows_checked": rows}


def _lines(generation: Path, population: Population) -> Iterator[tuple[str, int, bytes]]:
    for split in (None, *Split):
        name = row_file_name(population.value, split)
        path = generation / name
        if path.exists():
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    yield name, number, line.removesuffix(b"\n")


def _intact_check(target: Target, partitions: dg.PartitionsDefinition[str]) -> dg.AssetChecksDefinition:
    key = output_key(target, outputs_of(target)[0])

    @dg.asset_check(
        asset=key,
        name=GENERATION_INTACT,
        blocking=True,
        partitions_def=partitions,
        description="The generation's claim, file set and every SHA-256 are still those of its completion record.",
    )
    def generation_intact(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        generation = newest_generation(context.instance, key, context.partition_key)
        return _checked(lambda: {"files": len(verify_generation(generation).files)})

    return generation_intact


def _checked(check: Any) -> dg.AssetCheckResult:
    try:
        return dg.AssetCheckResult(passed=True, metadata=check())
    except (RowError, RecordError) as error:
        return dg.AssetCheckResult(passed=False, severity=dg.AssetCheckSeverity.ERROR, description=str(error))
    except SedimentError as error:
        raise dg.Failure(str(error), allow_retries=False) from error
