"""How many examples a property sees: few and always the same by default; ``HYPOTHESIS_PROFILE=deep`` many new ones."""

import os

from hypothesis import settings

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
FACTOR = 20

settings.register_profile("deterministic", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("deep", deadline=None, max_examples=100 * FACTOR, print_blob=True)


def examples(count: int) -> int:
    """The number of examples of a property that is too slow, or too weak, for the profile's own number."""
    return count * FACTOR if DEEP else count
