"""Repository renames: the names they declare, and which contradict each other (mirrors.md §8.3, step 3)."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.repositories.keys import IdentifiedKey


class _Change(NamedTuple):
    """What a rename says happened: compared between deliveries of one event."""

    repository: IdentifiedKey
    old_repo: str
    new_repo: str
    occurred_at: datetime | None


class _Copy(NamedTuple):
    """One delivery of a rename as stored: compared between copies of one rename_id."""

    change: _Change
    source_event_id: str | None
    captured_at: datetime


@dataclass(frozen=True, slots=True)
class RenameNames:
    """What the renames of one organization add to its resolver.

    ``names``: both slugs of every rename that is not conflicting. ``claims``: both slugs of every rename.
    ``unsafe``: slugs of conflicting renames. ``conflicting``: number of conflicting rename ids.
    """

    names: dict[IdentifiedKey, set[str]]
    claims: dict[str, set[IdentifiedKey]]
    unsafe: set[str]
    conflicting: int


def read_renames(renames: Iterable[RepositoryRename]) -> RenameNames:
    """Sort the renames of one organization into names, claims and unsafe slugs; order does not matter."""
    copies: defaultdict[str, set[_Copy]] = defaultdict(set)
    for rename in renames:
        copies[rename.rename_id].add(_copy(rename))
    conflicting = _conflicting_ids(copies)
    names: defaultdict[IdentifiedKey, set[str]] = defaultdict(set)
    claims: defaultdict[str, set[IdentifiedKey]] = defaultdict(set)
    unsafe: set[str] = set()
    for rename_id, group in copies.items():
        for change in (copy.change for copy in group):
            slugs = (change.old_repo, change.new_repo)
            for slug in slugs:
                claims[slug].add(change.repository)
            target = unsafe if rename_id in conflicting else names[change.repository]
            target.update(slugs)
    return RenameNames(dict(names), dict(claims), unsafe, len(conflicting))


def _copy(rename: RepositoryRename) -> _Copy:
    repository = IdentifiedKey(rename.org_id, rename.repository_provider, rename.repository_host, rename.repository_id)
    change = _Change(repository, rename.old_repo, rename.new_repo, rename.occurred_at)
    return _Copy(change, rename.source_event_id, rename.captured_at)


def _conflicting_ids(copies: dict[str, set[_Copy]]) -> set[str]:
    """Rename ids whose copies differ, or whose forge event is told in two ways.

    A redelivery of one event under another rename_id or at another time is no contradiction.
    """
    conflicting = {rename_id for rename_id, group in copies.items() if len(group) > 1}
    changes: defaultdict[tuple[str, str, str], set[_Change]] = defaultdict(set)
    rename_ids: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for rename_id, group in copies.items():
        for copy in group:
            if copy.source_event_id is None:
                continue
            repository = copy.change.repository
            event = (repository.provider.value, repository.host, copy.source_event_id)
            changes[event].add(copy.change)
            rename_ids[event].add(rename_id)
    for event, told in changes.items():
        if len(told) > 1:
            conflicting |= rename_ids[event]
    return conflicting
