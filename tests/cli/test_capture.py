"""``sediment capture`` as an operator uses it: what it prints, what it refuses, what it leaves alone."""

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.capture.registry import SOURCES
from sediment_assets.cli.main import main
from tests.fact_files import store_content
from tests.gateway_payloads import payload


@dataclass(frozen=True)
class Result:
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Result]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/facts.db"


@pytest.fixture
def run(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Run the command in this process; ``store`` names another Fact store, None none at all."""
    monkeypatch.setenv("SEDIMENT_ORG_ID", "acme")
    monkeypatch.chdir(tmp_path)
    thresholds = gc.get_threshold()

    def run(*arguments: object, store: str | None = url) -> Result:
        monkeypatch.setenv("SEDIMENT_DATABASE_URL", store or "")
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        shown = capsys.readouterr()
        return Result(code, shown.out, shown.err)

    yield run
    gc.set_threshold(*thresholds)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Three calls, one without a Session, one that is no conversation."""
    records: list[dict[str, Any]] = [
        payload(),
        payload(id="chatcmpl-2", trace_id=None),
        payload(id="chatcmpl-3", call_type="aembedding"),
        payload(id="chatcmpl-4", messages=[{"role": "user", "content": f"Bearer {'A' * 16}"}]),
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(map(json.dumps, records)) + "\n")
    return path


def test_a_run_says_what_was_stored_and_what_gave_no_fact(log: Path, run: Run, url: str, tmp_path: Path):
    result = run("capture", "litellm", log)
    assert result.stderr == ""
    assert result.stdout == (
        "read 4 records in 1 file\n"
        "table            facts  stored  present  redacted\n"
        "inference_calls      2       2        0  bearer_token 1\n"
        "\n"
        "gave no Fact  count\n"
        "no_evidence       1  1 call_type aembedding\n"
        "no_session        1  unexpected\n"
        "\n"
        f"{log}:2: no_session: no session_id, trace_id or metadata names a Session\n"
        f"stored in {tmp_path}/facts.db\n"
    )
    before = store_content(url)
    again = run("capture", "litellm", log)
    assert "inference_calls      2       0        2  -\n" in again.stdout
    assert store_content(url) == before


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.99])
def test_a_truncated_copy_changes_nothing_and_says_where_it_broke(
    log: Path, run: Run, url: str, tmp_path: Path, keep: float
):
    run("capture", "litellm", log)
    before = store_content(url)
    whole = log.read_bytes()
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(whole[: int(len(whole) * keep)].rstrip())
    line = cut.read_bytes().count(b"\n") + 1
    result = run("capture", "litellm", tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"error: {cut}:{line}: expected JSON" in result.stderr
    assert store_content(url) == before


def test_a_dry_run_needs_no_store_and_makes_none(run: Run, log: Path, tmp_path: Path):
    result = run("capture", "litellm", log, "--dry-run", store=None)
    assert result.returncode == 0
    assert "inference_calls      2       0        0  bearer_token 1\n" in result.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["log.jsonl"]


def test_emitted_facts_are_imported_by_facts_import(log: Path, run: Run, url: str, tmp_path: Path):
    result = run("capture", "litellm", log, "--emit", "facts", store=None)
    assert result.stdout.endswith("wrote facts\n")
    run("facts", "import", "facts")
    emitted = store_content(url)
    other = f"sqlite:///{tmp_path}/other.db"
    run("capture", "litellm", log, store=other)
    assert store_content(other) == emitted
    again = run("capture", "litellm", log, "--emit", "facts", store=None)
    assert (again.returncode, again.stderr) == (
        1,
        "error: facts: expected a new directory, got one that exists; name another\n",
    )


def test_strict_stores_nothing(log: Path, run: Run, url: str, tmp_path: Path):
    result = run("capture", "litellm", log, "--strict")
    assert (result.returncode, result.stdout) == (1, "")
    assert "error: 1 record or part could not be translated, nothing was stored (--strict)\n" in result.stderr
    assert f"{log}:2: no_session" in result.stderr
    relaxed = run("capture", "litellm", log, "--strict", "--set", "session=s")
    assert "inference_calls      3       3        0" in relaxed.stdout


def test_standard_input_is_a_path(log: Path, tmp_path: Path):
    command = [
        sys.executable,
        "-m",
        "sediment_assets.cli.main",
        "capture",
        "litellm",
        "-",
        "--dry-run",
        "--org-id",
        "Acme",
    ]
    result = subprocess.run(command, input=log.read_bytes(), capture_output=True, check=True, cwd=tmp_path)
    assert b"-:2: no_session" in result.stdout


def test_options_reach_the_source(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SEDIMENT_ORG_ID", "acme")
    record = payload(trace_id=None, startTime=None, endTime=None) | {"custom": {"thread": "t-1"}}
    (tmp_path / "log.json").write_text(json.dumps(record))
    options = [
        "--session-key",
        "custom.none",
        "--session-key",
        "custom.thread",
        "--instant",
        "2026-01-02T03:04:05+01:00",
    ]
    assert (
        main(["capture", "litellm", str(tmp_path), *options, "--org-id", "Other", "--emit", str(tmp_path / "o")]) == 0
    )
    fact = json.loads((tmp_path / "o" / "inference_calls.jsonl").read_text())
    assert [fact[name] for name in ("org_id", "session_id", "observed_at")] == ["other", "t-1", "2026-01-02T02:04:05Z"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "x"], "argument SOURCE: expected one of litellm, "),
        (["litellm"], "the following arguments are required: PATH"),
        (["litellm", "x", "--dry-run", "--emit", "d"], "argument --emit: not allowed with argument --dry-run"),
        (["litellm", "x", "--set", "novalue"], "argument --set: expected NAME=VALUE"),
    ],
)
def test_usage_errors_exit_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as usage:
        main(["capture", *arguments])
    assert usage.value.code == 2
    assert message in capsys.readouterr().err


