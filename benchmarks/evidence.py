"""Evidence to measure with: ``python -m benchmarks.evidence --size S --out DIR`` writes ``facts/`` and ``mirrors/``.

The same bytes on every machine: all comes from seeded generators, nothing from a clock. Facts stream to their files;
memory holds one repository, or the Sessions that are open at one moment.
"""

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from benchmarks.conversations import encode, write_conversations
from benchmarks.histories import write_repository
from benchmarks.plans import REPOSITORIES, SIZES, Size

FACTS: Final = "facts"
MIRRORS: Final = "mirrors"
MARKER: Final = "complete.json"
"""Written last: size, lines and bytes of the Facts."""
TABLES: Final = ("inference_calls", "developer_decisions", "pushes", "ci_outcomes", "session_commit_observations")


def make_evidence(size: Size, out: Path) -> dict[str, int]:
    """Write the evidence of a size into a new directory, or find it there; return bytes of Facts and lines by table.

    :raises FileExistsError: when the directory holds something else.
    """
    marker = out / MARKER
    if marker.exists():
        found: dict[str, int] = json.loads(marker.read_text())
        return found
    (out / FACTS).mkdir(parents=True)
    counts = dict.fromkeys(("bytes", *TABLES), 0)
    with ExitStack() as stack:
        files = {
            table: stack.enter_context((out / FACTS / f"{table}.jsonl").open("w", encoding="ascii", newline="\n"))
            for table in TABLES
        }

        def write(table: str, line: str) -> None:
            counts["bytes"] += files[table].write(f"{line}\n")
            counts[table] += 1

        for table, line in write_conversations(size):
            write(table, line)
        for repository in range(REPOSITORIES):
            for table, record in write_repository(size, repository, out / MIRRORS):
                write(table, encode(record))
    marker.write_text(json.dumps(counts) + "\n")
    return counts


def main() -> None:
    """Write evidence as asked on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="S")
    parser.add_argument("--out", type=Path, required=True, help="directory to create")
    args = parser.parse_args()
    for what, count in make_evidence(SIZES[args.size], args.out).items():
        print(f"{what}: {count:,}")


if __name__ == "__main__":
    main()
