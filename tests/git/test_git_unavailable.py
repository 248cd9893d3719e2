"""A machine without room for git is no skip: nothing is withheld for what says nothing about a mirror."""

import tempfile

import pytest

from sediment_assets.adapters.git_mirror import GitMirror
from sediment_assets.adapters.git_process import GitUnavailableError
from tests.faults.mounts import small
from tests.git.patch_cases import ALL
from tests.git.repositories import linear

NEED_AN_ATTRIBUTES_FILE = ["other: latin-1", "other: utf-16"]
NEED_A_SCRATCH_REPOSITORY = ["utf-8: file to symlink", "utf-8: hostile names"]
LIMITS = [
    *((case, "nr_inodes={number}") for case in NEED_AN_ATTRIBUTES_FILE + NEED_A_SCRATCH_REPOSITORY),
    *((case, "size={pages}k") for case in NEED_A_SCRATCH_REPOSITORY),
]


@pytest.mark.parametrize(("case", "limit"), LIMITS)
def test_a_full_temporary_directory_withholds_no_patch(tmp_path, monkeypatch, case: str, limit: str):
    disk = tmp_path / "disk"
    disk.mkdir()
    base, head = linear(tmp_path / "m", *ALL[case])
    with GitMirror(tmp_path / "m") as mirror:
        patch = mirror.reference_patch(base, head)
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    refusals, made = [], None
    for number in range(1, 60):
        with small(disk, limit.format(number=number, pages=4 * number)), GitMirror(tmp_path / "m") as mirror:
            try:
                made = mirror.reference_patch(base, head)
                break
            except GitUnavailableError as error:
                refusals.append(str(error))
    assert made == patch
    assert refusals
    assert all("No space left on device; set TMPDIR" in refusal for refusal in refusals)


def test_without_a_temporary_directory_git_is_unavailable(tmp_path, monkeypatch):
    [head] = linear(tmp_path / "m", {b"a": b"a\n"})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with GitMirror(tmp_path / "m") as mirror:
        for question in (
            lambda: mirror.commit_patch(head),
            lambda: mirror.commit_exists(head),
            lambda: [*mirror.notes()],
        ):
            with pytest.raises(GitUnavailableError, match="set TMPDIR"):
                question()
