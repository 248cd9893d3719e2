"""Whether a published line is exactly a row of its model: what asset checks and readers of rows ask (targets.md §6).

The row model stays the only definition. A value that the model would repair (another type, an unknown key, a blank
around an id) differs from its own re-encoding, so no line is accepted that would not be written.
"""

from typing import Final, TypeVar

from pydantic import ValidationError

from sediment_assets.errors import SedimentError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonError, decode_strict, encode_row
from sediment_assets.facts.model import explain_errors
from sediment_assets.targets.rows.shared import RowModel

Row = TypeVar("Row", bound=RowModel)

_CONTEXT_BYTES: Final = 24


class RowError(SedimentError):
    """A line that is no row of its model. The place of the line is the caller's to add."""


def validate_line(row_model: type[Row], line: bytes) -> Row:
    """Return the row that one JSONL line, without its LF, spells.

    Raises:
        RowError: the line is blank, is no JSON in UTF-8, repeats a key, has a non-finite number, does not fit the
            model, or is spelled in another way than ``encode_row`` spells the row.
    """
    if not line.strip():
        raise RowError("expected a row, got a blank line")
    try:
        plain = decode_strict(line, finite=True)
        row = row_model.model_validate(plain)
        spelled = encode_row(row.model_dump())
    except JsonError as error:
        raise RowError(str(error)) from None
    except ValidationError as error:
        path, problem = explain_errors(error)[0]
        raise RowError(f"{path}: {problem}" if path else problem) from None
    if spelled != line:
        raise RowError(_difference(spelled, line))
    return row


def _difference(spelled: bytes, line: bytes) -> str:
    pairs = zip(spelled, line, strict=False)
    at = next((index for index, (left, right) in enumerate(pairs) if left != right), min(len(spelled), len(line)))
    return f"byte {at}: expected {_excerpt(spelled, at)}, got {_excerpt(line, at)}; only the exact spelling is a row"


def _excerpt(text: bytes, at: int) -> str:
    part = text[at : at + _CONTEXT_BYTES]
    return shown(part.decode("utf-8", errors="replace")) if part else "the end of the line"
