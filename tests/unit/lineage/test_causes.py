"""Causes are a closed vocabulary, and the page that explains them lists exactly these."""

import re
from pathlib import Path

import pytest

from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from sediment_assets.lineage.causes import Between, Cause
from sediment_assets.lineage.diff import Sides, causes_of

PAGE = Path(__file__).parents[3] / "docs" / "generations.md"
CALLS, DECISIONS = FactTable.INFERENCE_CALLS, FactTable.DEVELOPER_DECISIONS


def test_the_page_explains_every_cause_and_no_other():
    table = PAGE.read_text().partition("| cause | what proves it |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [cause.value for cause in Cause]


class TestWhatProvesThatAFactArrived:
    def test_an_equal_revision(self):
        assert Between().arrived(CALLS, {"c1"}) == ["c1"]

    def test_a_log_that_does_not_release_it(self):
        log = {(CALLS, "c2"): QuarantineAction.RELEASE}
        between = Between(revision_changed=True, quarantine=log)
        assert between.arrived(CALLS, {"c1", "c2"}) == ["c1"]
        assert between.released(CALLS, {"c1", "c2"}) == ["c2"]

    def test_nothing_without_the_log_when_the_revision_differs(self):
        assert Between(revision_changed=True).arrived(CALLS, {"c1"}) == []

    def test_not_when_it_was_visible_before(self):
        assert Between(seen=(frozenset({"c1"}), frozenset({"c1"}))).arrived(CALLS, {"c1"}) == []


class TestWhatProvesThatAFactWasQuarantined:
    def test_a_bundle_that_does_not_name_it_any_more(self):
        between = Between(revision_changed=True, seen=(frozenset({"c1", "c2"}), frozenset({"c2"})))
        assert between.hidden(CALLS, {"c1", "c2"}) == ["c1"]

    def test_the_log_for_what_bundles_do_not_name(self):
        log = {(DECISIONS, "d1"): QuarantineAction.QUARANTINE}
        between = Between(revision_changed=True, quarantine=log, seen=(frozenset({"d1"}), frozenset()))
        assert between.hidden(DECISIONS, {"d1", "d2"}) == ["d1"]


@pytest.mark.parametrize(
    ("mirrors_changed", "cause"),
    [(False, Cause.PROGRAM), (True, Cause.UNKNOWN)],
    ids=["mirrors same", "mirrors differ"],
)
def test_the_program_is_the_cause_only_when_nothing_else_can_be(mirrors_changed: bool, cause: Cause):
    between = Between(same_bundle=True, program_changed=True, mirrors_changed=mirrors_changed)
    sides = Sides(({"problem_statement": "a"}, {"problem_statement": "b"}), bundles_at_hand=False)
    assert [found.cause for found in causes_of(sides, between)] == [cause]


def test_a_policy_that_changes_nothing_but_its_digest_says_so():
    rows = tuple({"provenance": {"policy_digest": digest, "quarantine_revision": 1}} for digest in "ab")
    (found,) = causes_of(Sides((rows[0], rows[1]), bundles_at_hand=True), Between(policy_changed=True))
    assert (found.cause, found.detail) == (Cause.POLICY, "only the digest in the provenance")
