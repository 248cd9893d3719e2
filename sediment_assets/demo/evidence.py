"""The demo's Facts as they pile up: validated by the Fact models, spelled as canonical JSONL (facts.md §7).

Not here: what happened (``stories``), and writing files (``plant.py``).
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, TypeVar

from sediment_assets.facts.instants import format_z
from sediment_assets.facts.json_values import encode_stored
from sediment_assets.facts.model import Fact, FrozenModel
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.tables import FACT_MODELS, QUARANTINE_FILE
from sediment_assets.facts.vocabulary import QuarantineAction

ORG: Final = "acme"

FactT = TypeVar("FactT", bound=Fact)


class Evidence:
    """Every Fact captured so far, and the quarantine log."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.quarantine_log: list[QuarantineRecord] = []

    def add(self, kind: type[FactT], /, **values: Any) -> FactT:
        """Capture one Fact of the demo's organization."""
        fact = kind.model_validate({"org_id": ORG, **values})
        self.facts.append(fact)
        return fact

    def quarantine(self, fact: Fact, at: datetime, reason: str) -> None:
        """Hide a Fact."""
        self._log(fact, QuarantineAction.QUARANTINE, at, reason)

    def release(self, fact: Fact, at: datetime, reason: str) -> None:
        """Show a hidden Fact again."""
        self._log(fact, QuarantineAction.RELEASE, at, reason)

    def _log(self, fact: Fact, action: QuarantineAction, at: datetime, reason: str) -> None:
        record = {
            "quarantine_id": f"quarantine-{len(self.quarantine_log) + 1:02d}",
            "org_id": ORG,
            "fact_table": fact.TABLE.value,
            "fact_id": fact.fact_id,
            "action": action.value,
            "reason": reason,
            "recorded_at": at,
        }
        self.quarantine_log.append(QuarantineRecord.model_validate(record))

    def of(self, model: type[FactT]) -> list[FactT]:
        """Return the Facts of one kind in the order of capture."""
        found = [fact for fact in self.facts if isinstance(fact, model)]
        return sorted(found, key=lambda fact: (_captured_at(fact), fact.fact_id))

    def files(self) -> dict[str, bytes]:
        """Return the canonical JSONL files by name; the quarantine log keeps its order, which counts."""
        files = {f"{table}.jsonl": _lines(self.of(model)) for table, model in FACT_MODELS.items()}
        return {**files, f"{QUARANTINE_FILE}.jsonl": _lines(self.quarantine_log)}


def _captured_at(fact: Fact) -> datetime:
    captured: datetime = getattr(fact, "captured_at")  # noqa: B009 — every Fact has it, the base class does not say so
    return captured


def _lines(records: Iterable[FrozenModel]) -> bytes:
    return b"".join(canonical_line(record) for record in records)


def canonical_line(record: FrozenModel) -> bytes:
    """Spell a record as one line of its canonical file: declared key order, nulls present, times ``Z``."""
    plain = {
        key: format_z(value) if isinstance(value, datetime) else value for key, value in record.model_dump().items()
    }
    return encode_stored(plain).encode() + b"\n"
