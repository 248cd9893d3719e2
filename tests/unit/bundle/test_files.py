"""The files of a bundle as a reader takes them (bundle.md §1, §2.3; §8, rules 1, 5, 6)."""

import json
import os
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from sediment_assets.adapters.bundle_dir import open_bundle
from sediment_assets.bundle.encoding import MANIFEST, Population
from sediment_assets.bundle.errors import BundleError
from sediment_assets.facts.json_values import JsonObject
from tests.bundles import Draft, accepted, refusal

MEMBERS = [population.file for population in Population]
ALL = ["s1", "s2", "s3"]


@pytest.fixture
def bundle(draft: Draft, tmp_path: Path) -> Path:
    return draft.write(tmp_path / "b")


def remeasure(bundle: Path, name: str) -> None:
    """Make the manifest true of a member file again."""
    manifest = json.loads((bundle / MANIFEST).read_bytes())
    data = (bundle / f"{name}.jsonl").read_bytes()
    rows = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    manifest["files"][name] |= {"rows": rows, "bytes": len(data), "sha256": sha256(data).hexdigest()}
    manifest["counts"][name] = rows
    (bundle / MANIFEST).write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", [MANIFEST, *MEMBERS])
def test_every_file_must_be_there(bundle: Path, name: str):
    (bundle / name).unlink()
    assert refusal(bundle) == f"{name}: expected a regular file, got No such file or directory"


@pytest.mark.parametrize("name", [MANIFEST, *MEMBERS])
def test_a_link_to_the_right_file_is_refused(bundle: Path, tmp_path: Path, name: str):
    (bundle / name).rename(tmp_path / "elsewhere")
    (bundle / name).symlink_to(tmp_path / "elsewhere")
    assert refusal(bundle) == f"{name}: expected a regular file, got a symbolic link"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo], ids=["directory", "FIFO"])
@pytest.mark.parametrize("name", [MANIFEST, MEMBERS[0]])
def test_only_regular_files_are_read(bundle: Path, name: str, make: Callable[[Path], None]):
    (bundle / name).unlink()
    make(bundle / name)
    assert refusal(bundle) == f"{name}: expected a regular file, got something else"


def test_a_directory_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(BundleError, match=r"/none/manifest.json: expected a regular file, got No such file"):
        open_bundle(tmp_path / "none").__enter__()


def test_a_link_to_the_directory_and_further_entries_are_accepted(bundle: Path, tmp_path: Path):
    (bundle / "README").write_text("hello")
    (bundle / "more").mkdir()
    (tmp_path / "link").symlink_to(bundle)
    assert accepted(tmp_path / "link") == ALL


def test_modes_do_not_matter(bundle: Path):
    for name in (MANIFEST, *MEMBERS):
        (bundle / name).chmod(0o444)
    bundle.chmod(0o755)
    assert accepted(bundle) == ALL


@pytest.mark.parametrize("name", MEMBERS)
def test_size_and_digest_are_compared(bundle: Path, name: str):
    path = bundle / name
    data = path.read_bytes()
    path.write_bytes(data + b"\n")
    assert refusal(bundle) == f"{name}: expected bytes {len(data)}, got {len(data) + 1}"
    path.write_bytes(data.replace(b"acme", b"acne", 1))
    assert refusal(bundle).startswith(f"{name}: expected SHA-256 ")


def test_rows_are_compared(bundle: Path):
    manifest = json.loads((bundle / MANIFEST).read_bytes())
    manifest["files"]["rollouts"]["rows"] = manifest["counts"]["rollouts"] = 4
    (bundle / MANIFEST).write_text(json.dumps(manifest))
    assert refusal(bundle) == "rollouts.jsonl: expected rows 4, got 3"


def test_a_blank_line_is_a_row_and_no_record(bundle: Path):
    path = bundle / "rollouts.jsonl"
    path.write_bytes(path.read_bytes() + b"\n")
    remeasure(bundle, "rollouts")
    assert refusal(bundle) == "rollouts.jsonl line 4: expected a record, got a blank line"


