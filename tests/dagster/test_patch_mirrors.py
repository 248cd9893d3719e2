"""Git's processes behind Reference patches: shared by the steps of a run, other ones for its checks, none left over."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from resources.evidence_store import EvidenceStore
from sediment_assets.mirrors.reader import MirrorError
from tests.dagster.conftest import DAYS
from tests.dagster.graph import Evidence, Graph
from tests.git.processes import git_children


def store(demo: Evidence, mirrors: Path) -> EvidenceStore:
    return EvidenceStore(
        org_id=demo.org_id, database_url=demo.settings["SEDIMENT_DATABASE_URL"], mirror_path=str(mirrors)
    )


@pytest.fixture
def evidence(demo: Evidence) -> Iterator[EvidenceStore]:
    evidence = store(demo, demo.mirrors)
    yield evidence
    evidence.teardown_after_execution(dg.build_init_resource_context())


def ask(evidence: EvidenceStore, *, required: bool) -> None:
    """Ask something of a mirror, which starts a process."""
    mirrors = evidence.patch_mirrors(required=required)
    mirror = mirrors.open(mirrors.keys(evidence.org_id)[0])
    assert mirror is not None
    assert not mirror.commit_exists("0" * 40)


def test_steps_share_processes_and_checks_have_their_own(evidence: EvidenceStore):
    before = set(git_children())
    ask(evidence, required=True)
    publishing = set(git_children()) - before
    ask(evidence, required=True)
    assert set(git_children()) - before == publishing
    ask(evidence, required=False)
    checking = set(git_children()) - before
    assert len(publishing) == len(checking) == 1
    assert not publishing & checking
    evidence.teardown_after_execution(dg.build_init_resource_context())
    assert set(git_children()) == before


def test_mirrors_that_are_gone_are_an_error_of_publishing_only(demo: Evidence, tmp_path: Path):
    gone = store(demo, tmp_path / "gone")
    with pytest.raises(MirrorError, match="expected the base directory of the mirrors, got nothing"):
        gone.patch_mirrors()
    assert gone.patch_mirrors(required=False).keys(demo.org_id) == []


def test_a_run_leaves_no_process(one_day_evidence: Evidence, tmp_path: Path):
    before = git_children()
    with dg.DagsterInstance.ephemeral() as instance:
        assert Graph(one_day_evidence, tmp_path, instance).run(DAYS[0]).success
    assert git_children() == before
