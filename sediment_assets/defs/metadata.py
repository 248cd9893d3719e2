"""What a reviewer reads first in the UI: column schemas from the row models, previews, skip tables.

Cells are short plain text: captured content is cut, never interpreted, and tables are not markup.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import dagster as dg
from pydantic import MISSING, BaseModel

PREVIEW_ROWS = 5
_CELL_CHARACTERS = 80


def column_schema(model: type[BaseModel]) -> dg.TableSchema:
    """Derive the column schema of a row model: JSON types, field descriptions, and which keys are always there."""
    properties: Mapping[str, Any] = model.model_json_schema()["properties"]
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                name=name,
                type=_json_type(properties[name]),
                description=field.description,
                constraints=dg.TableColumnConstraints(
                    nullable=_nullable(properties[name]),
                    other=["omitted when absent"] if field.default is MISSING else [],
                ),
            )
            for name, field in model.model_fields.items()
        ]
    )


def _json_type(schema: Mapping[str, Any]) -> str:
    if "const" in schema:
        return type(schema["const"]).__name__.replace("str", "string").replace("int", "integer")
    if "type" in schema:
        return str(schema["type"])
    kinds = [_json_type(option) for option in schema.get("anyOf", ()) if option.get("type") != "null"]
    return kinds[0] if kinds else "object" if "$ref" in schema else "any"


def _nullable(schema: Mapping[str, Any]) -> bool:
    return any(option.get("type") == "null" for option in schema.get("anyOf", ()))


def preview(rows: Iterable[Mapping[str, Any]]) -> dg.TableMetadataValue:
    """Show the first rows as a table of short text cells."""
    records = [{key: _cell(value) for key, value in row.items()} for row in rows]
    columns = list(dict.fromkeys(key for record in records for key in record))
    return dg.MetadataValue.table(
        records=[dg.TableRecord({column: record.get(column, "") for column in columns}) for record in records],
        schema=dg.TableSchema(columns=[dg.TableColumn(column) for column in columns or ["no rows"]]),
    )


def _cell(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else str(value)
    line = " ".join(text.split())
    return line if len(line) <= _CELL_CHARACTERS else line[: _CELL_CHARACTERS - 1] + "…"


def counts_table(counts: Mapping[str, int], *, header: str) -> dg.TableMetadataValue:
    """Show counters as a two-column table, zeros included."""
    return dg.MetadataValue.table(
        records=[dg.TableRecord({header: name, "count": count}) for name, count in counts.items()],
        schema=dg.TableSchema(columns=[dg.TableColumn(header), dg.TableColumn("count", type="integer")]),
    )
