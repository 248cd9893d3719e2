"""CI outcomes to CI runs: which attempts belong together, which CI runs conflict (derivation.md §11).

Steps 1 to 4 of the chapter. Outcomes stream through; of each only its id, attempt and result are kept, so
that an organization with hundreds of thousands of them fits in memory. Verdicts are ``resolution.py``.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.vocabulary import CIProvider, CIResult
from sediment_assets.reasons import Reason
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver


class CISkip(Reason):
    """Why CI evidence gives no verdict. The units differ, so these are never summed (derivation.md §11)."""

    CONFLICTING_RUN_IDENTITY = (
        "conflicting_run_identity",
        "CI runs",
        "The outcomes of one CI run contradict each other; all of them are dropped.",
    )

    AMBIGUOUS_WORKFLOW_VERDICTS = (
        "ambiguous_workflow_verdicts",
        "commits",
        "Workflows disagree about the commit: its outcomes are kept, it has no verdict.",
    )


CISkipReason = CISkip | RepositoryReason
"""A CI counter's key; the unit of a RepositoryReason here is the CI outcome."""

RunKey = tuple[str, ...]
"""Names one CI run: (org, CI provider, "identified", forge, host, run_id) or (…, "legacy", run_id)."""


class Attempt(NamedTuple):
    """One CI outcome of a CI run, in attempt order: by (attempt, null = 0; outcome_id)."""

    number: int
    outcome_id: str
    result: CIResult


@dataclass(slots=True)
class CIRun:
    """One CI run and its attempts, in attempt order once grouped. Unknown workflow fields are ``""``."""

    commit: CommitKey
    provider: CIProvider
    run_id: str
    branch: str
    workflow_id: str
    workflow_name: str
    workflow_path: str
    attempts: list[Attempt]
    contradicts_itself: bool = False

    def has_two_results_for_one_attempt(self) -> bool:
        """Whether one attempt number was told to end in two ways; ``skipped`` against ``passed`` included."""
        results = dict[int, CIResult]()
        return any(
            results.setdefault(attempt.number, attempt.result) is not attempt.result for attempt in self.attempts
        )


@dataclass(frozen=True, slots=True)
class GroupedRuns:
    """The CI runs that survive, per commit, and what did not."""

    runs: dict[CommitKey, list[CIRun]]
    skipped: Counter[CISkipReason]


class _Grouping:
    """CI runs under construction; a run that lost an outcome to step 1 is null and stays null (step 3)."""

    def __init__(self, resolver: RepositoryResolver) -> None:
        self.runs: dict[RunKey, CIRun | None] = {}
        self.unresolved: Counter[RepositoryReason] = Counter()
        self._resolver = resolver
        self._texts: dict[str, str] = {}

    def add(self, outcome: CIOutcome) -> None:
        resolved = self._resolver.fact(outcome)
        key = run_key(outcome)
        if isinstance(resolved, RepositoryReason):
            self.unresolved[resolved] += 1
            self.runs[key] = None
            return
        commit = CommitKey(resolved.key, outcome.commit_sha)
        if key not in self.runs:
            self.runs[key] = self._first(outcome, commit)
        run = self.runs[key]
        if run is not None:
            self._merge(run, outcome, commit)

    def _first(self, outcome: CIOutcome, commit: CommitKey) -> CIRun:
        return CIRun(
            commit=commit,
            provider=outcome.provider,
            run_id=outcome.run_id,
            branch=self._shared(outcome.branch),
            workflow_id=self._shared(outcome.workflow_id or ""),
            workflow_name=self._shared(outcome.workflow_name),
            workflow_path=self._shared(outcome.workflow_path or ""),
            attempts=[],
        )

    def _merge(self, run: CIRun, outcome: CIOutcome, commit: CommitKey) -> None:
        """Add an attempt and compare what must be the same for the whole run (step 4)."""
        run.attempts.append(Attempt(outcome.run_attempt or 0, outcome.outcome_id, outcome.result))
        run.contradicts_itself |= commit != run.commit or outcome.branch != run.branch
        for name in ("workflow_id", "workflow_name", "workflow_path"):
            known, told = getattr(run, name), getattr(outcome, name) or ""
            if not known:
                setattr(run, name, self._shared(told))
            elif told and told != known:
                run.contradicts_itself = True

    def _shared(self, text: str) -> str:
        return self._texts.setdefault(text, text)


def run_key(outcome: CIOutcome) -> RunKey:
    """Give the key of an outcome's CI run; repository id, slug and commit are not part of it (step 2)."""
    start = (outcome.org_id, outcome.provider.value)
    if outcome.repository_provider is None or outcome.repository_host is None:
        return (*start, "legacy", outcome.run_id)
    return (
        *start,
        "identified",
        outcome.repository_provider.value,
        outcome.repository_host,
        outcome.run_id,
    )


def group_runs(outcomes: Iterable[CIOutcome], resolver: RepositoryResolver) -> GroupedRuns:
    """Group one organization's CI outcomes into CI runs and drop the unresolvable and conflicting ones.

    Outcomes captured after the resolver's boundary are ignored, uncounted. Input order does not matter.
    """
    grouping = _Grouping(resolver)
    for outcome in outcomes:
        if outcome.captured_at <= resolver.as_of:
            grouping.add(outcome)
    by_commit: defaultdict[CommitKey, list[CIRun]] = defaultdict(list)
    conflicting = 0
    while grouping.runs:
        _, run = grouping.runs.popitem()  # not iterated: the two indexes are never both full
        if run is None:
            continue
        if run.contradicts_itself or run.has_two_results_for_one_attempt():
            conflicting += 1
            continue
        run.attempts = sorted(set(run.attempts))
        by_commit[run.commit].append(run)
    skipped = Counter[CISkipReason](grouping.unresolved)
    if conflicting:
        skipped[CISkip.CONFLICTING_RUN_IDENTITY] = conflicting
    return GroupedRuns(dict(by_commit), skipped)
