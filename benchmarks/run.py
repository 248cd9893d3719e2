"""How fast everything is: ``make bench SIZE=S``, or ``python -m benchmarks.run --size S``.

Every figure is the median of several runs of a real command. The yardstick, ``orjson.loads`` over the same Fact bytes,
is measured before and after each of them, so that ratios mean something on any machine, a busy one included.
"""

import argparse
import json
import os
import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

from benchmarks.day import FURTHER
from benchmarks.evidence import FACTS, MIRRORS, make_evidence
from benchmarks.measure import Cost, machine, median, medians, run
from benchmarks.plans import BEGIN, ORG, SIZES
from benchmarks.report import Ratios, Result, Step, report
from sediment_assets import __version__

TARGETS: Final = ("sediment", "swe-bench", "nemo-gym")
RESULTS: Final = Path(__file__).parent / "results"
BACKFILL_DAYS: Final = 30
ONE_DAY: Final = "graph, one day"
MANY_DAYS: Final = f"graph, {BACKFILL_DAYS} days"


@dataclass(frozen=True, slots=True)
class Task:
    """A command to measure, what it leaves behind, whether it reads all Facts (else no rate is given).

    ``is_long``: it is measured once, however many runs there are.
    """

    name: str
    command: tuple[str, ...]
    leaves: tuple[str, ...] = ()
    reads_all: bool = True
    is_long: bool = False


def tasks(facts: Path) -> Iterator[Task]:
    """Yield what is measured, each on what the ones before it left in the work directory."""
    sediment = (sys.executable, "-m", "sediment_assets.cli.main")
    yield Task("orjson.loads over the Facts", (sys.executable, "-m", "benchmarks.baseline", str(facts)))
    yield Task("import", (*sediment, "facts", "import", str(facts)), ("facts.db", "facts.db-wal", "facts.db-shm"))
    yield Task("derive", (*sediment, "derive", "--out", "bundle"), ("bundle",))
    export = (*sediment, "export", "rlvr", "--out", "rows", "--target")
    for target in TARGETS:
        yield Task(f"export {target}", (*export, target), ("rows",))
    for target in TARGETS:
        yield Task(f"export {target} --from bundle", (*export, target, "--from", "bundle"), ("rows",))
    first, last = BEGIN.date(), BEGIN.date() + timedelta(days=BACKFILL_DAYS - 1)
    graph = (".dagster", "exports")
    backfill = (*sediment, "backfill", "--from")
    yield Task(ONE_DAY, (*backfill, str(first), "--to", str(first)), graph, reads_all=False)
    yield Task(MANY_DAYS, (*backfill, str(first), "--to", str(last)), graph, is_long=True)
    yield Task("sediment --help", (*sediment, "--help"), reads_all=False)
    yield Task("import of the asset graph", (sys.executable, "-c", "import sediment_assets.definitions"), (), False)


def main() -> None:
    """Measure a size and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="S")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command; the median counts (default: 3)")
    parser.add_argument("--work", type=Path, default=Path(".bench"), help="where evidence and outputs go")
    parser.add_argument("--only", nargs="+", metavar="WORD", default=[], help="only tasks whose name holds a word")
    parser.add_argument("--skip", nargs="+", metavar="WORD", default=[], help="no tasks whose name holds a word")
    parser.add_argument("--keep", action="store_true", help="keep the results of a run with --only, too")
    args = parser.parse_args()
    size = SIZES[args.size]
    evidence = (args.work / size.name).absolute()
    counts = make_evidence(size, evidence)
    work = evidence / "work"
    work.mkdir(exist_ok=True)
    env = _environment(evidence, work)
    steps: list[Step] = []
    yardstick = next(tasks(evidence / FACTS))
    for task in tasks(evidence / FACTS):
        wanted = not args.only or any(word in task.name for word in (*args.only, "orjson"))
        if wanted and not any(word in task.name for word in args.skip):
            steps.append(_step(task, 1 if task.is_long else args.runs, yardstick, work, env))
            print(f"{task.name}: {steps[-1].cost.cpu:.2f} s", file=sys.stderr, flush=True)
    notes = [] if args.only and "notes" not in args.only else list(_notes(evidence, work, env, steps))
    result = Result(__version__, size.name, machine(), args.runs, counts, steps, notes)
    print(report(result, RESULTS, keep=args.keep or not args.only))


def _step(task: Task, runs: int, yardstick: Task, work: Path, env: dict[str, str]) -> Step:
    """Measure a task; before and after each run of one that reads all Facts also the yardstick."""
    once, parse = _measured(task, work, env), _measured(yardstick, work, env)
    if task == yardstick:
        return Step(task.name, median(runs, once), Ratios(1.0, 1.0))
    if not task.reads_all or task.is_long:
        return Step(task.name, median(runs, once), None)
    parsed, costs = [parse()], []
    for _ in range(runs):
        costs.append(once())
        parsed.append(parse())
    pairs = list(zip(costs, pairwise(parsed), strict=True))
    ratios = Ratios(
        statistics.median((before.cpu + after.cpu) / 2 / cost.cpu for cost, (before, after) in pairs),
        statistics.median((before.wall + after.wall) / 2 / cost.wall for cost, (before, after) in pairs),
    )
    return Step(task.name, medians(costs), ratios)


def _notes(evidence: Path, work: Path, env: dict[str, str], steps: list[Step]) -> Iterator[str]:
    """Measure what is no command of its own, once."""
    run((sys.executable, "-m", "benchmarks.patches", str(evidence)), env, work)
    patches = json.loads((work / "output.log").read_text())
    yield f"Reference patches with proof: {patches['patches'] / patches['seconds']:.0f} per CPU second, git's included."
    day = work / "day"
    shutil.rmtree(day, ignore_errors=True)
    run((sys.executable, "-m", "benchmarks.day", str(evidence), str(day)), env, work)
    core = json.loads((work / "output.log").read_text())
    yield "The core's own work for a day, no Dagster: " + ", ".join(
        f"{cost['cpu']:.1f} CPU seconds for the {name} one of {cost['sessions']} Sessions"
        for name, cost in core.items()
    )
    cpu = {step.name: step.cost.cpu for step in steps}
    if ONE_DAY in cpu and MANY_DAYS in cpu:
        more = (cpu[MANY_DAYS] - cpu[ONE_DAY]) / (BACKFILL_DAYS - 1)
        beyond = more - core[FURTHER]["cpu"]
        yield f"A further day in the graph: {more:.1f} CPU seconds, {beyond:.1f} beyond the core's own."


def _environment(evidence: Path, work: Path) -> dict[str, str]:
    root = str(Path(__file__).parents[1])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH")))),
        "SEDIMENT_ORG_ID": ORG,
        "SEDIMENT_DATABASE_URL": f"sqlite:///{work / 'facts.db'}",
        "SEDIMENT_MIRROR_PATH": str(evidence / MIRRORS),
        "SEDIMENT_EXPORT_ROOT": str(work / "exports"),
        "SEDIMENT_PARTITION_START": str(BEGIN.date()),
        "DAGSTER_HOME": str(work / ".dagster"),
    }


def _measured(task: Task, work: Path, env: dict[str, str]) -> Callable[[], Cost]:
    def once() -> Cost:
        for name in task.leaves:
            path = work / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        return run(task.command, env, work)

    return once


if __name__ == "__main__":
    main()
