"""The core's own work for one partition, without Dagster: ``python -m benchmarks.day EVIDENCE OUT`` prints its cost.

The same calls as the asset graph makes for a day: derive and freeze its Rollouts, read the bundle with full validation,
export the three targets. What a partition costs in Dagster beyond this is Dagster's.
"""

import json
import resource
import sys
import time
from datetime import timedelta
from pathlib import Path

from benchmarks.evidence import MIRRORS
from benchmarks.plans import BEGIN, ORG
from sediment_assets.adapters.bundle_dir import derive_bundle, open_bundle
from sediment_assets.adapters.evidence import open_evidence
from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.publish.export import export_rlvr
from sediment_assets.targets.registry import Target


def main() -> None:
    """Do the first day's work over a directory of evidence; OUT must not exist and holds ``facts.db`` beside it."""
    evidence, out = Path(sys.argv[1]), Path(sys.argv[2])
    start = BEGIN.replace(hour=0)
    began, cpu = time.perf_counter(), _cpu()
    out.mkdir()
    with open_evidence(ORG, f"sqlite:///{out.parent / 'facts.db'}", evidence / MIRRORS) as opened:
        window = SessionWindow(start, start + timedelta(days=1))
        derive_bundle(opened.facts, opened.mirrors, out / "bundle", window=window)
    sessions = 0
    with open_bundle(out / "bundle") as bundle, GitMirrorStore(evidence / MIRRORS) as mirrors:
        for target in Target:
            export_rlvr(bundle, mirrors, out / target, target=target)
        sessions = sum(1 for _ in bundle.rollouts())
    print(json.dumps({"sessions": sessions, "seconds": time.perf_counter() - began, "cpu": _cpu() - cpu}))


def _cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
