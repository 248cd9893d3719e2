"""Operator settings: ``SEDIMENT_*`` from the process environment or a ``.env`` file (cli.md §2).

The only place that reads the environment. Each consumer asks for what it uses, so that an export from a bundle never
fails on a database setting. Names are case-insensitive; the process environment wins over ``.env`` in the current
directory; empty is unset; other names are nobody's business.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dotenv import dotenv_values

from sediment_assets.errors import ListingError, SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.scalars import normal_bool, normal_org_id
from sediment_assets.mirrors.clone_url import CloneUrlPolicy

if TYPE_CHECKING:
    from sediment_assets.targets.environment_manifest import RuntimeSettings

ORG_ID: Final = "SEDIMENT_ORG_ID"
DATABASE_URL: Final = "SEDIMENT_DATABASE_URL"
MIRROR_PATH: Final = "SEDIMENT_MIRROR_PATH"
VERIFIER_COMMANDS_FILE: Final = "SEDIMENT_VERIFIER_COMMANDS_FILE"
EXPORT_ROOT: Final = "SEDIMENT_EXPORT_ROOT"
PARTITION_START: Final = "SEDIMENT_PARTITION_START"
DEV_MODE: Final = "SEDIMENT_DEV_MODE"
ALLOWED_CLONE_HOSTS: Final = "SEDIMENT_ALLOWED_CLONE_HOSTS"

_EXPECTED: Final = {
    ORG_ID: "an organization id, such as acme",
    DATABASE_URL: "the Fact store, sqlite:///PATH or postgresql://USER@HOST/DATABASE",
    MIRROR_PATH: "the base directory of the bare mirrors, which need not exist",
}


class SettingsError(SedimentError):
    """Settings that are missing or wrong; one line for each."""


class SeveralSettingsError(ListingError, SettingsError):
    """Several settings at once, a line each."""


@dataclass(frozen=True, slots=True)
class OrganizationSettings:
    """Whose Facts, and where they are. The URL may hold a password: never print it."""

    org_id: str
    database_url: str

    def __repr__(self) -> str:
        return f"OrganizationSettings({self.org_id!r})"


@dataclass(frozen=True, slots=True)
class EvidenceSettings:
    """Where one organization's evidence is. The URL may hold a password: never print it."""

    org_id: str
    database_url: str
    mirror_path: Path

    def __repr__(self) -> str:
        return f"EvidenceSettings({self.org_id!r})"


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings as found. Values are checked when they are asked for."""

    environment: Mapping[str, str]
    """The process environment, names in upper case."""
    dotenv: Mapping[str, str]
    """The ``.env`` file, names in upper case."""

    @classmethod
    def load(cls, directory: Path | None = None) -> "Settings":
        """Read the process environment and the ``.env`` file of a directory, by default the current one.

        Raises:
            SettingsError: the file is there and cannot be read.
        """
        path = (directory or Path()) / ".env"
        try:
            found = dotenv_values(path, interpolate=False) if path.is_file() else {}
        except OSError as error:
            raise SettingsError(f"{path}: expected a readable file, got: {error.strerror or error}") from None
        except UnicodeDecodeError:
            raise SettingsError(f"{path}: expected UTF-8 text, got other bytes") from None
        return cls(_upper(os.environ), _upper({name: value for name, value in found.items() if value is not None}))

    def get(self, name: str) -> str | None:
        """Return a setting without trailing line ends; None when it is unset or empty.

        Raises:
            SettingsError: it holds a NUL, which no path and no name has.
        """
        value = self.environment.get(name, self.dotenv.get(name, "")).rstrip("\r\n")
        if "\0" in value:
            raise SettingsError(f"{name}: expected text without NUL, got {shown(value)}")
        return value or None

    def organization(self) -> OrganizationSettings:
        """Return whose Facts to read, and where: the first two steps of validation (cli.md §3.2, §4.1).

        Raises:
            SettingsError: names every setting that is missing or wrong, a missing mirror path among them.
            FactStoreError: the database URL has not the right form.
        """
        from sediment_assets.adapters.fact_store.location import parse_location

        problems: list[str] = []
        org_id = self._org_id(problems)
        database_url = self._required(DATABASE_URL, problems)
        if problems:
            self._required(MIRROR_PATH, problems)
            raise SeveralSettingsError(["settings are missing or wrong:", *(f"  {problem}" for problem in problems)])
        parse_location(database_url)
        return OrganizationSettings(org_id, database_url)

    def org_id(self, said: str | None = None) -> str:
        """Return the organization: ``said`` by the operator, or the setting's.

        Raises:
            SettingsError: neither says one, or it is no organization id.
        """
        problems: list[str] = []
        if said is None:
            org_id = self._org_id(problems)
        else:
            try:
                return normal_org_id(said)
            except ValueError as error:
                problems.append(f"--org-id: {error}")
        if problems:
            raise SettingsError(problems[0])
        return org_id

    def database_url(self) -> str:
        """Return where the Fact store is; its form is checked when it is opened.

        Raises:
            SettingsError: it is not set.
        """
        return self._one(DATABASE_URL)

    def mirror_path(self) -> Path:
        """Return the base directory of the mirrors.

        Raises:
            SettingsError: it is not set.
        """
        return Path(self._one(MIRROR_PATH))

    def mirror_path_from_environment(self) -> Path:
        """Return the mirror base for an export from a bundle: never from ``.env`` (cli.md §2).

        Raises:
            SettingsError: it is not set in the process environment.
        """
        value = self.environment.get(MIRROR_PATH, "").rstrip("\r\n")
        if not value:
            got = "it in .env only, which is not read for it with --from" if self.dotenv.get(MIRROR_PATH) else "nothing"
            raise SettingsError(
                f"{MIRROR_PATH}: expected {_EXPECTED[MIRROR_PATH]}, got {got}; set it in the environment"
            )
        return Path(value)

    def evidence(self) -> EvidenceSettings:
        """Return everything a derivation needs.

        Raises:
            SettingsError, FactStoreError: as ``organization`` and ``mirror_path`` do, in this order.
        """
        organization = self.organization()
        return EvidenceSettings(organization.org_id, organization.database_url, self.mirror_path())

    def clone_url_policy(self) -> CloneUrlPolicy:
        """Return which clone URLs may be fetched (mirrors.md §3).

        Raises:
            SettingsError: one of its two settings has another form.
        """
        try:
            development = normal_bool(self.get(DEV_MODE) or "false")
        except ValueError as error:
            raise SettingsError(f"{DEV_MODE}: {error}") from None
        try:
            hosts = json.loads(self.get(ALLOWED_CLONE_HOSTS) or "[]")
        except (ValueError, RecursionError):
            hosts = None
        if not isinstance(hosts, list) or not all(isinstance(host, str) and host for host in hosts):
            raise SettingsError(
                f'{ALLOWED_CLONE_HOSTS}: expected a JSON array of host names, such as ["git.example.com"], '
                "got another form"
            )
        return CloneUrlPolicy(development, frozenset(host.lower() for host in hosts))

    def verifier_commands_file(self) -> Path | None:
        """Return the verification commands file, None when unconfigured."""
        value = self.get(VERIFIER_COMMANDS_FILE)
        return Path(value) if value else None

    def runtime(self) -> "RuntimeSettings":
        """Return the runtime references of ``environment.yaml`` (targets.md §10)."""
        from sediment_assets.targets.environment_manifest import RuntimeSettings  # row models: only exports need them

        return RuntimeSettings(
            openenv_image=self.get("SEDIMENT_OPENENV_IMAGE"),
            openenv_package=self.get("SEDIMENT_OPENENV_PACKAGE"),
            nemo_gym_resources_server=self.get("SEDIMENT_NEMO_GYM_RESOURCES_SERVER"),
            nemo_gym_config=self.get("SEDIMENT_NEMO_GYM_CONFIG"),
        )

    def export_root(self, default: Path) -> Path:
        """Return the directory under which the asset graph puts its generations."""
        value = self.get(EXPORT_ROOT)
        return Path(value) if value else default

    def partition_start(self, default: date) -> date:
        """Return the first day of the asset graph's partitions.

        Raises:
            SettingsError: it is no date of the form 2026-01-31.
        """
        value = self.get(PARTITION_START)
        try:
            return date.fromisoformat(value) if value else default
        except ValueError:
            raise SettingsError(f"{PARTITION_START}: expected a date such as 2026-01-31, got {shown(value)}") from None

    def _org_id(self, problems: list[str]) -> str:
        value = self._required(ORG_ID, problems)
        try:
            return normal_org_id(value) if value else ""
        except ValueError as error:
            problems.append(f"{ORG_ID}: {error}")
            return ""

    def _required(self, name: str, problems: list[str]) -> str:
        value = self.get(name)
        if value is None:
            problems.append(f"{name}: expected {_EXPECTED[name]}, got nothing; set it in the environment or in .env")
        return value or ""

    def _one(self, name: str) -> str:
        problems: list[str] = []
        value = self._required(name, problems)
        if problems:
            raise SettingsError(problems[0])
        return value


def _upper(found: Mapping[str, str]) -> dict[str, str]:
    """Make names case-insensitive; of two spellings of one name, the one in upper case wins."""
    by_case = sorted(found.items(), key=lambda item: item[0].isupper())
    return {name.upper(): value for name, value in by_case}
