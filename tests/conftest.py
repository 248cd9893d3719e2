"""What every test runs under: Hypothesis profiles, and none of the developer's own settings.

Properties are deterministic: the same examples on every machine. ``HYPOTHESIS_PROFILE=deep`` draws new ones, and more.
"""

import os

from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, database=None, deadline=None, print_blob=True)
settings.register_profile("deep", derandomize=False, deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "deterministic"))


def pytest_configure() -> None:
    """Show tests only the settings that they make themselves, also when a git hook started them."""
    for name in list(os.environ):
        if name.upper().startswith(("SEDIMENT_", "DAGSTER_")) or name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            del os.environ[name]
