"""Tokens, their score, and the best candidate (derivation.md §9)."""

from datetime import UTC, datetime

import pytest

from sediment_assets.derive.similarity import Candidate, best_candidate, jaccard_score, tokens

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0x1F", {"0", "x1f"}),
        ("3px", {"3", "px"}),
        ("12.5e3", {"12", "5", "e3"}),
        ("naïve", {"na", "ve"}),
        ("1_000", {"1", "_000"}),
        ("_ __", {"_", "__"}),
        ("", set()),
    ],
)
def test_tokens_are_ascii_words_and_digit_runs(text: str, expected: set[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("left", "right", "score"),
    [
        ("return a b", "def add a b return", 0.6),
        ("", "", 0.0),
        ("a b c d e f g", "a b c d e f g h i j", 0.7),
    ],
)
def test_score_is_shared_over_all_tokens(left: str, right: str, score: float) -> None:
    assert jaccard_score(tokens(left), tokens(right)) == score


def candidate(name: str, text: str, minute: int = 0) -> Candidate:
    return Candidate(NOON.replace(minute=minute), name, f"session-{name}", tokens(text))


def winner(floor: float, *candidates: Candidate) -> str | None:
    best = best_candidate(tokens("a b c d"), candidates, floor)
    return best and best.inference_call_id


def test_highest_score_wins_whatever_the_order() -> None:
    worse, better = candidate("worse", "a b c"), candidate("better", "a b c d")
    assert winner(0.5, worse, better) == winner(0.5, better, worse) == "better"


def test_ties_go_to_the_earliest_then_to_the_smallest_id() -> None:
    late, early = candidate("a", "a b c d", minute=1), candidate("b", "a b c d")
    assert winner(0.5, late, early) == winner(0.5, early, late) == "b"
    assert winner(0.5, candidate("y", "a b c d"), candidate("x", "a b c d")) == "x"


def test_a_score_at_the_floor_is_enough_and_below_is_not() -> None:
    assert winner(0.75, candidate("c", "a b c")) == "c"
    assert winner(0.76, candidate("c", "a b c")) is None


def test_a_floor_of_zero_still_needs_overlap() -> None:
    assert winner(0, candidate("c", "x y")) is None
