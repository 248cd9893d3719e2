"""Real transcripts and trajectories: each file imports, or is refused for a known reason; no message is lost."""

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sediment_assets.adapters.capture_files import find_capture_files
from sediment_assets.capture.contract import CaptureOptions, Document, Record, Translated, Untranslated
from sediment_assets.capture.registry import SOURCES
from tests.builders import ORG
from tests.transcripts import INSTANT, calls, segments

REAL = Path(os.environ.get("SHARED_REAL", Path(__file__).parents[2].parent / "shared" / "real")) / "trajectories"
DOCUMENT = Path(__file__).parents[2] / "docs" / "capture" / "transcripts.md"
COUNTS = [
    (" ".join(re.findall(r"`([^`]+)`", files)), counts, turns)
    for files, counts, turns in re.findall(
        r"^\| (`[^|]+/[^|]+`) \| ([a-z_]+ \d[^|]*) \| ([^|]*) ?\|$", DOCUMENT.read_text("utf-8"), re.MULTILINE
    )
]
"""The documentation's table: files read together, what they give as they are, and, with the Session and the instant
stated where they are missing, the Turns of each Segment (with +) of each Session."""
STATED = CaptureOptions(ORG, instant=INSTANT, settings={"session": "stated"})

pytestmark = pytest.mark.skipif(
    not REAL.is_dir(), reason=f"the real files are not at {REAL}; SHARED_REAL may name them"
)


def _translated(files: str, options: CaptureOptions) -> list[Translated | Untranslated]:
    paths = find_capture_files([str(REAL / file) for file in files.split()])
    return list(SOURCES["transcripts"].translate(paths.documents(), options))


@pytest.mark.parametrize(("files", "counts", "turns"), COUNTS)
def test_real_file_gives_what_the_table_says(files: str, counts: str, turns: str) -> None:
    told = _translated(files, CaptureOptions(ORG))
    found = Counter(one.fact.TABLE.value if isinstance(one, Translated) else one.reason.value for one in told)
    assert found == {name: int(count) for name, count in (entry.split(" ") for entry in counts.split(", "))}
    sessions = calls(_translated(files, STATED))
    assert ", ".join("+".join(map(str, segments(sessions[name]))) for name in sorted(sessions)) == turns.strip()


def test_table_has_every_file() -> None:
    listed = {file for files, _, _ in COUNTS for file in files.split()}
    assert listed == {str(path.relative_to(REAL)) for path in REAL.rglob("*") if path.is_file()}


@pytest.mark.parametrize("files", [files for files, _, turns in COUNTS if turns.strip()])
def test_real_file_loses_no_words(files: str) -> None:
    told = _translated(files, STATED)
    kept: set[str] = set()
    for one in told:
        if isinstance(one, Translated):
            for message in (*one.fact.model_dump()["input_messages"], *one.fact.model_dump()["output_messages"]):
                kept.update(_strings(message))
    all_kept = "\n".join(kept)
    refused = {one.place for one in told if isinstance(one, Untranslated)}
    paths = find_capture_files([str(REAL / file) for file in files.split()])
    checked = 0
    for document in paths.documents():
        for record in document.records:
            for place, words in _said(record):
                checked += 1
                if place not in refused:
                    assert words in kept or words in all_kept, (place, words[:80])
    assert checked > 0


def _said(record: Record) -> Iterator[tuple[str, str]]:
    """Every text, thought, tool call and answer of a record, read without any rule of the translation."""
    value: Any = record.value
    for path, held in _messages(value):
        for words in _content(held):
            if words:
                yield f"{record.place}{path}", words


def _messages(value: Any) -> Iterator[tuple[str, Any]]:
    """The messages that a record of any format holds."""
    if not isinstance(value, dict):
        return
    payload = value.get("payload")
    if value.get("type") == "response_item" and isinstance(payload, dict):
        yield "", payload
    for key in ("loglines", "history", "messages"):
        for index, item in enumerate(value.get(key) or []):
            inner = item.get("message") if isinstance(item.get("message"), dict) and key != "history" else item
            if isinstance(inner.get("message"), dict):
                inner = inner["message"]
            yield f".{key}[{index}]", inner
    if value.get("type") in ("user", "assistant") and isinstance(value.get("message"), dict):
        yield "", value["message"]
    elif "role" in value or "action" in value or "observation" in value:
        yield "", value


def _content(message: dict[str, Any]) -> Iterator[str]:
    content = message.get("content")
    if isinstance(content, str) and message.get("observation") not in ("recall",):
        yield content
    for block in content if isinstance(content, list) else []:
        if isinstance(block, dict):
            for key in ("text", "thinking", "id", "tool_use_id"):
                if isinstance(block.get(key), str):
                    yield block[key]
            if isinstance(block.get("content"), str):
                yield block["content"]
    for key in ("call_id", "tool_call_id"):
        if isinstance(message.get(key), str):
            yield message[key]
    for call in message.get("tool_calls") or []:
        yield call["id"]
    completion = (message.get("tool_call_metadata") or {}).get("model_response") or {}
    for choice in completion.get("choices", []):
        yield from _content(choice["message"])


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _strings(item)


def test_no_file_of_another_source_breaks_it() -> None:
    paths = find_capture_files([str(REAL.parent)])
    records = 0

    def counted() -> Iterator[Document]:
        nonlocal records
        for document in paths.documents():
            for record in document.records:
                records += 1
                yield Document(document.name, [record])

    told = list(SOURCES["transcripts"].translate(counted(), STATED))
    assert records > 0
    assert told
