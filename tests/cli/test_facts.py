"""``sediment facts`` and ``sediment facts import``: what they print."""

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.adapters.fact_store.importer import FactImportError
from sediment_assets.adapters.fact_store.location import FactStoreError
from sediment_assets.cli.facts import add_parser
from sediment_assets.errors import SedimentError
from sediment_assets.facts.redaction_scans import _CREDENTIAL_KEYS, MARKER
from sediment_assets.facts.tables import JSONL_MODELS
from sediment_assets.facts.vocabulary import FactTable
from tests.builders import make_call, make_decision, make_outcome, make_push, make_quarantine, plain_message
from tests.fact_files import write_facts
from tests.fact_reader_cases import pull_request
from tests.stores import fill_store


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path}/facts.db"
    monkeypatch.setenv("SEDIMENT_DATABASE_URL", url)
    return url


def run(*arguments: object) -> int:
    parser = argparse.ArgumentParser(prog="sediment")
    add_parser(parser.add_subparsers())
    args = parser.parse_args([str(argument) for argument in arguments])
    code: int = args.run(args)
    return code


def test_import_prints_one_aligned_line_per_table(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    secret = plain_message("user", f"Bearer {'A' * 16} and sk-{'A' * 16} or sk-{'B' * 16}")
    records = [make_push(), make_call(input_messages=[secret]), make_call(input_messages=[secret]), make_quarantine()]
    assert run("facts", "import", write_facts(tmp_path / "facts", records)) == 0
    output = capsys.readouterr()
    assert output.out == (
        f"imported into {tmp_path}/facts.db\n"
        "table            read  stored  present  redacted\n"
        "pushes              1       1        0  -\n"
        "inference_calls     2       1        1  bearer_token 1, provider_key 2\n"
        "quarantine          1       1        0  -\n"
    )
    assert output.err == ""


def test_counts_are_per_organization_and_table(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    records = [
        make_call(), make_call(inference_call_id="c2", session_id="s2", observed_at="2026-03-03T09:00:00.5Z"),
        make_decision(), make_outcome(org_id="other"),
        make_quarantine(), make_quarantine(quarantine_id="q2", fact_id="ghost"),
        make_quarantine(quarantine_id="q3", org_id="other"),
    ]  # fmt: skip
    run("facts", "import", write_facts(tmp_path / "facts", records))
    fill_store(writing_engine(url), [pull_request(FactTable.PULL_REQUEST_REVISIONS, org_id="other")])
    capsys.readouterr()
    assert run("facts") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"store: {tmp_path}/facts.db"
    assert lines[1].startswith("database: SQLite 3.")
    assert lines[2:] == [
        "schema revision: 0011_inference_call_aliases",
        "",
        "organization: acme",
        "table                        facts  quarantined  first                 last",
        "inference_calls                  2            1  2026-03-02T09:00:00Z  2026-03-03T09:00:00.500000Z",
        "developer_decisions              1            0  2026-03-02T09:00:00Z  2026-03-02T09:00:00Z",
        "ci_outcomes                      0            0  -                     -",
        "pushes                           0            0  -                     -",
        "session_commit_observations      0            0  -                     -",
        "repository_renames               0            0  -                     -",
        "sessions: 2",
        "quarantine records: 2  revision: 2",
        "",
        "organization: other",
        "table                        facts  quarantined  first                 last",
        "inference_calls                  0            0  -                     -",
        "developer_decisions              0            0  -                     -",
        "ci_outcomes                      1            0  2026-03-02T09:00:00Z  2026-03-02T09:00:00Z",
        "pushes                           0            0  -                     -",
        "pull_request_revisions           1            0  2026-03-02T09:00:00Z  2026-03-02T09:00:00Z",
        "session_commit_observations      0            0  -                     -",
        "repository_renames               0            0  -                     -",
        "sessions: 0",
        "quarantine records: 1  revision: 3",
    ]


def test_an_empty_store_says_how_to_fill_it(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "pushes.jsonl").touch()
    run("facts", "import", tmp_path / "pushes.jsonl")
    run("facts")
    assert capsys.readouterr().out.endswith(
        "no Facts; store some with sediment capture SOURCE PATH, or sediment facts import PATH\n"
    )


def test_failures_reach_the_caller(url: str, tmp_path: Path):
    with pytest.raises(FactStoreError, match="no such file; create it with sediment capture SOURCE PATH, or sediment "):
        run("facts")
    (tmp_path / "pushes.jsonl").write_text("{\n")
    with pytest.raises(FactImportError, match=r"pushes.jsonl:1: expected JSON"):
        run("facts", "import", tmp_path / "pushes.jsonl")


def test_the_database_url_is_required(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SEDIMENT_DATABASE_URL", "\r\n")
    with pytest.raises(SedimentError, match="SEDIMENT_DATABASE_URL: expected"):
        run("facts")


def test_import_needs_a_path(url: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as usage:
        run("facts", "import")
    assert usage.value.code == 2
    assert "the following arguments are required: PATH" in capsys.readouterr().err


def test_parsing_imports_nothing_heavy():
    code = (
        "import sys; from sediment_assets.cli.facts import add_parser; "
        "print(sorted({'sqlalchemy', 'pydantic', 'dagster'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_help_names_every_file_an_import_knows(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        run("facts", "import", "--help")
    shown = capsys.readouterr().out
    assert [name for name in JSONL_MODELS if f"{name}.jsonl" not in shown] == []


def test_help_names_every_credential_key_that_is_redacted(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        run("facts", "import", "--help")
    shown = capsys.readouterr().out.partition("redaction")[2]
    assert [key for key in _CREDENTIAL_KEYS if key not in shown] == []
    assert MARKER in shown
