"""The memo of the fallback: what its keys stand for, and that a remembered result is the result (derivation.md §9)."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from sediment_assets.derive.attribution import Attribution
from sediment_assets.derive.attribution_memo import (
    attribution_key,
    attribution_plain,
    parse_attribution,
    remembered_attribution,
)
from sediment_assets.derive.bindings import Bindings
from sediment_assets.derive.policy import DEFAULT_POLICY, DerivationPolicy, MatchingPolicy
from sediment_assets.derive.tally import AttributionSkip
from sediment_assets.facts.vocabulary import FactTable, ForgeProvider
from sediment_assets.mirrors.patch_sections import SectionSkip
from sediment_assets.repositories.keys import CommitKey, IdentifiedKey, LegacyKey
from sediment_assets.repositories.reasons import RepositoryReason
from tests.builders import (
    IDENTITY,
    ORG,
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_quarantine,
    make_rename,
)
from tests.histories import LEGACY, added, sha
from tests.memory import MemoryFacts, OtherFact
from tests.memory_memo import MemoryMemo
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors
from tests.unit.derive.attribution_cases import NOON, TEXT, minutes, push, say

IDENTIFIED = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42")
FACTS = [
    say(TEXT),
    push(),
    make_outcome(captured_at=NOON),
    make_observation(captured_at=NOON),
    make_rename(captured_at=NOON),
    make_decision(captured_at=minutes(90)),  # the latest, so that as_of is the same whatever a test adds
]
HIDDEN = [make_quarantine(fact_table=FactTable.PUSHES, fact_id="none")]


class OtherStore(MemoryFacts):
    """A store in another place."""

    def store_state(self) -> str:
        return "elsewhere"


def bindings(*bound: tuple[str, str]) -> Bindings:
    found = Bindings()
    for session_id, commit_sha in bound:
        found.bind(session_id, CommitKey(LEGACY, commit_sha))
    return found


def key(
    facts: Iterable[Any] = FACTS,
    quarantine: Any = HIDDEN,
    bound: Bindings | None = None,
    policy: DerivationPolicy = DEFAULT_POLICY,
    reader: Callable[..., MemoryFacts] = MemoryFacts,
    **values: str,
) -> str:
    known = bindings(("s1", sha(1))) if bound is None else bound
    return attribution_key(reader(ORG, facts, quarantine), known, policy, **{"mirrors": "m", "program": "p"} | values)


def other(table: FactTable) -> OtherFact:
    return OtherFact(table, "m1", ORG, NOON, repo="acme/w")


CHANGES: dict[str, Callable[[], str]] = {
    "call": lambda: key([*FACTS, say(TEXT, "c9")]),
    "push": lambda: key([*FACTS, push(push_id="p9")]),
    "ci outcome": lambda: key([*FACTS, make_outcome(outcome_id="o9", captured_at=NOON)]),
    "observation": lambda: key([*FACTS, make_observation(observation_id="b9", captured_at=NOON)]),
    "rename": lambda: key([*FACTS, make_rename(rename_id="r9", captured_at=NOON)]),
    "merge": lambda: key([*FACTS, other(FactTable.PULL_REQUEST_MERGES)]),
    "revision": lambda: key([*FACTS, other(FactTable.PULL_REQUEST_REVISIONS)]),
    "as_of": lambda: key([*FACTS, make_decision(decision_id="d9", captured_at=minutes(91))]),
    "hidden call": lambda: key(quarantine=[make_quarantine(fact_table=FactTable.INFERENCE_CALLS, fact_id="c1")]),
    "hidden push": lambda: key(quarantine=[make_quarantine(fact_table=FactTable.PUSHES, fact_id="p1")]),
    "quarantine revision": lambda: key(quarantine=[*HIDDEN, *HIDDEN]),
    "binding": lambda: key(bound=bindings(("s1", sha(1)), ("s2", sha(1)))),
    "bound commit": lambda: key(bound=bindings(("s1", sha(2)))),
    "no binding": lambda: key(bound=Bindings()),
    "surrogate binding": lambda: key(bound=bindings(("\ud800", sha(1)))),
    "policy": lambda: key(policy=DerivationPolicy(jaccard=MatchingPolicy(0.7, 61))),
    "spelling of a number": lambda: key(policy=DerivationPolicy(jaccard=MatchingPolicy(1, 60))),
    "mirrors": lambda: key(mirrors="n"),
    "program": lambda: key(program="q"),
    "store": lambda: key(reader=OtherStore),
    "organization": lambda: key(reader=lambda _, *given: MemoryFacts("other", *given)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_reaches_the_fallback_changes_the_key(change: str):
    assert CHANGES[change]() != key()


def test_changes_give_keys_of_their_own():
    assert len({change() for change in CHANGES.values()}) == len(CHANGES)


def test_neither_the_order_of_facts_nor_what_the_fallback_never_sees_changes_the_key():
    assert key(reversed(FACTS)) == key()
    assert key([*FACTS, make_decision(decision_id="d9", captured_at=NOON)]) == key()
    assert key([*FACTS, make_call(inference_call_id="x", org_id="other")]) == key()


def test_ids_of_one_table_are_not_taken_for_those_of_another():
    assert key([make_outcome(outcome_id="x", captured_at=NOON)]) != key([push(push_id="x")])


# --- the plain form


EVERYTHING = Attribution(
    {
        "s1": {CommitKey(LEGACY, sha(1)), CommitKey(IDENTIFIED, sha(1)), CommitKey(IDENTIFIED, sha(2))},
        "\ud800 s2": {CommitKey(LegacyKey(ORG, "acme/é"), sha(3))},
    },
    Counter({reason: n for n, reason in enumerate((*AttributionSkip, *SectionSkip, *RepositoryReason), 1)}),
)


def test_the_plain_form_gives_back_the_same_attribution():
    memo = MemoryMemo()
    memo.keep("k", attribution_plain(EVERYTHING))
    found = parse_attribution(memo.recall("k"), ORG)
    assert found == EVERYTHING
    assert found is not None
    assert {reason: type(reason) for reason in found.skipped} == {reason: type(reason) for reason in EVERYTHING.skipped}


COMMIT = [ORG, "legacy", "acme/w", sha(1)]


@pytest.mark.parametrize(
    "plain",
    [
        None,
        [],
        {},
        {"commits_of_session": {}},
        {"commits_of_session": [], "skipped": {}},
        {"commits_of_session": {"s1": None}, "skipped": {}},
        {"commits_of_session": {"s1": [None]}, "skipped": {}},
        {"commits_of_session": {"s1": [COMMIT[:3]]}, "skipped": {}},
        {"commits_of_session": {"s1": [[*COMMIT[:3], 1]]}, "skipped": {}},
        {"commits_of_session": {"s1": [["other", *COMMIT[1:]]]}, "skipped": {}},
        {"commits_of_session": {"s1": [[ORG, "identified", "none", "h", "1", sha(1)]]}, "skipped": {}},
        {"commits_of_session": {}, "skipped": {"unheard_of": 1}},
        {"commits_of_session": {}, "skipped": {"no_match": True}},
        {"commits_of_session": {}, "skipped": {"no_match": 0}},
        {"commits_of_session": {}, "skipped": {"no_match": "1"}},
    ],
)
def test_what_is_no_attribution_is_not_taken_for_one(plain: Any):
    assert parse_attribution(plain, ORG) is None


# --- remembering


class Case:
    """A small organization, its mirrors and a memo."""

    def __init__(self, **mirror: Any) -> None:
        self.mirror = MemoryMirror([MemoryCommit(sha(1), patch=added("a.py", TEXT))], **mirror)
        self.mirrors: MemoryMirrors = MemoryMirrors({LEGACY: self.mirror})
        self.memo = MemoryMemo()

    def attribute(self, *facts: Any) -> Attribution:
        reader = MemoryFacts(ORG, facts or [say(TEXT), push()])
        return remembered_attribution(reader, self.mirrors, reader.resolver(), Bindings(), DEFAULT_POLICY, self.memo)

    @property
    def patches(self) -> int:
        """How many patches git was asked for."""
        return sum(call[0] == "commit_patch" for call in self.mirror.calls)


def test_the_second_derivation_asks_for_no_patch_and_finds_the_same():
    case = Case()
    found = case.attribute()
    assert found.commits_of_session == {"of-c1": {CommitKey(LEGACY, sha(1))}}
    assert (case.attribute(), case.patches, case.memo.hits) == (found, 1, 1)


def test_counters_come_back_as_they_were():
    case = Case()
    pushes = [push(), push(push_id="p2", ref="r", after_sha=sha(7)), push(push_id="p3", repo="acme/gone", ref="s")]
    lost = make_push(push_id="p4", repo="", captured_at=NOON, **IDENTITY)
    found = case.attribute(say("nothing alike"), *pushes, lost)
    assert found.skipped == {
        AttributionSkip.NO_MATCH: 1,
        AttributionSkip.COMMIT_DIFF_UNAVAILABLE: 1,
        AttributionSkip.MIRROR_ABSENT: 1,
        RepositoryReason.IDENTITY_ABSENT: 1,
    }
    assert case.attribute(say("nothing alike"), *pushes, lost) == found
    assert case.memo.hits == 1


def test_new_objects_are_seen():
    case = Case()
    case.attribute()
    case.mirrors = MemoryMirrors({LEGACY: MemoryMirror([MemoryCommit(sha(1), patch=added("a.py", "other words"))])})
    assert case.attribute().skipped == {AttributionSkip.NO_MATCH: 1}
    assert case.memo.hits == 0


def test_what_was_kept_damaged_is_made_again():
    case = Case()
    found = case.attribute()
    (kept,) = case.memo.kept
    case.memo.kept[kept] = "{}"
    assert case.attribute() == found
    assert case.patches == 2
    assert case.memo.kept[kept] != "{}"


def test_nothing_is_kept_when_nobody_vouches_for_the_mirrors():
    class Unproven(MemoryMirrors):
        def fingerprint(self, keys: Iterable[Any]) -> str | None:
            return None

    case = Case()
    case.mirrors = Unproven({LEGACY: case.mirror})
    assert case.attribute() == case.attribute()
    assert (case.memo.kept, case.patches) == ({}, 2)


def test_nothing_is_kept_when_the_mirrors_change_meanwhile():
    class Changing(MemoryMirrors):
        def fingerprint(self, keys: Iterable[Any]) -> str | None:
            return f"{super().fingerprint(keys)} {case.patches}"

    case = Case()
    case.mirrors = Changing({LEGACY: case.mirror})
    case.attribute()
    assert case.memo.kept == {}
