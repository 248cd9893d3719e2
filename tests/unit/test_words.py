"""Counts are spelled with their nouns."""

import pytest

from sediment_assets.words import quantity


@pytest.mark.parametrize(
    ("count", "noun", "spelled"),
    [(0, "file", "0 files"), (1, "file", "1 file"), (2, "other file", "2 other files"), (3, "Push", "3 Pushes")],
)
def test_a_count_is_spelled_with_its_noun(count: int, noun: str, spelled: str):
    assert quantity(count, noun) == spelled
