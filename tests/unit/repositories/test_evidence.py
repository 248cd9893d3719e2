"""Projection of Facts to evidence rows (mirrors.md §8.2, bundle.md §4.2)."""

from dataclasses import fields

import pytest
from pydantic import TypeAdapter

from sediment_assets.repositories.evidence import (
    EvidenceRole,
    EvidenceTable,
    RepositoryEvidence,
    project_evidence,
)
from tests.builders import IDENTITY, make_call, make_observation, make_outcome, make_push


def test_fields_are_in_contract_order():
    assert [field.name for field in fields(RepositoryEvidence)] == [
        "source_table",
        "source_fact_id",
        "role",
        "org_id",
        "repo",
        "repository_provider",
        "repository_host",
        "repository_id",
        "captured_at",
        "source_push_id",
    ]


@pytest.mark.parametrize(
    ("fact", "table", "fact_id", "source_push_id"),
    [
        (make_push(), EvidenceTable.PUSHES, "p1", None),
        (make_outcome(), EvidenceTable.CI_OUTCOMES, "o1", None),
        (make_observation(), EvidenceTable.SESSION_COMMIT_OBSERVATIONS, "ob1", "p1"),
    ],
)
def test_every_repository_fact_gives_one_row(fact, table, fact_id, source_push_id):
    row = project_evidence(fact)
    assert (row.source_table, row.source_fact_id, row.role) == (table, fact_id, EvidenceRole.REPO)
    assert (row.org_id, row.repo, row.captured_at) == (fact.org_id, fact.repo, fact.captured_at)
    assert (row.repository_provider, row.repository_host, row.repository_id) == (None, None, None)
    assert row.source_push_id == source_push_id


def test_identity_is_carried():
    row = project_evidence(make_outcome(**IDENTITY))
    assert (row.repository_provider, row.repository_host, row.repository_id) == ("github", "github.com", "42")


def test_other_facts_carry_no_evidence():
    with pytest.raises(TypeError, match="got InferenceCall"):
        project_evidence(make_call())


def test_field_types_state_the_normal_form():
    row = project_evidence(make_push(**IDENTITY))
    adapter = TypeAdapter(RepositoryEvidence)
    plain = adapter.dump_python(row)
    assert adapter.validate_python(plain | {"repo": " Acme/Widget "}) == row
