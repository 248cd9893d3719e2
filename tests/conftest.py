"""What every test runs under: Hypothesis profiles, and none of the developer's own settings."""

import os

from hypothesis import settings

from tests.profiles import DEEP

settings.load_profile("deep" if DEEP else "deterministic")


def pytest_configure() -> None:
    """Show tests only the settings that they make themselves, also when a git hook started them."""
    for name in list(os.environ):
        if name.upper().startswith(("SEDIMENT_", "DAGSTER_")) or name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            del os.environ[name]
