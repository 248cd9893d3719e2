"""Running the real ``sediment`` command on a small piece of real evidence."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.repositories.keys import IdentifiedKey
from tests.builders import IDENTITY, ORG, make_call, make_observation, make_outcome, make_push
from tests.git.repositories import linear
from tests.stores import fill_store

COMMAND = (sys.executable, "-m", "sediment_assets.cli.main")
BASE_ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


@dataclass(frozen=True)
class Evidence:
    """One Session ``s1``: a call, and a mirror of two commits, the second observed and passed by CI."""

    directory: Path
    base: str
    head: str

    @property
    def settings(self) -> dict[str, str]:
        return {
            "SEDIMENT_ORG_ID": ORG,
            "SEDIMENT_DATABASE_URL": f"sqlite:///{self.directory}/facts.db",
            "SEDIMENT_MIRROR_PATH": f"{self.directory}/mirrors",
        }


def make_evidence(directory: Path) -> Evidence:
    mirror = directory / "mirrors" / mirror_path(IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42"))
    base, head = linear(mirror, {b"a.txt": b"one\n"}, {b"a.txt": b"two\n"})
    fill_store(
        writing_engine(f"sqlite:///{directory}/facts.db"),
        [
            make_call(),
            make_push(after_sha=head, **IDENTITY),
            make_observation(commit_sha=head, **IDENTITY),
            make_outcome(commit_sha=head, **IDENTITY),
        ],
    )
    return Evidence(directory, base, head)


def default_signals() -> None:
    """Undo, in a child, what nohup or a background shell made it ignore: those tests are about a person's terminal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def sediment(
    *arguments: object, cwd: Path, settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command with these settings and no others."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=BASE_ENVIRONMENT | dict(settings or {}),
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


EXPORT = ("export", "rlvr")
SEDIMENT = (*EXPORT, "--target", "sediment", "--out", "out")


def error_of(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one reported error: on stderr, nothing on stdout."""
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    return done.stderr
