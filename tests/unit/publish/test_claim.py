"""Who may export into a directory: every row of the table of targets.md §12, and hostile directories."""

import os
from pathlib import Path

import pytest

from sediment_assets.publish.artifacts import CLAIM, LOCK, PUBLICATION_ORDER, RECORD
from sediment_assets.publish.claim import ClaimError, LockHeldError, check_claim, export_lock, refuse_directory
from sediment_assets.publish.durable import PublishError
from sediment_assets.publish.generation import claimed_directory
from sediment_assets.targets.registry import Target
from tests.directories import as_nobody, names

SEVEN = {
    "tasks.jsonl", "tasks.train.jsonl", "tasks.eval.jsonl", "rollouts.jsonl", "rollouts.train.jsonl",
    "rollouts.eval.jsonl", "environment.yaml",
}  # fmt: skip


def try_to_claim(out: Path, target: Target = Target.NEMO_GYM) -> None:
    with claimed_directory(out, target):
        pass


def refused(out: Path, target: Target = Target.NEMO_GYM) -> str:
    """The directory is refused, by the look ahead with the same words, and left as it was."""
    before = names(out)
    with pytest.raises(ClaimError) as error:
        try_to_claim(out, target)
    with pytest.raises(ClaimError) as earlier:
        refuse_directory(out, target)
    assert str(earlier.value) == str(error.value)
    assert names(out) == before
    assert "\n" not in str(error.value)
    return str(error.value)


def test_seven_names_count_and_environment_yaml_is_published_last():
    assert set(PUBLICATION_ORDER) == SEVEN
    assert PUBLICATION_ORDER[-1] == "environment.yaml"
    split = [name for name in PUBLICATION_ORDER if name.count(".") == 2]
    assert split == ["tasks.train.jsonl", "tasks.eval.jsonl", "rollouts.train.jsonl", "rollouts.eval.jsonl"]


def test_no_claim_and_no_artifact_creates_the_claim(tmp_path: Path):
    out = tmp_path / "some" / "parents" / "out"
    refuse_directory(out, Target.SWE_BENCH)
    try_to_claim(out, Target.SWE_BENCH)
    assert names(out) == [CLAIM]
    assert (out / CLAIM).read_bytes() == b"swe-bench\n"
    assert (out / CLAIM).stat().st_mode & 0o777 == 0o600
    assert (out / CLAIM).stat().st_nlink == 1


def test_an_existing_directory_with_other_files_may_be_claimed(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "manifest.json").write_text("{}")
    try_to_claim(tmp_path)
    assert names(tmp_path) == [CLAIM, "manifest.json", "notes.txt"]


@pytest.mark.parametrize("name", sorted(SEVEN))
@pytest.mark.parametrize("target", Target)
def test_no_claim_and_any_artifact_is_refused(tmp_path: Path, name: str, target: Target):
    (tmp_path / name).touch()
    assert "without a claim file" in refused(tmp_path, target)


def test_a_dangling_link_counts_as_an_artifact(tmp_path: Path):
    (tmp_path / "tasks.jsonl").symlink_to("nowhere")
    assert "tasks.jsonl" in refused(tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"sediment\n",
        b"swe-bench",
        b"",
        b" \n",
        b"NeMo-Gym\n",
        b"nemo-gym\nnemo-gym\n",
        b"\xef\xbb\xbfnemo-gym\n",
        b"\xff\xfe",
        b"\x1b[31mnemo-gym",
        b"nemo-gym" + b" " * 5000 + b"x",
    ],
)
def test_another_target_or_other_text_is_refused(tmp_path: Path, content: bytes):
    (tmp_path / CLAIM).write_bytes(content)
    message = refused(tmp_path)
    assert message.isprintable()


@pytest.mark.parametrize("content", [b"nemo-gym\n", b"nemo-gym", b"  nemo-gym\r\n"])
def test_the_same_target_without_artifacts_continues(tmp_path: Path, content: bytes):
    (tmp_path / CLAIM).write_bytes(content)
    try_to_claim(tmp_path)
    assert (tmp_path / CLAIM).read_bytes() == content


