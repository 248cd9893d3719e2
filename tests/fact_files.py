"""Canonical JSONL for tests: Facts as lines, lines as files; and a store's whole content to compare."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sqlalchemy import select

from sediment_assets.adapters.fact_store.engine import read_snapshot, reading_engine
from sediment_assets.adapters.fact_store.schema import metadata
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.model import Fact, FrozenModel


def fact_line(record: FrozenModel, **changes: Any) -> bytes:
    """A record as one line; ``changes`` replace values, ``...`` removes a key."""
    values = {name: value for name, value in (record.model_dump() | changes).items() if value is not ...}
    return encode_stored(values).encode() + b"\n"


def write_facts(directory: Path, records: Iterable[FrozenModel]) -> Path:
    """Write records into ``<table>.jsonl`` files, in the given order within each file."""
    directory.mkdir(exist_ok=True)
    for record in records:
        table = record.TABLE.value if isinstance(record, Fact) else "quarantine"
        with (directory / f"{table}.jsonl").open("ab") as file:
            file.write(fact_line(record))
    return directory


def store_content(url: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, sorted."""
    with read_snapshot(reading_engine(url)) as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in metadata.sorted_tables
        }
