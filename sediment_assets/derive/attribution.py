"""The Jaccard fallback: pushed commits matched with model outputs by their tokens (derivation.md §9).

Pushes are walked in order of capture, so the calls of the *wide* window slide with them: only the calls of one such
window are held, however long the organization's history is. Calls of noted Sessions are looked for there first.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice, repeat
from typing import Final

from sediment_assets.derive.bindings import Bindings, CommitsOfSession
from sediment_assets.derive.fact_reader import CandidateCall, FactReader
from sediment_assets.derive.policy import DerivationPolicy
from sediment_assets.derive.scoring_text import scoring_text
from sediment_assets.derive.similarity import Candidate, best_candidate, tokens
from sediment_assets.derive.tally import AttributionSkip
from sediment_assets.facts.messages import decode_messages
from sediment_assets.mirrors.patch_sections import is_code_file, parse_sections
from sediment_assets.mirrors.reader import MirrorError, MirrorReader, MirrorStore
from sediment_assets.repositories.keys import CommitKey, RepositoryKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver

FIRST_INSTANT = datetime.min.replace(tzinfo=UTC)
LAST_INSTANT = datetime.max.replace(tzinfo=UTC)
ONE_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Attribution:
    """Commits the fallback attributed, by session_id, and what it could not use."""

    commits_of_session: CommitsOfSession
    skipped: Counter[str]


def attribute_by_similarity(
    facts: FactReader,
    mirrors: MirrorStore,
    resolver: RepositoryResolver,
    bindings: Bindings,
    policy: DerivationPolicy,
) -> Attribution:
    """Run the fallback over the whole organization (§9). Every window end is inclusive."""
    fallback = _Fallback(facts, mirrors, bindings, policy)
    pushes = fallback.resolved_pushes(resolver)
    if pushes and fallback.has_candidates(pushes):
        fallback.open_window(pushes[-1])
        for start in range(0, len(pushes), _PUSHES_AHEAD):
            fallback.attribute_pushes(pushes[start : start + _PUSHES_AHEAD])
    return Attribution(fallback.commits_of_session, fallback.skipped)


@dataclass(frozen=True, slots=True)
class ResolvedPush:
    """What the fallback needs of a Push: all of an organization's are held at once."""

    captured_at: datetime
    before_sha: str
    after_sha: str
    forced: bool
    repository: RepositoryKey


_PUSHES_AHEAD: Final = 64
"""So many Pushes are announced to the mirrors at once."""


