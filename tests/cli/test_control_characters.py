"""Captured names that hold control characters: every cell and every message stays on its own line."""

import json
import subprocess
from pathlib import Path

import pytest

from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.cli.facts import aligned
from sediment_assets.cli.main import main
from tests.builders import ORG, make_call, make_decision, make_push
from tests.generation_root import Root
from tests.git.repositories import linear
from tests.stores import fill_store

EVIL = "x\ny\r\tz\x1b[31m\x7f"
SHOWN = r"x\ny\r\tz\x1b[31m\x7f"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command, in this process, in a directory whose own name steers terminals."""
    directory = tmp_path / EVIL
    directory.mkdir()
    monkeypatch.chdir(directory)
    for name, value in {
        "SEDIMENT_ORG_ID": ORG,
        "SEDIMENT_DATABASE_URL": "sqlite:///facts.db",
        "SEDIMENT_MIRROR_PATH": str(directory / "mirrors"),
        "SEDIMENT_EXPORT_ROOT": str(directory / "exports"),
        "SEDIMENT_DEV_MODE": "true",
    }.items():
        monkeypatch.setenv(name, value)

    def _run(*arguments: str) -> list[str]:
        capsys.readouterr()
        main([*arguments])
        out, err = capsys.readouterr()
        # splitlines() ends lines at more than line feeds: nothing in a name may end one.
        lines = [*out.splitlines(), *err.splitlines()]
        assert len(lines) == out.count("\n") + err.count("\n")
        assert all(line.isprintable() for line in lines)
        return lines

    return _run


def test_cells_are_escaped_before_they_are_measured():
    assert aligned([("name", "n"), ("a\nb", "1"), ("\x1b", "22")], numbers=(1,)) == [
        "name   n",
        r"a\nb   1",
        r"\x1b  22",
    ]


def test_mirror_sync_and_list(run, tmp_path: Path):
    linear(tmp_path / "src", {b"a.txt": b"one\n"})
    fill_store(writing_engine("sqlite:///facts.db"), [make_push(repo=f"p/{EVIL}")])
    header, row, base = run("mirror", "sync", f"--clone-url={tmp_path}/src", "--", f"o/{EVIL}")
    assert row.startswith(f"o/{SHOWN}  created")
    assert header.index("status") == row.index("created")
    assert SHOWN in base
    failed = run("mirror", "sync", f"--clone-url={tmp_path}/absent", "--", f"o/{EVIL}2")
    assert [line for line in failed if line.startswith("mirror_failed: ") and SHOWN in line]
    mirrors, _, *rows = run("mirror", "list")
    assert SHOWN in mirrors
    assert len(rows) == 2
    assert any(row.startswith(f"p/{SHOWN} ") for row in rows)


def test_notes_stamp(run):
    for command in (
        ["init", "-q"],
        ["-c", "user.name=a", "-c", "user.email=a@a", "commit", "-q", "--allow-empty", "-mx"],
    ):
        subprocess.run(["git", *command], check=True)
    [line] = run("notes", "stamp", "--session", f"s{EVIL}e")
    assert line.endswith(f"with Session s{SHOWN}e")


def test_facts(run, monkeypatch: pytest.MonkeyPatch):
    fill_store(writing_engine("sqlite:///facts.db"), [make_call()])
    monkeypatch.setenv("SEDIMENT_DATABASE_URL", f"sqlite:///{Path.cwd()}/facts.db")
    lines = run("facts")
    assert lines[0].startswith("store: ")
    assert SHOWN in lines[0]
    [problem] = run("facts", "import", f"{EVIL}.jsonl")
    assert SHOWN in problem


def test_generations_list(run):
    root = Root(Path("exports").absolute())
    root.rows(f"a{EVIL}.0")
    (root.place("nemo-gym", f"b{EVIL}.0")).mkdir(parents=True)
    lines = run("generations", "list")
    assert any(f"  a{SHOWN}.0  " in line for line in lines)
    assert lines[-1].startswith("incomplete: ")
    assert f"b{SHOWN}.0: " in lines[-1]


def test_explain(run, capsys: pytest.CaptureFixture[str]):
    fill_store(
        writing_engine("sqlite:///facts.db"),
        [
            make_call(session_id=f"s{EVIL}e", inference_call_id=f"c{EVIL}c"),
            make_decision(session_id=f"s{EVIL}e", file_path=f"f{EVIL}f"),
        ],
    )
    lines = run("explain", "--session", f"s{EVIL}e")
    assert lines[0] == f"Session s{SHOWN}e of {ORG}"
    assert any(line.startswith(f"  c{SHOWN}c  ") for line in lines)
    assert any(line.startswith(f"s{SHOWN}e  ") for line in run("explain", "--declined"))
    main(["explain", "--session", f"s{EVIL}e", "--json"])
    text = capsys.readouterr().out
    assert json.loads(text)["session_id"] == f"s{EVIL}e"
    assert "\x7f" not in text


def test_usage_errors(run, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        run("facts", f"--{EVIL}")
    assert SHOWN in capsys.readouterr().err.splitlines()[-1]
