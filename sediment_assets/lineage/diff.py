"""Two generations compared row by row: added, removed, changed, and why (docs/generations.md).

Rows are told apart by ``instance_id``. What differs and why is decided here, from records, rows and Rollouts; reading
them is ``adapters/generations/comparison.py``.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Generic, TypeVar

from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.lineage.causes import (
    Between,
    Cause,
    Found,
    SessionFacts,
    causes_in_rollout,
    ids_text,
    moved_by_quarantine,
)
from sediment_assets.lineage.names import about

K = TypeVar("K")
V = TypeVar("V")

Row = Mapping[str, Any]
"""A row as plain JSON."""


class Difference(StrEnum):
    """What became of a row."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Compared(Generic[K]):
    """Keys of two populations. Every key is in exactly one of the four."""

    added: tuple[K, ...]
    removed: tuple[K, ...]
    changed: tuple[K, ...]
    same: int


def compare(before: Mapping[K, V], after: Mapping[K, V]) -> Compared[K]:
    """Compare two mappings; keys keep the order of ``after``, those that are gone the order of ``before``."""
    return Compared(
        added=tuple(key for key in after if key not in before),
        removed=tuple(key for key in before if key not in after),
        changed=tuple(key for key in after if key in before and before[key] != after[key]),
        same=sum(key in before and before[key] == after[key] for key in after),
    )


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One row that differs. ``fields`` are those that changed, of a changed row."""

    difference: Difference
    population: str
    instance_id: str
    session_id: str
    fields: tuple[str, ...]
    causes: tuple[Found, ...]

    @property
    def is_restamped(self) -> bool:
        """Whether nothing but the quarantine revision in its provenance differs."""
        return all(found.cause is Cause.QUARANTINE_REVISION for found in self.causes)


@dataclass(frozen=True, slots=True)
class GenerationDiff:
    """Everything that differs between two generations of one target and partition."""

    differences: tuple[RowDifference, ...]
    same: Mapping[str, int]
    """Rows that are equal byte for byte, by population."""
    bundles_at_hand: bool
    """Whether both bundles could be read; without them fewer causes are proven."""

    def count(self, difference: Difference) -> int:
        """How many rows were added, removed or changed."""
        return sum(one.difference is difference for one in self.differences)

    def telling_first(self) -> list[RowDifference]:
        """Return the differences, those that say nothing but another quarantine revision last."""
        return sorted(self.differences, key=lambda one: one.is_restamped)

    def counts(self) -> dict[Cause, Counter[Difference]]:
        """Rows by cause and difference, in the order of the causes; a row counts under each of its causes."""
        counted: dict[Cause, Counter[Difference]] = {}
        for cause in Cause:
            of_cause = Counter(
                one.difference for one in self.differences if any(found.cause is cause for found in one.causes)
            )
            if of_cause:
                counted[cause] = of_cause
        return counted


_STAMPS: Final = ("quarantine_revision", "policy_digest")


def changed_fields(before: Row, after: Row) -> tuple[str, ...]:
    """Name the fields that differ; those of ``metadata`` by their own names."""
    names: dict[str, None] = {}
    for old, new in ((before, after), (about(before), about(after))):
        for name in {**new, **old}:
            if name != "metadata" and old.get(name, _ABSENT) != new.get(name, _ABSENT):
                names[name] = None
    return tuple(names)


_ABSENT: Final = object()


def differs_in_stamps_only(before: Row, after: Row) -> bool:
    """Whether two rows are equal but for the revision and the policy digest in their provenance."""
    return bool(_unstamped(before) == _unstamped(after))


def _unstamped(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: {key: item for key, item in inner.items() if key not in _STAMPS}
            if name == "provenance" and isinstance(inner, Mapping)
            else _unstamped(inner)
            for name, inner in value.items()
        }
    return [_unstamped(item) for item in value] if isinstance(value, list | tuple) else value


@dataclass(frozen=True, slots=True)
class Sides:
    """One row and its Session before and after; ``facts`` None when that bundle has no Rollout of the Session."""

    rows: tuple[Row | None, Row | None]
    bundles_at_hand: bool
    facts: tuple[SessionFacts | None, SessionFacts | None] = (None, None)
    calls: tuple[frozenset[str], frozenset[str]] = (frozenset(), frozenset())
    """Visible calls of the Session in the whole organization, before and after."""


def causes_of(sides: Sides, between: Between) -> tuple[Found, ...]:
    """Return why a row differs; ``unknown`` alone when nothing is proven."""
    before, after = sides.rows
    if before is not None and after is not None and differs_in_stamps_only(before, after):
        return tuple(_stamps(between)) or (_unknown(sides),)
    causes = list(_session_causes(sides, between))
    if between.policy_changed:
        causes.append(Found(Cause.POLICY, "digests differ"))
    if not causes:
        causes = list(_projection_causes(sides, between))
    return tuple(dict.fromkeys(causes)) or (_unknown(sides),)


def _stamps(between: Between) -> Iterator[Found]:
    if between.policy_changed:
        yield Found(Cause.POLICY, "only the digest in the provenance")
    if between.revision_changed:
        yield Found(Cause.QUARANTINE_REVISION, "only the number in the provenance")


def _unknown(sides: Sides) -> Found:
    before, after = sides.rows
    if before is not None and after is not None:
        return Found(Cause.UNKNOWN, f"fields: {', '.join(changed_fields(before, after))}")
    return Found(Cause.UNKNOWN, "the bundles are not at hand" if not sides.bundles_at_hand else "no evidence differs")


def _session_causes(sides: Sides, between: Between) -> Iterator[Found]:
    """Yield what differs in the Session's evidence: from its Rollouts, else from what the rows carry."""
    before, after = sides.facts
    if before is not None and after is not None:
        yield from causes_in_rollout(before, after, between)
    elif sides.bundles_at_hand and (before is not None or after is not None):
        yield from _appeared(sides, between)
    elif not sides.bundles_at_hand and not between.same_bundle:
        yield from _causes_in_rows(sides, between)


