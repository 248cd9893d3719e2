"""The verification commands file (targets.md §9)."""

import pytest
from pydantic import MISSING

from sediment_assets.targets.verification_commands import parse_verification_commands


def parse(text):
    return parse_verification_commands(text if isinstance(text, bytes) else text.encode())


def test_keys_are_normalised_and_commands_trimmed():
    read = parse('[repos." Acme/Widget "]\nverification_command = "  pytest -q\\n"\nextra = 1\n')
    assert (dict(read.commands), read.warnings) == ({"acme/widget": "pytest -q"}, ())


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no top-level key repos"),
        ("other = 1", "no top-level key repos"),
        ("repos = 1", "repos: expected a table, got 1"),
        ("repos = []", "repos: expected a table, got"),
        ("[repos", "expected TOML"),
        ('\ufeff[repos."a/b"]\nverification_command = "x"', "expected TOML"),
        (b'\xff = 1\n[repos."a/b"]\nverification_command = "x"', "expected TOML"),
        ("x = " + "9" * 5000 + "\n[repos]", "expected TOML"),
        ("x = " + "[" * 20_000, "expected TOML"),
    ],
)
def test_a_file_that_cannot_be_used_gives_no_command_and_one_warning(text, problem):
    read = parse(text)
    assert not read.commands
    [warning] = read.warnings
    assert problem in warning
    assert "\n" not in warning


def test_bytes_that_are_not_utf8_are_replaced_inside_strings():
    read = parse(b'[repos."a/b"]\nverification_command = "make \xff"\n')
    assert dict(read.commands) == {"a/b": "make \ufffd"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('repos."a/b" = 1', "expected a table, got 1"),
        ('[repos."a/b"]\ncommand = "x"', "expected a key verification_command"),
        ('[repos."a/b"]\nverification_command = 1', "expected a non-blank string, got 1"),
        ('[repos."a/b"]\nverification_command = " \\t"', "expected a non-blank string"),
        ('[repos." "]\nverification_command = "x"', "expected a repository owner/name"),
        ('[repos.a]\nverification_command = "x"', "expected a repository owner/name"),
        ('[repos."a/b/c"]\nverification_command = "x"', "expected a repository owner/name"),
        ('[repos."a/"]\nverification_command = "x"', "expected a repository owner/name"),
    ],
)
def test_a_bad_entry_is_skipped_with_a_warning_and_its_siblings_load(entry, problem):
    read = parse(f'{entry}\n[repos."good/one"]\nverification_command = "make"\n')
    assert dict(read.commands) == {"good/one": "make"}
    [warning] = read.warnings
    assert problem in warning


def test_of_two_keys_with_one_slug_the_later_wins_with_a_warning():
    read = parse('[repos."A/B"]\nverification_command = "1"\n[repos."a/b"]\nverification_command = "2"\n')
    assert dict(read.commands) == {"a/b": "2"}
    [warning] = read.warnings
    assert "a/b is named more than once" in warning


def test_only_the_exact_slug_has_a_command():
    read = parse('[repos."a/b"]\nverification_command = "make"')
    assert (read.command_for("a/b"), read.command_for("A/b"), read.command_for(None)) == ("make", None, None)
    assert read.row_for("a/b").verification_command == "make"
    assert read.row_for("x/y") is MISSING
