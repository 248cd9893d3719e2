"""``sediment demo plant``: what it prints, and that it can be run again."""

import argparse
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sediment_assets.cli import demo
from sediment_assets.cli.output import printable
from sediment_assets.demo import PlantingError, is_begun
from tests.cli.command import BASE_ENVIRONMENT, COMMAND, default_signals


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


def test_an_interrupted_planting_says_what_is_left_and_is_done_again(tmp_path: Path):
    command = [*COMMAND, "demo", "plant", "demo"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=BASE_ENVIRONMENT, stderr=subprocess.PIPE, text=True, preexec_fn=default_signals
    )
    with process:
        while process.poll() is None and not is_begun(tmp_path / "demo"):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert process.returncode == 130
    assert error == (
        "error: interrupted; demo is not a whole demo: plant it again, which does what is missing, or remove the "
        "directory\n"
    )
    assert not (tmp_path / "demo" / "facts.db").exists()
    assert plant(tmp_path / "demo") == 0
    assert (tmp_path / "demo" / "facts.db").is_file()


def test_a_foreign_directory_is_an_error_of_one_line(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(PlantingError) as caught:
        plant(tmp_path)
    assert "\n" not in printable(str(caught.value))
    assert not (tmp_path / "facts.db").exists()
