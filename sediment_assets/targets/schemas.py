"""JSON Schema documents and the reference page, generated from the row models (targets.md §6.7).

Both say the same as the models because they are made from them. Writing the files is ``docs/generate.py``'s part.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import MISSING
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from sediment_assets.targets.reasons_page import REASONS_PAGE, reasons_page
from sediment_assets.targets.registry import TARGETS, PopulationSpec

SCHEMAS_DIRECTORY: Final = "schemas"
REFERENCE_PAGE: Final = "docs/reference/rows.md"


class _RowSchema(GenerateJsonSchema):
    """A row is described as it is written: every key is there unless it may be omitted, and no other key is."""

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,
    ) -> bool:
        return field["schema"].get("default") is not MISSING

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        # Nested Facts ignore unknown keys when they are read; in a row they have none.
        return {**super().model_schema(schema), "additionalProperties": False}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False  # a title would repeat the key

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])  # a default of the model is none of the row


def generated_files() -> Iterator[tuple[str, str]]:
    """Yield every generated file: its path from the root of the repository, with ``/``, and its text."""
    for population in _populations():
        yield f"{SCHEMAS_DIRECTORY}/{population.schema_path}", schema_text(population)
    yield REFERENCE_PAGE, reference_page()
    yield REASONS_PAGE, reasons_page()


def row_schema(population: PopulationSpec) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a population's rows; ``$id`` is the rows' ``schema_id``."""
    schema = population.row_model.model_json_schema(schema_generator=_RowSchema)
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": population.schema_id}
    return head | _without_chapters(schema)


_CHAPTER: Final = re.compile(r" \([a-z]+\.md [^()]*\)")


def _without_chapters(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema without the chapter numbers in its descriptions: they are for readers of the code."""
    return {
        key: _without_chapters(item)
        if isinstance(item, dict)
        else (_CHAPTER.sub("", item) if key == "description" else item)
        for key, item in schema.items()
    }


def schema_text(population: PopulationSpec) -> str:
    """Return the text of a population's JSON Schema file."""
    return json.dumps(row_schema(population), indent=2, ensure_ascii=False) + "\n"


def _populations() -> Iterator[PopulationSpec]:
    for target in TARGETS.values():
        yield from target.populations


def reference_page() -> str:
    """Return ``docs/reference/rows.md``: one table per row and per nested object, in the order of the keys."""
    sections = [_INTRODUCTION]
    nested: dict[str, Any] = {}
    for target in TARGETS.values():
        for population in target.populations:
            schema = row_schema(population)
            nested |= schema.pop("$defs")
            sections.append(
                f"## Target `{target.target}`: {population.population}\n\n`schema_id`: {population.schema_id}"
            )
            sections.append(_section(population.row_model.__name__, schema))
    objects = [name for name in sorted(nested) if "properties" in nested[name]]
    sections.append("## Nested objects")
    sections.extend(_section(name, nested[name]) for name in objects)
    sections.append("## Vocabularies")
    sections.extend(_vocabulary(name, nested[name]) for name in sorted(nested) if name not in objects)
    return "\n\n".join(sections) + "\n"


_INTRODUCTION: Final = """\
# Rows

Generated from the row models by `make schemas`; do not edit. The same models give the JSON Schema files in `schemas/`.

A file holds one row per line: compact JSON in UTF-8, keys in the order of these tables, LF after every row. A key is
left out only where its table says so; any other absent value is `null`. Times are UTC, `2026-01-02T03:04:05Z`, with
six fraction digits when they are not zero."""


def _section(name: str, schema: Mapping[str, Any]) -> str:
    lines = [f"### {name}", "", schema["description"], "", *_TABLE_HEAD]
    required = set(schema.get("required", ()))
    for key, field in schema["properties"].items():
        presence = "always" if key in required else "may be omitted"
        lines.append(f"| `{key}` | {_type(field)} | {presence} | {_cell(field['description'])} |")
    return "\n".join(lines)


_TABLE_HEAD: Final = ("| key | type | present | meaning |", "|---|---|---|---|")


def _vocabulary(name: str, schema: Mapping[str, Any]) -> str:
    members = schema.get("enum") or [schema["const"]]
    return f"### {name}\n\n{schema['description']}\n\n" + ", ".join(f"`{member}`" for member in members) + "."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _type(schema: Mapping[str, Any]) -> str:
    """Spell a field's type for the page."""
    if "$ref" in schema:
        return _reference(schema["$ref"])
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return " or ".join(_type(member) for member in schema[choice])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(member)}`" for member in schema["enum"])
    match schema.get("type"):
        case "array":
            return f"array of {_type(schema.get('items', {}))}"
        case "string" if schema.get("format") == "date-time":
            return "time"
        case None:
            return "any JSON"
        case plain:
            return str(plain)


def _reference(pointer: str) -> str:
    name = pointer.rpartition("/")[2]
    return f"[{name}](#{name.lower()})"
