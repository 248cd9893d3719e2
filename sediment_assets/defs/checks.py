"""Asset checks, split three ways: what a step counted, what was really published, and whether it still is intact.

* ``counts_add_up`` (in the step): one number per skip reason, zeros included, so that each has its plot; passes when
  rows and declined Rollouts or Segments account for every Rollout.
* ``generation_intact`` (own step, blocking): hashes every published file again.
* ``rows_match_schema`` (own step, blocking): reads the published files back and validates every row.

The UI lists checks by name, so the counts come first.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import dagster as dg

from resources.generations import GENERATION, newest_generation
from sediment_assets.defs.keys import output_key, outputs_of
from sediment_assets.derive.split import Split
from sediment_assets.publish.artifacts import row_file_name
from sediment_assets.publish.record import GenerationRecord, RecordError, verify_generation
from sediment_assets.targets.registry import TARGETS, Population, PopulationSpec, Target
from sediment_assets.targets.row_check import RowError, validate_line
from sediment_assets.targets.skips import SkipUnit, unit_of, vocabulary

COUNTS_ADD_UP: Final = "counts_add_up"
ROWS_MATCH_SCHEMA: Final = "rows_match_schema"
GENERATION_INTACT: Final = "generation_intact"
SKIP_PREFIX: Final = "skip/"
"""Metadata key of a reason's count: this and the reason."""


def counts_check_spec(
    key: dg.AssetKey, target: Target, population: Population, partitions: dg.PartitionsDefinition[str]
) -> dg.AssetCheckSpec:
    """Declare the ``counts_add_up`` check of one population; its description explains every reason."""
    reasons = vocabulary(target, population)
    table = "\n".join(f"| `{reason}` | {unit_of(reason, population)} | {reason.meaning} |" for reason in reasons)
    return dg.AssetCheckSpec(
        COUNTS_ADD_UP,
        asset=key,
        partitions_def=partitions,
        description="Every Rollout gives a row or a counted reason; nothing is lost silently. One number per reason, "
        f"and they count different things:\n\n| reason | counts | meaning |\n|---|---|---|\n{table}",
    )


def counts_check_result(
    key: dg.AssetKey, target: Target, population: Population, record: GenerationRecord
) -> dg.AssetCheckResult:
    """Report each skip reason as a number, and whether rows and declined ones add up."""
    tally = record.populations[population.value]
    reasons = vocabulary(target, population)
    unknown = sorted(set(tally.skipped) - {reason.value for reason in reasons})
    counts = {reason.value: tally.skipped.get(reason.value, 0) for reason in reasons}
    declined = sum(
        counts[reason.value]
        for reason in reasons
        if unit_of(reason, population) in (SkipUnit.ROLLOUT, SkipUnit.SEGMENT)
    )
    # A Rollout gives one task or one reason; of rollout rows it gives one per Segment, so only a lower bound is known.
    adds_up = (
        tally.rows + declined == record.rollouts
        if population is Population.TASKS
        else tally.rows + declined >= record.rollouts
    )
    return dg.AssetCheckResult(
        check_name=COUNTS_ADD_UP,
        asset_key=key,
        passed=adds_up and not unknown,
        severity=dg.AssetCheckSeverity.ERROR,
        metadata={
            "rollouts_considered": record.rollouts,
            "rows": tally.rows,
            "declined": declined,
            **{f"{SKIP_PREFIX}{reason}": count for reason, count in counts.items()},
            **({"unknown_reasons": ", ".join(unknown)} if unknown else {}),
        },
        description=_sentence(population, record.rollouts, tally.rows, declined),
    )


def _sentence(population: Population, rollouts: int, rows: int, declined: int) -> str:
    unit = "Rollouts" if population is Population.TASKS else "Segments"
    return f"Rollouts considered: {rollouts}. Rows written: {rows}. {unit} declined for a counted reason: {declined}."


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
        description=f"Every published row is exactly a {spec.row_model.__name__} ({spec.schema_id}), spelled as this "
        "program spells it, in the file of its side of the split, and its `instance_id` is unique in the day.",
    )
    def rows_match_schema(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        generation = newest_generation(context.instance, key, context.partition_key)
        return _checked(generation, lambda: {"rows_checked": _read_back(generation, spec)})

    return rows_match_schema


def _read_back(generation: Path, spec: PopulationSpec) -> int:
    """Validate every row of a population; return how many there are.

    :raises RowError: naming file and line of the first row that is none.
    """
    seen: set[str] = set()
    for place, split, line in _lines(generation, spec.population):
        try:
            row: Any = validate_line(spec.row_model, line)
        except RowError as error:
            raise RowError(f"{place}: {error}") from None
        about = row if hasattr(row, "split") else row.metadata
        instance_id: str = row.instance_id if hasattr(row, "instance_id") else about.instance_id
        if split not in (None, about.split):
            raise RowError(f"{place}: expected rows of the {split} split, got one of {about.split}")
        if instance_id in seen:
            raise RowError(f"{place}: expected a new instance_id, got {instance_id!r} again")
        seen.add(instance_id)
    return len(seen)


def _lines(generation: Path, population: Population) -> Iterator[tuple[str, Split | None, bytes]]:
    """Yield every line of a population's files without its LF, with its place ``<file>:<line>`` and the file's side."""
    for split in (None, *Split):
        path = generation / row_file_name(population.value, split)
        if path.exists():
            with path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    yield f"{path}:{number}", split, line.removesuffix(b"\n")


def _intact_check(target: Target, partitions: dg.PartitionsDefinition[str]) -> dg.AssetChecksDefinition:
    key = output_key(target, outputs_of(target)[0])

    @dg.asset_check(
        asset=key,
        name=GENERATION_INTACT,
        blocking=True,
        partitions_def=partitions,
        description="The newest complete generation is as its completion record says: claim, file set, and every "
        "SHA-256 computed again.",
    )
    def generation_intact(context: dg.AssetCheckExecutionContext) -> dg.AssetCheckResult:
        generation = newest_generation(context.instance, key, context.partition_key)
        return _checked(generation, lambda: {"files_checked": len(verify_generation(generation).files)})

    return generation_intact


def _checked(generation: Path, check: Callable[[], Mapping[str, int]]) -> dg.AssetCheckResult:
    """Run a check of a generation; a row or a file that is not as it should be fails it."""
    place = {GENERATION: dg.MetadataValue.path(str(generation))}
    try:
        counts = check()
    except (RowError, RecordError) as error:
        return dg.AssetCheckResult(
            passed=False, severity=dg.AssetCheckSeverity.ERROR, description=str(error), metadata=place
        )
    return dg.AssetCheckResult(passed=True, metadata={**counts, **place})
