"""Property: rows of the organization-wide populations are written the same fast and thoroughly (bundle.md §2)."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.bundle import quick_lines
from sediment_assets.bundle.encoding import encode_line
from sediment_assets.bundle.population_records import population_plain
from sediment_assets.bundle.quick_lines import population_line
from sediment_assets.derive.fact_reader import CallIdentity
from sediment_assets.facts.json_values import JsonError
from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, RepositoryEvidence

TIME = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
IDENTITY = CallIdentity("c1", "acme", "s1", TIME, ("t1", "t2"))
EVIDENCE = RepositoryEvidence(
    EvidenceTable.SESSION_COMMIT_OBSERVATIONS,
    "b1",
    EvidenceRole.REPO,
    "acme",
    "acme/widget",
    ForgeProvider.GITHUB,
    "github.com",
    "42",
    TIME,
    "p1",
)
texts = st.text(max_size=4) | st.sampled_from(
    ["", '"', "\\", "a\\", "\x7f", "\x1f", "é", "\ud800", "😀", "/", "\u2028"]
)
instants = st.sampled_from(
    [TIME, TIME.replace(microsecond=1), TIME.astimezone(timezone(timedelta(hours=1))), TIME.replace(tzinfo=None)]
)


def outcome(write: Any, row: Any) -> Any:
    try:
        return write(row)
    except JsonError as error:
        return str(error)


def thorough(row: Any) -> bytes:
    return encode_line(population_plain(row))


@given(st.builds(CallIdentity, texts, texts, texts, instants, st.lists(texts, max_size=3).map(tuple)))
def test_an_identity_is_written_the_same(row: CallIdentity):
    assert outcome(population_line, row) == outcome(thorough, row)


@given(
    st.builds(
        RepositoryEvidence,
        st.sampled_from(EvidenceTable), texts, st.sampled_from(EvidenceRole), texts, texts,
        st.none() | st.sampled_from(ForgeProvider), st.none() | texts, st.none() | texts, instants, st.none() | texts,
    )
)  # fmt: skip
def test_evidence_is_written_the_same(row: RepositoryEvidence):
    assert outcome(population_line, row) == outcome(thorough, row)


@pytest.mark.parametrize("row", [IDENTITY, CallIdentity("c", "o", "s", TIME, ()), EVIDENCE])
def test_ordinary_rows_are_written_fast(row: Any, monkeypatch: pytest.MonkeyPatch):
    expected = thorough(row)
    monkeypatch.setattr(quick_lines, "encode_line", None)
    assert population_line(row) == expected
