"""Train or eval, decided by the session_id alone (derivation.md §10.1)."""

from enum import StrEnum
from hashlib import sha256


class Split(StrEnum):
    """The two sides; a Session is on exactly one."""

    TRAIN = "train"
    EVAL = "eval"


def split_score(session_id: str) -> float:
    """Map a session_id to [0, 1): the first 8 bytes of its SHA-256, big-endian, over 2^64."""
    return int.from_bytes(sha256(session_id.encode()).digest()[:8], "big") / 2**64


def split_of(session_id: str, eval_fraction: float) -> Split:
    """``eval`` when the score is below ``eval_fraction`` (0 to 0.5), else ``train``. No seed."""
    return Split.EVAL if split_score(session_id) < eval_fraction else Split.TRAIN
