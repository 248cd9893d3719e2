"""Verification commands: the operator's TOML file, repository slug to command (targets.md §9).

A command is carried into rows as text. It is never run and never inferred, and a file that cannot be used never stops
an export: it gives warnings and fewer commands. Reading the file is the adapter's part.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import tomli
from pydantic import MISSING

from sediment_assets.facts.expected import shown
from sediment_assets.facts.scalars import normal_required_repo_slug
from sediment_assets.facts.text import strip
from sediment_assets.targets.rows.shared import Verification


@dataclass(frozen=True, slots=True)
class VerificationCommands:
    """Commands by normalised slug, and what was wrong with the file, one line per warning."""

    commands: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[str, ...] = ()
    usable: bool = True
    """False when the file as a whole could not be used; the warning then says why."""

    def command_for(self, repo: str | None) -> str | None:
        """Return the command configured for exactly this slug; None when there is none."""
        return None if repo is None else self.commands.get(repo)

    def row_for(self, repo: str | None) -> Verification | MISSING:
        """Return the ``verification`` of a row about this slug; MISSING when no command is configured."""
        command = self.command_for(repo)
        return MISSING if command is None else Verification(verification_command=command)


def parse_verification_commands(content: bytes, *, place: str = "verification commands") -> VerificationCommands:
    """Read the commands file (targets.md §9). Never raises: a file or entry that cannot be used becomes a warning.

    Bytes that are not UTF-8 are read as U+FFFD. Keys are trimmed and lower-cased, commands trimmed; of two keys with
    the same slug the later one in the file wins. ``place`` is what the warnings call the file.
    """
    try:
        document = tomli.loads(content.decode("utf-8", errors="replace"))
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return _unusable(place, f"expected TOML, got: {reason}")
    if "repos" not in document:
        return _unusable(place, 'expected a table [repos."owner/name"] for each repository, got no top-level key repos')
    repos = document["repos"]
    if not isinstance(repos, dict):
        return _unusable(place, f"repos: expected a table, got {shown(repos)}")
    return _read_entries(place, repos)


def _unusable(place: str, problem: str) -> VerificationCommands:
    return VerificationCommands(warnings=(f"{place}: {problem}; no command is used",), usable=False)


def _read_entries(file: str, repos: Mapping[str, Any]) -> VerificationCommands:
    commands: dict[str, str] = {}
    warnings: list[str] = []
    for key, entry in repos.items():
        place = f"{file}: repos.{shown(key)}"
        try:
            slug = normal_required_repo_slug(key)
            command = _command(entry)
        except ValueError as error:
            warnings.append(f"{place}: {error}; the entry is skipped")
            continue
        if slug in commands:
            warnings.append(f"{place}: {slug} is named more than once; the later entry is used")
        commands[slug] = command
    return VerificationCommands(MappingProxyType(commands), tuple(warnings))


def _command(entry: object) -> str:
    """Return an entry's command, trimmed; other keys of the entry are ignored."""
    if not isinstance(entry, dict):
        raise ValueError(f"expected a table, got {shown(entry)}")
    if "verification_command" not in entry:
        raise ValueError("expected a key verification_command, got none")
    command = entry["verification_command"]
    if not isinstance(command, str) or not strip(command):
        raise ValueError(f"verification_command: expected a non-blank string, got {shown(command)}")
    return strip(command)
