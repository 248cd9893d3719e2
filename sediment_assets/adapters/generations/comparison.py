"""Two generations of one target and partition compared: rows, records, bundles, the quarantine log.

``compare_generations`` is the whole of it, for the command line and for the check on every re-materialization. What a
difference is and what proves its cause is ``lineage/``.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from sediment_assets.adapters.generations.sides import ComparisonError, GenerationSide, RowKey, open_side
from sediment_assets.bundle.encoding import Population as BundlePopulation
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.ci.runs import CISkip
from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from sediment_assets.lineage.causes import Between, SessionFacts
from sediment_assets.lineage.diff import (
    Difference,
    GenerationDiff,
    RowDifference,
    Sides,
    causes_of,
    changed_fields,
    compare,
)
from sediment_assets.lineage.names import InstanceIdError, session_of
from sediment_assets.mirrors.notes_tree import NOTES_REF
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.targets.registry import Target

QuarantineLog = Mapping[tuple[FactTable, str], QuarantineAction]
"""What became of Facts between two quarantine revisions."""


def compare_generations(
    before: Path, after: Path, *, bundles: Iterable[Path] = (), quarantine: QuarantineLog | None = None
) -> GenerationDiff:
    """Compare two complete generations of one target and partition.

    Bundles are looked for in the export root of each generation, by the digest in its record.

    :param bundles: more bundle directories to look at.
    :param quarantine: ``quarantine_between`` of the two records' revisions; without it fewer causes are proven.
    :raises RecordError: when one of them is not complete.
    :raises ComparisonError: when they are not of one target and partition, or hold no rows.
    """
    with held_for_reading(before), held_for_reading(after):
        given = list(bundles)
        sides = (open_side(before, given), open_side(after, given))
        _require_comparable(*sides)
        return _compared(*sides, quarantine)


def _require_comparable(before: GenerationSide, after: GenerationSide) -> None:
    for name in ("target", "partition", "org_id"):
        old, new = getattr(before.record, name), getattr(after.record, name)
        if old != new:
            raise ComparisonError(f"{after.path}: expected the {name} of {before.path}, {old!r}, got {new!r}")
    if before.record.target not in set(Target):
        raise ComparisonError(f"{before.path}: expected rows of a target, got {before.record.target}")


def _compared(before: GenerationSide, after: GenerationSide, quarantine: QuarantineLog | None) -> GenerationDiff:
    compared = compare(before.digests, after.digests)
    keys = [
        *((Difference.ADDED, key) for key in compared.added),
        *((Difference.REMOVED, key) for key in compared.removed),
        *((Difference.CHANGED, key) for key in compared.changed),
    ]
    evidence = _Evidence(before, after, {_session(key, before.record.org_id) for _, key in keys})
    between = _between(before, after, quarantine, evidence) if keys else Between()
    differing = {key for _, key in keys}
    return GenerationDiff(
        tuple(_difference(difference, key, before, after, evidence, between) for difference, key in keys),
        Counter(key.population for key in after.places if key not in differing),
        evidence.at_hand,
    )


def _session(key: RowKey, org_id: str) -> str:
    try:
        return session_of(key.instance_id, org_id)
    except InstanceIdError:
        return ""


@dataclass(frozen=True)
class _Evidence:
    """What both bundles say of the Sessions whose rows differ; read when it is asked for."""

    before: GenerationSide
    after: GenerationSide
    sessions: Collection[str]

    @property
    def at_hand(self) -> bool:
        return self.before.manifest is not None and self.after.manifest is not None

    @cached_property
    def facts(self) -> tuple[Mapping[str, SessionFacts], Mapping[str, SessionFacts]]:
        return self.before.session_facts(self.sessions), self.after.session_facts(self.sessions)

    @cached_property
    def calls(self) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
        return self.before.visible_calls(self.sessions), self.after.visible_calls(self.sessions)

    @cached_property
    def visible(self) -> tuple[tuple[frozenset[str], frozenset[str]], tuple[frozenset[str], frozenset[str]]]:
        """CI outcomes and observations in question, and all Pushes, before and after."""
        used = [facts for side in self.facts for facts in side.values()]
        wanted = {one for facts in used for one in (*facts.outcomes, *facts.observations)}
        return self.before.evidence(wanted), self.after.evidence(wanted)

    def seen(self) -> tuple[frozenset[str], frozenset[str]]:
        """Calls, CI outcomes and observations in question that were visible before and after."""
        before, after = (frozenset(chain.from_iterable(calls.values())) for calls in self.calls)
        return before | self.visible[0][0], after | self.visible[1][0]

    def has_new_pushes(self) -> bool:
        return bool(self.visible[1][1] - self.visible[0][1])


def _difference(
    difference: Difference,
    key: RowKey,
    before: GenerationSide,
    after: GenerationSide,
    evidence: _Evidence,
    between: Between,
) -> RowDifference:
    rows = (before.row(key), after.row(key))
    session_id = _session(key, before.record.org_id)
    facts = tuple(side.get(session_id) for side in evidence.facts) if evidence.at_hand else (None, None)
    calls = (frozenset[str](), frozenset[str]())
    if evidence.at_hand and None in facts:
        calls = (evidence.calls[0].get(session_id, calls[0]), evidence.calls[1].get(session_id, calls[1]))
    sides = Sides(rows, evidence.at_hand, (facts[0], facts[1]), calls)
    fields = changed_fields(rows[0], rows[1]) if rows[0] is not None and rows[1] is not None else ()
    return RowDifference(difference, key.population, key.instance_id, session_id, fields, causes_of(sides, between))


def _between(
    before: GenerationSide, after: GenerationSide, quarantine: QuarantineLog | None, evidence: _Evidence
) -> Between:
    old, new = before.record, after.record
    conflicts = CISkip.CONFLICTING_RUN_IDENTITY.value
    return Between(
        policy_changed=(old.policy_digest, old.ci_policy_digest) != (new.policy_digest, new.ci_policy_digest),
        program_changed=old.program_version != new.program_version,
        revision_changed=old.quarantine_revision != new.quarantine_revision,
        mirrors_changed=old.mirror_revisions_digest != new.mirror_revisions_digest,
        **_mirror_changes(before.manifest, after.manifest),
        new_pushes=evidence.at_hand and evidence.has_new_pushes(),
        new_renames=_rows_of(after, BundlePopulation.REPOSITORY_RENAMES)
        != _rows_of(before, BundlePopulation.REPOSITORY_RENAMES),
        same_bundle=old.bundle_digest is not None and old.bundle_digest == new.bundle_digest,
        conflicts_grew=new.derivation_skipped.get(conflicts, 0) > old.derivation_skipped.get(conflicts, 0),
        quarantine=quarantine,
        seen=evidence.seen() if evidence.at_hand else None,
    )


def _rows_of(side: GenerationSide, population: BundlePopulation) -> int:
    return 0 if side.manifest is None else side.manifest.files[population].rows


def _mirror_changes(before: Manifest | None, after: Manifest | None) -> dict[str, frozenset[str]]:
    """Compare the refs of every mirror; nothing is known without both manifests."""
    if before is None or after is None:
        return {}
    old, new = before.mirror_revisions, after.mirror_revisions
    both = old.keys() & new.keys()
    return {
        "mirrors_came_or_went": frozenset(old.keys() ^ new.keys()),
        "refs_changed": frozenset(key for key in both if old[key] != new[key]),
        "notes_changed": frozenset(key for key in both if old[key].get(NOTES_REF) != new[key].get(NOTES_REF)),
    }
