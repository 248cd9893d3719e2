"""``sediment capture exchanges`` over what a collector keeps of an instrumented agent: logs and traces."""

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sediment_assets.cli.main import main
from tests.fact_files import store_content

FIXTURES = Path(__file__).parents[1] / "fixtures" / "capture" / "genai_events"
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/facts.db"


@pytest.fixture
def run(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("SEDIMENT_ORG_ID", "acme")
    monkeypatch.setenv("SEDIMENT_DATABASE_URL", url)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "otel").mkdir()

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(["capture", "exchanges", *arguments])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_logs_and_traces_of_an_agent_are_stored_once(run: Run, url: str, tmp_path: Path):
    logs = (FIXTURES / "streamed.logs.jsonl").read_bytes()
    with gzip.open(tmp_path / "otel" / "logs.jsonl.gz", "wb") as file:
        file.write(logs)
    shutil.copy(FIXTURES / "streamed.traces.jsonl", tmp_path / "otel" / "traces.jsonl")
    told = "table            facts  stored  present  redacted\ninference_calls      4       {}        {}  -\n"
    end = f"stored in {tmp_path}/facts.db\n"
    stated = ("otel", "--set", "session=fix-rounding", "--strict")
    assert run(*stated) == (0, "read 2 records in 2 files\n" + told.format(4, 0) + end, "")
    before = store_content(url)
    assert all("fix-rounding" in row for row in before["inference_calls"])
    assert run(*stated) == (0, "read 2 records in 2 files\n" + told.format(0, 4) + end, "")
    assert store_content(url) == before


def test_logs_without_content_say_how_it_is_recorded(run: Run, tmp_path: Path):
    for kind in ("logs", "traces"):
        shutil.copy(FIXTURES / f"without_content.{kind}.jsonl", tmp_path / "otel" / f"{kind}.jsonl")
    code, shown, _ = run("otel", "--set", "session=s", "--dry-run")
    assert code == 0
    assert "no_content       28  unexpected\n" in shown
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true records it" in shown


def test_a_choice_among_several_is_no_call(run: Run, tmp_path: Path):
    for kind in ("logs", "traces"):
        shutil.copy(FIXTURES / f"recorded.{kind}.jsonl", tmp_path / "otel" / f"{kind}.jsonl")
    code, shown, _ = run("otel", "--session-key", "trace_id", "--dry-run")
    assert code == 0
    assert "inference_calls      4       0        0  -\n" in shown
    assert "invalid_value     10  unexpected\n" in shown
    code, _, error = run("otel", "--session-key", "trace_id", "--strict")
    assert code == 1
    assert "10 records or parts could not be translated, nothing was stored (--strict)" in error
