"""Reference patches with proof, as exports make them: ``python -m benchmarks.patches EVIDENCE`` prints the figures.

The ranges are those of the Pushes: single commits, and ranges over three Pushes, so that other people's commits lie in
between, as they do in tasks.
"""

import json
import resource
import sys
from collections import defaultdict
from pathlib import Path
from typing import Final

from benchmarks.evidence import FACTS, MIRRORS
from benchmarks.plans import REPOSITORIES, repository_key, repository_slug
from sediment_assets.adapters.git_mirror_store import GitMirrorStore

MOST: Final = 100
"""Pushes taken of each repository."""


def main() -> None:
    """Make the patches of a directory of evidence; processor seconds include git's."""
    evidence = Path(sys.argv[1])
    ranges: dict[str, list[tuple[str, str]]] = defaultdict(list)
    with (evidence / FACTS / "pushes.jsonl").open("rb") as lines:
        for push in map(json.loads, lines):
            if push["ref"] == "refs/heads/main":
                ranges[push["repo"]].append((push["before_sha"], push["after_sha"]))
    made = size = 0
    before = _seconds()
    with GitMirrorStore(evidence / MIRRORS) as mirrors:
        for repository in range(REPOSITORIES):
            mirror = mirrors.open(repository_key(repository))
            assert mirror is not None
            pushed = ranges[repository_slug(repository)][:MOST]
            pairs = pushed + [(start, end) for (start, _), (_, end) in zip(pushed, pushed[2:], strict=False)]
            for base, head in pairs:
                size += len(mirror.reference_patch(base, head))
                made += 1
    print(json.dumps({"patches": made, "seconds": _seconds() - before, "bytes": size}))


def _seconds() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
