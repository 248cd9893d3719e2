"""Why a row differs between two generations: the closed causes, and the evidence from which one is proven.

A cause is named only when the evidence proves it; otherwise it is ``unknown``. A row is a function of its Rollout, the
repository identities, the mirrors' objects, the operator's commands, the policies and the program, so what none of the
others can explain is left for the last that differs.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from sediment_assets.facts.vocabulary import FactTable, QuarantineAction
from sediment_assets.reasons import Reason
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, key_text
from sediment_assets.rollouts.models import AttributionSource, CommitRef, Rollout


class Cause(Reason):
    """Why a row was added, removed or changed. A row may have several."""

    NEW_SESSION = "new_session", "rows", "The Session was captured since."
    SESSION_CALLS = "session_calls", "rows", "Calls of the Session arrived, or it begins on another day now."
    DECISIONS = "decisions", "rows", "Decisions of the developer arrived."
    CI = "new_ci_attempt", "rows", "CI outcomes of the Session's commits arrived: another attempt or run."
    BINDING = "binding", "rows", "A Git note or a SessionCommitObservation binds the Session to other commits."
    PUSH = "push", "rows", "A Push arrived, and similar text is found in other commits."
    QUARANTINE = "quarantine", "rows", "A Fact of the Session was quarantined or released."
    QUARANTINE_REVISION = (
        "quarantine_revision",
        "rows",
        "Nothing but the quarantine revision in its provenance: Facts of others were quarantined or released.",
    )
    POLICY = "policy", "rows", "The derivation policy or the CI policy changed."
    REPOSITORY = "repository", "rows", "A rename or other evidence changed a repository's label or identity."
    MIRROR = "mirror", "rows", "The mirror of its repository appeared, vanished or holds other commits."
    COMMANDS = "verifier_commands", "rows", "The operator's verification commands changed."
    PROGRAM = "program_version", "rows", "The program changed, and nothing else explains the row."
    UNKNOWN = "unknown", "rows", "The evidence that is left does not prove a cause."


class Found(NamedTuple):
    """One cause with what proves it, for a person."""

    cause: Cause
    detail: str


@dataclass(frozen=True, slots=True)
class SessionFacts:
    """What a Rollout rests on, by ids. Commits are (repository, sha), repositories as ``mirror_revisions`` has them."""

    calls: frozenset[str]
    decisions: frozenset[str]
    observations: frozenset[str]
    outcomes: Mapping[str, tuple[str, str]]
    """Outcome id to its commit, by label and sha."""
    commits: tuple[tuple[str, str], ...]
    labels: Mapping[str, str]
    """Repository to its label."""
    source: AttributionSource

    @classmethod
    def of(cls, rollout: Rollout) -> "SessionFacts":
        """Take the ids of a Rollout."""
        turns = [turn for segment in rollout.segments for turn in segment]
        return cls(
            calls=frozenset(turn.inference_call_id for turn in turns),
            decisions=frozenset(decision.decision_id for turn in turns for decision in turn.decisions),
            observations=frozenset(one.observation_id for one in rollout.session_commit_observations),
            outcomes={one.outcome_id: (one.repo, one.commit_sha) for one in rollout.terminal_outcomes},
            commits=tuple((_repository(rollout.org_id, commit), commit.commit_sha) for commit in rollout.commits),
            labels={_repository(rollout.org_id, commit): commit.repo for commit in rollout.commits},
            source=rollout.attribution_source,
        )

    def same_evidence(self, other: "SessionFacts") -> bool:
        """Whether two Rollouts rest on the same; the order of commits is the mirrors' business."""
        return replace(self, commits=()) == replace(other, commits=()) and set(self.commits) == set(other.commits)


def _repository(org_id: str, commit: CommitRef) -> str:
    identity = commit.repository_identity
    if identity is None:
        return key_text(LegacyKey(org_id, commit.repo))
    return key_text(IdentifiedKey(org_id, identity.provider, identity.host, identity.repository_id))


@dataclass(frozen=True, slots=True)
class Between:
    """What differs between two generations as a whole."""

    policy_changed: bool = False
    program_changed: bool = False
    revision_changed: bool = False
    mirrors_changed: bool = False
    mirrors_came_or_went: frozenset[str] = frozenset()
    """Repositories whose mirror one of the bundles has seen, and the other has not."""
    refs_changed: frozenset[str] = frozenset()
    """Repositories of whose mirror some ref changed."""
    notes_changed: frozenset[str] = frozenset()
    """Repositories of whose mirror the ref with the notes changed."""
    new_pushes: bool = False
    new_renames: bool = False
    same_bundle: bool = False
    """Whether both rest on the very same bundle: then all evidence but the mirrors' objects is the same."""
    conflicts_grew: bool = False
    """Whether more CI runs conflict than before."""
    quarantine: Mapping[tuple[FactTable, str], QuarantineAction] | None = field(default=None)
    """What the quarantine log did to which Fact in between; None when it is not at hand."""

    seen: tuple[frozenset[str], frozenset[str]] | None = field(default=None)
    """Of the calls, CI outcomes and observations in question, those visible before and after; None without bundles."""

    def hidden(self, table: FactTable, ids: Collection[str]) -> list[str]:
        """Return those that were quarantined in between: Facts are never deleted, so what is gone is hidden."""
        if self.seen is not None and table in SEEN_TABLES:
            before, after = self.seen
            return sorted(one for one in ids if one in before and one not in after)
        return self._logged(table, ids, QuarantineAction.QUARANTINE)

    def released(self, table: FactTable, ids: Collection[str]) -> list[str]:
        """Return those that were shown again in between."""
        return self._logged(table, self._unseen(table, ids), QuarantineAction.RELEASE)

    def arrived(self, table: FactTable, ids: Collection[str]) -> list[str]:
        """Return those that are proven to have been captured in between, not released."""
        if self.quarantine is None and self.revision_changed:
            return []
        log = self.quarantine or {}
        return sorted(one for one in self._unseen(table, ids) if (table, one) not in log)

    def _unseen(self, table: FactTable, ids: Collection[str]) -> list[str]:
        """Leave out what was visible before, too, and only was not used."""
        before = self.seen[0] if self.seen is not None and table in SEEN_TABLES else frozenset[str]()
        return [one for one in ids if one not in before]

    def _logged(self, table: FactTable, ids: Collection[str], action: QuarantineAction) -> list[str]:
        log = self.quarantine or {}
        return sorted(one for one in ids if log.get((table, one)) is action)


