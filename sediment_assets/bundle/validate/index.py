"""The memory of a validation: what a rule must know of rows other than the one at hand.

A port, because a bundle has more rows than memory should hold; ``adapters/bundle_index.py`` keeps them on disk.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Protocol

from sediment_assets.derive.fact_reader import StoredCall


class Known(StrEnum):
    """Kinds of keys that are remembered once, each with one content."""

    IDENTITY = "identity"
    EVIDENCE = "evidence"
    RENAME = "rename"
    ROLLOUT = "rollout"
    COMPLETION = "completion"
    OUTCOME = "outcome"
    OBSERVATION = "observation"
    ROLLOUT_DECISION = "rollout decision"
    COMPLETION_DECISION = "completion decision"
    REFERENCE = "reference"
    """inference_call_ids that an artifact row names."""


class Group(StrEnum):
    """Kinds of groups that rows are gathered under, by a key they share."""

    SESSION = "session"
    """session_id to the inference_call_ids of its identities."""
    ALIAS = "alias"
    """Call alias to the inference_call_ids that have it."""
    ROLLOUT_LINE = "rollout line"
    """session_id to the lines of its Rollouts."""
    CI_RUN = "CI run"
    """Run key to its CI outcomes."""
    DECISION = "decision"
    """Call alias to the decisions on it that Attributed completions carry."""


class RowIndex(Protocol):
    """Remembers keys, groups and calls of one bundle; all order is by code point."""

    def remember(self, kind: Known, key: str, content: str) -> str | None:
        """Remember a new key; of a known one return the content it was first remembered with."""
        ...

    def recall(self, kind: Known, key: str) -> str | None:
        """Return the content of a key, None when it is unknown."""
        ...

    def gather(self, kind: Group, key: str, content: str) -> None:
        """Add one content to a group."""
        ...

    def group(self, kind: Group, key: str) -> Sequence[str]:
        """Return the contents of a group in the order they were added."""
        ...

    def groups(self, kind: Group) -> Iterator[tuple[str, Sequence[str]]]:
        """Yield every group of a kind by ascending key, one at a time in memory."""
        ...

    def add_call(self, call: StoredCall, line: int) -> bool:
        """Keep a call; False when one with its id is there already."""
        ...

    def call_session(self, inference_call_id: str) -> str | None:
        """Return the session_id of a kept call; None when no call with this id was kept."""
        ...

    def session_calls(self, session_id: str) -> Sequence[StoredCall]:
        """Return a Session's calls by (observed_at, inference_call_id)."""
        ...

    def unreferenced_call(self) -> tuple[str, int] | None:
        """Return id and line of the first call that is no known ``REFERENCE``."""
        ...
