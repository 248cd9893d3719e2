"""What a reviewer reads first in the UI: column schemas from the row models, previews, tables of reasons.

Cells are short plain text: captured content is cut, never interpreted, and tables are not markup.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import dagster as dg
from pydantic import MISSING, BaseModel

from sediment_assets.reasons import Reason

ROW_COUNT: Final = "dagster/row_count"
COLUMN_SCHEMA: Final = "dagster/column_schema"
TABLE_NAME: Final = "dagster/table_name"
DOCS: Final = "docs"
"""Metadata key of an asset: pages of this repository that say more."""
SKIP_PREFIX: Final = "skip/"
"""Metadata key of a reason's count: this and the reason. Zeros are there, too, so that each has its plot."""
PREVIEW: Final = "preview"
PREVIEW_ROWS: Final = 5
_CELL_CHARACTERS: Final = 80

NONE: Final = "none"
"""What a metadata entry says instead of showing an empty table or no value."""


def column_schema(model: type[BaseModel]) -> dg.TableSchema:
    """Derive the column schema of a row model: JSON types, field descriptions, and which keys are always there."""
    schema = model.model_json_schema()
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    kinds = {name: _json_kinds(field, definitions) for name, field in schema["properties"].items()}
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=name,
                type=" or ".join(kind for kind in kinds[name] if kind != "null"),
                description=field.description,
                constraints=dg.TableColumnConstraints(
                    nullable="null" in kinds[name],
                    other=["omitted when absent"] if field.default is MISSING else [],
                ),
            )
            for name, field in model.model_fields.items()
        ]
    )


_TYPE_NAMES: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}


def _json_kinds(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[str, ...]:
    """Name the JSON types that a schema allows, each once; a time is told apart from other strings."""
    if "$ref" in schema:
        return _json_kinds(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    if "const" in schema:
        return (_TYPE_NAMES[type(schema["const"])],)
    options = schema.get("anyOf") or schema.get("oneOf")
    if options:
        return tuple(dict.fromkeys(kind for option in options for kind in _json_kinds(option, definitions)))
    if schema.get("format") == "date-time":
        return ("timestamp",)
    return (str(schema.get("type", "any")),)


def preview(rows: Iterable[Mapping[str, Any]]) -> dg.TableMetadataValue | dg.TextMetadataValue:
    """Show the first rows as a table of short text cells."""
    records = [{key: _cell(value) for key, value in row.items()} for row in rows]
    columns = list(dict.fromkeys(key for record in records for key in record))
    if not columns:
        return dg.MetadataValue.text("no rows")
    return _table(columns, ([record.get(column, "") for column in columns] for record in records))


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    line = " ".join(text.split())
    return line if len(line) <= _CELL_CHARACTERS else line[: _CELL_CHARACTERS - 1] + "…"


def lines_table(title: str, text: str) -> dg.TableMetadataValue:
    """Show a short text file line by line. A page drops leading spaces, so the indentation is of no-break ones."""
    lines = ((line, line.lstrip(" ")) for line in text.splitlines())
    return _table([title], (["\N{NO-BREAK SPACE}" * (len(line) - len(rest)) + rest] for line, rest in lines))


def counts_table(counts: Mapping[str, int], *, header: str) -> dg.TableMetadataValue | dg.TextMetadataValue:
    """Show counters as a two-column table, zeros included."""
    return _table([header, "count"], counts.items()) if counts else dg.MetadataValue.text(NONE)


def reasons_table(
    counts: Mapping[str, int],
    vocabulary: Iterable[Reason],
    units: Mapping[Reason, str] | None = None,
    examples: Mapping[str, Sequence[str]] | None = None,
) -> dg.TableMetadataValue | dg.TextMetadataValue:
    """Show what was counted under which reason, what a count counts, what the reason means, and for which Sessions.

    Rows are in the order of the vocabulary. ``units`` replaces the reasons' own; zeros are left out. ``examples`` are
    the first few Sessions of each reason.
    """
    rows: list[Sequence[str | int]] = [
        (
            reason.value,
            counts[reason.value],
            (units or {}).get(reason, reason.unit),
            *([] if examples is None else [_sessions(examples.get(reason.value, ()), counts[reason.value])]),
            reason.meaning,
        )
        for reason in vocabulary
        if counts.get(reason.value)
    ]
    columns = ["reason", "count", "unit", *([] if examples is None else ["Sessions"]), "meaning"]
    return _table(columns, rows) if rows else dg.MetadataValue.text(NONE)


def _sessions(examples: Sequence[str], count: int) -> str:
    """Name Sessions; say so when these are not all that was counted."""
    names = ", ".join(map(_cell, examples))
    return names if count <= len(examples) else f"first {len(examples)} of {count}: {names}"


def _table(columns: Iterable[str], rows: Iterable[Iterable[str | int]]) -> dg.TableMetadataValue:
    names = list(columns)
    return dg.MetadataValue.table(
        records=[dg.TableRecord(dict(zip(names, row, strict=True))) for row in rows],
        schema=dg.TableSchema(
            columns=[dg.TableColumn(name, type="integer" if name == "count" else "string") for name in names]
        ),
    )
