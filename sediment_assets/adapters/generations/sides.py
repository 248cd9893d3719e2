"""One generation of rows as a comparison reads it: digests and places of its rows, and what its bundle says.

Of rows only digests and places are held; one that differs is read again. A bundle's records are read for what they
say, not validated again.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from sediment_assets.adapters.bundle_files import opened_member
from sediment_assets.adapters.generations.catalog import ROLLOUTS_KIND, find_in, look_at
from sediment_assets.bundle.encoding import MANIFEST, decode_line
from sediment_assets.bundle.encoding import Population as BundlePopulation
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.rollout_record import parse_rollout
from sediment_assets.errors import SedimentError
from sediment_assets.facts.json_values import JsonError, canonical_order, decode
from sediment_assets.lineage.causes import SessionFacts
from sediment_assets.lineage.diff import Row
from sediment_assets.lineage.names import instance_id_of
from sediment_assets.publish.reading import completion_file, held_for_reading
from sediment_assets.publish.record import GenerationRecord, read_record
from sediment_assets.repositories.evidence import EvidenceTable


class ComparisonError(SedimentError):
    """Two directories that cannot be compared."""


class RowKey(NamedTuple):
    """A row: its population, its instance id and, of equal ids, the how-manieth it is."""

    population: str
    instance_id: str
    repeat: int


class RowPlace(NamedTuple):
    """Where a row lies, and what tells whether it differs; places are no part of a row."""

    digest: bytes
    file: str
    offset: int


@dataclass(frozen=True)
class GenerationSide:
    """One generation, with its bundle where that is still there."""

    path: Path
    record: GenerationRecord
    bundle: Path | None

    @cached_property
    def places(self) -> dict[RowKey, RowPlace]:
        """Every row of the generation."""
        found: dict[RowKey, RowPlace] = {}
        repeats: Counter[tuple[str, str]] = Counter()
        for name, file in self.record.files.items():
            if file.rows is None:
                continue
            population, offset = name.partition(".")[0], 0
            with (self.path / name).open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    instance_id = _instance_id(line, f"{self.path / name}:{number}")
                    key = RowKey(population, instance_id, repeats[population, instance_id])
                    repeats[population, instance_id] += 1
                    found[key] = RowPlace(sha256(line).digest(), name, offset)
                    offset += len(line)
        return found

    @property
    def digests(self) -> dict[RowKey, bytes]:
        """What is compared."""
        return {key: place.digest for key, place in self.places.items()}

    def row(self, key: RowKey) -> Row | None:
        """Read one row again."""
        place = self.places.get(key)
        if place is None:
            return None
        with (self.path / place.file).open("rb") as lines:
            lines.seek(place.offset)
            row: Row = decode(lines.readline())
            return row

    @cached_property
    def manifest(self) -> Manifest | None:
        """The bundle's manifest."""
        return None if self.bundle is None else look_at(self.bundle, ROLLOUTS_KIND).manifest

    def session_facts(self, sessions: Collection[str]) -> dict[str, SessionFacts]:
        """Read the Rollouts of some Sessions out of the bundle; they are not validated again."""
        return {
            record["session_id"]: SessionFacts.of(parse_rollout(canonical_order(record)))
            for record in self._records(BundlePopulation.ROLLOUTS)
            if record.get("session_id") in sessions
        }

    def visible_calls(self, sessions: Collection[str]) -> dict[str, frozenset[str]]:
        """Read which calls of some Sessions were visible in the whole organization."""
        calls: dict[str, set[str]] = {}
        for record in self._records(BundlePopulation.INFERENCE_CALL_IDENTITIES):
            if record.get("session_id") in sessions:
                calls.setdefault(record["session_id"], set()).add(record["inference_call_id"])
        return {session_id: frozenset(ids) for session_id, ids in calls.items()}

    def evidence(self, wanted: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
        """Read which of some CI outcomes and observations were visible, and the ids of all visible Pushes."""
        seen: set[str] = set()
        pushes: set[str] = set()
        for record in self._records(BundlePopulation.REPOSITORY_IDENTITIES):
            if record["source_table"] == EvidenceTable.PUSHES:
                pushes.add(record["source_fact_id"])
            elif record["source_fact_id"] in wanted:
                seen.add(record["source_fact_id"])
        return frozenset(seen), frozenset(pushes)

    def _records(self, population: BundlePopulation) -> Iterator[dict[str, Any]]:
        if self.bundle is None:
            return
        with held_for_reading(self.bundle), opened_member(self.bundle, population.file) as lines:
            try:
                yield from map(decode_line, lines)
            except BundleError as error:
                raise error.at(population.file).inside(self.bundle) from None


def _instance_id(line: bytes, place: str) -> str:
    try:
        return instance_id_of(decode(line))
    except (JsonError, KeyError, AttributeError, TypeError):
        raise ComparisonError(f"{place}: expected a row with an instance_id, got something else") from None


def open_side(path: Path, bundles: Iterable[Path]) -> GenerationSide:
    """Find a generation's record, and its bundle by digest: in its own export root, or among ``bundles``.

    :raises RecordError: when it is not complete.
    :raises ComparisonError: when it holds no rows.
    """
    marker = completion_file(path)
    if marker is not None and marker.name == MANIFEST:
        raise ComparisonError(f"{path}: expected rows of a target, got a derived bundle")
    record = read_record(path)
    own = find_in(path.parent.parent.parent / ROLLOUTS_KIND / path.parent.name, ROLLOUTS_KIND)
    found = [one for one in chain(own, map(look_at, bundles)) if one.bundle_digest == record.bundle_digest]
    is_known = record.bundle_digest is not None and found
    return GenerationSide(path, record, found[-1].path if is_known else None)
