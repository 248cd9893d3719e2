"""What a materialization of a target's output says about itself, in the order in which a reviewer asks.

How many rows, what gave none and why, what rows look like, where they are, what they were made from.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg

from resources.generations import GENERATION
from sediment_assets.defs.keys import ENVIRONMENT_OUTPUT
from sediment_assets.defs.metadata import (
    NONE,
    PREVIEW,
    PREVIEW_ROWS,
    ROW_COUNT,
    SKIP_PREFIX,
    lines_table,
    preview,
    reasons_table,
)
from sediment_assets.derive.split import Split
from sediment_assets.facts.json_values import decode
from sediment_assets.publish.artifacts import row_file_name
from sediment_assets.publish.generation import Generation
from sediment_assets.publish.record import FileRecord, GenerationRecord
from sediment_assets.reasons import Reason
from sediment_assets.targets.registry import ENVIRONMENT_MANIFEST, Population, Target
from sediment_assets.targets.skips import unit_of, vocabulary


def files_of(output: str, files: Mapping[str, FileRecord]) -> dict[str, FileRecord]:
    """Return the files of one output, in the order of publication."""
    return {name: file for name, file in files.items() if _output_of(name) == output}


def _output_of(name: str) -> str:
    return ENVIRONMENT_OUTPUT if name == ENVIRONMENT_MANIFEST else name.partition(".")[0]


def output_metadata(
    target: Target,
    output: str,
    generation: Generation,
    files: Mapping[str, FileRecord],
    record: GenerationRecord,
    examples: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Describe one output, whose ``files`` are staged and not visible yet."""
    about = (
        _environment_metadata(generation.staging, files)
        if output == ENVIRONMENT_OUTPUT
        else _rows_metadata(target, Population(output), generation.staging, files, record, examples)
    )
    return {
        **about,
        GENERATION: dg.MetadataValue.path(str(generation.out)),
        **({f"file/{name}": dg.MetadataValue.path(str(generation.out / name)) for name in files} or {"files": NONE}),
        "policy_digest": record.policy_digest,
        "as_of": record.as_of or NONE,
        "quarantine_revision": record.quarantine_revision,
        "bundle_digest": record.bundle_digest or NONE,
        **_skip_counts(target, output, record),
    }


def _skip_counts(target: Target, output: str, record: GenerationRecord) -> dict[str, int]:
    """Count every reason by itself, for the plots; what they mean is in the table."""
    if output == ENVIRONMENT_OUTPUT:
        return {}
    skipped = record.populations[output].skipped
    reasons = vocabulary(target, Population(output))
    return {f"{SKIP_PREFIX}{reason}": skipped.get(reason.value, 0) for reason in reasons}


def _environment_metadata(staging: Path, files: Mapping[str, FileRecord]) -> dict[str, Any]:
    text = "".join((staging / name).read_text("utf-8") for name in files)
    return {ROW_COUNT: len(files), PREVIEW: lines_table(ENVIRONMENT_MANIFEST, text) if files else NONE}


def _rows_metadata(
    target: Target,
    population: Population,
    staging: Path,
    files: Mapping[str, FileRecord],
    record: GenerationRecord,
    examples: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    tally = record.populations[population.value]
    reasons = vocabulary(target, population)
    units: dict[Reason, str] = {reason: unit_of(reason, population).value for reason in reasons}
    return {
        ROW_COUNT: tally.rows,
        "rollouts_considered": record.rollouts,
        "skipped": reasons_table(tally.skipped, reasons, units, examples),
        **_split_rows(population, files),
        PREVIEW: preview(map(_row_cells, _first_rows(staging, tuple(files)))),
    }


def _split_rows(population: Population, files: Mapping[str, FileRecord]) -> dict[str, int]:
    """Count the rows of each side, zeros included, so that each has its plot; nothing when splits have no files."""
    if row_file_name(population.value, None) in files:
        return {}
    rows = {split: files.get(row_file_name(population.value, split)) for split in Split}
    return {f"split/{split}": (file.rows or 0) if file else 0 for split, file in rows.items()}


def _first_rows(staging: Path, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    left = PREVIEW_ROWS
    for name in names:
        with (staging / name).open("rb") as lines:
            for line in islice(lines, left):
                left -= 1
                yield decode(line)


def _row_cells(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Pick what tells rows apart: identity, split, verdict, and the problem with its patch or the Turns."""
    about = {**row, **row.get("metadata", {})}
    resolution = about.get("ci_resolution") or {}
    turns = row.get("turns") or row.get("response", {}).get("turns")
    return {
        "instance_id": about["instance_id"],
        "split": about["split"],
        "verdict": resolution.get("verdict", NONE),
        "reliability": resolution.get("reliability", NONE),
        **(_task_cells(about) if turns is None else _segment_cells(turns)),
    }


def _task_cells(task: Mapping[str, Any]) -> Mapping[str, Any]:
    patch: str = task.get("reference_patch") or task.get("patch") or ""
    return {"repo": task["repo"], "problem": task["problem_statement"], "patch lines": patch.count("\n")}


def _segment_cells(turns: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    return {
        "turns": len(turns),
        "tool calls": sum(len(turn["tool_calls"]) for turn in turns),
        "decisions": sum(len(turn["decisions"]) for turn in turns),
    }
