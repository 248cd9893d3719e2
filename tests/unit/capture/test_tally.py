"""What a summary says of records that gave no Fact."""

from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.capture.tally import SHOWN_KINDS, Tally


def test_expected_records_are_told_by_kind_and_the_most_frequent_come_first() -> None:
    tally = Tally()
    for number in range(SHOWN_KINDS + 2):
        for _ in range(number + 1):
            tally.add(Untranslated("in:1", Remainder.NO_EVIDENCE, f"event {number}"))
    described = tally.described(Remainder.NO_EVIDENCE)
    assert described == ["7 event 6", "6 event 5", "5 event 4", "4 event 3", "3 event 2", "3 others"]
    assert sum(int(line.split()[0]) for line in described) == tally.remainders[Remainder.NO_EVIDENCE]


def test_repetitions_are_only_counted_since_each_names_its_place() -> None:
    tally = Tally()
    tally.add(Untranslated("in:2", Remainder.REPEATED, "the same as in:1"))
    assert tally.described(Remainder.REPEATED) == []


def test_unexpected_records_are_called_so_and_listed_by_place() -> None:
    tally = Tally()
    tally.add(Untranslated("in:2", Remainder.NO_COMMIT, "head_sha: expected a whole commit id, got none"))
    assert tally.described(Remainder.NO_COMMIT) == ["unexpected"]
    assert tally.unexpected_lines() == ["in:2: no_commit: head_sha: expected a whole commit id, got none"]
