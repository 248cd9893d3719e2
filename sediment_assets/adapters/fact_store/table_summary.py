"""What became of the records of one table, in an import or a capture."""

from collections import Counter
from dataclasses import dataclass, field

from sediment_assets.facts.redaction import RedactionReason


@dataclass(slots=True)
class TableSummary:
    """What a run did with the records of one table. Redactions are those in newly stored Facts."""

    table: str
    read: int = 0
    stored: int = 0
    present: int = 0
    redactions: Counter[RedactionReason] = field(default_factory=Counter)
