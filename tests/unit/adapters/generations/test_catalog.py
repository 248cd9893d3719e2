"""What an export root holds: complete and incomplete generations, newest last; nothing is guessed."""

from pathlib import Path

import pytest

from sediment_assets.adapters.generations.catalog import KINDS, CatalogError, find_generations, look_at
from sediment_assets.adapters.generations.intact import verify_files, verify_manifest
from sediment_assets.bundle.encoding import MANIFEST
from sediment_assets.bundle.errors import BundleError
from sediment_assets.cli.generations import KINDS as CLI_KINDS
from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD
from sediment_assets.publish.record import RecordError
from tests.generation_root import DAY, Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return Root(tmp_path / "exports")


def test_the_command_line_knows_the_same_kinds():
    assert CLI_KINDS == KINDS


def test_the_newest_is_the_one_completed_last_whatever_its_name(root: Root, rich_bundle: Path):
    older, newer = root.rows("z.0"), root.rows("a.0")
    canonical = root.bundle("run.0", rich_bundle)
    found = find_generations(root.path)
    assert [one.path for one in found] == [canonical, older, newer]
    assert {one.partition for one in found} == {DAY}
    assert (found[0].kind, found[0].rows) == ("rollouts", {"rollouts": 3})
    assert (found[1].kind, found[1].rows, found[1].skipped) == ("nemo-gym", {"rollouts": 1}, {"rollouts": {}})
    assert found[1].size == sum(path.stat().st_size for path in older.iterdir())


def test_incomplete_ones_are_named_and_sort_before_complete_ones(root: Root):
    complete = root.rows("a.0")
    running, failed, empty = (root.place("nemo-gym", name) for name in ("r.0", "f.0", "e.0"))
    for path in (running, failed, empty):
        path.mkdir()
    (running / LOCK).mkdir()
    (failed / CLAIM).write_text("nemo-gym\n")
    found = {one.name: one for one in find_generations(root.path)}
    assert list(found)[-1] == complete.name
    assert [name for name, one in found.items() if one.is_complete] == ["a.0"]
    assert found["r.0"].problem == "an export is running, or was killed"
    assert found["f.0"].problem == f"no {RECORD}: an export failed here and left its claim"
    assert found["e.0"].problem == f"no {RECORD}: an empty directory"


def test_a_completion_record_that_cannot_be_read_makes_no_complete_generation(root: Root):
    damaged = root.rows("a.0")
    (damaged / RECORD).write_text("{")
    assert not look_at(damaged).is_complete
    assert str(damaged / RECORD) in (look_at(damaged).problem or "")


def test_hidden_directories_links_and_strangers_are_passed_over(root: Root):
    kept = root.rows("a.0")
    root.place("nemo-gym", ".staging").mkdir()
    root.place("nemo-gym", "link.0").symlink_to(kept)
    root.place("somebody-elses", "x.0").mkdir()
    (root.path / "nemo-gym" / "notes.txt").write_text("mine")
    assert [one.path for one in find_generations(root.path)] == [kept]


def test_no_export_root_is_said(tmp_path: Path):
    with pytest.raises(CatalogError, match="expected an export root"):
        find_generations(tmp_path / "none")


class TestFilesAreHashedAgain:
    def test_of_rows(self, root: Root):
        path = root.rows("a.0")
        assert verify_files(path) == 1
        (path / "rollouts.train.jsonl").write_bytes(b"{}\n")
        with pytest.raises(RecordError, match=r"rollouts\.train\.jsonl: expected \d+ bytes"):
            verify_files(path)

    def test_nothing_else_lies_there(self, root: Root, rich_bundle: Path):
        for path in (root.rows("a.0"), root.bundle("a.0", rich_bundle)):
            (path / ".extra").touch()
            with pytest.raises(RecordError, match=r"expected the files that were published, got \.extra besides"):
                verify_files(path)

    def test_a_bundles_manifest_is_held_to_what_was_made_from_it(self, root: Root, rich_bundle: Path):
        bundle = root.bundle("a.0", rich_bundle)
        digest = look_at(bundle).bundle_digest
        root.rows("a.0", bundle=digest)
        found = find_generations(root.path)
        verify_manifest(found[0], found)
        manifest = (bundle / MANIFEST).read_bytes()
        (bundle / MANIFEST).write_bytes(manifest.replace(b'"quarantine_revision":0', b'"quarantine_revision":1'))
        assert manifest != (bundle / MANIFEST).read_bytes()
        found = find_generations(root.path)
        with pytest.raises(RecordError, match="expected the manifest that nemo-gym was made from"):
            verify_manifest(found[0], found)

    def test_of_a_bundle(self, root: Root, rich_bundle: Path):
        path = root.bundle("a.0", rich_bundle)
        assert verify_files(path) == 6
        content = (path / "rollouts.jsonl").read_bytes()
        (path / "rollouts.jsonl").write_bytes(content.replace(b"s1", b"s9", 1))
        with pytest.raises(BundleError, match=r"a\.0/rollouts\.jsonl: expected SHA-256"):
            verify_files(path)
