"""Which files a capture reads, and how: directories, standard input, gzip, YAML; what is broken is named."""

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.capture_files import CaptureFileError, ReadingProgress, find_capture_files
from sediment_assets.adapters.capture_json import BrokenInputError
from sediment_assets.capture.contract import Remainder


def read(*paths: Path | str) -> list[tuple[str, Any]]:
    found = find_capture_files([str(path) for path in paths])
    return [(record.place, record.value) for document in found.documents() for record in document.records]


def test_a_directory_gives_its_files_sorted_hidden_and_other_ones_left_out(tmp_path: Path):
    for name in ("b/2.jsonl", "b/1.JSON", "a.traj", "a.json.gz", ".hidden/x.json", ".x.json", "notes.txt", "README"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(b"{}") if name.endswith(".gz") else b"{}")
    found = find_capture_files([str(tmp_path)])
    names = ["a.json.gz", "a.traj", "b/1.JSON", "b/2.jsonl"]
    assert list(found.paths) == [str(tmp_path / name) for name in names]
    assert [Path(path).name for path in found.ignored] == ["README", "notes.txt"]
    assert [place for place, _ in read(tmp_path)] == [f"{tmp_path / name}:1" for name in names]


def test_a_named_file_may_have_any_name(tmp_path: Path):
    (tmp_path / "log").write_text('{"a":1}')
    assert read(tmp_path / "log") == [(f"{tmp_path}/log:1", {"a": 1})]


def test_a_path_that_is_not_there_is_refused_before_anything_is_read(tmp_path: Path):
    with pytest.raises(CaptureFileError, match="expected a file or directory, got no such path"):
        find_capture_files([str(tmp_path / "none")])


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch):
    reader, writer = os.pipe()
    os.write(writer, b'{"a":1}\n{"b":2}\n')
    os.close(writer)
    with os.fdopen(reader, "rb") as stdin:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(stdin))
        assert read("-") == [("-:1", {"a": 1}), ("-:2", {"b": 2})]


def test_a_cut_off_gzip_file_is_named_with_the_last_record(tmp_path: Path):
    lines = b"".join(b'{"a":"%s"}\n' % os.urandom(400).hex().encode() for _ in range(3000))
    path = tmp_path / "log.jsonl.gz"
    path.write_bytes(gzip.compress(lines)[:-100_000])
    with pytest.raises(
        BrokenInputError, match=r"log.jsonl.gz: expected a whole gzip file, .* cut off behind .*gz:\d+$"
    ):
        read(path)


def test_what_a_source_leaves_unread_is_read_all_the_same(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"a":1}\n{"a":2}\n{"a"')
    documents = find_capture_files([str(tmp_path)]).documents()
    next(iter(next(documents).records))
    with pytest.raises(BrokenInputError, match=r"a.jsonl:3: "):
        next(documents)


def test_a_line_that_is_no_json_reaches_no_source_and_is_kept_for_the_count(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"a":1}\n{"a"\n{"a":2}\n')
    files = find_capture_files([str(tmp_path)])
    assert [record.value for document in files.documents() for record in document.records] == [{"a": 1}, {"a": 2}]
    (broken,) = files.broken
    assert (broken.place, broken.reason) == (f"{tmp_path}/a.jsonl:2", Remainder.UNKNOWN_SHAPE)


def test_yaml_is_read_as_json_values(tmp_path: Path):
    (tmp_path / "a.yaml").write_text(
        "when: 2026-01-02\nshared: &s {n: 1}\nagain: *s\ntext: !!binary aGVsbG8=\nbytes: !!binary H4sI\n"
    )
    (tmp_path / "b.yml").write_text("a: 1\n---\nb: yes\n")
    assert read(tmp_path) == [
        (
            f"{tmp_path}/a.yaml",
            {
                "when": "2026-01-02",
                "shared": {"n": 1},
                "again": {"n": 1},
                "text": "hello",
                "bytes": {"!!binary": "H4sI"},
            },
        ),
        (f"{tmp_path}/b.yml#1", {"a": 1}),
        (f"{tmp_path}/b.yml#2", {"b": True}),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [1\nb: 2\n", r"x.yaml:2: expected YAML"),
        ("a: !!python/object/apply:os.getcwd []\n", r"x.yaml:1: expected YAML"),
        ("1: a\n", r"x.yaml: expected mappings with text as keys"),
        ("a: !!set {x}\n", r"x.yaml: expected YAML that JSON can spell, got a set"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(f"{c}: &{c} [{','.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)),
            r"x.yaml: expected at most 10000 values, got more",
        ),
        ("a: &a [*a]\n", r"x.yaml: expected at most 10000 values, got more"),
    ],
)
def test_yaml_that_is_no_json_is_refused(tmp_path: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sediment_assets.adapters.capture_yaml._MAX_NODES", 10_000)
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(BrokenInputError, match=message):
        read(tmp_path / "x.yaml")


CASSETTE = "interactions:\n- request:\n    body: a\n  response:\n    body: b\n"


@pytest.mark.parametrize("recorded", [f"{CASSETTE}version: 1\n", f"http_{CASSETTE}recorded_with: VCR 6.3.1\n"])
def test_a_cassette_that_was_cut_off_anywhere_is_refused_with_its_line(tmp_path: Path, recorded: str):
    file = tmp_path / "x.yaml"
    for length in range(1, len(recorded)):
        file.write_text(recorded[:length])
        with pytest.raises(BrokenInputError, match=r"x\.yaml:\d: expected"):
            read(file)
    file.write_text(recorded)
    assert len(read(file)) == 1


def test_yaml_in_another_encoding_is_refused(tmp_path: Path):
    (tmp_path / "x.yaml").write_bytes(b"a: \xff\n")
    with pytest.raises(BrokenInputError, match="expected YAML in UTF-8"):
        read(tmp_path / "x.yaml")


def test_progress_counts_all_bytes(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text('{"a":1}\n' * 1000)
    (tmp_path / "b.json").write_text("[]")
    found = find_capture_files([str(tmp_path)])
    seen: list[int] = []

    def tell(progress: ReadingProgress) -> None:
        seen.append(progress.bytes_read)

    for document in found.documents(tell):
        list(document.records)
    assert seen[-1] == found.progress.bytes_total == 8002
    assert found.progress.name == str(tmp_path / "b.json")


def test_the_same_file_twice_gives_its_records_twice(tmp_path: Path):
    (tmp_path / "a.json").write_text("[1]")
    assert len(read(tmp_path / "a.json", tmp_path)) == 2
