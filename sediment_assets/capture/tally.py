"""What a run has to say about the records that gave no Fact: a count per reason, and the first surprises by place."""

from collections import Counter
from typing import Final

from sediment_assets.capture.contract import Remainder, Untranslated

SHOWN: Final = 20
"""Unexpected records that are listed one by one; the others are only counted."""


class Tally:
    """Counts of one run."""

    def __init__(self) -> None:
        self.remainders: Counter[Remainder] = Counter()
        self.unexpected: list[str] = []
        """The first unexpected ones, as ``place: reason: detail``."""

    def add(self, item: Untranslated) -> None:
        """Count a record, or a part of one, that gave no Fact."""
        self.remainders[item.reason] += 1
        if not item.reason.is_expected and len(self.unexpected) < SHOWN:
            self.unexpected.append(f"{item.place}: {item.reason}: {item.detail}")

    @property
    def unexpected_count(self) -> int:
        """How many good files would not hold."""
        return sum(count for reason, count in self.remainders.items() if not reason.is_expected)

    def unexpected_lines(self) -> list[str]:
        """List the first unexpected ones, and how many more there are."""
        more = self.unexpected_count - len(self.unexpected)
        return self.unexpected + ([f"… and {more} more"] if more else [])
