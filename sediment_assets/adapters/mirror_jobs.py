"""What a mirror sync has to do: repositories from Push Facts, from a TOML list, or one named by hand (mirrors.md §2).

Every repository ends as one ``SyncJob`` with its key, so that no caller decides for itself where a mirror lies.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import tomli

from sediment_assets.adapters.fact_store.engine import reading_engine
from sediment_assets.adapters.fact_store.snapshot import open_facts
from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.scalars import (
    normal_forge_host,
    normal_provider_repository_id,
    normal_required_repo_slug,
)
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.refresh import PushRange, RefreshPlan, RefreshTarget, plan_refresh
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver

DEFAULT_HOST: Final = "github.com"
_KEYS: Final = frozenset({"clone_url", "repository_id", "host"})


class MirrorJobError(SedimentError):
    """A repository that was named in a way that leads to no mirror."""


@dataclass(frozen=True, slots=True, repr=False)
class SyncJob:
    """One mirror to create or refresh. ``clone_url`` may hold credentials: never print it."""

    key: RepositoryKey
    label: str
    clone_url: str | None
    pushes: tuple[PushRange, ...] = ()
    declined: RepositoryReason | None = None


@dataclass(frozen=True, slots=True)
class KnownRepositories:
    """What visible Facts know of an organization's repositories."""

    org_id: str
    plan: RefreshPlan
    resolver: RepositoryResolver

    @classmethod
    def read(cls, database_url: str, org_id: str) -> "KnownRepositories":
        """Read Pushes and repository evidence in one snapshot.

        :raises FactStoreError: when the store cannot be read.
        """
        engine = reading_engine(database_url)
        try:
            with open_facts(engine, org_id) as facts:
                resolver = facts.resolver()
                return cls(org_id, plan_refresh(facts.pushes(), resolver), resolver)
        finally:
            engine.dispose()

    @classmethod
    def none(cls, org_id: str) -> "KnownRepositories":
        """Return what is known without a Fact store: nothing."""
        return cls(org_id, RefreshPlan({}, {}), RepositoryResolver.build(org_id, (), ()))

    def jobs(self) -> list[SyncJob]:
        """Return a job for every repository that Pushes name."""
        return [_job(target) for target in self.plan.targets.values()]

    def named(self, slugs: Iterable[str]) -> list[SyncJob]:
        """Return the jobs of the repositories that bear these names.

        :raises MirrorJobError: when no Push names one of them.
        """
        found: dict[RepositoryKey, SyncJob] = {}
        for text in slugs:
            slug = _slug(text)
            targets = self.plan.find(slug)
            if not targets:
                known = ", ".join(target.label for target in self.plan.targets.values()) or "none"
                raise MirrorJobError(
                    f"{slug}: expected a repository that a Push names ({known[:300]}); capture its pushes first, or "
                    "give its --clone-url"
                )
            found |= {target.key: _job(target) for target in targets}
        return list(found.values())

    def listed(self, repo: str, clone_url: str, repository_id: str | None = None, host: str | None = None) -> SyncJob:
        """Return the job of a repository that the operator names with its URL.

        Without ``repository_id`` it is the one that Pushes know by this name, else a legacy repository.

        :raises MirrorJobError: when the name is no repository's, or several repositories bear it.
        """
        slug = _slug(repo)
        if repository_id is not None:
            try:
                key: RepositoryKey = IdentifiedKey(
                    self.org_id,
                    ForgeProvider.GITHUB,
                    normal_forge_host(host or DEFAULT_HOST),
                    normal_provider_repository_id(repository_id),
                )
            except ValueError as error:
                raise MirrorJobError(f"{slug}: {error}") from None
            return self._with_url(key, slug, clone_url)
        targets = self.plan.find(slug)
        if len(targets) > 1:
            ids = ", ".join("/".join(target.key.sort_key[2:]) for target in targets)
            raise MirrorJobError(f"{slug}: expected one repository of that name, got {ids}; give its repository id")
        if targets:
            return self._with_url(targets[0].key, slug, clone_url)
        resolved = self.resolver.reference(slug)
        if isinstance(resolved, RepositoryReason):
            raise MirrorJobError(f"{slug}: {resolved}: {resolved.meaning} Give its repository id")
        return self._with_url(LegacyKey(self.org_id, slug), slug, clone_url)

    def _with_url(self, key: RepositoryKey, slug: str, clone_url: str) -> SyncJob:
        target = self.plan.targets.get(key)
        if target is None:
            return SyncJob(key, slug, clone_url)
        return SyncJob(key, target.label, clone_url, target.pushes)


def _job(target: RefreshTarget) -> SyncJob:
    return SyncJob(target.key, target.label, target.clone_url, target.pushes, target.declined)


def _slug(text: str) -> str:
    try:
        return normal_required_repo_slug(text)
    except ValueError as error:
        raise MirrorJobError(f"repository: {error}") from None


def absolute_url(text: str, directory: Path) -> str:
    """Return a clone URL as it is, and a local path, which git would take from the mirror's place, as absolute."""
    path = directory / text
    return text if "://" in text or not path.exists() else str(path.resolve())


def read_repository_list(path: Path, known: KnownRepositories) -> list[SyncJob]:
    """Read a TOML list: ``[repos."owner/name"]`` with ``clone_url`` and, of an identified one, ``repository_id``.

    :raises MirrorJobError: naming the file and the table for anything else.
    """
    try:
        document = tomli.loads(path.read_bytes().decode())
    except OSError as error:
        raise MirrorJobError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise MirrorJobError(f"{path}: expected TOML in UTF-8, got another form") from None
    repos = document.get("repos")
    if not isinstance(repos, dict) or not repos or document.keys() != {"repos"}:
        raise MirrorJobError(f'{path}: expected tables [repos."owner/name"] with a clone_url each, and nothing else')
    return [_listed_job(path, name, entry, known) for name, entry in repos.items()]


def _listed_job(path: Path, name: str, entry: Any, known: KnownRepositories) -> SyncJob:
    place = f"{path}: repos.{shown(name)}"
    if not isinstance(entry, Mapping) or not entry.keys() <= _KEYS or "clone_url" not in entry:
        raise MirrorJobError(f"{place}: expected clone_url, and repository_id and host if you like, got other keys")
    for key, value in entry.items():
        if not isinstance(value, str) or not value:
            raise MirrorJobError(
                f"{place}.{key}: expected text, got {shown(value) if key != 'clone_url' else 'no text'}"
            )
    try:
        url = absolute_url(entry["clone_url"], path.parent)
        return known.listed(name, url, entry.get("repository_id"), entry.get("host"))
    except MirrorJobError as error:
        raise MirrorJobError(f"{path}: {error}") from None


def several(jobs: Sequence[SyncJob]) -> list[SyncJob]:
    """Return jobs by sort key; of two for one mirror, which would undo each other, none.

    :raises MirrorJobError: naming them.
    """
    by_key: dict[RepositoryKey, SyncJob] = {}
    for job in jobs:
        other = by_key.setdefault(job.key, job)
        if other is not job:
            raise MirrorJobError(f"{job.label}: expected each repository once, got it again as {other.label}")
    return sorted(jobs, key=lambda job: job.key.sort_key)
