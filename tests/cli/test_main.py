"""The command as a whole: help, usage errors, exit codes, what it imports (cli.md §1)."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from sediment_assets.cli.main import build_parser, main
from sediment_assets.cli.output import printable
from tests.cli.command import BASE_ENVIRONMENT, COMMAND, sediment

HEAVY = ["dagster", "pydantic", "sqlalchemy", "rich", "orjson", "yaml", "git"]


def python(code: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, env=BASE_ENVIRONMENT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["export", "--help"], ["export", "rlvr", "-h"], ["facts", "--help"]])
def test_help_is_on_stdout_within_80_columns(tmp_path: Path, arguments: list[str]):
    done = subprocess.run(
        [*COMMAND, *arguments], env=BASE_ENVIRONMENT | {"COLUMNS": "200"}, capture_output=True, text=True, cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_help_teaches(tmp_path: Path):
    text = sediment("--help", cwd=tmp_path).stdout
    for part in ("examples:", "settings (", "SEDIMENT_DATABASE_URL", "where to go next:", "facts", "export"):
        assert part in text
    text = sediment("export", "rlvr", "--help", cwd=tmp_path).stdout
    for part in ("examples:", "settings (", "SEDIMENT_VERIFIER_COMMANDS_FILE", "where to go next:", "nemo-gym"):
        assert part in text


def test_the_version(tmp_path: Path):
    assert sediment("--version", cwd=tmp_path).stdout == "sediment 0.1.0\n"


def test_the_installed_script_is_this_command(tmp_path: Path):
    script = Path(sys.executable).parent / "sediment"
    done = subprocess.run([script, "--version"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "sediment 0.1.0\n"


def test_help_imports_nothing_heavy_and_starts_at_once(tmp_path: Path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert sediment("--help", cwd=tmp_path).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time, not the wall clock: other work on the machine must not fail the test.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.15
    code = (
        "import sys\n"
        "from sediment_assets.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print('HEAVY', sorted(set({HEAVY}) & {{name.partition('.')[0] for name in sys.modules}}))"
    )
    assert python(code, tmp_path).splitlines()[-1] == "HEAVY []"


def test_no_cycles_are_looked_for_in_the_end(tmp_path: Path):
    code = (
        "import atexit, gc\n"
        "atexit.register(lambda: print('FROZEN', gc.get_freeze_count() > 0))\n"
        "from sediment_assets.cli.main import main\n"
        "main(['--version'])"
    )
    assert python(code, tmp_path).splitlines()[-1] == "FROZEN True"


@pytest.mark.parametrize(
    ("arguments", "prog", "listed"),
    [
        ([], "sediment", "export training rows"),
        (["exprot"], "sediment", "export training rows"),
        (["export"], "sediment export", "rows for reinforcement learning"),
        (["export", "dpo"], "sediment export", "rows for reinforcement learning"),
    ],
)
def test_a_missing_or_unknown_command_lists_all(tmp_path: Path, arguments: list[str], prog: str, listed: str):
    done = sediment(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"usage: {prog} [-h]")
    assert listed in done.stderr
    assert done.stderr.splitlines()[-1].startswith(f"{prog}: error: ")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["explian"], "; did you mean explain?"), (["generations", "prun"], "; did you mean prune?"), (["zzz"], ")")],
)
def test_a_mistyped_command_is_told_what_may_be_meant(
    arguments: list[str], meant: str, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert capsys.readouterr().err.endswith(f"{meant}\n")


def test_a_usage_error_shows_the_usage_of_its_command(tmp_path: Path):
    done = sediment("export", "rlvr", "--out", "x", "--target", "sediment", "--bogus", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: sediment export rlvr [-h]")
    assert done.stderr.splitlines()[-1] == "sediment export rlvr: error: unrecognized arguments: --bogus"


def test_what_a_mistyped_argument_holds_does_not_steer_the_terminal(tmp_path: Path):
    done = sediment("export", "rlvr", "\x1b[2J", cwd=tmp_path)
    assert "\x1b" not in done.stderr


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 漢 🙂", "plain é 漢 🙂"),
        ("two\nlines", "two\nlines"),
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m bell\x07 nul\x00 del\x7f cr\r tab\t", r"\x9b31m bell\x07 nul\x00 del\x7f cr\r tab\t"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("line\u2028separator", r"line\u2028separator"),
        ("\ud800", r"\ud800"),
    ],
)
def test_only_printable_characters_are_printed(text: str, shown: str):
    assert printable(text) == shown


def test_output_into_a_closed_pipe_is_no_traceback(tmp_path: Path):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            [*COMMAND, "--help"], cwd=tmp_path, env=BASE_ENVIRONMENT, stdout=closed, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_onto_a_full_device_is_one_line(tmp_path: Path):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "--help"], cwd=tmp_path, env=BASE_ENVIRONMENT, stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 1
    assert done.stderr == "error: standard output: cannot be written: No space left on device\n"


def test_what_an_encoding_lacks_is_escaped(tmp_path: Path):
    environment = BASE_ENVIRONMENT | {"PYTHONIOENCODING": "ascii", "SEDIMENT_DATABASE_URL": "sqlite:////nowhere/é.db"}
    done = subprocess.run([*COMMAND, "facts"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert r"/nowhere/\xe9.db" in done.stderr


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    def broken(_: object) -> str:
        raise LookupError("captured \x1b[31mtext")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sediment_assets.adapters.settings.Settings.database_url", broken)
    assert main(["facts"]) == 1
    error = capsys.readouterr().err
    assert "Traceback" in error
    assert error.endswith("LookupError: captured \\x1b[31mtext\n")


@pytest.mark.parametrize("command", [("facts", "import"), ("demo", "plant")])
def test_a_path_the_system_refuses_is_one_line_with_its_cause(command: tuple[str, ...], tmp_path: Path) -> None:
    result = sediment(*command, "x" * 5000, settings={"SEDIMENT_DATABASE_URL": "sqlite:///facts.db"}, cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr.startswith("error: xxx")
    assert result.stderr.endswith("(5000 characters): File name too long\n")
    assert len(result.stderr) < 300
    assert not list(tmp_path.iterdir())


def test_a_setting_with_a_nul_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"SEDIMENT_DATABASE_URL=sqlite:///a\0b.db\n")
    result = sediment("facts", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stderr == "error: SEDIMENT_DATABASE_URL: expected text without NUL, got 'sqlite:///a\\x00b.db'\n"


@pytest.mark.parametrize(
    "line",
    [
        ["capture", "litellm", "a.json", "b.json", "--dry-run"],
        ["capture", "litellm", "--dry-run", "a.json", "b.json"],
        ["capture", "--dry-run", "litellm", "a.json", "b.json"],
        ["capture", "litellm", "a.json", "--dry-run", "b.json"],
    ],
)
def test_options_may_stand_between_arguments(line: list[str]):
    found = build_parser().parse_args(line)
    assert (found.source, found.paths, found.dry_run) == ("litellm", ["a.json", "b.json"], True)
