"""The table of a benchmark run, in Markdown, kept beside the figures of earlier releases and other sizes."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import Cost
from benchmarks.plans import SIZES

_SMALLER: Final = {"M": "S", "3M": "M", "L": "M"}


@dataclass(frozen=True, slots=True)
class Ratios:
    """The yardstick's time divided by a step's, in CPU seconds and on the clock."""

    cpu: float
    clock: float


@dataclass(frozen=True, slots=True)
class Step:
    """One measured command; ``ratios`` where it reads all Facts once, so that they mean something."""

    name: str
    cost: Cost
    ratios: Ratios | None


@dataclass(frozen=True, slots=True)
class Result:
    """One run of the benchmark. The first step is the yardstick; ``notes`` are figures besides the table."""

    version: str
    size: str
    machine: dict[str, Any]
    runs: int
    counts: dict[str, int]
    steps: list[Step]
    notes: list[str]


def report(result: Result, directory: Path, *, keep: bool) -> str:
    """Return the run as Markdown; ``keep`` also writes it, and its figures as JSON, into the directory."""
    smaller = directory / f"{result.version}-{_SMALLER.get(result.size, '-')}.json"
    before = json.loads(smaller.read_text())["steps"] if smaller.exists() else {}
    text = "\n".join(_lines(result, before)) + "\n"
    if keep:
        stem = directory / f"{result.version}-{result.size}"
        stem.with_name(f"{stem.name}.md").write_text(text)
        steps = {
            step.name: asdict(step.cost) | {"ratios": step.ratios and asdict(step.ratios)} for step in result.steps
        }
        figures = {"machine": result.machine, "runs": result.runs, "steps": steps, "notes": result.notes}
        stem.with_name(f"{stem.name}.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    return text


def _lines(result: Result, before: dict[str, dict[str, float]]) -> Iterator[str]:
    megabytes = result.counts["bytes"] / 1e6
    yield f"# {result.version}, size {result.size}"
    yield ""
    yield f"{megabytes:,.0f} MB of Facts, {SIZES[result.size].sessions:,} Sessions: " + ", ".join(
        f"{count:,} {table.replace('_', ' ')}" for table, count in result.counts.items() if table != "bytes"
    )
    yield ""
    runs = "one run" if result.runs == 1 else f"medians of {result.runs} runs (of graphs over many days: one)"
    yield "; ".join(f"{name}: {value}" for name, value in result.machine.items()) + f"; {runs}"
    yield ""
    yield "CPU seconds include git's. × is what `orjson.loads` over the same Facts took just before and after, divided"
    yield "by what the step took: in CPU seconds, and on the clock. The last column says how many times the CPU seconds"
    yield "ten times the Sessions take, judging by the next smaller size."
    yield ""
    yield "| step | seconds | CPU s | MB of Facts / s | × by CPU | × by clock | peak MB | 10 × Sessions |"
    yield "|---|---|---|---|---|---|---|---|"
    for step in result.steps:
        cost = step.cost
        rate = "– | – | –"
        if step.ratios is not None:
            rate = f"{megabytes / cost.wall:,.0f} | {step.ratios.cpu:.2f} | {step.ratios.clock:.2f}"
        growth = f"× {_tenfold(result.size, cost.cpu / before[step.name]['cpu']):.1f}" if step.name in before else "–"
        yield f"| {step.name} | {cost.wall:.2f} | {cost.cpu:.2f} | {rate} | {cost.peak:.0f} | {growth} |"
    yield ""
    yield from (f"- {note}" for note in result.notes)


def _tenfold(size: str, factor: float) -> float:
    """Turn the factor from the next smaller size into the one for ten times the Sessions."""
    sessions = SIZES[size].sessions / SIZES[_SMALLER[size]].sessions
    return float(10 ** (math.log(factor) / math.log(sessions)))