@pytest.mark.parametrize("name", sorted(SEVEN))
def test_the_same_target_with_any_artifact_is_refused(tmp_path: Path, name: str):
    (tmp_path / CLAIM).write_text("nemo-gym\n")
    (tmp_path / name).touch()
    message = refused(tmp_path)
    assert name in message
    assert "new directory" in message


def test_a_record_of_unknown_form_counts_as_an_export(tmp_path: Path):
    (tmp_path / CLAIM).write_text("nemo-gym\n")
    (tmp_path / RECORD).write_text("{}")
    assert "already holds an export" in refused(tmp_path)


def test_a_claim_that_is_no_regular_file_is_refused(tmp_path: Path):
    for number, make in enumerate([Path.mkdir, lambda path: path.symlink_to("/dev/null"), os.mkfifo]):
        out = tmp_path / str(number)
        out.mkdir()
        make(out / CLAIM)
        assert CLAIM in refused(out)


def test_an_unreadable_claim_is_refused():
    with as_nobody() as out:
        (out / CLAIM).write_text("nemo-gym\n")
        (out / CLAIM).chmod(0)
        assert "cannot read the claim: Permission denied" in refused(out)


def test_an_unwritable_directory_is_reported():
    with as_nobody() as out:
        out.chmod(0o500)
        with pytest.raises(PublishError, match=r"export\.lock: cannot take the lock: Permission denied$"):
            try_to_claim(out)
        with pytest.raises(PublishError, match=r"out: cannot create the output directory: Permission denied$"):
            try_to_claim(out / "out")
        assert names(out) == []


def test_the_lock_refuses_and_is_left_alone(tmp_path: Path):
    (tmp_path / LOCK).mkdir()
    message = refused(tmp_path)
    assert "in progress" in message
    assert "rmdir" in message
    assert names(tmp_path) == [LOCK]


def test_the_lock_is_looked_at_before_the_claim(tmp_path: Path):
    (tmp_path / LOCK).mkdir()
    (tmp_path / CLAIM).write_text("sediment\n")
    with pytest.raises(LockHeldError):
        try_to_claim(tmp_path)


def test_the_lock_goes_away_when_the_block_fails(tmp_path: Path):
    with pytest.raises(FileExistsError), claimed_directory(tmp_path, Target.NEMO_GYM):
        (tmp_path / LOCK).mkdir()
    assert names(tmp_path) == [CLAIM]
    assert check_claim(tmp_path, Target.NEMO_GYM)


def test_only_its_own_lock_is_removed(tmp_path: Path):
    with export_lock(tmp_path):
        (tmp_path / LOCK).rmdir()
        (tmp_path / LOCK).mkdir()  # another export, after somebody removed a lock that was in use
    assert (tmp_path / LOCK).is_dir()


@pytest.mark.parametrize("parent", [".", "file/below"])
def test_an_output_path_that_is_no_directory_is_refused(tmp_path: Path, parent: str):
    (tmp_path / "file").write_text("mine")
    out = tmp_path / "file" if parent == "." else tmp_path / parent
    with pytest.raises((ClaimError, PublishError), match="file"):
        try_to_claim(out)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_dangling_link_as_output_path_is_refused(tmp_path: Path):
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ClaimError, match="expected a directory or nothing"):
        try_to_claim(tmp_path / "out")
    assert not (tmp_path / "nowhere").exists()


def test_a_link_to_a_directory_is_that_directory(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    try_to_claim(tmp_path / "out")
    assert names(tmp_path / "real") == [CLAIM]


def test_messages_show_the_path_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("out").mkdir()
    Path("out/tasks.jsonl").touch()
    with pytest.raises(ClaimError, match=r"^out: expected a fresh directory, got tasks\.jsonl without a claim file"):
        try_to_claim(Path("./out/"))
