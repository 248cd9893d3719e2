"""Operator settings: ``SEDIMENT_*`` from the process environment or a ``.env`` file (cli.md §2).

The only place that reads the environment. Each consumer asks for what it uses, so that an export from a bundle never
fails on a database setting. Names are case-insensitive; the process environment wins over ``.env`` in the current
directory; blank is unset.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dotenv import dotenv_values

from sediment_assets.errors import SedimentError
from sediment_assets.facts.scalars import normal_org_id
from sediment_assets.targets.environment_manifest import RuntimeSettings

ORG_ID = "SEDIMENT_ORG_ID"
DATABASE_URL = "SEDIMENT_DATABASE_URL"
MIRROR_PATH = "SEDIMENT_MIRROR_PATH"
VERIFIER_COMMANDS_FILE = "SEDIMENT_VERIFIER_COMMANDS_FILE"
EXPORT_ROOT = "SEDIMENT_EXPORT_ROOT"
PARTITION_START = "SEDIMENT_PARTITION_START"


class SettingsError(SedimentError):
    """Settings that are missing or wrong; one line for each."""


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings as found. Values are checked when they are asked for."""

    environment: Mapping[str, str]
    """The process environment, names in upper case."""
    dotenv: Mapping[str, str]
    """The ``.env`` file, names in upper case."""

    @classmethod
    def load(cls, directory: Path | None = None) -> "Settings":
        """Read the process environment and the ``.env`` file of a directory, by default the current one."""
        path = (directory or Path.cwd()) / ".env"
        try:
            found = dotenv_values(path, interpolate=False) if path.is_file() else {}
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{path}: expected a readable UTF-8 file of NAME=value lines: {error}") from None
        return cls(
            {name.upper(): value for name, value in os.environ.items()},
            {name.upper(): value for name, value in found.items() if value is not None},
        )

    def get(self, name: str) -> str | None:
        """Return a setting without trailing line ends; None when it is unset or empty."""
        value = self.environment.get(name, self.dotenv.get(name, "")).rstrip("\r\n")
        return value or None

    def evidence(self) -> "EvidenceSettings":
        """Return what a derivation needs.

        :raises SettingsError: naming every setting that is missing or wrong.
        """
        problems: list[str] = []
        org_id = self._checked_org_id(problems)
        database_url = self._required(
            DATABASE_URL, "the Fact store, such as sqlite:////var/lib/sediment/facts.db or postgresql://…", problems
        )
        mirror_path = self._required(MIRROR_PATH, "the base directory of the bare mirrors; need not exist", problems)
        if problems:
            raise SettingsError("\n  ".join(["settings are missing or wrong:", *problems]))
        return EvidenceSettings(org_id, database_url, Path(mirror_path))

    def mirror_path_from_environment(self) -> Path:
        """Return the mirror base for an export from a bundle: never from ``.env`` (cli.md §2).

        :raises SettingsError: when it is not set.
        """
        value = self.environment.get(MIRROR_PATH)
        if not value:
            hint = f" ({MIRROR_PATH} in .env is not read with --from)" if self.dotenv.get(MIRROR_PATH) else ""
            raise SettingsError(f"{MIRROR_PATH}: not set; export it: the base directory of the bare mirrors{hint}")
        return Path(value)

    def verifier_commands_file(self) -> Path | None:
        """Return the verification commands file, None when unconfigured."""
        value = self.get(VERIFIER_COMMANDS_FILE)
        return Path(value) if value else None

    def runtime(self) -> RuntimeSettings:
        """Return the runtime references of ``environment.yaml`` (targets.md §10)."""
        return RuntimeSettings(
            openenv_image=self.get("SEDIMENT_OPENENV_IMAGE"),
            openenv_package=self.get("SEDIMENT_OPENENV_PACKAGE"),
            nemo_gym_resources_server=self.get("SEDIMENT_NEMO_GYM_RESOURCES_SERVER"),
            nemo_gym_config=self.get("SEDIMENT_NEMO_GYM_CONFIG"),
        )

    def partition_start(self, default: date) -> date:
        """Return the first day of the asset graph's partitions.

        :raises SettingsError: when it is not a date.
        """
        value = self.get(PARTITION_START)
        try:
            return date.fromisoformat(value) if value else default
        except ValueError:
            raise SettingsError(f"{PARTITION_START}: expected a date such as 2026-01-31, got {value!r}") from None

    def _required(self, name: str, meaning: str, problems: list[str]) -> str:
        value = self.get(name)
        if value is None:
            problems.append(f"{name}: not set; set it to {meaning}")
        return value or ""

    def _checked_org_id(self, problems: list[str]) -> str:
        value = self._required(ORG_ID, "the organization to export, such as acme", problems)
        try:
            return normal_org_id(value) if value else ""
        except ValueError as error:
            problems.append(f"{ORG_ID}: {error}")
            return ""


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """Where one organization's evidence is. The URL may hold a password: never print it."""

    org_id: str
    database_url: str
    mirror_path: Path

    def __repr__(self) -> str:
        return f"EvidenceSettings({self.org_id!r})"
