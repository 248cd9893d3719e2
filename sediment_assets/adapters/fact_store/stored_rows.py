"""A record's columns as they are stored (facts.md §7, §10). No database is needed to make them."""

from typing import Final

from sediment_assets.facts.json_values import JsonObject, encode_stored
from sediment_assets.facts.model import FrozenModel

MESSAGE_COLUMNS: Final = ("input_messages", "output_messages")
"""Columns that hold messages as JSON text."""
JSON_COLUMNS: Final = (*MESSAGE_COLUMNS, "raw")
"""Columns that hold JSON text."""


def to_row(record: FrozenModel) -> JsonObject:
    """Return a record's columns; captured JSON as stored text (facts.md §7), everything else as in memory."""
    row = record.model_dump()
    for name in JSON_COLUMNS:
        if name in row:
            row[name] = encode_stored(row[name])
    return row
