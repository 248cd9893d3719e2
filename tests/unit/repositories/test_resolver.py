"""The repository identity resolver: every worked case of mirrors.md §8 and derivation.md §3."""

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, project_evidence
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryIdentity
from sediment_assets.repositories.population import RepositoryEvidenceError
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver, Resolved
from tests.builders import AT, ORG, make_observation, make_outcome, make_push, make_rename

ABSENT = RepositoryReason.IDENTITY_ABSENT
UNRESOLVED = RepositoryReason.IDENTITY_UNRESOLVED
CONFLICT = RepositoryReason.IDENTITY_CONFLICT
SOURCE_ABSENT = RepositoryReason.SOURCE_ABSENT
NOT_PROVEN = RepositoryReason.MIRROR_IDENTITY_UNRESOLVED
LATER = "2026-03-02T10:00:00Z"


def identity(repository_id):
    names = ("repository_provider", "repository_host", "repository_id")
    return dict(zip(names, ("github", "github.com", repository_id), strict=True))


def push(push_id, repo, repository_id=None, **values):
    triple = identity(repository_id) if repository_id else {}
    return make_push(push_id=push_id, repo=repo, **triple, **values)


def outcome(outcome_id, repo, repository_id=None, **values):
    triple = identity(repository_id) if repository_id else {}
    return make_outcome(outcome_id=outcome_id, repo=repo, run_id=outcome_id, **triple, **values)


def observation(observation_id, repo, push_id, repository_id=None, **values):
    triple = identity(repository_id) if repository_id else {}
    return make_observation(observation_id=observation_id, repo=repo, source_push_id=push_id, **triple, **values)


def rename(rename_id, repository_id, old, new, **values):
    names = {"rename_id": rename_id, "old_repo": old, "new_repo": new}
    return make_rename(**(names | identity(repository_id) | values))


def build(facts, renames=(), as_of=None):
    return RepositoryResolver.build(ORG, map(project_evidence, facts), renames, as_of)


def reference(resolver, repo, repository_id=None):
    known = RepositoryIdentity(provider=ForgeProvider.GITHUB, host="github.com", repository_id=repository_id or "1")
    return resolver.reference(repo, known if repository_id else None)


def spell(result):
    """A repository as ``<id or legacy>:<label>``, a failure as its reason."""
    if isinstance(result, RepositoryReason):
        return result
    key = result.key
    if isinstance(key, LegacyKey):
        assert (key.org_id, key.slug, result.identity) == (ORG, result.label, None)
        return f"legacy:{result.label}"
    assert (key.org_id, key.provider, key.host) == (ORG, "github", "github.com")
    assert result.identity == key.identity
    return f"{key.repository_id}:{result.label}"


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


def pull_request_row(role, repo, repository_id=None):
    row = project_evidence(push("m1", repo, repository_id))
    return replace(row, source_table=EvidenceTable.PULL_REQUEST_MERGES, role=role)


def test_pull_request_rows_have_two_roles_and_claim_their_slugs():
    rows = [
        pull_request_row(EvidenceRole.REPO, "o/r", "42"),
        pull_request_row(EvidenceRole.HEAD_REPO, "fork/r", "43"),
    ]
    resolver = RepositoryResolver.build(ORG, rows, [])
    key = (EvidenceTable.PULL_REQUEST_MERGES, "m1")
    assert spell(resolver.source(*key)) == "42:o/r"
    assert spell(resolver.source(*key, EvidenceRole.HEAD_REPO)) == "43:fork/r"
    assert resolver.reference("fork/r") == UNRESOLVED


def test_legacy_head_repo_without_name_is_absent():
    resolver = RepositoryResolver.build(ORG, [pull_request_row(EvidenceRole.HEAD_REPO, "")], [])
    assert resolver.source(EvidenceTable.PULL_REQUEST_MERGES, "m1", EvidenceRole.HEAD_REPO) == ABSENT
    assert resolver.source(EvidenceTable.PULL_REQUEST_MERGES, "m1", EvidenceRole.REPO) == SOURCE_ABSENT
    assert resolver.skipped == {ABSENT: 1}


