"""The order in which Facts were stored changes no byte: of a bundle, of an export, of a completion record."""

import json
import random
import shutil
from pathlib import Path

import pytest

from tests import forked_command
from tests.contract.shared_vectors import ABSENT, VECTORS, load_runner

if not VECTORS.is_dir():
    pytest.skip(ABSENT, allow_module_level=True)

RUN = load_runner()
ORDERED = "quarantine.jsonl"
"""The quarantine log is ordered; every other file is a set of lines."""


def rearrange(source: Path, destination: Path, order: str) -> None:
    destination.mkdir()
    for path in source.iterdir():
        lines = path.read_bytes().splitlines(keepends=True)
        if path.name != ORDERED:
            lines.sort()
            if order == "descending":
                lines.reverse()
            elif order == "shuffled":
                random.Random(path.name).shuffle(lines)
        (destination / path.name).write_bytes(b"".join(lines))


def outputs(base: Path, mirrors: Path, org_id: str, facts: Path) -> dict[str, bytes]:
    """Import, derive and export; return the bytes of every file that was written."""
    base.mkdir()
    settings = {
        "PATH": RUN.GIT_ENV["PATH"],
        "SEDIMENT_ORG_ID": org_id,
        "SEDIMENT_DATABASE_URL": f"sqlite:///{base}/facts.db",
        "SEDIMENT_MIRROR_PATH": str(mirrors),
    }
    commands = [["facts", "import", str(facts)], ["derive", "--out", "out/bundle"]]
    commands += [["export", "rlvr", "--target", target, "--out", f"out/{target}"] for target in RUN.TARGETS]
    (base / "out").mkdir()
    for command in commands:
        done = forked_command.sediment(command, cwd=base, env=settings)
        assert done.returncode == 0, done.stderr
    out = base / "out"
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "name",
    [
        "ci-run-id-per-provider",
        "dec-ambiguous",
        "gen-11-24x4x3",
        "ident-rename-joins-ci",
        "jaccard-files-to-sessions",
        "notes-several-sessions",
        "quar-release",
        "real-swe-agent-a",
        "seg-call-order",
        "seg-interleaved",
    ],
)
def test_the_order_of_facts_changes_no_byte(tmp_path: Path, name: str):
    vector = VECTORS / name
    scenario = json.loads((vector / "scenario.json").read_text())
    RUN.build_mirrors(vector, scenario, tmp_path / "mirrors")
    found = {}
    for order in ("ascending", "descending", "shuffled"):
        rearrange(vector / "facts", tmp_path / f"facts-{order}", order)
        facts = tmp_path / f"facts-{order}"
        found[order] = outputs(tmp_path / order, tmp_path / "mirrors", scenario["org_id"], facts)
        shutil.rmtree(tmp_path / order)
    assert len(found["ascending"]) > 10
    for order in ("descending", "shuffled"):
        assert list(found[order]) == list(found["ascending"])
        different = [path for path, content in found[order].items() if content != found["ascending"][path]]
        assert different == []
