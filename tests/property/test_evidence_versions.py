"""A day's evidence version changes with its Rollouts: never less, and hardly more, over random organizations."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.derive.fact_reader import SessionWindow
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.rollouts.evidence_versions import (
    NO_EVIDENCE,
    DayVersions,
    EvidenceKind,
    day_of,
    evidence_version,
    session_parts,
)
from sediment_assets.rollouts.models import Rollout
from tests.profiles import examples
from tests.property.strategies import BASE, Population, populations, written_populations

derivations = settings(max_examples=examples(40), deadline=None)


def derived(population: Population, facts: Any = None) -> tuple[dict[str, str], dict[str, str]]:
    """Rollouts without the quarantine revision, and evidence versions, each by day."""
    reader = population.reader(facts)
    derivation = Derivation(reader, population.mirrors, population.policy)
    began = dict(reader.first_calls())
    rollouts: dict[str, list[Rollout]] = {}
    for rollout in derivation.rollouts():
        day = day_of(began[rollout.session_id]).isoformat()
        stamped = replace(rollout, provenance=rollout.provenance.model_copy(update={"quarantine_revision": 0}))
        rollouts.setdefault(day, []).append(stamped)
    versions = DayVersions()
    for session, parts in session_parts(reader, population.mirrors, derivation.evidence):
        versions.add(session, parts)
    return (
        {day: repr(found) for day, found in rollouts.items()},
        {day.isoformat(): evidence_version(found) for day, found in versions.days().items()},
    )


def check(population: Population, facts: list[Any]) -> None:
    rollouts, versions = derived(population)
    others, other_versions = derived(population, facts)
    assert set(rollouts) == set(versions)
    for day in {*rollouts, *others}:
        if rollouts.get(day) != others.get(day):
            assert versions.get(day, NO_EVIDENCE) != other_versions.get(day, NO_EVIDENCE)


@derivations
@given(data=st.data(), population=populations())
def test_no_fact_changes_a_rollout_without_its_days_version(data: st.DataObject, population: Population) -> None:
    kept = data.draw(st.lists(st.sampled_from(population.facts), unique_by=id) if population.facts else st.just([]))
    check(population, kept)


@derivations
@given(data=st.data(), population=written_populations)
def test_no_push_or_similar_text_either(data: st.DataObject, population: Population) -> None:
    dropped = data.draw(st.integers(0, max(0, len(population.facts) - 1)))
    check(population, [fact for number, fact in enumerate(population.facts) if number != dropped])


@derivations
@given(population=populations())
def test_no_mirror_or_note_either(population: Population) -> None:
    rollouts, versions = derived(population)
    for changed in (replace(population, mirrored=[]), replace(population, notes=[])):
        others, other_versions = derived(changed)
        for day in {*rollouts, *others}:
            if rollouts.get(day) != others.get(day):
                assert versions[day] != other_versions[day]


@derivations
@given(population=populations())
def test_the_versions_of_a_day_alone_are_those_of_the_whole(population: Population) -> None:
    reader = population.reader()
    evidence = Derivation(reader, population.mirrors, population.policy).evidence
    whole = DayVersions()
    for session, parts in session_parts(reader, population.mirrors, evidence):
        whole.add(session, parts)
        assert set(parts) == set(EvidenceKind)
    for day, found in whole.days().items():
        start = BASE.replace(year=day.year, month=day.month, day=day.day, hour=0, minute=0, second=0, microsecond=0)
        alone = DayVersions()
        window = SessionWindow(start, start.replace(hour=23, minute=59, second=59, microsecond=999999))
        for session, parts in session_parts(reader, population.mirrors, evidence, window):
            alone.add(session, parts)
        assert alone.days() == {day: found}