def test_a_wrong_path_or_organization_is_one_line(run: Run, tmp_path: Path):
    result = run("capture", "litellm", "none.json", store=None)
    assert (result.returncode, result.stderr) == (
        1,
        "error: none.json: expected a file or directory, got no such path\n",
    )
    result = run("capture", "litellm", tmp_path, "--org-id=-x")
    assert result.stderr.startswith("error: --org-id: expected an organization id")


def test_files_of_which_the_source_reads_nothing_are_an_error(run: Run, tmp_path: Path):
    (tmp_path / "other.json").write_text('{"zen": "Keep it logically awesome."}')
    done = run("capture", "litellm", "other.json")
    assert done.returncode == 1
    assert "other.json:1: unknown_shape: " in done.stdout
    assert (
        done.stderr
        == "error: nothing here is what litellm reads: nothing to store; sediment capture lists the sources\n"
    )


@pytest.mark.parametrize("to", [[], ["--dry-run"], ["--emit", "facts"]])
def test_a_directory_without_files_to_read_is_an_error_and_makes_nothing(run: Run, tmp_path: Path, to: list[str]):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "proxy.log").touch()
    done = run("capture", "litellm", "logs", *to)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "note: 1 file of other kinds left out: logs/proxy.log",
        "error: logs: expected files of litellm, got none; looked for .json .jsonl .ndjson .traj .yaml .yml, also with "
        ".gz; a file of another name is read when it is named itself",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]


@pytest.mark.parametrize(
    ("source", "setting", "expected"),
    [
        ("ci", "rpo=a/b", "one of repo, repo:PATH, repository_id:OWNER/NAME, got 'rpo'"),
        ("ci", "repository_id=7", "one of repo, repo:PATH, repository_id:OWNER/NAME, got 'repository_id'"),
        ("litellm", "sesion=s", "one of session, utc-offset, got 'sesion'"),
        ("github", "repo=a/b", "none: this source has no settings, got 'repo'"),
    ],
)
def test_a_setting_that_the_source_does_not_know_is_a_usage_error(
    source: str, setting: str, expected: str, log: Path, capsys: pytest.CaptureFixture[str]
):
    with pytest.raises(SystemExit, match="2"):
        main(["capture", source, str(log), "--set", setting])
    assert f"argument --set: expected {expected}" in capsys.readouterr().err


def test_without_a_source_all_are_listed(capsys: pytest.CaptureFixture[str]):
    assert main(["capture"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, source in SOURCES.items():
        assert any(line.split()[:1] == [name] and line.endswith(source.help) for line in lines)
    assert "  sediment capture litellm logs/" in lines
    assert not any("\\n" in line for line in lines)
    with pytest.raises(SystemExit):
        main(["capture", "--help"])
    shown = capsys.readouterr().out
    assert [name for name in SOURCES if f"\n  {name} " not in shown] == []


def test_parsing_imports_nothing_heavy():
    code = (
        "import sys; from sediment_assets.cli.capture import add_parser; "
        "print(sorted({'sqlalchemy', 'pydantic', 'yaml', 'orjson', 'dagster'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_a_dry_run_imports_no_database_and_no_other_source(log: Path, tmp_path: Path):
    code = (
        "import sys; from sediment_assets.cli.main import main\n"
        f"main(['capture', 'litellm', {str(log)!r}, '--dry-run', '--org-id', 'acme'])\n"
        "print(sorted({'sqlalchemy', 'yaml', 'sediment_assets.targets', 'sediment_assets.ci', "
        "'sediment_assets.capture.sources.ci'} & set(sys.modules)))"
    )
    shown = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=tmp_path)
    assert shown.splitlines()[-1] == "[]"


def test_other_files_of_a_directory_are_named(run: Run, log: Path, tmp_path: Path):
    for number in range(5):
        (tmp_path / f"{number}.txt").touch()
    result = run("capture", "litellm", tmp_path, "--dry-run", store=None)
    assert result.stderr == (
        f"note: 5 files of other kinds left out: {tmp_path}/0.txt, {tmp_path}/1.txt, {tmp_path}/2.txt and 2 more\n"
    )


def test_a_terminal_sees_how_far_reading_is(run: Run, log: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sediment_assets.cli.capture.is_styled", lambda stream: stream is sys.stderr)
    result = run("capture", "litellm", log, "--dry-run", store=None)
    assert result.stderr.startswith("\r\x1b[K100%  ")
    assert result.stderr.endswith("log.jsonl\r\x1b[K")
    assert "\x1b" not in result.stdout
