"""What the readers of CI systems share: when a run has ended, and ids that stay apart under ``provider: other``."""

from collections.abc import Mapping
from datetime import datetime

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.record_fields import RefusedError
from sediment_assets.facts.expected import shown
from sediment_assets.facts.vocabulary import CIResult


def result_of(
    word: str | None, results: Mapping[str, CIResult], running: frozenset[str], ended_at: datetime | None, what: str
) -> CIResult:
    """Return what a system's word for a run's state means, capitals aside.

    A word that is in neither list is ``unknown`` when the record says that the run ended, and no end otherwise.
    """
    known = (word or "").lower()
    if known in results:
        return results[known]
    if word is None or known in running or ended_at is None:
        end = "" if known in running else ", and no end"
        raise RefusedError(Remainder.NOT_TERMINAL, f"{what} with state {shown(word)}{end}")
    return CIResult.UNKNOWN


def words(text: str) -> frozenset[str]:
    """Return the words of a text, for tables of states."""
    return frozenset(text.split())


def qualified_id(system: str, *parts: str) -> str:
    """Return a run id that cannot meet one of another system or host: CIProvider ``other`` is one space for all."""
    return f"{system}:" + "/".join(parts)


def not_evidence(detail: str) -> RefusedError:
    """Return the refusal of a known record that tells no attempt of a CI run."""
    return RefusedError(Remainder.NO_EVIDENCE, detail)


def other_forge(detail: str) -> RefusedError:
    """Return the refusal of a push or rename on a forge that Facts cannot name (facts.md §2)."""
    return RefusedError(Remainder.UNSUPPORTED_FORGE, detail)
