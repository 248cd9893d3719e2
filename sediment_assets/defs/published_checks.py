"""Asset checks that read what was published, each file once: one step for each population of rows.

* ``rows_match_schema`` (blocking): every row validated, in its exact spelling, in the file of its side of the split.
* ``instance_ids_unique``: no row is there twice.
* ``one_split_side``: all rows of a Session are on one side.
* ``patches_apply`` (tasks): every Reference patch made and proven again, and compared with the published one.
* ``generation_intact`` (blocking, first population): claim, file set, and every file hashed again.
* ``changes_explained`` (first population): what differs from the generation before, and why (``changes.py``).

Any of them can be executed alone. Without a partition they look at the newest day there is.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import dagster as dg

from resources.evidence_store import EvidenceStore
from resources.generations import GENERATION, NoGenerationError, complete_generations, first_of
from sediment_assets.defs.changes import CHANGES_DESCRIPTION, CHANGES_EXPLAINED, changes
from sediment_assets.defs.keys import output_key, outputs_of
from sediment_assets.derive.split import Split
from sediment_assets.mirrors.reader import MirrorError, MirrorStore, PatchProofError
from sediment_assets.publish.artifacts import row_file_name
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.publish.record import RecordError, verify_generation
from sediment_assets.targets.registry import TARGETS, Population, PopulationSpec, Target
from sediment_assets.targets.row_check import RowError, validate_line

ROWS_MATCH_SCHEMA: Final = "rows_match_schema"
INSTANCE_IDS_UNIQUE: Final = "instance_ids_unique"
ONE_SPLIT_SIDE: Final = "one_split_side"
PATCHES_APPLY: Final = "patches_apply"
GENERATION_INTACT: Final = "generation_intact"

_CheckEvent = dg.AssetCheckResult | dg.AssetCheckEvaluation
_BLOCKING: Final = frozenset({ROWS_MATCH_SCHEMA, GENERATION_INTACT})


def target_checks(target: Target, partitions: dg.PartitionsDefinition[str]) -> list[dg.AssetChecksDefinition]:
    """Make the checks of one target that read what was published."""
    return [_population_checks(target, spec, partitions) for spec in TARGETS[target].populations]


def _population_checks(
    target: Target, spec: PopulationSpec, partitions: dg.PartitionsDefinition[str]
) -> dg.AssetChecksDefinition:
    key = output_key(target, spec.population.value)

    @dg.multi_asset_check(
        name="_".join(("check", *key.path)),
        specs=[
            dg.AssetCheckSpec(
                name, asset=key, partitions_def=partitions, blocking=name in _BLOCKING, description=description
            )
            for name, description in _descriptions(target, spec).items()
        ],
        can_subset=True,
    )
    def check_published(context: dg.AssetCheckExecutionContext, evidence: EvidenceStore) -> Iterator[_CheckEvent]:
        wanted = sorted(check.name for check in context.selected_asset_check_keys)
        day, problem = _day_of(context, key)
        older = complete_generations(context.instance, key, day)
        try:
            newest = first_of(older, key, day)
        except NoGenerationError as error:
            for name in wanted:
                about = problem or str(error.description)
                yield _event(context, key, name, _Finding(not day, about, {}), {})
            return
        place = {GENERATION: dg.MetadataValue.path(str(newest.path)), "day": day}
        published = _Published(newest.path, spec)
        if set(wanted) - {GENERATION_INTACT, CHANGES_EXPLAINED}:
            published.read(evidence, patches=PATCHES_APPLY in wanted)
        for name in wanted:
            if name == CHANGES_EXPLAINED:
                found = _Finding(*changes(evidence, newest, older))
            else:
                found = _intact(newest.path) if name == GENERATION_INTACT else published.finding(name)
            about = " ".join(filter(None, (problem, found.description)))
            yield _event(context, key, name, _Finding(found.passed, about, found.counts), place)

    return check_published


def _descriptions(target: Target, spec: PopulationSpec) -> dict[str, str]:
    found = {
        ROWS_MATCH_SCHEMA: f"Every published row is exactly a {spec.row_model.__name__} ({spec.schema_id}), spelled as "
        "this program spells it, in the file of its side of the split.",
        INSTANCE_IDS_UNIQUE: "No `instance_id` is there twice in the day.",
        ONE_SPLIT_SIDE: "All rows of a Session are on one side of the split.",
    }
    if spec.population is Population.TASKS:
        found[PATCHES_APPLY] = (
            "Every Reference patch is made from the mirror again, proven to rebuild the verified commit's tree from "
            "the base commit's, and equals the published one. Patches whose mirror is gone are counted as unproven."
        )
    if spec.population.value == outputs_of(target)[0]:
        found[GENERATION_INTACT] = (
            "The newest complete generation is as its completion record says: claim, file set, and every SHA-256 "
            "computed again."
        )
        found[CHANGES_EXPLAINED] = CHANGES_DESCRIPTION
    return found


def _day_of(context: dg.AssetCheckExecutionContext, key: dg.AssetKey) -> tuple[str, str]:
    """Return the day to check; without a partition the newest one materialized, and a sentence that says so."""
    if context.has_partition_key:
        return context.partition_key, ""
    days = context.instance.get_materialized_partitions(key)
    if not days:
        return "", "Nothing to check: no day was materialized yet."
    day = max(days)
    return day, f"No partition was chosen, so this is about the newest day, {day}."


@dataclass(frozen=True, slots=True)
class _Finding:
    passed: bool
    description: str
    counts: Mapping[str, Any]


def _event(
    context: dg.AssetCheckExecutionContext, key: dg.AssetKey, name: str, found: _Finding, place: Mapping[str, Any]
) -> _CheckEvent:
    """Report a finding. Without a partition, Dagster cannot make a result's event (it asks for the key): we do."""
    about: dict[str, Any] = {
        "check_name": name,
        "asset_key": key,
        "passed": found.passed,
        "severity": dg.AssetCheckSeverity.WARN if name == CHANGES_EXPLAINED else dg.AssetCheckSeverity.ERROR,
        "description": found.description or None,
        "metadata": {**found.counts, **place},
    }
    return dg.AssetCheckResult(**about) if context.has_partition_key else dg.AssetCheckEvaluation(**about)


