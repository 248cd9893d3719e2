"""What every test runs under: Hypothesis profiles, and none of the developer's own settings."""

import os
from typing import Any

import pytest
from hypothesis import settings

from tests.profiles import DEEP

settings.load_profile("deep" if DEEP else "deterministic")


def pytest_configure() -> None:
    """Show tests only the settings that they make themselves, also when a git hook started them."""
    for name in list(os.environ):
        if name.upper().startswith(("SEDIMENT_", "DAGSTER_")) or name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
            del os.environ[name]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give a worker whole deployments: its own groups do nothing with this pytest, which names items in its own way."""
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return scope_of(nodeid)

    return Scheduling(config, log)


def scope_of(nodeid: str) -> str:
    """Name what must run on one worker, in order: each test its own, but for what starts servers or a whole graph."""
    if nodeid.startswith(("tests/browser/", "tests/celery/")):
        return "deployments"
    return nodeid.partition("::")[0] if nodeid.startswith("tests/dagster/") else nodeid
