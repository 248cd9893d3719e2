"""Keys, their order and their spelling (mirrors.md §4, §8.1; derivation.md §3)."""

import pytest
from pydantic import ValidationError

from sediment_assets.facts.vocabulary import FactTable, ForgeProvider
from sediment_assets.repositories.evidence import EvidenceTable
from sediment_assets.repositories.keys import (
    CommitKey,
    IdentifiedKey,
    LegacyKey,
    RepositoryIdentity,
    key_text,
)
from sediment_assets.repositories.reasons import RepositoryReason


def identified(repository_id: str, host: str = "github.com", org_id: str = "acme") -> IdentifiedKey:
    return IdentifiedKey(org_id, ForgeProvider.GITHUB, host, repository_id)


def test_sort_keys_are_text_tuples():
    assert identified("42").sort_key == ("acme", "identified", "github", "github.com", "42")
    assert LegacyKey("acme", "o/r").sort_key == ("acme", "legacy", "o/r")
    assert CommitKey(LegacyKey("acme", "o/r"), "ab").sort_key == ("acme", "legacy", "o/r", "ab")
    assert all(type(part) is str for part in identified("42").sort_key)


def test_identified_sorts_before_legacy_and_ids_as_text():
    keys = [LegacyKey("acme", "a/a"), identified("9"), identified("42"), identified("10")]
    ordered = sorted(keys, key=lambda key: key.sort_key)
    assert ordered == [identified("10"), identified("42"), identified("9"), LegacyKey("acme", "a/a")]


def test_key_text_is_slug_or_compact_array():
    assert key_text(LegacyKey("acme", "owner/ö x")) == "owner/ö x"
    assert key_text(identified("42")) == '["acme","identified","github","github.com","42"]'


def test_identity_of_a_key():
    assert identified("42").identity == RepositoryIdentity(
        provider=ForgeProvider.GITHUB, host="github.com", repository_id="42"
    )
    assert LegacyKey("acme", "o/r").identity is None


def test_keys_are_values():
    one, other = (CommitKey(identified("42"), "ab") for _ in range(2))
    assert one == other
    assert len({one, other, CommitKey(identified("42", host="ghe.example"), "ab")}) == 2


@pytest.mark.parametrize("repository_id", [42, "042", "0", " 42", "1" * 21])
def test_identity_refuses_what_no_forge_issues(repository_id):
    with pytest.raises(ValidationError):
        RepositoryIdentity(provider="github", host="github.com", repository_id=repository_id)


def test_evidence_tables_are_fact_tables():
    assert {table.value for table in EvidenceTable} <= {table.value for table in FactTable}


def test_reasons_are_the_closed_vocabulary():
    assert set(RepositoryReason) == {
        "repository_identity_absent",
        "repository_identity_unresolved",
        "repository_identity_conflict",
        "repository_source_absent",
        "repository_mirror_identity_unresolved",
    }
