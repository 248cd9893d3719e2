"""What a run has to say about the records that gave no Fact: a count per reason, and the first surprises by place."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.words import quantity

SHOWN: Final = 20
"""Unexpected records that are listed one by one; the others are only counted."""
SHOWN_FILES: Final = 10
"""Files of which some are listed, when there are several."""

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
        self._by_file: dict[str, list[str]] = {}
        """The first unexpected ones of each file that is shown, without its name."""
        self._in_file: Counter[str] = Counter()

    def add(self, item: Untranslated) -> None:
        """Count a record, or a part of one, that gave no Fact."""
        self.remainders[item.reason] += 1
        if item.reason in _BY_KIND:
            kinds = self.kinds.setdefault(item.reason, Counter())
            if item.detail in kinds or len(kinds) < _KINDS:
                kinds[item.detail] += 1
        if not item.reason.is_expected:
            self._add_unexpected(item)

    def _add_unexpected(self, item: Untranslated) -> None:
        if len(self.unexpected) < SHOWN:
            self.unexpected.append(f"{item.place}: {item.reason}: {item.detail}")
        file, part = _split(item.place)
        self._in_file[file] += 1
        if file in self._by_file or len(self._by_file) < SHOWN_FILES:
            listed = self._by_file.setdefault(file, [])
            if len(listed) < SHOWN // 2:
                listed.append(f"{part}{item.reason}: {item.detail}")

    @property
    def unexpected_count(self) -> int:
        """How many good files would not hold."""
        return sum(count for reason, count in self.remainders.items() if not reason.is_expected)

    def unexpected_lines(self) -> list[str]:
        """List the first unexpected ones, and how many more there are; by file, if they are of several."""
        if len(self._in_file) > 1:
            return list(self._lines_by_file())
        more = self.unexpected_count - len(self.unexpected)
        return self.unexpected + ([f"… and {more} more"] if more else [])

    def _lines_by_file(self) -> Iterator[str]:
        each = SHOWN // len(self._by_file)
        for file, listed in self._by_file.items():
            yield f"{file}: {self._in_file[file]}"
            yield from (f"  {line}" for line in listed[:each])
            if (more := self._in_file[file] - each) > 0:
                yield f"  … and {more} more"
        if files := len(self._in_file) - len(self._by_file):
            rest = self.unexpected_count - sum(self._in_file[file] for file in self._by_file)
            yield f"… and {rest} more in {quantity(files, 'other file')}"

    def described(self, reason: Remainder) -> list[str]:
        """Say which kinds of records are behind an expected reason, the most frequent first; else that it is not."""
        kinds = self.kinds.get(reason, Counter())
        shown = sorted(kinds.items(), key=lambda entry: (-entry[1], entry[0]))[:SHOWN_KINDS]
        more = self.remainders[reason] - sum(count for _, count in shown) if shown else 0
        named = [f"{count} {kind}" for kind, count in shown] + ([f"{more} others"] if more else [])
        return named if reason.is_expected else ["unexpected"]


_BY_KIND: Final = frozenset({Remainder.NO_EVIDENCE, Remainder.NOT_TERMINAL, Remainder.UNSUPPORTED_FORGE})
"""Details of other reasons name places, and are as many as their records."""
_PLACE: Final = re.compile(r"(.+)([:#])(\d+.*)", re.DOTALL)
_KINDS_OF_PLACES: Final = {":": "line", "#": "record"}


def _split(place: str) -> tuple[str, str]:
    """Split a place into its file and ``line 3: ``; nothing of the latter where a file is one record."""
    match = _PLACE.fullmatch(place)
    return (match[1], f"{_KINDS_OF_PLACES[match[2]]} {match[3]}: ") if match else (place, "")
