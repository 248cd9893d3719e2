"""Which generations may go, and removing them so that neither an export nor a reader is hurt (docs/generations.md).

Planning changes nothing. A complete generation is removed only while nobody reads it, an incomplete one only when its
process is provably dead. One rename makes a generation disappear whole; what a killed removal leaves under its hidden
name is removed by the next one.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from sediment_assets.adapters.generations.catalog import KINDS, ROLLOUTS_KIND, FoundGeneration, find_generations
from sediment_assets.adapters.resolutions import CI_RESOLUTIONS
from sediment_assets.publish.artifacts import CLAIM, LOCK, PUBLICATION_ORDER
from sediment_assets.publish.claim import LockHeldError, export_lock, is_empty_export
from sediment_assets.publish.durable import PublishError, is_present, remove_tree, reported
from sediment_assets.publish.fresh_directory import is_abandoned
from sediment_assets.publish.reading import completion_file, held_alone
from sediment_assets.publish.staging import killed_export, staging_directory
from sediment_assets.targets.registry import Target

PRUNED_PREFIX: Final = ".sediment-pruned-"
"""Name of a generation on its way out: this prefix and its own name."""
_TARGETS: Final = frozenset(target.value for target in Target)


class Verdict(StrEnum):
    """What is to become of a directory, and why. The last two are removed."""

    NEWEST = "newest"
    KEPT = "kept"
    RECORDED = "recorded"
    NEEDED = "needed"
    BUSY = "busy"
    UNPROVEN = "unproven"
    SUPERSEDED = "superseded"
    DEAD = "dead"


MEANINGS: Final = {
    Verdict.NEWEST: "the newest complete one of its kind and partition",
    Verdict.KEPT: "one of the newest complete ones that --keep asks for",
    Verdict.RECORDED: "the newest complete one in the event log: readers get it",
    Verdict.NEEDED: "a generation that is kept rests on this bundle",
    Verdict.BUSY: "a run of this partition is in progress",
    Verdict.UNPROVEN: "incomplete, and not provably dead: look at it, then remove it by hand",
    Verdict.SUPERSEDED: "newer complete ones are there, and nothing needs it",
    Verdict.DEAD: "incomplete, and its process is provably dead",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """One directory and what is to become of it."""

    path: Path
    kind: str
    partition: str
    size: int
    verdict: Verdict

    @property
    def removes(self) -> bool:
        """Whether it may go."""
        return self.verdict in (Verdict.SUPERSEDED, Verdict.DEAD)


class Removal(StrEnum):
    """How an attempt to remove a directory ended."""

    REMOVED = "removed"
    BEING_READ = "left alone: it is being read"
    IN_USE = "left alone: an export into it is running"
    CHANGED = "left alone: it changed meanwhile"


def plan_pruning(
    root: Path, keep: int, *, recorded: Collection[Path] = (), busy: Collection[str] = ()
) -> list[Decision]:
    """Decide about every directory under an export root, in its order.

    :param keep: how many complete generations to keep of each kind and partition, at least 1.
    :param recorded: generations that the event log gives to readers.
    :param busy: partitions of which a run is in progress.
    :raises CatalogError: when the root cannot be looked at.
    """
    found = find_generations(root)
    known = {path.resolve() for path in recorded}
    verdicts = {one.path: _verdict_alone(one, known, busy) for one in found}
    for group in _grouped(found).values():
        for position, one in enumerate(reversed(group)):
            if position < keep and verdicts[one.path] in (Verdict.SUPERSEDED, Verdict.RECORDED):
                verdicts[one.path] = Verdict.NEWEST if position == 0 else Verdict.KEPT
    for path in _rested_on(found, verdicts):
        if verdicts[path] is Verdict.SUPERSEDED:
            verdicts[path] = Verdict.NEEDED
    decisions = [Decision(one.path, one.kind, one.partition, one.size, verdicts[one.path]) for one in found]
    return [*decisions, *_remains(root)]


def _verdict_alone(one: FoundGeneration, recorded: Collection[Path], busy: Collection[str]) -> Verdict:
    if one.partition in busy:
        return Verdict.BUSY
    if not one.is_complete:
        return Verdict.DEAD if completion_file(one.path) is None and _is_dead(one) else Verdict.UNPROVEN
    return Verdict.RECORDED if one.path.resolve() in recorded else Verdict.SUPERSEDED


def _grouped(found: Iterable[FoundGeneration]) -> dict[tuple[str, str], list[FoundGeneration]]:
    """Group the complete ones by kind and partition, the newest last."""
    groups: defaultdict[tuple[str, str], list[FoundGeneration]] = defaultdict(list)
    for one in found:
        if one.is_complete:
            groups[one.kind, one.partition].append(one)
    return groups


def _rested_on(found: Collection[FoundGeneration], verdicts: dict[Path, Verdict]) -> Iterator[Path]:
    """Yield the newest bundle, and the newest CI resolutions, of each bundle that a kept generation rests on."""
    removed = (Verdict.SUPERSEDED, Verdict.DEAD)
    needed = {(one.partition, one.bundle_digest) for one in found if verdicts[one.path] not in removed}
    for kind in (ROLLOUTS_KIND, CI_RESOLUTIONS):
        newest = {(one.partition, one.bundle_digest): one.path for one in found if one.kind == kind and one.is_complete}
        yield from (path for of_bundle, path in newest.items() if of_bundle in needed)


def _is_dead(one: FoundGeneration) -> bool:
    """Whether an incomplete generation of rows is provably nobody's: killed, or failed and given up.

    Bundles and CI resolutions appear by a rename, so an incomplete one is somebody else's doing.
    """
    if one.kind not in _TARGETS:
        return False
    try:
        if is_present(one.path / LOCK):
            with killed_export(one.path) as dead:
                return dead
    except OSError:
        return False
    # A claim is written under the lock, so a claim without one is of an export that has ended. It took its files back.
    return is_present(one.path / CLAIM) and not any(is_present(one.path / name) for name in PUBLICATION_ORDER)


def _remains(root: Path) -> Iterator[Decision]:
    """Yield the hidden directories that killed processes left: half-removed generations, staged bundles."""
    for kind in KINDS:
        for partition in sorted((root / kind).iterdir()) if (root / kind).is_dir() else ():
            for path in sorted(partition.iterdir()) if partition.is_dir() else ():
                if path.name.startswith(PRUNED_PREFIX) or is_abandoned(path):
                    yield Decision(path, kind, partition.name, 0, Verdict.DEAD)


def remove(decision: Decision) -> Removal:
    """Remove what ``plan_pruning`` said may go, unless somebody uses it by now; what another pruning took is gone, too.

    :raises PublishError: when the operating system refuses.
    """
    path = decision.path
    try:
        with reported(path, "remove"):
            removal = _remove(path, decision)
    except PublishError:
        if is_present(path):
            raise
        return Removal.REMOVED
    return removal if is_present(path) else Removal.REMOVED


def _remove(path: Path, decision: Decision) -> Removal:
    if path.name.startswith("."):
        remove_tree(path)
        return Removal.REMOVED
    if decision.verdict is Verdict.SUPERSEDED:
        return _remove_complete(path, decision.kind)
    return _remove_dead(path)


def _remove_complete(path: Path, kind: str) -> Removal:
    with held_alone(path) as alone:
        if not alone:
            return Removal.BEING_READ if completion_file(path) is not None else Removal.CHANGED
        if kind not in _TARGETS or not is_empty_export(path):
            return _take_away(path)  # no export ever goes into a directory that holds one
        return _take_away_locked(path, complete=True)


def _remove_dead(path: Path) -> Removal:
    if not is_present(path / LOCK):
        return _take_away_locked(path, complete=False)
    with killed_export(path) as dead:
        return _take_away(path) if dead and completion_file(path) is None else Removal.CHANGED


def _take_away_locked(path: Path, *, complete: bool) -> Removal:
    """Hold the directory as an export does, so that none begins in it, and so that a kill leaves the same proof."""
    try:
        with export_lock(path), staging_directory(path):
            return _take_away(path) if (completion_file(path) is not None) is complete else Removal.CHANGED
    except LockHeldError:
        return Removal.IN_USE


def _take_away(path: Path) -> Removal:
    """Rename the directory out of sight, whole, then remove it."""
    hidden = path.with_name(PRUNED_PREFIX + path.name)
    with suppress(FileNotFoundError):
        path.rename(hidden)
        remove_tree(hidden)
    return Removal.REMOVED
