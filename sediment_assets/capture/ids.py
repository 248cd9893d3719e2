"""Ids of translated Facts: the same record gives the same id, so that importing twice changes nothing."""

import uuid

from sediment_assets.facts.json_values import encode_stored

_NAMESPACE = uuid.UUID("6b1f3a52-4c1e-5d0a-9d0e-3f6a4a0f2c11")


def fact_id(*identity: str) -> str:
    """Return a version-5 UUID of the words that identify a record in its source: organization and source name first."""
    return str(uuid.uuid5(_NAMESPACE, encode_stored(list(identity))))