SEEN_TABLES: Final = (
    FactTable.INFERENCE_CALLS,
    FactTable.CI_OUTCOMES,
    FactTable.SESSION_COMMIT_OBSERVATIONS,
)
"""Tables of which a bundle names every visible Fact of the organization."""

_SHOWN: Final = 3


def ids_text(ids: Collection[str]) -> str:
    """Spell a few ids and how many more there are."""
    some = sorted(ids)[:_SHOWN]
    more = len(ids) - len(some)
    return ", ".join(some) + (f" and {more} more" if more else "")


def causes_in_rollout(before: SessionFacts, after: SessionFacts, between: Between) -> Iterator[Found]:
    """Yield what differs between a Session's two Rollouts, as causes."""
    yield from _facts(FactTable.INFERENCE_CALLS, before.calls, after.calls, Cause.SESSION_CALLS, between)
    yield from _facts(FactTable.DEVELOPER_DECISIONS, before.decisions, after.decisions, Cause.DECISIONS, between)
    yield from _facts(
        FactTable.SESSION_COMMIT_OBSERVATIONS, before.observations, after.observations, Cause.BINDING, between
    )
    yield from _ci(before, after, between)
    yield from _commits(before, after, between)


def _facts(
    table: FactTable, before: frozenset[str], after: frozenset[str], cause: Cause, between: Between
) -> Iterator[Found]:
    added, removed = after - before, before - after
    if arrived := between.arrived(table, added):
        yield Found(cause, f"arrived: {ids_text(arrived)}")
    yield from moved_by_quarantine(table, added, removed, between)


def moved_by_quarantine(
    table: FactTable, added: Collection[str], removed: Collection[str], between: Between
) -> Iterator[Found]:
    """Yield what the quarantine log says about Facts that came or went."""
    if hidden := between.hidden(table, removed):
        yield Found(Cause.QUARANTINE, f"quarantined: {table} {ids_text(hidden)}")
    if released := between.released(table, added):
        yield Found(Cause.QUARANTINE, f"released: {table} {ids_text(released)}")


def _ci(before: SessionFacts, after: SessionFacts, between: Between) -> Iterator[Found]:
    """Only of commits that both Rollouts have: others bring their outcomes with them."""
    shared = {sha for _, sha in before.commits} & {sha for _, sha in after.commits}
    added = {one for one, (_, sha) in after.outcomes.items() if sha in shared} - before.outcomes.keys()
    removed = {one for one, (_, sha) in before.outcomes.items() if sha in shared} - after.outcomes.keys()
    if arrived := between.arrived(FactTable.CI_OUTCOMES, added):
        yield Found(Cause.CI, f"arrived: {ids_text(arrived)}")
    yield from moved_by_quarantine(FactTable.CI_OUTCOMES, added, removed, between)
    lost = removed - set(between.hidden(FactTable.CI_OUTCOMES, removed))
    if lost and between.conflicts_grew:
        yield Found(Cause.CI, f"an outcome arrived that contradicts its CI run: {ids_text(lost)} count no more")


def _commits(before: SessionFacts, after: SessionFacts, between: Between) -> Iterator[Found]:
    if set(before.commits) == set(after.commits) and before.source is after.source:
        return
    repositories = {repository for repository, _ in {*before.commits} ^ {*after.commits}}
    labels = {**before.labels, **after.labels}
    moved = repositories & between.mirrors_came_or_went
    if moved:
        yield Found(Cause.MIRROR, f"the mirror appeared or vanished: {ids_text([labels[one] for one in moved])}")
    if AttributionSource.GIT_NOTES in (before.source, after.source):
        # Observations that arrived have been named; where notes changed, too, both may have bound it.
        if noted := repositories & between.notes_changed - moved:
            yield Found(Cause.BINDING, f"Git notes of {ids_text([labels[one] for one in noted])}")
    elif between.new_pushes and not moved:
        yield Found(Cause.PUSH, "similar text is found in other commits")
    elif changed := repositories & between.refs_changed - moved:
        yield Found(Cause.MIRROR, f"refs changed: {ids_text([labels[one] for one in changed])}")
