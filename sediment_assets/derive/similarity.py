"""Token sets, their Jaccard score, and the best candidate for a file (derivation.md §9)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

_TOKEN: Final = re.compile(r"[a-z_][a-z0-9_]*|[0-9]+")
_LOWER_OR_SPACE: Final = bytes(
    ord(char.lower()) if char.isascii() and (char.isalnum() or char == "_") else ord(" ")
    for char in map(chr, range(256))
)


def tokens(text: str) -> frozenset[str]:
    """Return the lower-cased ASCII words and digit runs of a text; everything else separates."""
    # In bulk and in C: three times as fast as the pattern alone.
    words = set(text.encode("utf-8", "surrogatepass").translate(_LOWER_OR_SPACE).decode("ascii").split())
    # A digit ends a token only when a letter follows: "3px" is two, "x3" is one.
    glued = [word for word in words if word < ":" and not word.isdigit()]
    words.difference_update(glued)
    for word in glued:
        words.update(_TOKEN.findall(word))
    return frozenset(words)


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
    size = len(file_tokens)
    for candidate in candidates:
        other = len(candidate.tokens)
        smaller, larger = (size, other) if size < other else (other, size)
        # No score exceeds the ratio of the sizes, nor does rounding turn that around: so most need not be computed.
        if not smaller or smaller / larger < floor or smaller / larger < best_score:
            continue
        score = jaccard_score(file_tokens, candidate.tokens)
        if score <= 0 or score < floor or score < best_score:
            continue
        if best is None or score > best_score or _earlier(candidate, best):
            best, best_score = candidate, score
    return best


def _earlier(candidate: Candidate, other: Candidate) -> bool:
    return (candidate.observed_at, candidate.inference_call_id) < (other.observed_at, other.inference_call_id)
