"""The yardstick: ``orjson.loads`` over every line of the Fact files, nothing kept; called with their directory."""

import sys
from pathlib import Path

import orjson


def main() -> None:
    """Parse all files of the directory named on the command line."""
    for path in sorted(Path(sys.argv[1]).glob("*.jsonl")):
        with path.open("rb") as lines:
            for line in lines:
                orjson.loads(line)


if __name__ == "__main__":
    main()
