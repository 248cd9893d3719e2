"""The one wording of a refused value: ``expected …, got …``, safe to print whatever was captured.

Safe: one short line of printable characters, credentials redacted as in Facts (facts.md §9).
"""

from collections import Counter
from typing import Final

from sediment_assets.facts.redaction_scans import redact_text

_SHOWN: Final = 60
_READ: Final = 600
_SHOWN_DIGITS: Final = 10**40


def expected(what: str, value: object) -> ValueError:
    """Return the error for ``value`` where ``what`` was expected."""
    return ValueError(f"expected {what}, got {shown(value)}")


def shown(value: object) -> str:
    """Spell ``value`` for a message: one short line in JSON's words, printable characters only."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            safe = redact_text(str(value[:_READ]), Counter())
            return repr(safe[:_SHOWN]) + ("…" if max(len(safe), len(value)) > _SHOWN else "")
        case int() if not -_SHOWN_DIGITS < value < _SHOWN_DIGITS:
            return "an integer of more than 40 digits"
        case int() | float():
            return repr(value)
        case dict():
            return "an object" if value else "{}"
        case list():
            return "an array" if value else "[]"
        case _:
            return f"a Python {type(value).__name__}"