def test_windows_line_ends_and_a_missing_last_one_are_accepted(bundle: Path):
    for population in Population:
        path = bundle / population.file
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n").removesuffix(b"\r\n"))
        remeasure(bundle, population)
    assert accepted(bundle) == ALL


def test_only_line_feeds_end_a_line(draft: Draft, tmp_path: Path):
    def spell(record: JsonObject) -> bytes:
        inner = json.dumps(record, ensure_ascii=False).replace("Go.", "Go.\u2028\u2029\u0085\x7f")
        return json.dumps({"record_json": inner}, ensure_ascii=False).encode() + b"\n"

    draft.records[Population.ATTRIBUTED_COMPLETIONS].clear()
    draft.rollout()["terminal_outcomes"][1]["raw"] = {}
    draft.rollout("s2")["terminal_outcomes"][0]["raw"] = {}
    assert accepted(draft.write(tmp_path / "raw", spell)) == ALL


def test_other_spellings_of_the_same_records_are_accepted(draft: Draft, tmp_path: Path):
    def spell(record: JsonObject) -> bytes:
        backwards = dict(reversed(record.items()))
        return json.dumps({"record_json": json.dumps(backwards, indent=1)}).encode() + b"\n"

    pretty = draft.write(tmp_path / "b", spell)
    (pretty / MANIFEST).write_text(json.dumps(json.loads((pretty / MANIFEST).read_bytes()), indent=2))
    assert accepted(pretty) == ALL


def test_captured_objects_come_in_code_point_order_whatever_the_spelling(draft: Draft, tmp_path: Path):
    def spell(record: JsonObject) -> bytes:
        return json.dumps({"record_json": json.dumps(_backwards(record))}).encode() + b"\n"

    canonical, other = draft.write(tmp_path / "a"), draft.write(tmp_path / "b", spell)
    with open_bundle(canonical) as one, open_bundle(other) as two:
        assert repr(list(one.rollouts())) == repr(list(two.rollouts()))


def _backwards(value: object) -> object:
    if isinstance(value, dict):
        return {key: _backwards(value[key]) for key in sorted(value, reverse=True)}
    return [_backwards(item) for item in value] if isinstance(value, list) else value


def test_an_error_inside_a_file_names_its_line(bundle: Path):
    path = bundle / "inference_calls.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = lines[2].replace(b'{"record_json"', b'{"record"')
    path.write_bytes(b"".join(lines))
    remeasure(bundle, "inference_calls")
    assert refusal(bundle).startswith("inference_calls.jsonl line 3: expected an object with the one key record_json")


def test_rows_are_read_from_a_private_copy_that_goes_away(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    with open_bundle(bundle) as opened:
        (copy,) = private.iterdir()
        assert stat.S_IMODE(copy.stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in copy.iterdir()} == {0o600}
        (bundle / "rollouts.jsonl").write_bytes(b"changed meanwhile")
        assert [rollout.session_id for rollout in opened.rollouts()] == ALL
    assert list(private.iterdir()) == []


def test_the_private_copy_goes_away_when_a_bundle_is_refused(
    draft: Draft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    private = tmp_path / "private"
    private.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(private))
    draft.rollout()["split"] = "eval"
    assert refusal(draft.write(tmp_path / "b")).startswith("rollouts.jsonl line 1: split: ")
    assert list(private.iterdir()) == []


def test_rollouts_come_by_session_id_whatever_the_file_order(draft: Draft, tmp_path: Path):
    draft.records[Population.ROLLOUTS].reverse()
    draft.records[Population.ROLLOUTS].append(draft.rollout("s2"))  # an identical second row is a row
    for rows in draft.records.values():
        rows.reverse()
    assert accepted(draft.write(tmp_path / "b")) == ["s1", "s2", "s2", "s3"]
