"""How generations are spelled for a person, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sediment_assets.cli.facts import aligned
from sediment_assets.words import quantity

if TYPE_CHECKING:
    from sediment_assets.adapters.generations.catalog import FoundGeneration
    from sediment_assets.adapters.generations.prune import Decision

_VERSION_CHARACTERS = 12
_UNITS = ("B", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """Spell a number of bytes."""
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError


def describe_generations(
    root: Path, found: Sequence[FoundGeneration], shown: Iterable[FoundGeneration]
) -> Iterator[str]:
    """Spell a listing: totals, a table, then what is incomplete and why."""
    complete = [one for one in found if one.is_complete]
    yield (
        f"{root}: {quantity(len(complete), 'complete generation')}, "
        f"{size_text(sum(one.size for one in found))}, incomplete: {len(found) - len(complete)}"
    )
    rows: list[tuple[str, ...]] = [("kind", "partition", "generation", "rows", "data version", "size", "skipped")]
    rows += [_row(one) for one in shown if one.is_complete]
    if len(rows) > 1:
        yield ""
        yield from aligned(rows, numbers=(5,))
    incomplete = [one for one in shown if not one.is_complete]
    if incomplete:
        yield ""
    yield from (f"incomplete: {one.path}: {one.problem}" for one in incomplete)


def _row(one: FoundGeneration) -> tuple[str, ...]:
    version = one.data_version or one.bundle_digest or ""
    return (
        one.kind,
        one.partition,
        one.name,
        ", ".join(f"{name} {count}" for name, count in one.rows.items()) if len(one.rows) > 1 else _only(one.rows),
        version[:_VERSION_CHARACTERS],
        size_text(one.size),
        "; ".join(skips for skips in map(_skips, one.skipped.items()) if skips) or "-",
    )


def _only(rows: Mapping[str, int]) -> str:
    return str(next(iter(rows.values()), 0))


def _skips(population: tuple[str, Mapping[str, int]]) -> str:
    name, counts = population
    spelled = ", ".join(f"{reason} {count}" for reason, count in sorted(counts.items()))
    return f"{name}: {spelled}" if spelled else ""


def plain_generation(one: FoundGeneration) -> dict[str, Any]:
    """Return one generation as plain JSON."""
    return {
        "kind": one.kind,
        "partition": one.partition,
        "generation": one.name,
        "path": str(one.path),
        "complete": one.is_complete,
        "problem": one.problem,
        "rows": dict(one.rows),
        "skipped": {name: dict(counts) for name, counts in one.skipped.items()},
        "data_version": one.data_version,
        "bundle_digest": one.bundle_digest,
        "bytes": one.size,
    }


def describe_decisions(decisions: Iterable[Decision], *, acts: bool) -> Iterator[str]:
    """Spell a pruning: a line for each directory that goes or cannot be judged, a count for what is kept."""
    from sediment_assets.adapters.generations.prune import MEANINGS, Verdict

    kept: dict[Verdict, int] = {}
    for decision in decisions:
        if decision.removes:
            verb = "removing" if acts else "would remove"
            yield f"{verb} {decision.path} ({size_text(decision.size)}): {MEANINGS[decision.verdict]}"
        elif decision.verdict is Verdict.UNPROVEN:
            yield f"left alone: {decision.path}: {MEANINGS[decision.verdict]}"
        else:
            kept[decision.verdict] = kept.get(decision.verdict, 0) + 1
    for verdict in Verdict:
        if verdict in kept:
            yield f"kept: {quantity(kept[verdict], 'generation')}: {MEANINGS[verdict]}"
