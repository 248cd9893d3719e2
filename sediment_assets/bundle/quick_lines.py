"""Lines of the organization-wide populations, written fast where their texts need no escape (bundle.md §2, §4.2).

Every bundle, be it of one day, carries a row for each call and repository-bearing Fact of its organization. Any value
that is not as almost all are sends the row the thorough way.
"""

from datetime import datetime
from typing import Any, Final

from sediment_assets.bundle.encoding import CLOSING, OPENING, encode_line, escaped
from sediment_assets.bundle.population_records import population_plain
from sediment_assets.derive.fact_reader import CallIdentity
from sediment_assets.facts.instants import format_offset
from sediment_assets.repositories.evidence import RepositoryEvidence

_KEYS: Final = {
    kind: tuple((name, f'"{name}":') for name in sorted(kind.__slots__)) for kind in (CallIdentity, RepositoryEvidence)
}


def population_line(row: RepositoryEvidence | CallIdentity) -> bytes:
    """Return the line that ``encode_line`` makes of a row."""
    members = []
    for name, key in _KEYS[type(row)]:
        text = _spelled(getattr(row, name))
        if text is None:
            return encode_line(population_plain(row))
        members.append(key + text)
    return b"".join((OPENING, escaped(f"{{{','.join(members)}}}"), CLOSING))


def _spelled(value: Any) -> str | None:
    """Spell a value canonically; None when that takes more than quotes."""
    if value is None:
        return "null"
    if isinstance(value, str):
        return f'"{value!s}"' if _needs_no_escape(value) else None
    if type(value) is datetime and value.tzinfo is not None:
        return f'"{format_offset(value)}"'
    if type(value) is tuple and all(type(item) is str and _needs_no_escape(item) for item in value):
        return '["' + '","'.join(value) + '"]' if value else "[]"
    return None


def _needs_no_escape(text: str) -> bool:
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text
