"""Quarantine: append-only records that hide Facts or show them again, and what is visible (facts.md §5, §8)."""

from collections.abc import Iterable
from typing import Annotated, ClassVar

from pydantic import Field, PlainValidator

from sediment_assets.facts.defaults import new_id, now
from sediment_assets.facts.expected import expected
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.scalars import Id, OrgId, normal_text
from sediment_assets.facts.text import strip
from sediment_assets.facts.vocabulary import FactTable, QuarantineAction


def normal_reason(value: object) -> str:
    """Reason of a quarantine record: text that is not blank, unchanged (stored unstripped)."""
    what = "a non-blank string"
    text = normal_text(value, what)
    if not strip(text):
        raise expected(what, value)
    return text


class QuarantineRecord(FrozenModel):
    """One entry of the quarantine log. The Fact it names may not exist."""

    KEY: ClassVar[str] = "quarantine_id"

    quarantine_id: Id = Field(default_factory=new_id, description="The record's id.")
    org_id: OrgId = Field(description="The organization of the Fact.")
    fact_table: FactTable = Field(description="The Fact's table.")
    fact_id: Id = Field(description="The Fact's id; no such Fact need exist.")
    action: QuarantineAction = Field(description="Whether the Fact is hidden or shown again.")
    reason: Annotated[str, PlainValidator(normal_reason, json_schema_input_type=str)] = Field(
        description="Why, in words for people; not blank."
    )
    recorded_at: Instant = Field(default_factory=now, description="When it was recorded; never used for ordering.")


def hidden_facts(records: Iterable[tuple[int, QuarantineRecord]]) -> frozenset[tuple[str, FactTable, str]]:
    """Return (org_id, fact_table, fact_id) of every Fact that is not visible.

    ``records`` are (quarantine_revision, record) in any order. The record with the highest revision decides;
    ``recorded_at`` never does (facts.md §8).
    """
    latest: dict[tuple[str, FactTable, str], tuple[int, QuarantineAction]] = {}
    for revision, record in records:
        fact = (record.org_id, record.fact_table, record.fact_id)
        if fact not in latest or latest[fact][0] < revision:
            latest[fact] = (revision, record.action)
    return frozenset(fact for fact, (_, action) in latest.items() if action is QuarantineAction.QUARANTINE)


def quarantine_revision(records: Iterable[tuple[int, QuarantineRecord]], org_id: str) -> int:
    """Return the largest revision among the organization's records, releases and ghost ids included; 0 if none."""
    return max((revision for revision, record in records if record.org_id == org_id), default=0)
