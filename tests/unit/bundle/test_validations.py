"""Validated bytes are not validated again by the process that did it; any other byte is (bundle.md §8)."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters import bundle_dir
from sediment_assets.adapters.bundle_dir import open_bundle, stage_bundle
from sediment_assets.adapters.bundle_validations import Validations
from sediment_assets.bundle.encoding import MANIFEST, Population
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.validate.rows import validate_rows
from tests.builders import ORG
from tests.bundles import rich_facts, rich_mirrors
from tests.memory import MemoryFacts


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "private"
    directory.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(directory))
    return directory


@pytest.fixture
def validations(private: Path) -> Iterator[Validations]:
    found = Validations()
    yield found
    found.close()
    assert list(private.iterdir()) == []


@pytest.fixture
def bundle(tmp_path: Path, validations: Validations) -> Path:
    """A bundle that this process wrote and validated."""
    with stage_bundle(MemoryFacts(ORG, rich_facts()), rich_mirrors(), tmp_path / "b", validations=validations) as ready:
        assert not (ready.directory / ".index").exists()
        ready.publish()
    return ready.summary.out


@pytest.fixture
def validated(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The manifests of all validations from now on."""
    found: list[Any] = []

    def validating(manifest: Any, *of_bundle: Any) -> Any:
        found.append(manifest)
        return validate_rows(manifest, *of_bundle)

    monkeypatch.setattr(bundle_dir, "validate_rows", validating)
    return found


def test_the_same_bytes_are_known_and_give_the_same(bundle: Path, validations: Validations, validated: list[Any]):
    with open_bundle(bundle, validations=validations) as known, open_bundle(bundle) as anew:
        assert len(validated) == 1
        assert list(known.rollouts()) == list(anew.rollouts()) != []
        assert known.bundle_digest == anew.bundle_digest
        assert known.manifest == anew.manifest
        assert vars(known.resolver).keys() == vars(anew.resolver).keys()
        assert known.resolver.pushed() == anew.resolver.pushed() != set()


def test_they_can_be_read_more_than_once_and_from_private_copies(bundle: Path, validations: Validations):
    for _ in range(2):
        with open_bundle(bundle, validations=validations) as known:
            content = (bundle / "rollouts.jsonl").read_bytes()
            (bundle / "rollouts.jsonl").write_bytes(b"changed meanwhile")
            assert [rollout.session_id for rollout in known.rollouts()] == ["s1", "s2", "s3"]
            (bundle / "rollouts.jsonl").write_bytes(content)


def test_a_validation_that_was_forgotten_is_done_again(bundle: Path, validations: Validations, validated: list[Any]):
    validations.close()
    with open_bundle(bundle, validations=validations):
        assert len(validated) == 1


def test_what_others_validated_is_not_known(bundle: Path, validated: list[Any]):
    with open_bundle(bundle, validations=Validations()):
        assert len(validated) == 1


@pytest.mark.parametrize("name", [population.file for population in Population])
def test_another_byte_in_any_file_is_refused(bundle: Path, validations: Validations, name: str):
    data = (bundle / name).read_bytes()
    (bundle / name).write_bytes(data[:-2] + b" \n" if data else b"\n")
    with pytest.raises(BundleError, match=f"{name}: expected"), open_bundle(bundle, validations=validations):
        pass


def test_another_manifest_with_files_that_agree_is_validated(
    bundle: Path, validations: Validations, validated: list[Any]
):
    path = bundle / "repository_renames.jsonl"
    path.write_bytes(path.read_bytes() * 2)
    manifest = json.loads((bundle / MANIFEST).read_bytes())
    digest = sha256(path.read_bytes()).hexdigest()
    manifest["files"]["repository_renames"] |= {"rows": 2, "bytes": path.stat().st_size, "sha256": digest}
    manifest["counts"]["repository_renames"] = 2
    (bundle / MANIFEST).write_text(json.dumps(manifest))
    with (
        pytest.raises(BundleError, match=r"repository_renames.jsonl line 2: "),
        open_bundle(bundle, validations=validations),
    ):
        pass
    assert len(validated) == 1


@pytest.mark.parametrize("error", [BundleError("broken"), KeyboardInterrupt()], ids=["refused", "interrupted"])
def test_a_validation_that_failed_is_not_known_and_leaves_nothing(
    tmp_path: Path, private: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    def failing(*_: Any) -> Any:
        raise error

    monkeypatch.setattr(bundle_dir, "validate_rows", failing)
    validations = Validations()
    facts = MemoryFacts(ORG, rich_facts())
    with (
        pytest.raises(type(error)),
        stage_bundle(facts, rich_mirrors(), tmp_path / "b", validations=validations),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["private"]
    validations.close()
    assert list(private.iterdir()) == []