def _intact(generation: Path) -> _Finding:
    try:
        return _Finding(True, "", {"files_checked": len(verify_generation(generation).files)})
    except RecordError as error:
        return _Finding(False, str(error), {})


@dataclass(slots=True)
class _Published:
    """One population of a generation, read back line by line; of each kind of problem the first is told."""

    generation: Path
    spec: PopulationSpec
    _rows: int = 0
    _problems: dict[str, str] = field(default_factory=dict)
    _ids: set[str] = field(default_factory=set)
    _sides: defaultdict[str, set[Split]] = field(default_factory=lambda: defaultdict(set))
    _proven: int = 0
    _unproven: int = 0

    def read(self, evidence: EvidenceStore, *, patches: bool) -> None:
        """Read every line, and go on after a problem: each check has its own."""
        mirrors = evidence.patch_mirrors(required=False)
        with held_for_reading(self.generation):
            for place, split, line in self._lines():
                self._rows += 1
                try:
                    row: Any = validate_line(self.spec.row_model, line)
                except RowError as error:
                    self._problem(ROWS_MATCH_SCHEMA, f"{place}: {error}")
                    continue
                about = row if hasattr(row, "split") else row.metadata
                if split not in (None, about.split):
                    expected = f"expected rows of the {split} split, got one of {about.split}"
                    self._problem(ROWS_MATCH_SCHEMA, f"{place}: {expected}")
                self._identity(place, row if hasattr(row, "instance_id") else about, about)
                if patches and self.spec.population is Population.TASKS:
                    self._patch(place, row, about, mirrors)

    def finding(self, name: str) -> _Finding:
        """Return what one check found."""
        counts = {"rows_checked": self._rows}
        if name == ONE_SPLIT_SIDE:
            counts["sessions_checked"] = len(self._sides)
        if name == PATCHES_APPLY:
            counts = {"patches_proven": self._proven, "patches_unproven": self._unproven}
        return _Finding(name not in self._problems, self._problems.get(name, ""), counts)

    def _lines(self) -> Iterator[tuple[str, Split | None, bytes]]:
        """Yield each line without its LF, with its place ``<file>:<line>`` and the file's side of the split."""
        for split in (None, *Split):
            path = self.generation / row_file_name(self.spec.population.value, split)
            if path.exists():
                with path.open("rb") as file:
                    for number, line in enumerate(file, 1):
                        yield f"{path}:{number}", split, line.removesuffix(b"\n")

    def _identity(self, place: str, named: Any, about: Any) -> None:
        if named.instance_id in self._ids:
            self._problem(INSTANCE_IDS_UNIQUE, f"{place}: expected a new instance_id, got {named.instance_id!r} again")
        self._ids.add(named.instance_id)
        # A task names no Session, but its id begins with it and ends with the first commit's digits.
        session_id = getattr(about, "session_id", None) or named.instance_id.rpartition("-")[0]
        self._sides[session_id].add(about.split)
        if len(self._sides[session_id]) > 1:
            self._problem(ONE_SPLIT_SIDE, f"{place}: expected the Session's other side of the split for {session_id!r}")

    def _patch(self, place: str, row: Any, about: Any, mirrors: MirrorStore) -> None:
        published = row.reference_patch if hasattr(row, "reference_patch") else row.patch
        commit = about.ci_resolution.commit_key
        mirror = mirrors.open(commit.repository)
        try:
            made = None if mirror is None else mirror.reference_patch(row.base_commit, commit.commit_sha)
        except PatchProofError as error:
            self._problem(PATCHES_APPLY, f"{place}: {error}")
            return
        except MirrorError:
            made = None
        if made is None:
            self._unproven += 1
        elif made != published:
            self._problem(PATCHES_APPLY, f"{place}: expected the patch that the mirror gives, got another")
        else:
            self._proven += 1

    def _problem(self, name: str, text: str) -> None:
        self._problems.setdefault(name, text)
