"""Syncing one mirror in tests, and what it then holds."""

from pathlib import Path

from sediment_assets.adapters.git_mirror_store import GitMirrorStore
from sediment_assets.adapters.mirror_jobs import SyncJob
from sediment_assets.adapters.mirror_run import MirrorSync, SyncOutcome
from sediment_assets.mirrors.clone_url import CloneUrlPolicy
from sediment_assets.repositories.keys import LegacyKey
from tests.builders import ORG

KEY = LegacyKey(ORG, "acme/widget")
DEVELOPMENT = CloneUrlPolicy(development=True)
LOOPBACK = CloneUrlPolicy(allowed_hosts=frozenset({"127.0.0.1"}))

HELD = [
    "refs/heads/main", "refs/heads/side", "refs/notes/sediment", "refs/notes/sedimentary", "refs/pull/7/head",
    "refs/tags/v1", "refs/tags/v2",
]  # fmt: skip
"""Refs of a mirror of the ``remote`` fixture."""


def sync(base: Path, url: str, policy=LOOPBACK, *, key=KEY, pushes=(), timeout=30.0, progress=None) -> SyncOutcome:
    runner = MirrorSync(base, None, policy, timeout=timeout)
    return runner.run(SyncJob(key, "acme/widget", str(url), tuple(pushes)), progress)


def refs(base: Path, key=KEY) -> dict[str, str]:
    with GitMirrorStore(base) as store:
        mirror = store.open(key)
        assert mirror is not None
        return mirror.refs()


def listed(base: Path) -> list[object]:
    with GitMirrorStore(base) as store:
        return store.keys(ORG)