@dataclass(slots=True)
class _Fallback:
    facts: FactReader
    mirrors: MirrorStore
    bindings: Bindings
    policy: DerivationPolicy
    commits_of_session: defaultdict[str, set[CommitKey]] = field(default_factory=lambda: defaultdict(set))
    skipped: Counter[str] = field(default_factory=Counter)
    _seen: set[CommitKey] = field(default_factory=set)
    _first_calls: Mapping[str, datetime] = field(init=False)
    _window: "_SlidingWindow" = field(init=False)

    def open_window(self, last: ResolvedPush) -> None:
        """Prepare for the calls in the reach of Pushes up to the last one."""
        self._first_calls = dict(self.facts.first_calls())
        self._window = _SlidingWindow(self.facts, self._end(last))

    def resolved_pushes(self, resolver: RepositoryResolver) -> list[ResolvedPush]:
        """Return the Pushes that resolve, by (captured_at, push_id); count the others."""
        found: list[ResolvedPush] = []
        shas: dict[str, str] = {}  # what one Push brought is mostly what the next one goes on from
        for push in self.facts.pushes():
            resolved = resolver.fact(push)
            if isinstance(resolved, RepositoryReason):
                self.skipped[resolved] += 1
                continue
            before, after = (shas.setdefault(sha, sha) for sha in (push.before_sha, push.after_sha))
            found.append(ResolvedPush(push.captured_at, before, after, push.forced, resolved.key))
        return found

    def has_candidates(self, pushes: Sequence[ResolvedPush]) -> bool:
        """Whether any call lies in the reach of these Pushes; if not, count them all."""
        lookback = max(self.policy.git_notes.lookback_window_minutes, self.policy.jaccard.lookback_window_minutes)
        start = minutes_away(pushes[0].captured_at, -lookback)
        if next(self.facts.candidate_calls(start, self._end(pushes[-1])), None) is not None:
            return True
        self.skipped[AttributionSkip.NO_CANDIDATES] += len(pushes)
        return False

    def attribute_pushes(self, pushes: Sequence[ResolvedPush]) -> None:
        """Match the commits that each of these Pushes is the first to bring.

        Mirrors hear of all of them before the first is matched, so that they can work ahead.
        """
        pushed: defaultdict[RepositoryKey, list[ResolvedPush]] = defaultdict(list)
        for push in pushes:
            pushed[push.repository].append(push)
        patches = {repository: self._patches(repository, some) for repository, some in pushed.items()}
        for push in pushes:
            brought = next(patches[push.repository])
            if brought is None:
                self.skipped[AttributionSkip.MIRROR_ABSENT] += 1
                continue
            for commit, patch in brought:
                self._attribute_commit(push, commit, patch)

    def _patches(
        self, repository: RepositoryKey, pushes: Sequence[ResolvedPush]
    ) -> Iterator[Iterator[tuple[CommitKey, str | MirrorError]] | None]:
        """Yield for each Push its new commits with their patches; None without a mirror."""
        mirror = self.mirrors.open(repository)
        if mirror is None:
            yield from repeat(None, len(pushes))
            return
        mirror.prepare(sha for push in pushes for sha in (push.before_sha, push.after_sha))
        brought = [self._new_commits(mirror, push) for push in pushes]
        patches = mirror.commit_patches([commit.commit_sha for commits in brought for commit in commits])
        for commits in brought:
            yield zip(commits, islice(patches, len(commits)), strict=True)

    def _new_commits(self, mirror: MirrorReader, push: ResolvedPush) -> list[CommitKey]:
        limit = self.policy.max_commits_per_push
        listed = mirror.push_commits(push.before_sha, push.after_sha, push.forced, limit)
        commits = [CommitKey(push.repository, sha) for sha in listed]
        new = [commit for commit in commits if commit not in self._seen]
        self._seen.update(new)
        return new

    def _attribute_commit(self, push: ResolvedPush, commit: CommitKey, patch: str | MirrorError) -> None:
        if isinstance(patch, MirrorError):
            self.skipped[AttributionSkip.COMMIT_DIFF_UNAVAILABLE] += 1
            return
        sections, counts = parse_sections(patch)
        self.skipped.update(counts)
        scored = [s for s in sections if is_code_file(s.path) and s.added_text.strip()]
        if not scored:
            if not counts:
                self.skipped[AttributionSkip.NO_CODE_DIFF] += 1
            return
        start = minutes_away(push.captured_at, -self.policy.jaccard.lookback_window_minutes)
        wide = self._window.between(start, self._end(push))
        noted = self._noted_candidates(push, commit, start, wide)
        for section in scored:
            self._attribute_file(commit, tokens(section.added_text), noted, wide)

    def _attribute_file(
        self, commit: CommitKey, file_tokens: frozenset[str], noted: Sequence[Candidate], wide: Sequence[Candidate]
    ) -> None:
        winner = best_candidate(file_tokens, noted, self.policy.git_notes.min_similarity)
        if winner is None:
            winner = best_candidate(file_tokens, wide, self.policy.jaccard.min_similarity)
        if winner is None:
            self.skipped[AttributionSkip.NO_MATCH] += 1
        else:
            self.commits_of_session[winner.session_id].add(commit)

    def _noted_candidates(
        self, push: ResolvedPush, commit: CommitKey, wide_start: datetime, wide: Sequence[Candidate]
    ) -> list[Candidate]:
        """Return the calls of the Sessions that a note names, in their longer window; most are in the wide one."""
        # A note names Sessions in any text it likes, even such as no database can be asked for.
        named: Set[str] = self.bindings.sessions_of_commit.get(commit, frozenset())
        sessions = named & self._first_calls.keys()
        if not sessions:
            return []
        start = minutes_away(push.captured_at, -self.policy.git_notes.lookback_window_minutes)
        earlier = {session_id for session_id in sessions if self._first_calls[session_id] < wide_start}
        found: list[Candidate] = []
        if earlier and start < wide_start:
            found.extend(map(_candidate, self.facts.candidate_calls(start, wide_start - ONE_TICK, earlier)))
        found.extend(call for call in wide if call.session_id in sessions and call.observed_at >= start)
        return found

    def _end(self, push: ResolvedPush) -> datetime:
        return minutes_away(push.captured_at, self.policy.post_push_grace_period_minutes)


class _SlidingWindow:
    """Candidates of an interval that only moves forward; each call is read and tokenized once."""

    def __init__(self, facts: FactReader, last: datetime) -> None:
        self._facts = facts
        self._last = last
        self._held: deque[Candidate] = deque()
        self._calls: Iterator[CandidateCall] = iter(())
        self._ahead: CandidateCall | None = None
        self._read_to: datetime | None = None

    def between(self, start: datetime, end: datetime) -> Sequence[Candidate]:
        """Return the candidates observed in ``[start, end]``; both ends never move backwards."""
        while self._held and self._held[0].observed_at < start:
            self._held.popleft()
        if self._read_to is None or start - self._read_to > _LONG_GAP:
            self._calls = self._facts.candidate_calls(start, self._last)
            self._ahead = next(self._calls, None)
        while self._ahead is not None and self._ahead.observed_at <= end:
            if self._ahead.observed_at >= start:
                self._held.append(_candidate(self._ahead))
            self._ahead = next(self._calls, None)
        self._read_to = end
        return self._held


_LONG_GAP: Final = timedelta(hours=6)
"""Between windows further apart than this, the calls in between are not read but asked past."""


def _candidate(call: CandidateCall) -> Candidate:
    text = scoring_text(decode_messages(call.output_text))
    return Candidate(call.observed_at, call.inference_call_id, call.session_id, tokens(text))


def minutes_away(instant: datetime, minutes: int) -> datetime:
    """Shift an instant; a window that leaves the calendar ends where the calendar does."""
    try:
        return instant + timedelta(minutes=minutes)
    except OverflowError:
        return FIRST_INSTANT if minutes < 0 else LAST_INSTANT


def all_sessions_bound(session_ids: Iterable[str], bindings: Bindings) -> bool:
    """Whether every Session with calls has a proven binding, so that the fallback is not run at all (§4.5)."""
    return all(session_id in bindings.commits_of_session for session_id in session_ids)
