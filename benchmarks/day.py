"""The core's own work for two partitions, without Dagster: ``python -m benchmarks.day EVIDENCE OUT`` prints its cost.

The same calls as the asset graph makes for a day: derive, freeze and validate its Rollouts, copy the bundle and compare
it with what was validated, export the three targets. The second day finds in the memo what similarity told the first.
What a partition costs beyond this in the graph are Dagster's events, and the checks that read back what was published.
"""

import json
import resource
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from benchmarks.evidence import MIRRORS
from benchmarks.plans import BEGIN, ORG
from sediment_assets.adapters.attribution_files import AttributionFiles
from sediment_assets.adapters.bundle_dir import open_bundle, stage_bundle
from sediment_assets.adapters.bundle_validations import Validations
from sediment_assets.adapters.evidence import open_evidence
from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.publish.export import export_rlvr
from sediment_assets.targets.registry import Target

FURTHER: Final = "further"
"""A day that finds in the memo what similarity told the first."""
DAYS: Final = ("first", FURTHER)


def main() -> None:
    """Do the work of the first two days of some evidence; OUT must not exist and has ``facts.db`` beside it."""
    evidence, out = Path(sys.argv[1]), Path(sys.argv[2])
    start = BEGIN.replace(hour=0)
    out.mkdir()
    costs = {name: _day(evidence, out, name, start + timedelta(days=number)) for number, name in enumerate(DAYS)}
    print(json.dumps(costs))


def _day(evidence: Path, out: Path, name: str, start: datetime) -> dict[str, float]:
    cost: dict[str, float] = {}
    began, cpu = time.perf_counter(), _cpu()
    directory = out / name
    directory.mkdir()
    window = SessionWindow(start, start + timedelta(days=1))
    memo = AttributionFiles(out)
    with closing(Validations()) as validations:
        with (
            _counted(cost, "freeze"),
            open_evidence(ORG, f"sqlite:///{out.parent / 'facts.db'}", evidence / MIRRORS) as opened,
            stage_bundle(
                opened.facts,
                opened.mirrors,
                directory / "bundle",
                window=window,
                memo=memo,
                validations=validations,
            ) as ready,
        ):
            ready.publish()
        with (
            _counted(cost, "project"),
            open_bundle(directory / "bundle", validations=validations) as bundle,
            GitMirrorStore(evidence / MIRRORS) as mirrors,
        ):
            for target in Target:
                export_rlvr(bundle, mirrors, directory / target, target=target)
            sessions = sum(1 for _ in bundle.rollouts())
    return {"sessions": sessions, "seconds": time.perf_counter() - began, "cpu": _cpu() - cpu, **cost}


@contextmanager
def _counted(cost: dict[str, float], name: str) -> Iterator[None]:
    before = _cpu()
    yield
    cost[name] = _cpu() - before


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
