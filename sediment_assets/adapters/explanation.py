"""Explaining one Session from its Facts and mirrors, and finding its rows in published generations.

The derivation and the projection run as for an export, over the organization's whole evidence, restricted to the
Session; nothing is decided here. Read-only.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sediment_assets.adapters.evidence import open_evidence
from sediment_assets.adapters.fact_store.engine import reading_engine
from sediment_assets.adapters.fact_store.session_trace import StoredFact, trace_session
from sediment_assets.adapters.generations.catalog import ROLLOUTS_KIND, FoundGeneration, find_in, look_at
from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.derive.fact_reader import FactReader, SessionWindow
from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy
from sediment_assets.facts.json_values import JsonError, decode
from sediment_assets.lineage.answers import declined
from sediment_assets.lineage.chain import SessionChain, build_chain
from sediment_assets.lineage.names import InstanceIdError, instance_id_of, session_of
from sediment_assets.publish.reading import held_for_reading
from sediment_assets.publish.record import read_record
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.targets.registry import Target
from sediment_assets.targets.verification_commands import VerificationCommands


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One row in a complete generation."""

    generation: FoundGeneration
    file: str
    line: int
    instance_id: str
    content: bytes
    """The line without its LF."""
    bundle: Path | None
    """The bundle that the generation rests on, where it is still there."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that is known of one Session. ``chain`` is None when no visible InferenceCall names it."""

    org_id: str
    session_id: str
    as_of: datetime | None
    quarantine_revision: int
    partition: str | None
    """UTC day of its first visible InferenceCall."""
    chain: SessionChain | None
    stored: tuple[StoredFact, ...]
    published: tuple[PublishedRow, ...]


def explain_session(
    org_id: str,
    database_url: str,
    mirror_path: Path,
    session_id: str,
    *,
    commands: VerificationCommands,
    policy: DerivationPolicy = DEFAULT_POLICY,
    root: Path | None = None,
    generations: Iterable[Path] = (),
) -> Explanation:
    """Derive one Session as an export would and say what became of it.

    :param root: export root to look for published rows in.
    :param generations: more generations to look in, of command-line exports say.
    :raises SedimentError: when Facts, mirrors or generations cannot be read.
    """
    with open_evidence(org_id, database_url, mirror_path) as opened:
        first = dict(opened.facts.first_calls()).get(session_id)
        found = _derive(opened.facts, opened.mirrors, policy, session_id, first, commands) if first else None
        revision, as_of = opened.facts.quarantine_revision(), opened.facts.as_of()
    shas = {link.key.commit_sha for link in found.commits} if found is not None else set()
    engine = reading_engine(database_url)
    try:
        stored = trace_session(engine, org_id, session_id, shas)
    finally:
        engine.dispose()
    partition = first.astimezone(UTC).date().isoformat() if first else None
    places = [*_newest_of(root, partition), *map(_named_generation, generations)]
    published = chain.from_iterable(find_rows(place, org_id, session_id) for place in places)
    return Explanation(org_id, session_id, as_of, revision, partition, found, tuple(stored), tuple(published))


class DeclinedSession(NamedTuple):
    """One Session that gave no row, or not all rows, of one population."""

    session_id: str
    target: str
    population: str
    reason: str
    times: int
    """Segments of rollouts, 1 of tasks."""


def list_declined(
    org_id: str,
    database_url: str,
    mirror_path: Path,
    *,
    commands: VerificationCommands,
    policy: DerivationPolicy = DEFAULT_POLICY,
    day: date | None = None,
) -> list[DeclinedSession]:
    """Ask every target about every Session, or those that begin on a UTC day; keep what was declined.

    :raises SedimentError: when Facts or mirrors cannot be read.
    """
    window = None
    if day is not None:
        start = datetime.combine(day, datetime.min.time(), tzinfo=UTC)
        window = SessionWindow(start, start + timedelta(days=1))
    with open_evidence(org_id, database_url, mirror_path) as opened:
        source = Derivation(opened.facts, opened.mirrors, policy, window=window)
        return [
            DeclinedSession(session_id, answer.target.value, answer.population.value, one.reason.value, one.count)
            for session_id, answers in declined(source, opened.mirrors, commands)
            for answer in answers
            for one in answer.declined
        ]


def _derive(
    facts: FactReader,
    mirrors: GitMirrorStore,
    policy: DerivationPolicy,
    session_id: str,
    first: datetime,
    commands: VerificationCommands,
) -> SessionChain | None:
    """Derive the Sessions that begin in the very microsecond; their evidence is the whole organization's."""
    window = SessionWindow(first, first + timedelta(microseconds=1))
    derivation = Derivation(facts, mirrors, policy, window=window)
    rollout = next((one for one in derivation.rollouts() if one.session_id == session_id), None)
    session = next((one for one in facts.sessions(window) if one.session_id == session_id), None)
    if rollout is None or session is None:
        return None
    return build_chain(rollout, session, facts, derivation.evidence, mirrors, commands, policy)


def _named_generation(path: Path) -> FoundGeneration:
    """Look at a generation that the caller named, which must hold rows.

    :raises RecordError: when it is not complete, or no generation of rows.
    """
    read_record(path)
    return look_at(path)


def _newest_of(root: Path | None, partition: str | None) -> Iterator[FoundGeneration]:
    """Yield the newest complete generation of each target for a day."""
    if root is None or partition is None:
        return
    for target in Target:
        complete = [one for one in find_in(root / target.value / partition, target.value) if one.is_complete]
        yield from complete[-1:]


def find_rows(one: FoundGeneration, org_id: str, session_id: str) -> Iterator[PublishedRow]:
    """Yield the rows of a Session in one complete generation.

    :raises RecordError: when the generation cannot be read.
    """
    if one.record is None:
        return
    # Rows are spelled by this program: no space after the colon, and JSON's own escapes.
    start = b'"instance_id":' + json.dumps(f"{org_id}-{session_id}-", ensure_ascii=False).encode()[:-1]
    bundle = _bundle_of(one)
    with held_for_reading(one.path):
        for name, file in one.record.files.items():
            if file.rows is None:
                continue
            with (one.path / name).open("rb") as lines:
                for number, line in enumerate(lines, 1):
                    if start in line and (found := _named(line, org_id, session_id)):
                        yield PublishedRow(one, name, number, found, line.removesuffix(b"\n"), bundle)


def _named(line: bytes, org_id: str, session_id: str) -> str | None:
    """Return the row's instance id when it is of this very Session."""
    try:
        instance_id = instance_id_of(decode(line))
        return instance_id if session_of(instance_id, org_id) == session_id else None
    except (JsonError, InstanceIdError, KeyError):
        return None


def _bundle_of(one: FoundGeneration) -> Path | None:
    """Find the bundle of a generation in the same export root."""
    if one.bundle_digest is None:
        return None
    partition = one.path.parent.parent.parent / ROLLOUTS_KIND / one.partition
    bundles = [found for found in find_in(partition, ROLLOUTS_KIND) if found.bundle_digest == one.bundle_digest]
    return bundles[-1].path if bundles else None
