"""Visibility: the record with the highest revision decides (facts.md §8)."""

import pytest

from sediment_assets.facts.quarantine import hidden_facts, quarantine_revision
from sediment_assets.facts.vocabulary import FactTable
from tests.builders import make_quarantine

HIDE = make_quarantine(action="quarantine", recorded_at="2026-03-02T09:00:00Z")
SHOW = make_quarantine(action="release", recorded_at="2020-01-01T00:00:00Z")
CALL = ("acme", FactTable.INFERENCE_CALLS, "c1")


@pytest.mark.parametrize(
    ("records", "hidden"),
    [
        ([], set()),
        ([(1, HIDE)], {CALL}),
        ([(1, SHOW)], set()),
        ([(1, HIDE), (2, SHOW)], set()),
        ([(2, SHOW), (1, HIDE)], set()),
        ([(1, SHOW), (2, HIDE)], {CALL}),
        ([(1, HIDE), (2, SHOW), (3, HIDE)], {CALL}),
        ([(1, HIDE), (2, make_quarantine(action="release", org_id="other"))], {CALL}),
        ([(1, HIDE), (2, make_quarantine(action="release", fact_table="pushes"))], {CALL}),
        ([(1, HIDE), (2, make_quarantine(action="release", fact_id="c2"))], {CALL}),
    ],
)
def test_latest_revision_decides_whatever_the_recorded_time(records, hidden):
    assert hidden_facts(records) == hidden


def test_revision_of_an_organization_is_its_largest_releases_and_ghosts_included():
    records = [(7, SHOW), (3, HIDE), (9, make_quarantine(org_id="other")), (5, make_quarantine(fact_id="ghost"))]
    assert quarantine_revision(records, "acme") == 7
    assert quarantine_revision(records, "other") == 9
    assert quarantine_revision(records, "nobody") == 0
