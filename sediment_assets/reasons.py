"""Closed vocabularies that explain themselves: what a counted reason counts, and what it means.

The base of every enum of reasons. Tables in the graph and the reference page say what the members say; the members
themselves stay beside the rule that gives them.
"""

from enum import StrEnum
from typing import Self


class Reason(StrEnum):
    """A reason under which something is counted. Counts of different reasons are never summed: units differ."""

    unit: str
    """What one count counts, in the plural."""
    meaning: str
    """One sentence for a person who reads a count."""

    def __new__(cls, value: str, unit: str, meaning: str) -> Self:
        """Make the member ``value``; it equals its text."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.unit = unit
        member.meaning = meaning
        return member
