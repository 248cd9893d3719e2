"""Row files: names, counts, digests, lazily opened (targets.md §11)."""

import hashlib
import os
from pathlib import Path

import pytest

from sediment_assets.publish.durable import PublishError
from sediment_assets.publish.lines import RowFiles
from tests.directories import names


def test_files_are_named_by_split(tmp_path: Path):
    rows = RowFiles(tmp_path, tmp_path / "out", names_splits=True)
    for population, split in [("rollouts", "eval"), ("tasks", "train"), ("rollouts", "train"), ("rollouts", "eval")]:
        rows.write(population, split, b'{"n":1}')
    files = rows.finish()
    assert list(files) == ["tasks.train.jsonl", "rollouts.train.jsonl", "rollouts.eval.jsonl"]
    assert (tmp_path / "rollouts.eval.jsonl").read_bytes() == b'{"n":1}\n{"n":1}\n'


def test_without_split_naming_both_sides_share_a_file_in_order(tmp_path: Path):
    rows = RowFiles(tmp_path, tmp_path / "out", names_splits=False)
    for split, row in [("eval", b"1"), ("train", b"2"), ("eval", b"3")]:
        rows.write("tasks", split, row)
    record = rows.finish()["tasks.jsonl"]
    content = (tmp_path / "tasks.jsonl").read_bytes()
    assert content == b"1\n2\n3\n"
    assert (record.rows, record.bytes, record.sha256) == (3, 6, hashlib.sha256(content).hexdigest())


def test_no_row_writes_no_file(tmp_path: Path):
    assert RowFiles(tmp_path, tmp_path / "out", names_splits=True).finish() == {}
    assert names(tmp_path) == []


def test_files_are_private_whatever_the_umask(tmp_path: Path):
    old = os.umask(0o277)
    try:
        rows = RowFiles(tmp_path, tmp_path / "out", names_splits=False)
        rows.write("tasks", "train", b"{}")
        rows.finish()
    finally:
        os.umask(old)
    assert (tmp_path / "tasks.jsonl").stat().st_mode & 0o7777 == 0o600


def test_an_error_names_the_final_path(tmp_path: Path):
    rows = RowFiles(tmp_path / "gone", tmp_path / "out", names_splits=False)
    with pytest.raises(PublishError, match=r"out/tasks\.jsonl: cannot stage rows: No such file or directory$"):
        rows.write("tasks", "train", b"{}")
