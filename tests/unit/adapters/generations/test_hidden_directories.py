"""What is hidden in an export root is no generation: no command lists, checks, copies or removes it."""

from pathlib import Path

import pytest

from sediment_assets.adapters.attribution_files import AttributionFiles
from sediment_assets.cli.main import main
from tests.generation_root import DAY, Root


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["generations", *arguments])
    return code, *capsys.readouterr()


def content(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_commands_say_and_do_the_same_with_and_without_what_days_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    root = Root(tmp_path / "exports")
    for name in ("a.0", "b.0", "c.0"):
        root.rows(name)
    place = str(root.path)
    commands = (
        ["list", "--all", place],
        ["verify", place],
        ["prune", "--keep", "1", "--no-instance", place],
        ["copy", "--to", str(tmp_path / "archive"), place],
    )
    before = [said(capsys, *command) for command in commands[:-1]]
    AttributionFiles(root.path).keep("0" * 64, {"commits_of_session": {}, "skipped": {}})
    hidden = root.path / ".attribution"
    (hidden / DAY).mkdir()
    root.rows("d.0").rename(hidden / DAY / "d.0")  # even what looks like a generation
    kept = content(hidden)
    assert len(kept) > 2
    assert [said(capsys, *command) for command in commands[:-1]] == before
    assert said(capsys, *commands[-1])[0] == 0
    assert sorted(path.name for path in (tmp_path / "archive").iterdir()) == ["nemo-gym"]
    assert said(capsys, "prune", "--keep", "1", "--yes", "--no-instance", place)[0] == 0
    assert sorted(path.name for path in (root.path / "nemo-gym" / DAY).iterdir()) == ["c.0"]
    assert content(hidden) == kept
