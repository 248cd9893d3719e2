"""What a summary says of records that gave no Fact."""

from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.capture.tally import SHOWN, SHOWN_FILES, SHOWN_KINDS, Tally


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


def told(*places: str) -> list[str]:
    tally = Tally()
    for place in places:
        tally.add(Untranslated(place, Remainder.NO_SESSION, "none"))
    return tally.unexpected_lines()


def test_those_of_one_file_are_listed_flat_and_the_others_counted() -> None:
    lines = told(*(f"a.jsonl:{number}" for number in range(SHOWN + 3)))
    assert lines[0] == "a.jsonl:0: no_session: none"
    assert (len(lines), lines[-1]) == (SHOWN + 1, "… and 3 more")


def test_those_of_several_files_are_listed_by_file_and_no_file_crowds_out_another() -> None:
    lines = told(*(f"a:b.jsonl:{number}" for number in range(1, 50)), "c.json#2.interactions[0]", "c.json#4", "d.yaml")
    assert lines[:2] == ["a:b.jsonl: 49", "  line 1: no_session: none"]
    assert lines[6:] == [
        "  line 6: no_session: none",
        "  … and 43 more",
        "c.json: 2",
        "  record 2.interactions[0]: no_session: none",
        "  record 4: no_session: none",
        "d.yaml: 1",
        "  no_session: none",
    ]


def test_of_many_files_the_first_are_listed_and_the_others_counted() -> None:
    lines = told(*(f"{name}.json:1" for name in range(SHOWN_FILES + 2)), "11.json:2")
    assert lines[-3:] == ["9.json: 1", "  line 1: no_session: none", "… and 3 more in 2 other files"]
    assert len(lines) == 2 * SHOWN_FILES + 1
