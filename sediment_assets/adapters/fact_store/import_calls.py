"""InferenceCall lines, read fast: a call repeats its Session's history, and what was read once is not read again.

Where a line's input messages begin with the very bytes of an earlier call's, their stored text is taken from there, and
only the messages behind them are decoded, validated, redacted and encoded (``import_tails``). The result is the same as
that of ``import_lines``; whatever is unusual about a line (spelling, errors, known credentials) is left to it.
"""

from bisect import bisect_left
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Final

from pydantic import ValidationError

from sediment_assets.adapters.fact_store.import_lines import LineError, PreparedLine, prepare_line, read_object
from sediment_assets.adapters.fact_store.import_tails import (
    NO_REDACTIONS,
    UnusualError,
    decoded_tail,
    prepare_message,
    prepare_rest,
    stored_tail,
)
from sediment_assets.facts.json_values import JsonError, JsonObject
from sediment_assets.facts.redaction import RedactionReason
from sediment_assets.facts.vocabulary import FactTable

HISTORY_BYTES: Final = 32 * 2**20
"""Most memory for remembered messages; the least recently used Sessions are forgotten first."""

_FIELD: Final = b'"input_messages":['


@dataclass(frozen=True, slots=True)
class _KnownMessage:
    """One remembered message: where it ends in its history's source and stored text, and what was redacted in it."""

    source_end: int
    stored_end: int
    redactions: Counter[RedactionReason]


@dataclass(slots=True)
class _History:
    """The input messages of a Session's call: their source bytes and stored text, both without brackets."""

    source: bytes = b""
    stored: str = ""
    messages: list[_KnownMessage] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.source) + len(self.stored)

    def shared_with(self, line: bytes, start: int) -> int:
        """Return how many of the messages the line begins with at ``start``."""
        if line.startswith(self.source, start):
            return len(self.messages)

        def differs(message: _KnownMessage) -> bool:
            return not line.startswith(self.source[: message.source_end], start)

        return bisect_left(self.messages, True, key=differs)


class CallLines:
    """Prepares the lines of one import's InferenceCalls, in any order."""

    def __init__(self) -> None:
        self._histories: OrderedDict[tuple[object, object], _History] = OrderedDict()
        self._size = 0

    def prepare(self, line: bytes) -> PreparedLine:
        """Read, validate and redact one line. Raises LineError as ``import_lines`` does."""
        try:
            return self._prepare_after_history(line)
        except (UnusualError, LineError, ValidationError, JsonError, ValueError, IndexError, RecursionError):
            return prepare_line(FactTable.INFERENCE_CALLS, line)

    def _prepare_after_history(self, line: bytes) -> PreparedLine:
        field_start = line.find(_FIELD)
        head = _head(line, field_start)
        key = (head["org_id"], head["session_id"])
        start = field_start + len(_FIELD)
        history = self._histories.get(key, _History())
        known = history.messages[: history.shared_with(line, start)]
        source_end, stored_end = (known[-1].source_end, known[-1].stored_end) if known else (0, 0)
        source = line[start + source_end :]
        tail = stored_tail(source, is_first=not known) or decoded_tail(source, is_first=not known)
        prepared = prepare_rest(head, tail)

        stored = [history.stored[:stored_end]]
        redactions = Counter(prepared.redactions)
        for message in known:
            if message.redactions:
                redactions.update(message.redactions)
        for new in tail.messages:
            text, redacted = prepare_message(new)
            redactions.update(redacted)
            comma = "," if known else ""
            source_end += len(comma) + len(new.source)
            stored_end += len(comma) + len(text)
            stored += (comma, text)
            known.append(_KnownMessage(source_end, stored_end, redacted or NO_REDACTIONS))
        if tail.messages:
            self._remember(key, _History(line[start : start + source_end], "".join(stored), known))
        elif known:
            self._histories.move_to_end(key)
        prepared.row["input_messages"] = "".join(("[", *stored, "]"))
        return PreparedLine(prepared.row, prepared.aliases, redactions)

    def _remember(self, key: tuple[object, object], history: _History) -> None:
        forgotten = self._histories.pop(key, None)
        self._size += history.size - (forgotten.size if forgotten else 0)
        self._histories[key] = history
        while self._size > HISTORY_BYTES:
            _, oldest = self._histories.popitem(last=False)
            self._size -= oldest.size


def _head(line: bytes, field_start: int) -> JsonObject:
    """Decode what stands before the input messages. That it is an object proves that the field is the line's own."""
    if field_start < 1 or line[field_start - 1 : field_start] != b",":
        raise UnusualError
    head = read_object(line[: field_start - 1] + b"}")
    if not isinstance(head.get("org_id"), str) or not isinstance(head.get("session_id"), str):
        raise UnusualError
    return head
