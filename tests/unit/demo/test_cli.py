"""``sediment demo plant``: what it prints, and that it can be run again."""

import argparse
from pathlib import Path

import pytest

from sediment_assets.cli import demo
from sediment_assets.cli.output import printable
from sediment_assets.demo import PlantingError


def plant(directory: Path) -> int:
    parser = argparse.ArgumentParser()
    demo.add_parser(parser.add_subparsers())
    args = parser.parse_args(["demo", "plant", str(directory)])
    code: int = args.run(args)
    return code


def test_planting_prints_counts_settings_and_the_next_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    directory = tmp_path / "demo of mine"
    assert plant(directory) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"planted {directory}"
    assert "  pushes: 40" in lines
    assert "  acme/telemetry-dashboard: 29 commits" in lines
    assert f"  export SEDIMENT_MIRROR_PATH='{directory}/mirrors'" in lines
    assert lines[-2:] == [f"  cd '{directory}'", "  sediment export rlvr --target sediment --out rows"]
    assert (directory / "facts.db").is_file()


def test_planting_again_imports_nothing_new(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plant(tmp_path / "demo")
    capsys.readouterr()
    assert plant(tmp_path / "demo") == 0
    out = capsys.readouterr().out
    assert out.startswith(f"already planted, left alone: {tmp_path / 'demo'}")
    assert ": 0 new\n" in out


def test_a_foreign_directory_is_an_error_of_one_line(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(PlantingError) as caught:
        plant(tmp_path)
    assert "\n" not in printable(str(caught.value))
    assert not (tmp_path / "facts.db").exists()
