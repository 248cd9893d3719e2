"""Properties of bundles: what is written is read back, rows included, and no changed byte goes unseen."""

import copy
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.adapters.bundle_dir import derive_bundle, open_bundle
from sediment_assets.bundle.encoding import MANIFEST, Population, encode_line, encode_manifest
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.rollout_record import rollout_plain
from sediment_assets.publish.artifacts import RECORD
from sediment_assets.publish.export import export_rlvr
from sediment_assets.rollouts.derivation import Derivation
from sediment_assets.rollouts.source import RolloutSource
from sediment_assets.targets.registry import Target
from tests.bundles import Draft, add_completions, read_draft, refusal, rich_draft
from tests.profiles import examples
from tests.property.strategies import Population as Organization
from tests.property.strategies import populations

few_examples = settings(max_examples=examples(25))


@contextmanager
def directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


def derivation(organization: Organization) -> Derivation:
    return Derivation(organization.reader(), organization.mirrors, organization.policy)


@few_examples
@given(populations())
def test_a_bundle_gives_the_rollouts_of_the_derivation(organization: Organization):
    direct = derivation(organization)
    expected = [encode_line(rollout_plain(rollout)) for rollout in direct.rollouts()]
    with directory() as path:
        derive_bundle(organization.reader(), organization.mirrors, path / "b", organization.policy)
        assert (path / "b" / Population.ROLLOUTS.file).read_bytes() == b"".join(expected)
        with open_bundle(path / "b") as bundle:
            assert [encode_line(rollout_plain(rollout)) for rollout in bundle.rollouts()] == expected
            assert bundle.skipped == direct.skipped
            assert bundle.fragmented == direct.fragmented


@few_examples
@given(populations(), st.sampled_from(Target))
def test_an_export_from_a_bundle_is_the_direct_export(organization: Organization, target: Target):
    with directory() as path:
        direct = exported(path / "direct", derivation(organization), organization, target)
        derive_bundle(organization.reader(), organization.mirrors, path / "b", organization.policy)
        with open_bundle(path / "b") as bundle:
            assert exported(path / "bundle", bundle, organization, target) == direct


def exported(out: Path, source: RolloutSource, organization: Organization, target: Target) -> dict[str, bytes]:
    """The files of an export, without the record that names its source."""
    export_rlvr(source, organization.mirrors, out, target=target)
    return {path.name: path.read_bytes() for path in out.iterdir() if path.name != RECORD}


@few_examples
@given(populations())
def test_a_bundle_taken_apart_and_written_again_is_the_same(organization: Organization):
    with directory() as path:
        derive_bundle(organization.reader(), organization.mirrors, path / "a", organization.policy)
        read_draft(path / "a").write(path / "b")
        for file in (path / "a").iterdir():
            assert file.read_bytes() == (path / "b" / file.name).read_bytes()


@pytest.fixture(scope="module")
def whole_draft(tmp_path_factory: pytest.TempPathFactory) -> Draft:
    """A bundle that has a row of everything."""
    draft = rich_draft(tmp_path_factory.mktemp("bundle") / "b")
    add_completions(draft)
    return draft


@pytest.fixture(scope="module")
def whole_bundle(whole_draft: Draft, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Its files."""
    written = whole_draft.write(tmp_path_factory.mktemp("written") / "b")
    return {file.name: file.read_bytes() for file in written.iterdir()}


@settings(max_examples=examples(100))
@given(st.data())
def test_no_changed_byte_of_a_member_goes_unseen(whole_bundle: dict[str, bytes], data: st.DataObject):
    name = data.draw(st.sampled_from(Population)).file
    with directory() as path:
        write(path, whole_bundle | {name: changed_byte(whole_bundle[name], data)})
        assert refusal(path).startswith(f"{name}: expected SHA-256 ")


UNINTERPRETED = ("skipped", "excluded", "fragmented", "mirror_revisions", "as_of", "scope")
"""What a reader takes the manifest's word for (bundle.md §8): the bundle's digest is what fixes it."""


@settings(max_examples=examples(100))
@given(st.data())
def test_a_changed_byte_of_the_manifest_is_refused_or_changes_its_word_only(
    whole_bundle: dict[str, bytes], data: st.DataObject
):
    with directory() as path:
        write(path, whole_bundle | {MANIFEST: changed_byte(whole_bundle[MANIFEST], data)})
        refused = complaint(path)
        if refused is None:
            found, original = (json.loads(data) for data in ((path / MANIFEST).read_bytes(), whole_bundle[MANIFEST]))
            assert {key for key in found if found[key] != original[key]} <= set(UNINTERPRETED)
        else:
            assert refused.startswith(f"{path}/")


def changed_byte(content: bytes, data: st.DataObject) -> bytes:
    changed = bytearray(content)
    position = data.draw(st.integers(0, len(changed) - 1))
    changed[position] = data.draw(st.integers(0, 255).filter(lambda byte: byte != changed[position]))
    return bytes(changed)


def write(path: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (path / name).write_bytes(content)


ODD_TEXT = st.sampled_from(["", " ", "x", "\ud800", "\0", "a" * 40, "c1", "s1", "2026-03-02T09:00:00Z"])
ODD = st.sampled_from([None, True, 0, -1, 1.0, 10**30, 2**63, float("nan"), [], {}, [[]], {"x": 1}]) | ODD_TEXT


@settings(max_examples=examples(200))
@given(st.data())
def test_an_odd_value_anywhere_is_accepted_or_refused_at_its_place(whole_draft: Draft, data: st.DataObject):
    draft = copy.deepcopy(whole_draft)
    rows = draft.records[data.draw(st.sampled_from(Population))]
    container, key = data.draw(st.sampled_from(list(places(rows))))
    container[key] = data.draw(ODD)
    with directory() as path:
        refused = complaint(draft.write(path / "b"))
        assert refused is None or re.fullmatch(rf"{path}/b/[a-z_]+\.jsonl( line \d+)?: .*expected .*", refused)


@settings(max_examples=examples(100))
@given(st.data())
def test_an_odd_value_in_the_manifest_is_accepted_or_refused(whole_draft: Draft, data: st.DataObject):
    manifest = copy.deepcopy(whole_draft.manifest)
    container, key = data.draw(st.sampled_from(list(places(manifest))))
    container[key] = data.draw(ODD)
    with directory() as path:
        whole_draft.write(path / "b")
        (path / "b" / MANIFEST).write_bytes(encode_manifest(manifest))
        refused = complaint(path / "b")
        assert refused is None or refused.startswith(f"{path}/b/")


def complaint(bundle: Path) -> str | None:
    """What a reader says of a bundle, None when it gives its Rollouts."""
    try:
        with open_bundle(bundle) as opened:
            list(opened.rollouts())
    except BundleError as error:
        return str(error)
    return None


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place a value sits at, as container and key."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)
