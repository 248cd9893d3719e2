"""The core's only clock and its only random ids: defaults of captured records (facts.md §1).

Facts that already carry ids and instants never reach these functions, so a derivation stays a pure function.
"""

import uuid
from datetime import UTC, datetime


def new_id() -> str:
    """Return a random version-4 UUID as text."""
    return str(uuid.uuid4())


def now() -> datetime:
    """Return the current instant in UTC."""
    return datetime.now(UTC)
