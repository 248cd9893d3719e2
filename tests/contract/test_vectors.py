"""The shared vectors through the command, directly and through a bundle: exact values, row order, files and counters.

The comparison is the vectors' own (``run.py``). Beyond it, both routes must give the same bytes (design: three doors).
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import forked_command
from tests.contract.shared_vectors import ABSENT, VECTORS, load_runner, vector_names

if not VECTORS.is_dir():
    pytest.skip(ABSENT, allow_module_level=True)

RUN = load_runner()
NAMES = vector_names()
INSTALLED = Path(sys.executable).with_name("sediment")
ROUTES = ("direct", "bundle")

COMMANDS_FILE = "verifier.toml"
MALFORMED_COMMANDS = "cfg-verifier-commands-malformed"
NEED_COMMANDS = {"cfg-verifier-commands", MALFORMED_COMMANDS, "gen-11-24x4x3", "ident-rename-label"}
"""These vectors name a verification commands file that is not in their folder. The test writes one with the commands
that the expected rows carry; but for the commands these vectors are as given, and all the rest must be equal."""


class Vector(RUN.Vector):  # type: ignore[misc]  # of a module that is loaded by its path
    """A vector whose runs skip the start of the command."""

    def sediment(self, *args: str) -> Any:
        env = {
            "PATH": RUN.GIT_ENV["PATH"],
            "HOME": str(self.work),
            "LC_ALL": "C.UTF-8",
            "SEDIMENT_ORG_ID": self.scenario["org_id"],
            "SEDIMENT_DATABASE_URL": f"sqlite:///{self.work / 'facts.db'}",
            "SEDIMENT_MIRROR_PATH": str(self.work / "mirrors"),
        }
        for key, value in self.scenario["settings"]["env"].items():
            env[key] = value.replace("{scenario}", str(self.source))
        return forked_command.sediment(args, cwd=self.work, env=env)


def run_vector(kind: type, name: str, work: Path) -> list[str]:
    """Run a vector and return its differences; what it wrote stays in ``work``."""
    folder = with_commands(name, work) if name in NEED_COMMANDS else None
    options = SimpleNamespace(sediment=[str(INSTALLED)], routes=ROUTES, vectors=folder)
    (work / "run").mkdir()
    differences: list[str] = kind(name, options, work / "run").run()
    return differences


def with_commands(name: str, work: Path) -> Path | None:
    """Copy the vector and add the commands file it lacks; return the folder of vectors to use."""
    if (VECTORS / name / COMMANDS_FILE).exists():
        return None
    shutil.copytree(VECTORS / name, work / "vectors" / name)
    text = "[repos" if name == MALFORMED_COMMANDS else commands_text(expected_rows(VECTORS / name))
    (work / "vectors" / name / COMMANDS_FILE).write_text(text)
    return work / "vectors"


def expected_rows(vector: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((vector / "expected" / "default").glob("*/*.jsonl")):
        yield from map(json.loads, path.read_text("utf-8").splitlines())


def commands_text(rows: Iterator[dict[str, Any]]) -> str:
    """The commands of these rows as TOML, keyed as messily as the contract allows (targets.md §9)."""
    commands = {}
    for row in rows:
        verification = row.get("verification", row.get("metadata", {}).get("verification"))
        if verification and "repo" in row:
            commands[row["repo"]] = verification["verification_command"]
    assert commands
    lines = [
        f'[repos." {repo.upper()}"]\nverification_command = {json.dumps(f" {commands[repo]} ")}' for repo in commands
    ]
    return "\n".join(lines) + "\n"


def published(directory: Path) -> dict[str, bytes]:
    """Artifacts of one export; the completion record names its bundle and so differs by route."""
    paths = (path for path in directory.iterdir() if path.name != "summary.json" and not path.name.startswith("."))
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.parametrize("name", NAMES)
def test_a_vector_gives_its_expected_rows_by_both_routes(tmp_path: Path, name: str):
    assert run_vector(Vector, name, tmp_path) == []
    out = tmp_path / "run" / "out"
    for target in RUN.TARGETS:
        assert published(out / "direct" / "default" / target) == published(out / "bundle" / "default" / target)


@pytest.mark.parametrize("name", ["ci-pass", "real-swe-agent-a"])
def test_a_vector_gives_its_expected_rows_by_the_installed_command(tmp_path: Path, name: str):
    assert run_vector(RUN.Vector, name, tmp_path) == []


def test_the_vectors_that_lack_their_commands_file_are_these():
    lacking = {
        name
        for name in NAMES
        if COMMANDS_FILE in (VECTORS / name / "scenario.json").read_text()
        and not (VECTORS / name / COMMANDS_FILE).exists()
    }
    assert lacking <= NEED_COMMANDS
