"""What a run has to say about the records that gave no Fact: a count per reason, and the first surprises by place."""

from collections import Counter
from typing import Final

from sediment_assets.capture.contract import Remainder, Untranslated

SHOWN: Final = 20
"""Unexpected records that are listed one by one; the others are only counted."""


SHOWN_KINDS: Final = 5
"""Kinds of expected records that are named per reason, the most frequent first."""
_KINDS: Final = 1000
"""Kinds that are told apart; the others are only counted under their reason."""


class Tally:
    """Counts of one run."""

    def __init__(self) -> None:
        self.remainders: Counter[Remainder] = Counter()
        self.kinds: dict[Remainder, Counter[str]] = {}
        """Expected records by what they are: events, states, forges."""
        self.unexpected: list[str] = []
        """The first unexpected ones, as ``place: reason: detail``."""

    def add(self, item: Untranslated) -> None:
        """Count a record, or a part of one, that gave no Fact."""
        self.remainders[item.reason] += 1
        if item.reason in _BY_KIND:
            kinds = self.kinds.setdefault(item.reason, Counter())
            if item.detail in kinds or len(kinds) < _KINDS:
                kinds[item.detail] += 1
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

    def described(self, reason: Remainder) -> list[str]:
        """Say which kinds of records are behind an expected reason, the most frequent first; else that it is not."""
        kinds = self.kinds.get(reason, Counter())
        shown = sorted(kinds.items(), key=lambda entry: (-entry[1], entry[0]))[:SHOWN_KINDS]
        more = self.remainders[reason] - sum(count for _, count in shown) if shown else 0
        named = [f"{count} {kind}" for kind, count in shown] + ([f"{more} others"] if more else [])
        return named if reason.is_expected else ["unexpected"]


_BY_KIND: Final = frozenset({Remainder.NO_EVIDENCE, Remainder.NOT_TERMINAL, Remainder.UNSUPPORTED_FORGE})
"""Details of other reasons name places, and are as many as their records."""
