"""``transcripts``: what coding agents write down of their sessions, as InferenceCalls (docs/capture/transcripts.md).

Documents of one format are read by one translator, which ends after the last document: a Session may be spread over
several files.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from typing import Final, Protocol

from sediment_assets.capture.contract import (
    CaptureOptions,
    Document,
    Record,
    Remainder,
    Source,
    Translated,
    Untranslated,
)
from sediment_assets.capture.lookup import SESSION_SETTING
from sediment_assets.capture.model_calls import OFFSET_SETTING
from sediment_assets.capture.transcripts.claude_code import ClaudeCode
from sediment_assets.capture.transcripts.codex import Codex
from sediment_assets.capture.transcripts.mini_swe_agent import MiniSweAgent
from sediment_assets.capture.transcripts.openhands import OpenHands
from sediment_assets.capture.transcripts.others import companion, described, known_other
from sediment_assets.capture.transcripts.shapes import Format, recognized
from sediment_assets.capture.transcripts.swe_agent import SweAgent

LOOKED_AT: Final = 200
"""Records at the beginning of a document that may be of no format before it counts as unknown."""


class Translator(Protocol):
    """Reads the documents of one format."""

    def read(self, records: Iterator[Record]) -> Iterator[Translated | Untranslated]:
        """Translate one document."""
        ...

    def finish(self) -> Iterator[Translated | Untranslated]:
        """Translate what was waiting for a further document."""
        ...


_TRANSLATORS: Final[Mapping[Format, Callable[[CaptureOptions], Translator]]] = {
    Format.CLAUDE_CODE: ClaudeCode,
    Format.CODEX: Codex,
    Format.SWE_AGENT: SweAgent,
    Format.MINI_SWE_AGENT: MiniSweAgent,
    Format.OPENHANDS: OpenHands,
}


class Transcripts:
    """Transcripts of any number of formats in one run."""

    name = "transcripts"
    settings = (SESSION_SETTING, OFFSET_SETTING)
    help = "sessions of Claude Code and Codex, trajectories of SWE-agent, mini-swe-agent and OpenHands"

    def translate(self, documents: Iterable[Document], options: CaptureOptions) -> Iterator[Translated | Untranslated]:
        """Translate documents in order; the format of each is told by its records."""
        translators: dict[Format, Translator] = {}
        for document in documents:
            records = iter(document.records)
            found, seen = _look(records)
            if found is None:
                yield from _unknown(seen, records)
                continue
            if found not in translators:
                translators[found] = _TRANSLATORS[found](options)
            yield from translators[found].read(chain(seen, records))
        for translator in translators.values():
            yield from translator.finish()


def _look(records: Iterator[Record]) -> tuple[Format | None, list[Record]]:
    """Return a document's format, and the records it was told by; they are read from it."""
    seen: list[Record] = []
    for record in records:
        seen.append(record)
        found = recognized(record.value)
        if found is not None:
            return found, seen
        if len(seen) >= LOOKED_AT:
            break
    return None, seen


def _unknown(seen: list[Record], records: Iterator[Record]) -> Iterator[Untranslated]:
    """Refuse every record, by the name of what the first ones are where that is known."""
    name = next(filter(None, (known_other(record.value) for record in seen)), None)
    for record in chain(seen, records):
        if (beside := companion(record.value)) is not None:
            yield Untranslated(record.place, Remainder.NO_EVIDENCE, beside)
            continue
        detail = f"not a transcript that is read here: {name or described(record.value)}"
        yield Untranslated(record.place, Remainder.UNKNOWN_SHAPE, detail)


SOURCE: Final[Source] = Transcripts()
