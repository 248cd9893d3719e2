"""Ids of translated Facts: the same record gives the same id, so that importing twice changes nothing."""

import re
import uuid
from hashlib import sha1
from typing import Final

from sediment_assets.facts.json_values import encode_stored

_NAMESPACE = uuid.UUID("6b1f3a52-4c1e-5d0a-9d0e-3f6a4a0f2c11")
_UNIQUE_ID: Final = re.compile(r"[\w.:+/=-]{16,}", re.ASCII)


def fact_id(*identity: str) -> str:
    """Return a version-5 UUID of the words that identify a record in its source: organization and source name first."""
    name = encode_stored(list(identity)).encode("ascii")
    made = sha1(_NAMESPACE.bytes + name, usedforsecurity=False).hexdigest()  # uuid.uuid5 takes three times as long
    variant = "89ab"[int(made[16], 16) % 4]
    return f"{made[:8]}-{made[8:12]}-5{made[13:16]}-{variant}{made[17:20]}-{made[20:32]}"


def is_unique_id(value: str | None) -> bool:
    """Whether an id can be a provider's own, unlike any other: short ones are constants, or count within one file."""
    return value is not None and _UNIQUE_ID.fullmatch(value) is not None
