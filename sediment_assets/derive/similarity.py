"""Token sets, their Jaccard score, and the best candidate for a file (derivation.md §9)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

_TOKEN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+")


def tokens(text: str) -> frozenset[str]:
    """Return the lower-cased ASCII words and digit runs of a text; everything else separates."""
    return frozenset(token.lower() for token in _TOKEN.findall(text))


def jaccard_score(left: frozenset[str], right: frozenset[str]) -> float:
    """Return |A∩B| / |A∪B|, 0 when both are empty."""
    shared = len(left & right)
    return shared / (len(left) + len(right) - shared) if shared else 0.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """One call that could have written a file: when, whose, and the tokens of its scoring text."""

    observed_at: datetime
    inference_call_id: str
    session_id: str
    tokens: frozenset[str]


def best_candidate(file_tokens: frozenset[str], candidates: Iterable[Candidate], floor: float) -> Candidate | None:
    """Return the candidate with the highest score of at least ``floor`` and above 0.

    Ties go to the earliest ``observed_at``, then the smallest ``inference_call_id``.
    """
    best: Candidate | None = None
    best_score = 0.0
    for candidate in candidates:
        score = jaccard_score(file_tokens, candidate.tokens)
        if score <= 0 or score < floor or score < best_score:
            continue
        if best is None or score > best_score or _earlier(candidate, best):
            best, best_score = candidate, score
    return best


def _earlier(candidate: Candidate, other: Candidate) -> bool:
    return (candidate.observed_at, candidate.inference_call_id) < (other.observed_at, other.inference_call_id)
