"""Reasons explain themselves: the members of every closed vocabulary, and the tables made from them."""

import pytest

from sediment_assets.lineage.causes import Cause
from sediment_assets.reasons import Reason
from sediment_assets.rollouts.vocabulary import EXCLUDED, FRAGMENTED, SKIPPED
from sediment_assets.targets.registry import TARGETS
from sediment_assets.targets.skips import SkipUnit, TaskSkip, unit_of, vocabulary

VOCABULARIES = sorted(Reason.__subclasses__(), key=lambda found: found.__name__)
TALLIES = [(target, spec.population) for target, found in TARGETS.items() for spec in found.populations]


@pytest.mark.parametrize("reason", [reason for found in VOCABULARIES for reason in found], ids=str)
def test_a_reason_is_its_text_and_says_what_it_means_in_one_sentence(reason: Reason):
    assert reason == reason.value == str(reason)
    assert type(reason)(reason.value) is reason
    assert reason.meaning.endswith(".")
    assert "\n" not in reason.meaning
    assert "|" not in reason.meaning
    assert reason.unit.endswith("s")


def test_no_reason_stands_twice_in_one_tally():
    for tally in TALLIES:
        assert len(vocabulary(*tally)) == len(set(vocabulary(*tally)))


def test_every_reason_of_a_target_counts_one_of_the_units():
    for target, population in TALLIES:
        for reason in vocabulary(target, population):
            assert unit_of(reason, population) in SkipUnit


def test_derivation_tables_name_every_reason_once():
    others = {TaskSkip.__module__, Cause.__module__}  # skips of rows, and causes of changes between generations
    own = [found for found in VOCABULARIES if found.__module__ not in others]
    assert sorted([*SKIPPED, *FRAGMENTED, *EXCLUDED]) == sorted(reason.value for found in own for reason in found)
