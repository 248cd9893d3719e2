"""The vendor-neutral shape: one JSON object per attempt, with the field names of CIOutcome (facts.md §4.1).

Strict on purpose, because a team writes it itself: an unknown key, a missing one or a value of the wrong type is
refused by name. Repository identity is all or none; the repository's name is required.
"""

from typing import Final

from sediment_assets.capture.ci_attempts import ci_system_outcome, commit_of, repository_of
from sediment_assets.capture.contract import CaptureOptions, Remainder
from sediment_assets.capture.deliveries import Delivery
from sediment_assets.capture.record_fields import Fields, RefusedError
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject

_OURS: Final = ("outcome_id", "org_id", "schema_version")
KEYS: Final = tuple(name for name in CIOutcome.model_fields if name not in _OURS)
"""The keys of the shape, in the order of CIOutcome."""
_TELLING: Final = ("provider", "run_id", "commit_sha", "result")


def reads(payload: JsonObject) -> bool:
    """Whether a record is meant to be of this shape: it has most of the keys that make an attempt."""
    return sum(key in payload for key in _TELLING) >= 3


def read(delivery: Delivery, options: CaptureOptions) -> CIOutcome:
    """Translate one object; every problem is told at once, as far as it is one of values."""
    payload = delivery.payload
    if strange := [key for key in payload if key not in KEYS]:
        remedy = "; stored Facts go through sediment facts import" if set(strange) & set(_OURS) else ""
        named = ", ".join(shown(key) for key in strange[:3])
        raise RefusedError(Remainder.INVALID_VALUE, f"{named}: expected only the keys of this shape{remedy}")
    fields = Fields(payload)
    values = {
        **payload,
        "commit_sha": commit_of(fields.text("commit_sha"), "commit_sha"),
        "repo": repository_of(options, fields.text("repo"), "repo"),
        "captured_at": fields.instant("captured_at"),
    }
    return ci_system_outcome(options, values)
