"""Train or eval by the session_id alone (derivation.md §10.1)."""

import pytest

from sediment_assets.derive.split import Split, split_of, split_score


@pytest.mark.parametrize(
    ("session_id", "score", "side"),
    [
        ("s1", 0.9091199777348566, Split.TRAIN),
        ("s7", 0.07743167449000318, Split.EVAL),
        ("s8", 0.11217328799224785, Split.TRAIN),
        ("é", 0.2914021905164211, Split.TRAIN),
        ("5e3c2f7a-0b1d-4c6e-9f00-112233445566", 0.21622989252251754, Split.TRAIN),
    ],
)
def test_score_and_side_at_the_default_fraction(session_id: str, score: float, side: Split) -> None:
    assert split_score(session_id) == score
    assert split_of(session_id, 0.1) is side


def test_fraction_zero_sends_every_session_to_train() -> None:
    assert split_of("s7", 0.0) is Split.TRAIN


def test_a_score_equal_to_the_fraction_is_train() -> None:
    assert split_of("s7", split_score("s7")) is Split.TRAIN
