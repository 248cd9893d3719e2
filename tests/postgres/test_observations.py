"""Storing what notes of a mirror say: in a store of our own, and not in a deployment, which is only read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from sediment_assets.adapters.fact_store.engine import ForeignStoreError, writing_engine
from sediment_assets.adapters.fact_store.observations import StoredObservations, store_observations
from sediment_assets.adapters.mirror_jobs import KnownRepositories
from sediment_assets.adapters.mirror_run import MirrorSync
from sediment_assets.adapters.mirror_sync import SyncStatus
from sediment_assets.mirrors.clone_url import CloneUrlPolicy
from tests.builders import IDENTITY, ORG, OTHER_SHA, make_observation, make_push
from tests.git.repositories import git, linear
from tests.postgres.conftest import PASSWORD, Server
from tests.stores import fill_store

COMMITTER = {f"GIT_{role}_{part}": "t@example.test" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}


@pytest.fixture
def url(server: Server, new_database: Callable[[], str]) -> str:
    url = server.url(new_database())
    fill_store(writing_engine(url), [make_push(**IDENTITY)])
    return url


def test_the_first_sighting_stays_and_a_contradiction_is_told(url: str):
    engine = writing_engine(url)
    first = make_observation(**IDENTITY)
    assert store_observations(engine, [first], "notes").stored == 1
    again = make_observation(observation_id="ob2", captured_at="2026-03-09T09:00:00Z", **IDENTITY)
    other = make_observation(observation_id="ob3", commit_sha=OTHER_SHA, source_push_id="ghost", **IDENTITY)
    found = store_observations(engine, [again, other], "notes")
    assert (found.stored, found.present) == (0, 1)
    [conflict] = found.conflicts
    assert conflict.startswith("notes: source_push_id: expected a stored Push 'ghost' of the same repository")


def test_a_deployment_is_not_written_and_its_mirrors_are_synced_all_the_same(url: str, tmp_path: Path):
    [head] = linear(tmp_path / "widget.git", {b"a": b"x\n"})
    note = json.dumps({"v": 1, "sessions": [{"tool": "t", "session_id": "s1", "stamped_at": ""}]})
    git(tmp_path / "widget.git", "notes", "--ref=sediment", "add", "-m", note, head, **COMMITTER)
    engine = writing_engine(url)
    values = {"clone_url": str(tmp_path / "widget.git"), "after_sha": head, "captured_at": "2026-03-03T09:00:00Z"}
    fill_store(engine, [make_push(push_id="p2", **values, **IDENTITY)])
    with engine.begin() as connection:
        connection.execute(text("COMMENT ON TABLE alembic_version IS NULL"))
    with pytest.raises(ForeignStoreError, match="a Sediment deployment, which is only read"):
        store_observations(engine, [make_observation(**IDENTITY)], "notes")
    sync = MirrorSync(tmp_path / "mirrors", url, CloneUrlPolicy(development=True))
    [job] = KnownRepositories.read(url, ORG).jobs()
    outcome = sync.run(job)
    assert (outcome.status, outcome.notes, outcome.observations) == (SyncStatus.CREATED, 1, StoredObservations())
    assert (sync.notice or "").endswith("; its own server records observations")
    assert PASSWORD not in (sync.notice or "")
