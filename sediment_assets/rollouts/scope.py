"""Cohort scope: which finished Rollouts a run keeps (derivation.md §12).

Scope selects; it never changes what is derived. A Rollout is kept whole, Turns outside the window included.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sediment_assets.derive.fact_reader import StoredCall
from sediment_assets.derive.tally import ScopeExclusion
from sediment_assets.errors import SedimentError
from sediment_assets.facts.text import strip


class ScopeError(SedimentError):
    """A cohort scope that cannot be used."""


@dataclass(frozen=True, slots=True)
class CohortScope:
    """``since`` (inclusive) and ``until`` (exclusive) bound a call's ``observed_at``; ``users`` are user ids."""

    since: datetime | None = None
    until: datetime | None = None
    users: tuple[str, ...] | None = None

    @classmethod
    def build(
        cls, since: datetime | None = None, until: datetime | None = None, users: Iterable[str] | None = None
    ) -> "CohortScope":
        """Check and normalise: users trimmed, distinct, sorted.

        :raises ScopeError: when ``since`` is not before ``until``, or ``users`` is empty or holds a blank.
        """
        if since is not None and until is not None and since >= until:
            raise ScopeError(f"--since: expected an instant before --until ({until}), got {since}")
        if users is None:
            return cls(since, until)
        trimmed = {strip(user) for user in users}
        if not trimmed or "" in trimmed:
            raise ScopeError("--users: expected at least one user id and no blank ones")
        return cls(since, until, tuple(sorted(trimmed)))

    def exclusion(self, calls: Sequence[StoredCall]) -> ScopeExclusion | None:
        """Return why a Session lies outside the scope, or None when it is kept."""
        if self.users is not None:
            listed = [call.user_id in self.users for call in calls]
            if not any(listed):
                return ScopeExclusion.USER
            if not all(listed):
                return ScopeExclusion.MIXED_USER
        return None if any(map(self._in_window, calls)) else ScopeExclusion.TIME

    def _in_window(self, call: StoredCall) -> bool:
        return (self.since is None or self.since <= call.observed_at) and (
            self.until is None or call.observed_at < self.until
        )


WHOLE_ORGANIZATION = CohortScope()