def _appeared(sides: Sides, between: Between) -> Iterator[Found]:
    """Explain a Session that only one of the bundles has, from the organization's visible calls."""
    before, after = sides.calls
    if before and after:
        yield Found(Cause.SESSION_CALLS, "its first visible call lies in another partition")
    table = FactTable.INFERENCE_CALLS
    yield from moved_by_quarantine(table, after - before, before - after, between)
    if not before and (arrived := between.arrived(table, after)):
        yield Found(Cause.NEW_SESSION, f"calls arrived: {ids_text(arrived)}")


def _causes_in_rows(sides: Sides, between: Between) -> Iterator[Found]:
    """Without bundles: what two rows of one instance prove by themselves, of the commits that both speak of."""
    before, after = sides.rows
    if before is None or after is None:
        return
    old, new = _row_outcomes(before), _row_outcomes(after)
    shared = {sha for sha, _ in old} & {sha for sha, _ in new}
    added = {one for sha, one in new - old if sha in shared}
    removed = {one for sha, one in old - new if sha in shared}
    if arrived := between.arrived(FactTable.CI_OUTCOMES, added):
        yield Found(Cause.CI, f"arrived: {ids_text(arrived)}")
    yield from moved_by_quarantine(FactTable.CI_OUTCOMES, added, removed, between)
    calls = between.arrived(FactTable.INFERENCE_CALLS, _row_calls(after) - _row_calls(before))
    if calls:
        yield Found(Cause.SESSION_CALLS, f"arrived: {ids_text(calls)}")


def _row_outcomes(row: Row) -> set[tuple[str, str]]:
    return {(one["commit_sha"], one["outcome_id"]) for one in about(row).get("verifier_results", ())}


def _row_calls(row: Row) -> frozenset[str]:
    turns: Iterable[Row] = row.get("turns") or row.get("response", {}).get("turns") or ()
    return frozenset(turn["inference_call_id"] for turn in turns)


_PATCH_FIELDS: Final = frozenset({"instance_id", "base_commit", "reference_patch", "patch"})
_REPOSITORY_FIELDS: Final = frozenset({"repo", "repository_identity"})


def _projection_causes(sides: Sides, between: Between) -> Iterator[Found]:
    """Explain a row whose Session's evidence is the same: by the fields that differ, then by elimination."""
    before, after = sides.rows
    fields = set() if before is None or after is None else set(changed_fields(before, after))
    if "verification" in fields:
        yield Found(Cause.COMMANDS, "verification differs")
    if fields & _REPOSITORY_FIELDS and (between.new_renames or _labels_differ(sides)):
        yield Found(Cause.REPOSITORY, "label or identity differs")
    if "verification" in fields or fields & _REPOSITORY_FIELDS:
        return
    if not _rests_on_the_same(sides, between):
        return
    if not between.program_changed:
        if not fields or fields & _PATCH_FIELDS or _reordered(sides):
            yield Found(Cause.MIRROR, "the Session's evidence is the same, so its mirror's objects differ")
    elif not between.mirrors_changed:
        yield Found(Cause.PROGRAM, "the Session's evidence and the mirrors' refs are the same")


def _rests_on_the_same(sides: Sides, between: Between) -> bool:
    before, after = sides.facts
    return between.same_bundle or (before is not None and after is not None and before.same_evidence(after))


def _reordered(sides: Sides) -> bool:
    before, after = sides.facts
    return before is not None and after is not None and before.commits != after.commits


def _labels_differ(sides: Sides) -> bool:
    before, after = sides.facts
    return before is not None and after is not None and before.labels != after.labels
