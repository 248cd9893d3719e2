"""The generated JSON Schema files and the reference page (targets.md §6.7)."""

import json
from pathlib import Path

import pytest

from sediment_assets.targets.registry import TARGETS
from sediment_assets.targets.schemas import generated_files, row_schema
from tests.unit.targets.test_row_check import PROJECTED

ROOT = Path(__file__).resolve().parents[3]
SCHEMAS = {spec.row_model: row_schema(spec) for target in TARGETS.values() for spec in target.populations}


@pytest.mark.parametrize(
    ("path", "text"), list(generated_files()), ids=lambda value: value if "\n" not in value else ""
)
def test_generated_files_are_up_to_date(path, text):
    assert (ROOT / path).read_text(encoding="utf-8") == text, "run `make schemas`"


def test_there_is_no_schema_file_that_is_not_generated():
    found = {path.relative_to(ROOT).as_posix() for path in (ROOT / "schemas").rglob("*") if path.is_file()}
    assert found == {path for path, _ in generated_files() if path.startswith("schemas/")}


def objects(schema):
    """Every object of a schema that lists its keys."""
    return [schema, *(found for found in schema["$defs"].values() if "properties" in found)]


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=lambda schema: schema["$id"])
def test_every_key_is_described_and_no_other_key_is_allowed(schema):
    for found in objects(schema):
        assert found["additionalProperties"] is False
        assert all(field["description"] for field in found["properties"].values())


OMITTED = {
    "MessageRow": {"finish_reason"},
    "SedimentTaskRow": {"verification"},
    "SedimentRolloutRow": {"reward_source", "ci_resolution"},
    "SWEBenchMetadata": {"verification"},
    "NemoGymRolloutRow": {"reward"},
    "NemoGymMetadata": {"reward_source", "verification", "ci_resolution"},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=lambda schema: schema["$id"])
def test_every_key_is_required_except_those_the_contract_omits(schema):
    for found in objects(schema):
        optional = set(found["properties"]) - set(found["required"])
        assert optional == OMITTED.get(found["title"], set())


def resolve(schema, root):
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    return schema


def fits(value, schema, root):
    """Whether a value fits a schema, for the few keywords that these schemas use."""
    schema = resolve(schema, root)
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return any(fits(value, choice, root) for choice in choices)
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": int | float, "boolean": bool}
    match schema.get("type"):
        case None:
            return True
        case "null":
            return value is None
        case kind if not isinstance(value, kinds[kind]) or (isinstance(value, bool) and kind != "boolean"):
            return False
    if isinstance(value, list):
        return all(fits(item, schema["items"], root) for item in value)
    if isinstance(value, dict) and "properties" in schema:
        known = schema["properties"]
        complete = set(schema["required"]) <= set(value) <= set(known)
        return complete and all(fits(item, known[key], root) for key, item in value.items())
    return True


@pytest.mark.parametrize("projected", PROJECTED)
def test_rows_fit_their_schema(projected):
    schema = SCHEMAS[type(projected.row)]
    plain = json.loads(projected.line)
    assert fits(plain, schema, schema)
    assert list(plain) == [key for key in schema["properties"] if key in plain]
    assert not fits(plain | {"extra": 1}, schema, schema)
