"""Reading the verification commands file: never fatal (targets.md §9)."""

import os
from pathlib import Path

from sediment_assets.adapters.verification_file import read_verification_commands
from sediment_assets.targets.verification_commands import VerificationCommands
from tests.directories import as_nobody


def test_a_file_gives_its_commands(tmp_path: Path):
    path = tmp_path / "commands.toml"
    path.write_text('[repos."Acme/Widget"]\nverification_command = " make test "\n')
    assert read_verification_commands(path).command_for("acme/widget") == "make test"


def test_unconfigured_is_no_command_and_no_warning():
    assert read_verification_commands(None) == VerificationCommands()


def test_a_missing_file_is_no_command_and_one_warning(tmp_path: Path):
    path = tmp_path / "no.toml"
    found = read_verification_commands(path)
    assert (found.commands, found.usable) == ({}, False)
    assert found.warnings == (f"{path}: no such file; no command is used",)


def test_what_is_no_regular_file_is_not_read(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/zero")):
        found = read_verification_commands(path)
        assert (found.commands, found.usable) == ({}, False)
        assert found.warnings == (f"{path}: expected a regular file, got something else; no command is used",)


def test_what_cannot_be_read_is_one_warning():
    with as_nobody() as directory:
        path = directory / "commands.toml"
        path.touch(mode=0)
        assert read_verification_commands(path).warnings == (
            f"{path}: cannot be read: Permission denied; no command is used",
        )


def test_a_file_that_is_no_toml_is_unusable(tmp_path: Path):
    path = tmp_path / "commands.toml"
    path.write_bytes(b"\xff\xfe[")
    found = read_verification_commands(path)
    assert (found.commands, found.usable, len(found.warnings)) == ({}, False, 1)
    assert found.warnings[0].startswith(f"{path}: expected TOML, got: ")
