"""Real gateway files: each gives what the table in docs/capture/gateway.md says; no message is lost, nothing twice."""

import os
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.capture_files import find_capture_files
from sediment_assets.adapters.capture_run import store_capture
from sediment_assets.adapters.fact_store.engine import writing_engine
from sediment_assets.capture.contract import CaptureOptions, Document, Record, Translated, Untranslated
from sediment_assets.capture.registry import SOURCES
from sediment_assets.capture.tally import Tally
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.instants import parse_instant
from tests.builders import ORG
from tests.fact_files import store_content

REPOSITORY = Path(__file__).parents[2]
REAL = Path(os.environ.get("SHARED_REAL", REPOSITORY.parent / "shared" / "real")) / "gateway"
TABLE = REPOSITORY / "docs" / "capture" / "gateway.md"
AS_IT_IS = CaptureOptions(ORG)
STATED = CaptureOptions(
    ORG, instant=parse_instant("2026-01-01T00:00:00Z"), settings={"session": "s", "utc-offset": "+00:00"}
)


def rows() -> list[list[str]]:
    """The table's cells: file, source, records, what it gives as it is, and with everything stated."""
    cells = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in TABLE.read_text().splitlines()]
    return [
        [row[0].strip("`"), *row[1:]] for row in cells if len(row) == 5 and row[0].startswith("`") and "/" in row[0]
    ]


pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real files are not at {REAL}; SHARED_REAL may name their folder"
)


def read(file: str) -> list[Record]:
    return [record for document in find_capture_files([str(REAL / file)]).documents() for record in document.records]


def translate(source: str, records: list[Record], options: CaptureOptions) -> list[Translated | Untranslated]:
    return list(SOURCES[source].translate([Document("real", records)], options))


def told(outcomes: list[Translated | Untranslated]) -> str:
    counts = Counter("calls" if isinstance(one, Translated) else one.reason.value for one in outcomes)
    return " ".join(f"{name}={count}" for name, count in sorted(counts.items()))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0])
def test_a_real_file_gives_what_the_table_says(row: list[str]):
    file, source, count, as_it_is, stated = row
    records = read(file)
    assert (str(len(records)), told(translate(source, records, AS_IT_IS))) == (count, as_it_is)
    assert told(translate(source, records, STATED)) == (as_it_is if stated == "the same" else stated)


def test_the_table_has_every_file():
    assert {row[0] for row in rows()} == {str(path.relative_to(REAL)) for path in REAL.rglob("*") if path.is_file()}


CONTINUING = [
    ("litellm", [f"agent-calls/claude-call-{number}.json" for number in (1, 2, 3, 4)]),
    ("litellm", ["agent-calls/deepseek-call-1.json", "agent-calls/deepseek-call-2.json"]),
    ("litellm", ["produced/slp-openai-tool-calls.json", "produced/slp-openai-tool-results-second-call.json"]),
    ("litellm", ["litellm/spend-log-rows-one-session.json"]),
    ("exchanges", ["exchanges/anthropic-parallel-tool-calls.yaml"]),
]


@pytest.mark.parametrize(("source", "files"), CONTINUING, ids=lambda value: str(value)[:40])
def test_calls_of_one_session_go_on_from_each_other(source: str, files: list[str]):
    outcomes = translate(source, [record for file in files for record in read(file)], STATED)
    facts = [one.fact for one in outcomes if isinstance(one, Translated) and isinstance(one.fact, InferenceCall)]
    facts.sort(key=lambda fact: (fact.observed_at, fact.fact_id))
    assert len(facts) > 1
    for before, after in pairwise(facts):
        sent = (*before.input_messages, *before.output_messages)
        assert [(m.role, m.parts) for m in after.input_messages[: len(sent)]] == [(m.role, m.parts) for m in sent]


def test_the_whole_folder_is_stored_once(tmp_path: Path):
    url = f"sqlite:///{tmp_path}/facts.db"
    contents: list[Any] = []
    for _ in range(2):
        for source in ("litellm", "exchanges"):
            documents = find_capture_files([str(REAL)]).documents()
            store_capture(writing_engine(url), SOURCES[source].translate(documents, STATED), Tally())
        contents.append(store_content(url))
    assert contents[0] == contents[1]
    assert len(contents[0]["inference_calls"]) > 25
