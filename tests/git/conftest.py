"""What tests of mirrors fetch from."""

from pathlib import Path

import pytest

from tests.git.repositories import git, linear

IDENTITY_VARIABLES = {
    f"GIT_{role}_{part}": "t@example.test" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
}


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    """A remote with everything a forge has: branches, a pull request, notes of several tools, tags."""
    directory = tmp_path / "remotes/widget.git"
    first, second = linear(directory, {b"a.txt": b"one\n"}, {b"a.txt": b"two\n"})
    git(directory, "update-ref", "refs/heads/side", first)
    git(directory, "update-ref", "refs/pull/7/head", second)
    git(directory, "update-ref", "refs/pull/7/merge", second)
    git(directory, "tag", "v1", first)
    git(directory, "tag", "-m", "t", "v2", second, **IDENTITY_VARIABLES)
    for ref in ("sediment", "sedimentary", "ai", "commits"):
        git(directory, "notes", f"--ref={ref}", "add", "-m", "text", second, **IDENTITY_VARIABLES)
    return directory
