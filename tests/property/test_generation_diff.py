"""Properties of comparing generations: nothing differs from itself, and every row is counted exactly once."""

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from sediment_assets.lineage.causes import Between, Cause, SessionFacts
from sediment_assets.lineage.diff import Sides, causes_of, changed_fields, compare, differs_in_stamps_only
from sediment_assets.rollouts.models import AttributionSource

KEYS = st.text(st.characters(codec="utf-8"), max_size=3)
POPULATIONS = st.dictionaries(KEYS, st.integers(0, 3), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
FLAT = st.dictionaries(KEYS | st.sampled_from(["provenance", "instance_id"]), VALUES, max_size=5)
NESTED = st.builds(lambda row, about: {**row, "metadata": about}, FLAT, FLAT)
ROWS = FLAT | NESTED
"""Rows of either layout: all of Sediment's own, or the consumer's fields and ``metadata``."""
IDS = st.frozensets(st.sampled_from("abcd"))


@st.composite
def session_facts(draw: st.DrawFn) -> SessionFacts:
    commits = tuple(draw(st.lists(st.tuples(st.sampled_from(["r1", "r2"]), st.sampled_from("xyz")), max_size=3)))
    return SessionFacts(
        calls=draw(IDS),
        decisions=draw(IDS),
        observations=draw(IDS),
        outcomes={one: ("r1", draw(st.sampled_from("xyz"))) for one in draw(IDS)},
        commits=commits,
        labels={repository: f"acme/{repository}" for repository, _ in commits},
        source=draw(st.sampled_from(AttributionSource)),
    )


LOGS = st.dictionaries(
    st.tuples(st.sampled_from(FactTable), st.sampled_from("abcd")), st.sampled_from(QuarantineAction)
)
BETWEEN = st.builds(
    Between,
    policy_changed=st.booleans(),
    program_changed=st.booleans(),
    revision_changed=st.booleans(),
    mirrors_changed=st.booleans(),
    mirrors_came_or_went=st.frozensets(st.sampled_from(["r1", "r2"])),
    refs_changed=st.frozensets(st.sampled_from(["r1", "r2"])),
    notes_changed=st.frozensets(st.sampled_from(["r1", "r2"])),
    new_pushes=st.booleans(),
    new_renames=st.booleans(),
    same_bundle=st.booleans(),
    conflicts_grew=st.booleans(),
    quarantine=st.none()
    | st.dictionaries(
        st.tuples(st.sampled_from(FactTable), st.sampled_from("abcd")), st.sampled_from(QuarantineAction)
    ),
    seen=st.none() | st.tuples(IDS, IDS),
)


@given(POPULATIONS, POPULATIONS)
def test_every_key_is_in_exactly_one_class(before: Mapping[str, int], after: Mapping[str, int]):
    found = compare(before, after)
    classes = [*found.added, *found.removed, *found.changed]
    assert len(classes) == len(set(classes))
    same = {key for key in before if key in after and before[key] == after[key]}
    assert {*classes} | same == {*before, *after}
    assert not {*classes} & same
    assert found.same == len(same)


@given(POPULATIONS)
def test_nothing_differs_from_itself(rows: Mapping[str, int]):
    found = compare(rows, rows)
    assert (found.added, found.removed, found.changed, found.same) == ((), (), (), len(rows))


@given(POPULATIONS, POPULATIONS)
def test_the_other_way_round_added_is_removed(before: Mapping[str, int], after: Mapping[str, int]):
    there, back = compare(before, after), compare(after, before)
    assert set(there.added) == set(back.removed)
    assert set(there.changed) == set(back.changed)
    assert there.same == back.same


@given(st.tuples(FLAT, FLAT) | st.tuples(NESTED, NESTED))
def test_rows_have_changed_fields_exactly_when_they_differ(pair):
    before, after = pair
    assert bool(changed_fields(before, after)) == (before != after)
    assert differs_in_stamps_only(before, before)


@given(st.none() | ROWS, st.none() | ROWS, st.none() | session_facts(), st.none() | session_facts(), BETWEEN, IDS)
def test_a_row_always_has_a_cause_and_unknown_stands_alone(before, after, old, new, between: Between, calls):
    sides = Sides((before, after), old is not None or new is not None, (old, new), (calls, frozenset()))
    causes = [found.cause for found in causes_of(sides, between)]
    assert causes
    assert Cause.UNKNOWN not in causes or causes == [Cause.UNKNOWN]


@given(session_facts(), BETWEEN)
def test_equal_evidence_proves_no_change_of_facts(facts: SessionFacts, between: Between):
    sides = Sides(({"a": 1}, {"a": 2}), True, (facts, facts))
    causes = {found.cause for found in causes_of(sides, between)}
    assert causes <= {Cause.POLICY, Cause.PROGRAM, Cause.UNKNOWN}
