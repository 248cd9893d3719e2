"""Evidence rows and renames of the resolver: roles, normal form, conflicts (mirrors.md §8)."""

from dataclasses import replace
from datetime import datetime

import pytest

from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, project_evidence
from sediment_assets.repositories.population import RepositoryEvidenceError
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import ORG
from tests.unit.repositories.resolver_cases import (
    ABSENT,
    CONFLICT,
    LATER,
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
)


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
