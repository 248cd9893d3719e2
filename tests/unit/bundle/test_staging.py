"""Publishing a bundle (bundle.md §7): a fresh directory or nothing at all, and nothing left behind."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sediment_assets.adapters import bundle_staging
from sediment_assets.adapters.bundle_dir import derive_bundle, stage_bundle
from sediment_assets.bundle import limits
from sediment_assets.bundle.errors import BundleError
from sediment_assets.errors import SedimentError
from sediment_assets.publish import fresh_directory
from sediment_assets.publish.durable import PublishError
from sediment_assets.publish.fresh_directory import DestinationError
from tests.builders import ORG, make_call
from tests.bundles import accepted, rich_facts, rich_mirrors
from tests.memory import MemoryFacts
from tests.memory_mirrors import MemoryMirrors


class NoFacts(MemoryFacts):
    """Facts nobody may read."""

    def as_of(self):
        raise AssertionError("the Facts were read")


def derive(out: Path, facts: MemoryFacts | None = None):
    return derive_bundle(facts or MemoryFacts(ORG, rich_facts()), rich_mirrors(), out)


@pytest.mark.parametrize(
    "occupy",
    [
        lambda out: out.mkdir(),
        lambda out: out.write_text(""),
        lambda out: out.symlink_to("nowhere"),
        lambda out: out.symlink_to(out.parent),
    ],
    ids=["empty directory", "file", "dangling link", "link"],
)
def test_a_destination_that_exists_is_refused_before_any_work(tmp_path: Path, occupy: Callable[[Path], object]):
    out = tmp_path / "b"
    occupy(out)
    with pytest.raises(DestinationError, match=r"/b: expected a new bundle directory, got one that exists"):
        derive(out, NoFacts(ORG))
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_parents_are_never_created(tmp_path: Path):
    with pytest.raises(
        DestinationError, match=r"expected the directory .*/none to exist; create it first: mkdir -p .*/none$"
    ):
        derive(tmp_path / "none" / "b", NoFacts(ORG))
    (tmp_path / "file").touch()
    with pytest.raises(DestinationError, match=r"expected the directory .*/file to exist"):
        derive(tmp_path / "file" / "b", NoFacts(ORG))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_destination_that_appears_meanwhile_is_refused_and_left_alone(tmp_path: Path):
    out = tmp_path / "b"
    with stage_bundle(MemoryFacts(ORG, rich_facts()), rich_mirrors(), out) as ready:
        out.mkdir()
        (out / "theirs").touch()
        with pytest.raises(DestinationError, match="expected a new bundle directory"):
            ready.publish()
    assert [path.name for path in tmp_path.iterdir()] == ["b"]
    assert [path.name for path in out.iterdir()] == ["theirs"]


def test_nothing_is_visible_before_it_is_published(tmp_path: Path):
    with stage_bundle(MemoryFacts(ORG, rich_facts()), rich_mirrors(), tmp_path / "b") as ready:
        (staging,) = tmp_path.iterdir()
        assert staging == ready.directory
        assert staging.name.startswith(".b.")
        assert staging.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_what_is_staged_is_what_is_published(tmp_path: Path):
    with stage_bundle(MemoryFacts(ORG, rich_facts()), rich_mirrors(), tmp_path / "b") as ready:
        staged = {path.name: path.read_bytes() for path in ready.directory.iterdir()}
        ready.publish()
    assert {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()} == staged
    assert accepted(tmp_path / "b") == ["s1", "s2", "s3"]


class FailingFacts(MemoryFacts):
    def call_identities(self):
        raise SedimentError("the database went away")


def test_a_failing_source_leaves_nothing(tmp_path: Path):
    with pytest.raises(SedimentError, match="the database went away"):
        derive(tmp_path / "b", FailingFacts(ORG, rich_facts()))
    assert list(tmp_path.iterdir()) == []


class InconsistentFacts(MemoryFacts):
    """A store that other programs damaged: the alias of a call is not what its output says."""

    def call_identities(self):
        for identity in super().call_identities():
            yield type(identity)(
                identity.inference_call_id, identity.org_id, identity.session_id, identity.observed_at, ("x",)
            )


def test_a_bundle_that_a_reader_would_refuse_is_not_published(tmp_path: Path):
    with pytest.raises(BundleError, match=r"^inference_calls\.jsonl line 1: output_messages: expected what"):
        derive(tmp_path / "b", InconsistentFacts(ORG, [make_call()]))
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_file: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(bundle_staging, "close_durably", full)
    with pytest.raises(PublishError) as refused:
        derive(tmp_path / "b")
    assert str(refused.value) == f"{tmp_path}/b/attributed_completions.jsonl: cannot write: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_a_directory_without_permission_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def denied(_path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(fresh_directory, "create_private_directory", denied)
    with pytest.raises(PublishError, match="cannot create a staging directory beside: Permission denied"):
        derive(tmp_path / "b")


def test_an_undurable_name_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail_for_the_parent(path: Path) -> None:
        if path == tmp_path:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fresh_directory, "sync_directory", fail_for_the_parent)
    with pytest.raises(PublishError, match="/b: cannot publish: Input/output error"):
        derive(tmp_path / "b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "warning"),
    [
        ("MAX_ROWS", "inference_call_identities.jsonl: 4 rows, more than the reference reader takes (1)"),
        ("MAX_LINE_BYTES", " bytes in a line, more than the reference reader takes (1)"),
        ("MAX_MANIFEST_BYTES", "manifest.json: "),
        ("MAX_SESSION_BYTES", "inference_calls.jsonl: "),
        ("MAX_BUNDLE_BYTES", "the bundle: "),
    ],
)
def test_a_bundle_beyond_the_reference_is_written_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, warning: str
):
    monkeypatch.setattr(limits, limit, 1)
    warnings = derive(tmp_path / "b").warnings
    assert any(warning in text for text in warnings)
    assert all(text.startswith("bundle_beyond_reference: ") for text in warnings)
    assert accepted(tmp_path / "b") == ["s1", "s2", "s3"]


def test_progress_counts_the_rows_of_each_file(tmp_path: Path):
    told: dict[str, int] = {}
    derive_bundle(MemoryFacts(ORG, rich_facts()), MemoryMirrors(), tmp_path / "b", progress=told.__setitem__)
    assert told["writing rollouts.jsonl"] == 3
    assert told["checking inference_calls.jsonl"] == 4
