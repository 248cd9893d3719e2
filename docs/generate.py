"""Write the files that are generated from the code: ``schemas/``, ``docs/reference/rows.md`` and ``reasons.md``.

``python docs/generate.py`` writes them; with ``--check`` it writes nothing and fails when one is out of date.
"""

import sys
from pathlib import Path

from sediment_assets.targets.schemas import SCHEMAS_DIRECTORY, generated_files

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python docs/generate.py [--check]\n")
        return 2
    files = {ROOT / path: text for path, text in generated_files()}
    stale = [path for path, text in files.items() if not path.is_file() or path.read_bytes() != text.encode()]
    leftover = [path for path in sorted((ROOT / SCHEMAS_DIRECTORY).rglob("*.json")) if path not in files]
    if arguments:
        for path in stale + leftover:
            sys.stderr.write(f"{path.relative_to(ROOT)}: differs from the code; run `make schemas`\n")
        return 1 if stale or leftover else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[path].encode())
        sys.stdout.write(f"{path.relative_to(ROOT)}: written\n")
    for path in leftover:
        path.unlink()
        sys.stdout.write(f"{path.relative_to(ROOT)}: removed\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
