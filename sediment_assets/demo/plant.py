"""Writing the demo into a directory: canonical Facts, bare mirrors, verification commands, settings.

Planting is idempotent and deterministic: the same Facts and commit ids on every machine. Not here: importing the Facts
into a store (``cli/demo.py``), and what the evidence says (``sessions.py``).
"""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sediment_assets.adapters.git_process import Git
from sediment_assets.demo.commits import NOTES_REF
from sediment_assets.demo.evidence import ORG
from sediment_assets.demo.repositories import Repository
from sediment_assets.demo.sessions import FIRST_DAY, Demo, build_demo
from sediment_assets.errors import SedimentError
from sediment_assets.mirrors.layout import mirror_path

FACTS: Final = "facts"
MIRRORS: Final = "mirrors"
STORE: Final = "facts.db"
VERIFIER_COMMANDS: Final = "verifier-commands.toml"
ENV_FILE: Final = ".env"
MARKER: Final = ".sediment-demo"
"""Says that the directory is a planting, and of what; written first as incomplete, and last with the digest."""

_INCOMPLETE: Final = "incomplete\n"
_COMMANDS: Final = """\
# What a trainer would run to verify a task; carried into rows as text, never run by sediment.
# A repository is found by its label: the smallest name it was ever seen under, here the newer one.

[repos."acme/ledger"]
verification_command = "python -m pytest -q"

[repos."acme/telemetry-dashboard"]
verification_command = "npm ci && npm run build && npm test"
"""


class PlantingError(SedimentError):
    """A directory in which the demo cannot be planted; it was left as it is."""


@dataclass(frozen=True)
class DemoEvidence:
    """A planting: where everything lies, and the settings that make ``sediment`` use it."""

    directory: Path
    facts: Mapping[str, int]
    """Lines by canonical file, quarantine log included."""
    mirrors: Mapping[str, int]
    """Commits by mirror, named by the repository's newest slug."""
    digest: str
    """SHA-256 of everything planted; equal on every machine."""
    fresh: bool
    """False when the planting was there already."""

    @property
    def facts_directory(self) -> Path:
        """The canonical Fact files, one per table."""
        return self.directory / FACTS

    @property
    def settings(self) -> Mapping[str, str]:
        """Environment variables with absolute paths; ``.env`` in the directory says the same relative to itself."""
        return _settings(self.directory.absolute())


def plant_evidence(directory: Path) -> DemoEvidence:
    """Plant the demo into a directory that is absent or empty, or holds this planting already.

    A planting that was interrupted is done again.

    :raises PlantingError: when the directory holds anything else, or git disagrees about a commit id.
    :raises MirrorError: when git is missing or fails.
    """
    demo = build_demo()
    files = _files(demo)
    digest = planting_digest(demo)
    fresh = _prepare(directory, digest)
    if fresh:
        for name, content in files.items():
            path = directory / name
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        for repository in demo.mirrored:
            _plant_mirror(directory / MIRRORS, repository)
        (directory / MARKER).write_text(f"{digest}\n")
    return DemoEvidence(
        directory=directory,
        facts={Path(name).name: content.count(b"\n") for name, content in files.items() if name.startswith(FACTS)},
        mirrors={repository.slug: len(repository.history.reachable()) for repository in demo.mirrored},
        digest=digest,
        fresh=fresh,
    )


def is_begun(directory: Path) -> bool:
    """Whether a planting into this directory has begun; it may be complete."""
    return (directory / MARKER).is_file()


def planting_digest(demo: Demo) -> str:
    """Return the SHA-256 of everything that gets planted: all files, and the histories of all mirrors."""
    streams = {str(mirror_path(repository.key)): repository.history.stream() for repository in demo.mirrored}
    parts = {**_files(demo), **streams}
    digests = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(parts.items())}
    return hashlib.sha256(json.dumps(digests).encode()).hexdigest()


def _files(demo: Demo) -> dict[str, bytes]:
    env = "".join(f"{name}={value}\n" for name, value in _settings(None).items())
    facts = {f"{FACTS}/{name}": content for name, content in demo.evidence.files().items()}
    return {**facts, VERIFIER_COMMANDS: _COMMANDS.encode(), ENV_FILE: env.encode()}


def _settings(base: Path | None) -> dict[str, str]:
    def at(name: str) -> str:
        return str(base / name) if base else name

    return {
        "SEDIMENT_ORG_ID": ORG,
        "SEDIMENT_DATABASE_URL": f"sqlite:///{at(STORE)}",
        "SEDIMENT_MIRROR_PATH": at(MIRRORS),
        "SEDIMENT_VERIFIER_COMMANDS_FILE": at(VERIFIER_COMMANDS),
        "SEDIMENT_PARTITION_START": FIRST_DAY,
        "SEDIMENT_AUTOMATION": "local",  # schedules and sensors run from the start, as nowhere else
    }


def _prepare(directory: Path, digest: str) -> bool:
    """Make the directory ready to be planted; False when the planting is there already."""
    if directory.exists() and not directory.is_dir():
        raise PlantingError(f"{directory}: expected a directory for the demo, got a file; choose another path")
    marker = directory / MARKER
    if marker.is_file():
        found = marker.read_text(errors="replace")
        if found.strip() == digest:
            return False
        if found != _INCOMPLETE:
            raise PlantingError(
                f"{directory}: expected this program's demo, got another version of it; remove the directory first"
            )
        for name in (FACTS, MIRRORS):
            shutil.rmtree(directory / name, ignore_errors=True)
    elif directory.is_dir() and any(directory.iterdir()):
        raise PlantingError(
            f"{directory}: expected an empty directory for the demo, got files that are not its; choose another path"
        )
    directory.mkdir(parents=True, exist_ok=True)
    marker.write_text(_INCOMPLETE)
    return True


def _plant_mirror(base: Path, repository: Repository) -> None:
    directory = base / mirror_path(repository.key)
    directory.mkdir(parents=True)
    git = Git(directory)
    git.run("init", "--quiet", "--template=", "--initial-branch=main")
    git.run("fast-import", "--quiet", "--done", stdin=repository.history.stream())
    listed = git.run("for-each-ref", "--format=%(refname) %(objectname)").stdout.decode().splitlines()
    planted = {ref: sha for ref, _, sha in (line.partition(" ") for line in listed) if ref != NOTES_REF}
    expected = {f"refs/heads/{branch}": head.sha for branch, head in repository.history.branches.items()}
    if planted != expected:
        raise PlantingError(f"{directory}: expected the branches {expected}, got {planted}; this is a bug of the demo")
