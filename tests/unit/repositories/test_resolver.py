"""The repository identity resolver: every worked case of mirrors.md §8 and derivation.md §3."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver, Resolved
from tests.builders import AT, ORG
from tests.unit.repositories.resolver_cases import (
    ABSENT,
    CONFLICT,
    LATER,
    NOT_PROVEN,
    RENAME,
    SOURCE_ABSENT,
    UNRESOLVED,
    build,
    observation,
    outcome,
    push,
    reference,
    rename,
    spell,
    stamp,
)


class Case:
    """A population, what its Facts resolve to by id, what references resolve to, conflicting renames."""

    def __init__(self, facts, expected, renames=(), references=(), rename_skipped=0, skipped=None):
        self.facts, self.expected, self.renames = facts, expected, renames
        self.references, self.rename_skipped, self.skipped = references, rename_skipped, skipped


WORKED_CASES = {
    "legacy push and CI outcome": Case(
        [push("p", "o/r"), outcome("c", "o/r")], {"p": "legacy:o/r", "c": "legacy:o/r"}, skipped={}
    ),
    "identified push, legacy CI outcome": Case(
        [push("p", "o/r", "42"), outcome("c", "o/r")],
        {"p": "42:o/r", "c": UNRESOLVED},
        skipped={UNRESOLVED: 1},
    ),
    "rename claims its new name": Case(
        [push("p", "o/old", "42"), outcome("c", "o/new")],
        {"p": "42:o/new", "c": UNRESOLVED},
        renames=[rename("n", "42", "o/old", "o/new")],
    ),
    "two identities share a slug": Case(
        [push("p", "o/r", "42"), push("q", "o/r", "43")],
        {"p": "42:o/r", "q": "43:o/r"},
        references=[("o/r", None, UNRESOLVED), ("o/r", "42", "42:o/r")],
    ),
    "legacy observations adopt the Push's identity": Case(
        [push("p", "o/r", "42"), observation("a", "o/r", "p"), observation("b", "o/zzz", "p")],
        {"p": "42:o/r", "a": "42:o/r", "b": "42:o/r"},
        references=[("o/zzz", "42", "42:o/r"), ("o/zzz", None, UNRESOLVED)],
    ),
    "observation of a missing Push": Case(
        [observation("a", "o/r", "gone", "42"), observation("b", "x/y", "gone")],
        {"a": SOURCE_ABSENT, "b": "legacy:x/y"},
        references=[("o/r", "42", UNRESOLVED), ("o/r", None, UNRESOLVED)],
        skipped={SOURCE_ABSENT: 1},
    ),
    "identified observation of a legacy Push poisons the slug": Case(
        [push("p", "o/r"), observation("a", "o/r", "p", "42")], {"p": UNRESOLVED, "a": UNRESOLVED}
    ),
    "observation of another identity than its Push": Case(
        [push("p", "o/r", "42"), observation("a", "o/r", "p", "43")], {"p": "42:o/r", "a": CONFLICT}
    ),
    "empty name, even with an identity": Case([push("p", "", "42")], {"p": ABSENT}),
    "contradictory copies of one Push": Case(
        [push("p", "o/r"), push("p", "o/x"), outcome("c", "o/r"), outcome("d", "o/y")],
        {"p": CONFLICT, "c": UNRESOLVED, "d": "legacy:o/y"},
        references=[("o/x", None, UNRESOLVED)],
        skipped={CONFLICT: 1, UNRESOLVED: 1},
    ),
    "one delivery tells two renames": Case(
        [outcome("c", "o/a", "42")],
        {"c": "42:o/a"},
        renames=[
            rename("n", "42", "o/a", "o/b", source_event_id="e"),
            rename("m", "42", "o/a", "o/c", source_event_id="e"),
        ],
        references=[("o/b", None, UNRESOLVED), ("o/b", "42", UNRESOLVED)],
        rename_skipped=2,
    ),
    "smallest name is the label": Case(
        [push("p", "z/z", "42"), push("q", "a/z", "42")],
        {"p": "42:a/z", "q": "42:a/z"},
        references=[("q/q", "42", UNRESOLVED)],
    ),
    # derivation.md §3
    "renamed to a smaller name": Case(
        [push("p", "z/w", "7")], {"p": "7:a/new"}, renames=[rename("n", "7", "z/w", "a/new")]
    ),
    "identified and legacy Push on one slug": Case(
        [push("p", "a/b", "42"), push("q", "a/b")], {"p": "42:a/b", "q": UNRESOLVED}
    ),
    "legacy reference to a rename's new name": Case(
        [],
        {},
        renames=[rename("n", "8", "a/b", "a/c")],
        references=[("a/c", None, UNRESOLVED), ("a/c", "8", "8:a/b")],
    ),
    "unknown slug": Case(
        [], {}, references=[("never/seen", None, "legacy:never/seen"), ("never/seen", "42", UNRESOLVED)]
    ),
}


@pytest.mark.parametrize("case", WORKED_CASES.values(), ids=WORKED_CASES)
def test_worked_case(case):
    resolver = build(case.facts, case.renames)
    assert {fact.fact_id: spell(resolver.source(*source_key(fact))) for fact in case.facts} == case.expected
    for repo, repository_id, expected in case.references:
        assert spell(reference(resolver, repo, repository_id)) == expected
    assert resolver.rename_skipped == Counter({CONFLICT: case.rename_skipped} if case.rename_skipped else {})
    failures = [result for result in case.expected.values() if isinstance(result, RepositoryReason)]
    assert resolver.skipped == Counter(failures)
    if case.skipped is not None:
        assert resolver.skipped == Counter(case.skipped)


@pytest.mark.parametrize("case", WORKED_CASES.values(), ids=WORKED_CASES)
def test_a_fact_resolves_as_its_source(case):
    resolver = build(case.facts, case.renames)
    assert {fact.fact_id: spell(resolver.fact(fact)) for fact in case.facts} == case.expected


def source_key(fact):
    row = project_evidence(fact)
    return row.source_table, row.source_fact_id, row.role


@pytest.mark.parametrize(
    ("pushes", "expected_identified", "expected_legacy"),
    [
        ([push("p", "o/r"), push("p", "o/x")], CONFLICT, CONFLICT),
        ([], SOURCE_ABSENT, "legacy:o/r"),
        ([push("p", "o/r")], UNRESOLVED, "legacy:o/r"),
        ([push("p", "o/other")], UNRESOLVED, CONFLICT),
        ([push("p", "o/r", "42")], "42:o/r", "42:o/r"),
        ([push("p", "o/r", "43")], CONFLICT, "43:o/r"),
    ],
    ids=["conflicting", "absent", "legacy", "legacy, other slug", "same identity", "other identity"],
)
def test_observation_follows_its_push(pushes, expected_identified, expected_legacy):
    identified = build([*pushes, observation("a", "o/r", "p", "42")])
    assert spell(identified.fact(observation("a", "o/r", "p", "42"))) == expected_identified
    legacy = build([*pushes, observation("a", "o/r", "p")])
    assert spell(legacy.fact(observation("a", "o/r", "p"))) == expected_legacy


def test_push_after_the_boundary_disables_its_observation():
    facts = [push("p", "o/r", "42", captured_at=LATER), observation("a", "o/r", "p", "42")]
    resolver = build(facts, as_of=facts[1].captured_at)
    assert resolver.fact(facts[1]) == SOURCE_ABSENT
    assert resolver.fact(facts[0]) == SOURCE_ABSENT
    assert spell(build(facts, as_of=facts[0].captured_at).fact(facts[1])) == "42:o/r"


def test_rows_and_renames_after_the_boundary_claim_nothing():
    early, late = outcome("c", "o/r"), push("p", "o/r", "42", captured_at=LATER)
    renames = [rename("n", "42", "o/r", "o/s", captured_at=LATER)]
    assert spell(build([early, late], renames, as_of=early.captured_at).fact(early)) == "legacy:o/r"
    assert build([early, late], renames).fact(early) == UNRESOLVED


def test_boundary_defaults_to_the_latest_capture():
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    facts = [push("p", "o/r"), outcome("c", "o/r")]
    assert build(facts).as_of == at
    assert build(facts, [rename("n", "42", "a/b", "a/c", captured_at=LATER)]).as_of == at.replace(hour=10)
    assert build([]).as_of == datetime.min.replace(tzinfo=UTC)


def test_other_organizations_do_not_exist():
    foreign = push("p", "o/r", "42", org_id="other")
    foreign_rename = rename("n", "42", "o/r", "o/s", org_id="other", captured_at=LATER)
    resolver = build([foreign], [foreign_rename])
    assert spell(resolver.reference("o/r")) == "legacy:o/r"
    assert resolver.fact(foreign) == SOURCE_ABSENT
    assert resolver.as_of == datetime.min.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    "changed",
    [
        outcome("c", "o/x"),
        outcome("c", "o/r", "42"),
        outcome("c", "o/r", captured_at=LATER),
        outcome("c", "o/r", org_id="other"),
    ],
    ids=["repo", "identity", "captured_at", "org_id"],
)
def test_fact_that_differs_from_its_evidence_conflicts(changed):
    assert build([outcome("c", "o/r")]).fact(changed) == CONFLICT


@pytest.mark.parametrize("changed", [outcome("c", "o/r"), outcome("c", "o/r", "43")])
def test_fact_that_lost_or_changed_its_identity_conflicts(changed):
    assert build([outcome("c", "o/r", "42")]).fact(changed) == CONFLICT


def test_observation_that_names_another_push_conflicts():
    resolver = build([push("p", "o/r"), push("q", "o/r"), observation("a", "o/r", "p")])
    assert resolver.fact(observation("a", "o/r", "q")) == CONFLICT


def test_instants_compare_in_utc():
    resolver = build([outcome("c", "o/r", captured_at="2026-03-02T10:00:00+01:00")])
    assert spell(resolver.fact(outcome("c", "o/r", captured_at=AT))) == "legacy:o/r"


def test_identical_copies_collapse():
    resolver = build([push("p", "o/r"), push("p", "o/r", captured_at="2026-03-02T10:00:00+01:00")])
    assert spell(resolver.fact(push("p", "o/r"))) == "legacy:o/r"
    assert not resolver.skipped


def test_a_conflicting_copy_still_claims_its_slug():
    resolver = build([push("p", "o/r", "42"), push("p", "o/r", "43")])
    assert reference(resolver, "o/r", "42") == UNRESOLVED
    assert resolver.reference("o/r") == UNRESOLVED


@pytest.mark.parametrize("repo", ["owner", "a/b/c", "/b", "a/", "a/\x00"])
def test_invalid_slug_is_unresolved(repo):
    assert build([]).reference(repo) == UNRESOLVED


@pytest.mark.parametrize("repo", ["", "  "])
def test_empty_slug_is_absent_with_or_without_identity(repo):
    assert build([]).reference(repo) == ABSENT
    assert reference(build([]), repo, "42") == ABSENT


def test_references_are_trimmed_and_lower_cased():
    resolver = build([push("p", "o/r", "42")])
    assert spell(reference(resolver, " O/R ", "42")) == "42:o/r"
    assert spell(resolver.reference("Some/Repo")) == "legacy:some/repo"


def test_same_fact_id_in_two_tables_is_two_sources():
    facts = [push("same", "o/r"), outcome("same", "x/y")]
    assert [spell(build(facts).fact(fact)) for fact in facts] == ["legacy:o/r", "legacy:x/y"]


def test_label_of_keys():
    resolver = build([push("p", "z/z", "42"), push("q", "a/z", "42")])
    key = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42")
    assert resolver.label(key) == "a/z"
    assert resolver.label(LegacyKey(ORG, "o/r")) == "o/r"
    with pytest.raises(KeyError):
        resolver.label(replace(key, repository_id="43"))


@pytest.mark.parametrize(
    ("facts", "renames", "expected"),
    [
        ([push("p", "o/r")], [], "legacy:o/r"),
        ([push("p", "o/r", "42")], [], "42:o/r"),
        ([push("p", "o/r", "42")], [rename("n", "42", "o/r", "o/s")], "42:o/r"),
        ([push("p", "o/r", "42"), push("q", "o/r", "43")], [], NOT_PROVEN),
        ([push("p", "o/r", "42"), push("q", "o/r"), push("q", "o/x")], [], NOT_PROVEN),
        ([push("p", "o/r", "42")], [rename("n", "43", "o/r", "o/s")], NOT_PROVEN),
        ([push("p", "o/a", "42")], [RENAME, rename("m", "42", "o/a", "o/c", source_event_id="e")], NOT_PROVEN),
        ([push("p", "o/r"), outcome("c", "o/r", "42")], [], UNRESOLVED),
        ([push("p", "", "42")], [], ABSENT),
    ],
    ids=[
        "legacy",
        "identified",
        "own rename",
        "shared slug",
        "unsafe slug",
        "claimed by a rename",
        "own conflicting renames",
        "legacy but claimed",
        "no name",
    ],
)
def test_mirror_refresh_target_needs_the_only_claim(facts, renames, expected):
    assert spell(build(facts, renames).refresh_target(facts[0])) == expected


def test_pushed_are_the_repositories_that_pushes_resolve_to():
    facts = [
        push("p1", "acme/a"), push("p2", "acme/a", after_sha="b" * 40), push("p3", "acme/b", "7"),
        push("p4", "acme/b", after_sha="c" * 40), push("p5", ""), outcome("o1", "acme/other"),
    ]  # fmt: skip
    assert build(facts).pushed() == {
        LegacyKey(ORG, "acme/a"), IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "7"),
    }  # fmt: skip


def test_build_reads_streams_once():
    facts = [push(f"p{number}", "o/r", captured_at=stamp(number)) for number in range(3)]
    resolver = RepositoryResolver.build(ORG, (project_evidence(fact) for fact in facts), iter([]))
    assert all(isinstance(resolver.fact(fact), Resolved) for fact in facts)
