"""What the similarity fallback found, kept for the next derivation over the same evidence (derivation.md §9).

The fallback walks all Pushes of the organization, whichever day is derived, so the days of one snapshot share its
result. A key stands for everything that can reach it; equal keys mean an equal result, counters included:

* the organization, the policy, ``as_of`` and the quarantine revision;
* the visible Facts that are read: calls (candidates, first calls of Sessions), Pushes, and what resolves a Push, which
  is repository evidence and renames. A Fact never changes, so its id stands for it; ``store_state`` tells a store from
  another one in which the same ids could stand for other Facts;
* the proven bindings, as they are: the notes and observations behind them reach the fallback in no other way;
* the mirrors (``MirrorStore.fingerprint``): which are there, their refs and settings, and which objects they hold.
  Objects that no ref reaches count: a Push names its commits by id, and they may come and go;
* the program, its libraries and its git: ``AttributionMemo.program`` and the fingerprint name them.

CI outcomes count as repository evidence only; decisions, and what a Session's calls were asked, not at all. The clock,
the order of Facts, the window and the scope of the derivation never reach the fallback. A result is kept only when the
mirrors are afterwards as they were and no git failed meanwhile: a git that was killed must not be remembered.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from itertools import islice
from typing import Any, Final, Protocol

from sediment_assets.derive.attribution import Attribution, attribute_by_similarity
from sediment_assets.derive.bindings import Bindings
from sediment_assets.derive.fact_reader import FactReader
from sediment_assets.derive.policy import DerivationPolicy
from sediment_assets.derive.tally import AttributionSkip
from sediment_assets.facts.json_values import JsonObject, encode_canonical
from sediment_assets.facts.vocabulary import FactTable, ForgeProvider
from sediment_assets.mirrors.patch_sections import SectionSkip
from sediment_assets.mirrors.reader import MirrorStore
from sediment_assets.reasons import Reason
from sediment_assets.repositories.evidence import EvidenceTable
from sediment_assets.repositories.keys import CommitKey, IdentifiedKey, LegacyKey, RepositoryKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver

FALLBACK_TABLES: Final = (
    FactTable.INFERENCE_CALLS,
    *(FactTable(table) for table in EvidenceTable),
    FactTable.REPOSITORY_RENAMES,
)
"""The Facts that reach the fallback; Pushes are repository evidence, too."""


class AttributionMemo(Protocol):
    """A place for plain results, by key. Losing one costs time, nothing else."""

    @property
    def program(self) -> str:
        """What tells this program and its libraries from others that may give another result."""
        ...

    def recall(self, key: str) -> Any:
        """Return what was kept under a key; None when there is nothing, or nothing that can be trusted."""
        ...

    def keep(self, key: str, plain: JsonObject) -> None:
        """Keep a result, if that is possible. Never fails."""
        ...


def remembered_attribution(
    facts: FactReader,
    mirrors: MirrorStore,
    resolver: RepositoryResolver,
    bindings: Bindings,
    policy: DerivationPolicy,
    memo: AttributionMemo,
) -> Attribution:
    """Return what ``attribute_by_similarity`` gives, from the memo when it knows."""
    repositories = {*mirrors.keys(facts.org_id), *resolver.pushed()}
    state = mirrors.fingerprint(repositories)
    if state is None:
        return attribute_by_similarity(facts, mirrors, resolver, bindings, policy)
    key = attribution_key(facts, bindings, policy, mirrors=state, program=memo.program)
    attribution = parse_attribution(memo.recall(key), facts.org_id)
    if attribution is None:
        attribution = attribute_by_similarity(facts, mirrors, resolver, bindings, policy)
        if mirrors.fingerprint(repositories) == state:
            memo.keep(key, attribution_plain(attribution))
    return attribution


def attribution_key(
    facts: FactReader, bindings: Bindings, policy: DerivationPolicy, *, mirrors: str, program: str
) -> str:
    """Digest everything that reaches the fallback; see above."""
    digest = sha256()
    for part in _ingredients(facts, bindings, policy, mirrors, program):
        digest.update(encode_canonical(part).encode() + b"\n")
    return digest.hexdigest()


def _ingredients(
    facts: FactReader, bindings: Bindings, policy: DerivationPolicy, mirrors: str, program: str
) -> Iterator[object]:
    yield {
        "as_of": facts.as_of(),
        "mirrors": mirrors,
        "org_id": facts.org_id,
        "policy": policy.digest,
        "program": program,
        "quarantine_revision": facts.quarantine_revision(),
        "store": facts.store_state(),
    }
    for table in FALLBACK_TABLES:
        yield table.value
        yield from _batches(facts.visible_ids(table))
    yield "bindings"
    for commit in sorted(bindings.sessions_of_commit, key=lambda commit: commit.sort_key):
        yield [commit.sort_key, sorted(bindings.sessions_of_commit[commit])]


def _batches(ids: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(ids)
    while batch := list(islice(iterator, _IDS_AT_ONCE)):
        yield batch


_IDS_AT_ONCE: Final = 1000

_REASONS: Final[Mapping[str, Reason]] = {
    reason.value: reason for reasons in (AttributionSkip, SectionSkip, RepositoryReason) for reason in reasons
}


def attribution_plain(attribution: Attribution) -> JsonObject:
    """Return an attribution as JSON values: commits of each Session as their sort keys, ascending, and the counters."""
    return {
        "commits_of_session": {
            session_id: sorted(commit.sort_key for commit in commits)
            for session_id, commits in attribution.commits_of_session.items()
        },
        "skipped": {str(reason): count for reason, count in attribution.skipped.items()},
    }


def parse_attribution(plain: Any, org_id: str) -> Attribution | None:
    """Read what ``attribution_plain`` wrote; None for anything else, an attribution of others included."""
    try:
        commits = {
            session_id: {_commit(parts, org_id) for parts in sort_keys}
            for session_id, sort_keys in plain["commits_of_session"].items()
        }
        skipped: Counter[str] = Counter({_REASONS[reason]: _count(n) for reason, n in plain["skipped"].items()})
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return Attribution(commits, skipped)


def _commit(parts: Any, org_id: str) -> CommitKey:
    key: RepositoryKey
    match parts:
        case [str(org), "identified", str(provider), str(host), str(repository_id), str(sha)]:
            key = IdentifiedKey(org, ForgeProvider(provider), host, repository_id)
        case [str(org), "legacy", str(slug), str(sha)]:
            key = LegacyKey(org, slug)
        case _:
            raise ValueError("no commit sort key")
    if org != org_id:
        raise ValueError("a commit of another organization")
    return CommitKey(key, sha)


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("no count")
    return value
