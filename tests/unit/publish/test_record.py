"""The completion record: one shape, byte-deterministic, and what verification finds."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.publish.artifacts import CLAIM, LOCK, RECORD
from sediment_assets.publish.generation import claimed_directory
from sediment_assets.publish.lines import RowFiles
from sediment_assets.publish.record import (
    FileRecord,
    GenerationRecord,
    IncompleteGenerationError,
    RecordError,
    content_version,
    read_record,
    verify_generation,
)
from sediment_assets.targets.registry import Target

DIGEST = "0" * 64


def make_record(**values: Any) -> GenerationRecord:
    defaults: dict[str, Any] = {
        "target": "sediment",
        "asset_keys": (),
        "partition": None,
        "data_version": content_version({}),
        "org_id": "acme",
        "policy_digest": DIGEST,
        "ci_policy_digest": DIGEST,
        "bundle_digest": None,
        "as_of": "2026-01-02T03:04:05+00:00",
        "quarantine_revision": 0,
        "mirror_revisions_digest": DIGEST,
        "rollouts": 0,
        "populations": {},
        "derivation_skipped": {},
        "fragmented": {},
        "files": {},
        "program_version": "0.1.0",
    }
    return GenerationRecord(**(defaults | values))


def publish(out: Path, **values: Any) -> GenerationRecord:
    """A complete generation of two rows and a manifest."""
    with claimed_directory(out, Target.SEDIMENT) as generation:
        rows = RowFiles(generation.staging, out, names_splits=True)
        rows.write("tasks", "train", b'{"a":1}')
        rows.write("rollouts", "eval", b'{"b":2}')
        files = rows.finish()
        files["environment.yaml"] = generation.stage_text("environment.yaml", "experimental: true\n")
        record = make_record(files=files, data_version=content_version(files), **values)
        generation.publish(files)
        generation.complete(record)
    return record


def test_a_record_reads_back_equal(tmp_path: Path):
    record = publish(tmp_path, asset_keys=("rlvr/sediment/tasks",), partition="2026-01-02")
    assert read_record(tmp_path) == record
    assert verify_generation(tmp_path) == record
    assert (tmp_path / RECORD).stat().st_mode & 0o777 == 0o600


def test_bytes_depend_on_content_alone(tmp_path: Path):
    one = make_record(fragmented={"b": 1, "a": 2}, derivation_skipped={"y": 1, "x": 1})
    other = make_record(derivation_skipped={"x": 1, "y": 1}, fragmented={"a": 2, "b": 1})
    assert one.encode() == other.encode()
    keys = list(json.loads(one.encode()))
    assert keys == sorted(keys)
    publish(tmp_path / "first")
    publish(tmp_path / "elsewhere" / "second")
    first = (tmp_path / "first" / RECORD).read_bytes()
    assert first == (tmp_path / "elsewhere/second" / RECORD).read_bytes()
    assert str(tmp_path).encode() not in first


def test_the_data_version_is_what_sha256sum_gives(tmp_path: Path):
    record = publish(tmp_path)
    command = "sha256sum * | sha256sum"
    done = subprocess.run(
        command, shell=True, cwd=tmp_path, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}, stdout=-1, check=True
    )
    assert done.stdout.decode() == f"{record.data_version}  -\n"


def test_a_name_is_part_of_the_data_version():
    file = FileRecord(rows=1, bytes=2, sha256=DIGEST)
    assert content_version({"tasks.train.jsonl": file}) != content_version({"tasks.eval.jsonl": file})


@pytest.mark.parametrize(
    ("prepare", "says"),
    [
        (lambda out: None, "got no directory"),
        (Path.mkdir, f"got no {RECORD}"),
        (lambda out: (out / LOCK).mkdir(parents=True), "is running or was killed"),
    ],
)
def test_without_record_a_generation_is_incomplete(tmp_path: Path, prepare: Any, says: str):
    out = tmp_path / "out"
    prepare(out)
    for read in (read_record, verify_generation):
        with pytest.raises(IncompleteGenerationError, match=says):
            read(out)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "expected"),
        (b"[]", "expected"),
        (b'{"a":1,"a":1}', "a"),
        (make_record().encode().replace(b'"record_version": 1', b'"record_version": 2'), "record_version: expected 1"),
        (make_record().encode().replace(b'"rollouts": 0', b'"rollouts": "many"'), "rollouts: expected"),
        (make_record().encode().replace(b'"org_id"', b'"org"'), "org"),
    ],
)
def test_another_shape_is_refused(tmp_path: Path, content: bytes, says: str):
    (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(RecordError, match=says) as error:
        read_record(tmp_path)
    assert not isinstance(error.value, IncompleteGenerationError)


@pytest.mark.parametrize("position", range(0, len(make_record().encode()), 7))
def test_every_flipped_bit_of_the_record_is_found(tmp_path: Path, position: int):
    content = bytearray(make_record().encode())
    content[position] ^= 1
    (tmp_path / RECORD).write_bytes(content)
    with pytest.raises(RecordError):
        read_record(tmp_path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda out: (out / "tasks.train.jsonl").write_bytes(b'{"a":2}\n'), "tasks.train.jsonl: expected 8 bytes"),
        (lambda out: (out / "tasks.train.jsonl").write_bytes(b""), "got 0 bytes"),
        (lambda out: (out / "environment.yaml").unlink(), "environment.yaml: cannot be read: no such file"),
        (lambda out: (out / "tasks.eval.jsonl").touch(), "tasks.eval.jsonl: not in the record"),
        (lambda out: (out / CLAIM).write_text("nemo-gym\n"), "expected sediment, got another target"),
        (lambda out: (out / CLAIM).unlink(), "expected a claim, got none"),
        (
            lambda out: ((out / "tasks.train.jsonl").rename(out / "x"), (out / "tasks.train.jsonl").symlink_to("x")),
            "tasks.train.jsonl: cannot be read",
        ),
    ],
)
def test_every_change_is_found(tmp_path: Path, change: Any, says: str):
    publish(tmp_path)
    change(tmp_path)
    with pytest.raises(RecordError) as error:
        verify_generation(tmp_path)
    assert says in str(error.value)


def test_a_record_names_no_file_elsewhere(tmp_path: Path):
    (tmp_path / "secret").write_text("s")
    out = tmp_path / "out"
    out.mkdir()
    (out / CLAIM).write_text("sediment\n")
    files = {"../secret": FileRecord(rows=None, bytes=1, sha256=DIGEST)}
    (out / RECORD).write_bytes(make_record(files=files, data_version=content_version(files)).encode())
    with pytest.raises(RecordError, match="expected the name of a file in this directory"):
        verify_generation(out)
