"""What the UI is told about columns, previews and reasons."""

from typing import Any, Literal

import dagster as dg
import pytest
from pydantic import MISSING, BaseModel, Field

from sediment_assets.ci.resolution import CIResolution, Verdict
from sediment_assets.defs.metadata import column_schema, counts_table, lines_table, preview, reasons_table
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.targets.registry import TARGETS
from sediment_assets.targets.skips import RowSkip, TaskSkip


class Nested(BaseModel):
    """An object."""


class Row(BaseModel):
    """A row with every kind of field."""

    text: str = Field(description="A text.")
    number: float
    maybe: int | None
    either: str | int
    verdict: Verdict
    maybe_verdict: Verdict | None
    constant: Literal[3]
    nested: Nested
    many: tuple[Nested, ...]
    anything: Any
    omitted: str | MISSING = MISSING


def columns(model: type[BaseModel]) -> dict[str, tuple[str, bool, list[str]]]:
    return {
        column.name: (column.type, column.constraints.nullable, list(column.constraints.other))
        for column in column_schema(model).columns
    }


def test_columns_have_json_types_and_say_when_they_may_be_absent():
    assert columns(Row) == {
        "text": ("string", False, []),
        "number": ("number", False, []),
        "maybe": ("integer", True, []),
        "either": ("string or integer", False, []),
        "verdict": ("string", False, []),
        "maybe_verdict": ("string", True, []),
        "constant": ("integer", False, []),
        "nested": ("object", False, []),
        "many": ("array", False, []),
        "anything": ("any", False, []),
        "omitted": ("string", False, ["omitted when absent"]),
    }
    assert column_schema(Row).columns[0].description == "A text."


def test_times_are_told_apart_from_texts():
    assert columns(CIOutcome)["captured_at"] == ("timestamp", False, [])
    assert columns(CIOutcome)["provider"] == ("string", False, [])
    assert columns(CIResolution)["verdict"] == ("string", True, [])


@pytest.mark.parametrize(
    "model", [spec.row_model for target in TARGETS.values() for spec in target.populations], ids=lambda m: m.__name__
)
def test_every_column_of_a_row_is_described(model: type[BaseModel]):
    assert all(column.description and column.type for column in column_schema(model).columns)


def test_preview_cells_are_short_single_lines_of_text():
    table = preview([{"a": "two\nlines\tand\r\nmore", "b": "x" * 500, "c": None, "d": 1.0}, {"a": "", "e": "late"}])
    assert isinstance(table, dg.TableMetadataValue)
    first, second = (record.data for record in table.records)
    assert first == {"a": "two lines and more", "b": "x" * 79 + "…", "c": "", "d": "1.0", "e": ""}
    assert second == {"a": "", "b": "", "c": "", "d": "", "e": "late"}


def test_nothing_to_show_is_said_in_words():
    assert preview([]) == dg.MetadataValue.text("no rows")
    assert counts_table({}, header="mirror") == dg.MetadataValue.text("none")
    assert reasons_table({"mirror_absent": 0}, TaskSkip) == dg.MetadataValue.text("none")


def test_reasons_are_in_the_order_of_their_vocabulary_with_unit_and_meaning():
    table = reasons_table({"root_commit_no_base": 2, "no_attributed_commit": 1, "unknown": 7}, TaskSkip)
    assert isinstance(table, dg.TableMetadataValue)
    assert [record.data for record in table.records] == [
        {
            "reason": "no_attributed_commit",
            "count": 1,
            "unit": "Rollouts",
            "meaning": "No commit belongs to the Session.",
        },
        {
            "reason": "root_commit_no_base",
            "count": 2,
            "unit": "Rollouts",
            "meaning": "The Session's first commit has no parent to start from.",
        },
    ]


def test_a_tallys_own_unit_replaces_the_reasons():
    table = reasons_table({"non_finite_number": 1}, RowSkip, {RowSkip.NON_FINITE_NUMBER: "Segments"})
    assert isinstance(table, dg.TableMetadataValue)
    assert table.records[0].data["unit"] == "Segments"


def test_a_text_is_shown_line_by_line():
    table = lines_table("environment.yaml", "a: 1\nb: |\n  <b>\n")
    assert [record.data for record in table.records] == [
        {"environment.yaml": "a: 1"},
        {"environment.yaml": "b: |"},
        {"environment.yaml": "\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}<b>"},
    ]