GOOD_ROW = project_evidence(push("p", "o/r", "42"))
OBSERVATION_ROW = project_evidence(observation("a", "o/r", "p"))


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (replace(GOOD_ROW, repo="O/r"), "repo: expected 'o/r', got 'O/r'"),
        (replace(GOOD_ROW, repo="o"), "repo: expected a repository"),
        (replace(GOOD_ROW, repository_host="GitHub.com"), "repository_host"),
        (replace(GOOD_ROW, repository_host="a_b"), "repository_host"),
        (replace(GOOD_ROW, repository_id="042"), "repository_id"),
        (replace(GOOD_ROW, repository_host=None), "expected all or none"),
        (replace(GOOD_ROW, source_fact_id=" p"), "source_fact_id"),
        (replace(GOOD_ROW, source_fact_id=""), "source_fact_id"),
        (replace(GOOD_ROW, role=EvidenceRole.HEAD_REPO), "role"),
        (replace(GOOD_ROW, source_push_id="p"), "source_push_id"),
        (replace(OBSERVATION_ROW, source_push_id=None), "source_push_id"),
        (replace(OBSERVATION_ROW, source_push_id="p "), "source_push_id"),
        (replace(GOOD_ROW, captured_at=datetime(2026, 1, 1)), "captured_at"),  # noqa: DTZ001
    ],
)
def test_row_out_of_normal_form_fails_the_build(row, problem):
    with pytest.raises(RepositoryEvidenceError, match=problem) as caught:
        RepositoryResolver.build(ORG, [row], [])
    assert "\n" not in str(caught.value)


def test_malformed_row_of_another_organization_is_not_looked_at():
    row = replace(GOOD_ROW, org_id="other", repo="Not Normal")
    assert spell(RepositoryResolver.build(ORG, [row], []).reference("o/r")) == "legacy:o/r"


RENAME = rename("n", "42", "o/a", "o/b", source_event_id="e")


@pytest.mark.parametrize(
    ("other", "conflicting"),
    [
        (rename("m", "42", "o/a", "o/b", source_event_id="e", captured_at=LATER), 0),
        (rename("m", "42", "o/a", "o/c", source_event_id="e"), 2),
        (rename("m", "42", "o/z", "o/b", source_event_id="e"), 2),
        (rename("m", "43", "o/a", "o/b", source_event_id="e"), 2),
        (rename("m", "42", "o/a", "o/b", source_event_id="e", occurred_at=LATER), 2),
        (rename("m", "42", "o/a", "o/c", source_event_id="other"), 0),
        (RENAME, 0),
        (rename("n", "42", "o/a", "o/b", source_event_id="e", captured_at=LATER), 1),
        (rename("n", "42", "o/a", "o/b", source_event_id="other"), 1),
        (rename("n", "42", "o/a", "o/c", source_event_id=None), 1),
    ],
    ids=[
        "redelivery",
        "new name",
        "old name",
        "identity",
        "occurred_at",
        "another event",
        "same copy",
        "copy captured later",
        "copy of another event",
        "copy without event",
    ],
)
def test_renames_conflict_when_one_event_or_id_is_told_twice(other, conflicting):
    resolver = build([], [RENAME, other])
    assert resolver.rename_skipped[CONFLICT] == conflicting
    expected = UNRESOLVED if conflicting else "42:o/a"
    assert spell(reference(resolver, "o/b", "42")) == expected
    assert resolver.reference("o/b") == UNRESOLVED


def test_renames_without_event_never_conflict_with_each_other():
    renames = [
        rename("n", "42", "o/a", "o/b", source_event_id=None),
        rename("m", "42", "o/a", "o/c", source_event_id=None),
    ]
    resolver = build([], renames)
    assert not resolver.rename_skipped
    assert spell(reference(resolver, "o/c", "42")) == "42:o/a"


def test_same_event_id_of_two_hosts_is_two_events():
    enterprise = rename("m", "42", "o/a", "o/c", source_event_id="e", repository_host="ghe.example")
    assert not build([], [RENAME, enterprise]).rename_skipped


def test_conflicting_rename_takes_a_legacy_repository_along():
    facts = [outcome("c", "o/c")]
    renames = [RENAME, rename("m", "42", "o/a", "o/c", source_event_id="e")]
    assert build(facts, renames).fact(facts[0]) == UNRESOLVED


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


def stamp(minutes):
    return datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=minutes)
