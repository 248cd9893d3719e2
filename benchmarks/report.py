"""The table of a benchmark run, in Markdown, kept beside the figures of earlier releases and other sizes."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import Cost

_SMALLER: Final = {"M": "S", "L": "M"}


@dataclass(frozen=True, slots=True)
class Step:
    """One measured command."""

    name: str
    cost: Cost
    reads_all: bool


@dataclass(frozen=True, slots=True)
class Result:
    """One run of the benchmark. The first step is the yardstick. ``patches`` is Reference patches per CPU second."""

    version: str
    size: str
    machine: dict[str, Any]
    runs: int
    counts: dict[str, int]
    steps: list[Step]
    patches: float


def report(result: Result, directory: Path, *, keep: bool) -> str:
    """Return the run as Markdown; ``keep`` also writes it, and its figures as JSON, into the directory."""
    smaller = directory / f"{result.version}-{_SMALLER.get(result.size, '-')}.json"
    before = json.loads(smaller.read_text())["cpu"] if smaller.exists() else {}
    text = "\n".join(_lines(result, before)) + "\n"
    if keep:
        stem = directory / f"{result.version}-{result.size}"
        stem.with_name(f"{stem.name}.md").write_text(text)
        figures = {"machine": result.machine, "cpu": {step.name: round(step.cost.cpu, 3) for step in result.steps}}
        stem.with_name(f"{stem.name}.json").write_text(json.dumps(figures, indent=1) + "\n")
    return text


def _lines(result: Result, before: dict[str, float]) -> Iterator[str]:
    megabytes = result.counts["bytes"] / 1e6
    yield f"# {result.version}, size {result.size}"
    yield ""
    yield f"{megabytes:,.0f} MB of Facts: " + ", ".join(
        f"{count:,} {table.replace('_', ' ')}" for table, count in result.counts.items() if table != "bytes"
    )
    yield ""
    yield "; ".join(f"{name}: {value}" for name, value in result.machine.items()) + f"; medians of {result.runs} runs"
    yield ""
    yield "| step | seconds | CPU seconds | MB of Facts / CPU s | × orjson.loads | peak MB | CPU, 10 × Sessions |"
    yield "|---|---|---|---|---|---|---|"
    yardstick = result.steps[0].cost.cpu
    for step in result.steps:
        cost = asdict(step.cost)
        rate = f"{megabytes / cost['cpu']:,.0f} | {yardstick / cost['cpu']:.2f}" if step.reads_all else "– | –"
        growth = f"× {cost['cpu'] / before[step.name]:.1f}" if step.name in before else "–"
        yield f"| {step.name} | {cost['wall']:.2f} | {cost['cpu']:.2f} | {rate} | {cost['peak']:.0f} | {growth} |"
    yield ""
    yield f"Reference patches with proof: {result.patches:.0f} per CPU second, git's own time included."
