"""InferenceCall lines, read fast: a call repeats its Session's history, and what was read once is not read again.

Where a line's input messages begin with the very bytes of an earlier call's, their stored text is taken from there, and
only the messages behind them are decoded, validated, redacted and encoded (``import_tails``). The result is the same as
that of ``import_lines``; whatever is unusual about a line (spelling, errors, known credentials) is left to it.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

import orjson
from pydantic import ValidationError

from sediment_assets.adapters.fact_store.import_lines import (
    NO_REDACTIONS,
    LineError,
    PreparedLine,
    prepare_line,
    read_object,
)
from sediment_assets.adapters.fact_store.import_tails import (
    UnusualError,
    answer_of,
    decoded_tail,
    prepare_message,
    prepare_rest,
    stored_tail,
)
from sediment_assets.adapters.fact_store.stored_rows import JSON_COLUMNS
from sediment_assets.facts.json_values import JsonError, JsonObject
from sediment_assets.facts.redaction import RedactionReason
from sediment_assets.facts.vocabulary import FactTable
from sediment_assets.recent import Recent

HISTORY_BYTES: Final = 24 * 2**20
"""Most memory for remembered messages; the least recently used Sessions are forgotten first."""

_FIELD: Final = b'"input_messages":['
_NO_REASON: Final = b"null}"


class _NewMessage(NamedTuple):
    """A message behind the known ones: how many bytes spell it, its stored text (None: these) and its redactions."""

    size: int
    text: str | None
    redactions: Counter[RedactionReason]


class _KnownMessage(NamedTuple):
    """One remembered message: where it ends in its history's source and stored text, and what was redacted in it."""

    source_end: int
    stored_end: int
    redactions: Counter[RedactionReason]


_NOTHING: Final = _KnownMessage(0, 0, NO_REDACTIONS)


@dataclass(slots=True)
class _History:
    """The input messages of a Session's call: their source bytes and stored text, both without brackets."""

    source: bytes = b""
    stored: str | None = None
    """None when it is the source."""
    messages: list[_KnownMessage] = field(default_factory=list)
    answer: tuple[bytes, bytes] = (b"", b"")
    """What the next call goes on with if it repeats this one's answer: all but the finish reason, and that."""

    @property
    def size(self) -> int:
        return len(self.source) + len(self.stored or "") + len(self.answer[0])

    def shared_with(self, line: bytes, start: int) -> int:
        """Return how many of the messages the line begins with at ``start``."""
        if line.startswith(self.source, start):
            return len(self.messages)

        def differs(message: _KnownMessage) -> bool:
            return not line.startswith(self.source[: message.source_end], start)

        return bisect_left(self.messages, True, key=differs)

    def answer_at(self, line: bytes, start: int) -> int:
        """Return how many bytes of the line at ``start`` repeat the answer, with its finish reason or without any."""
        answer, reason = self.answer
        if answer and line.startswith(answer, start):
            for kept in (reason, _NO_REASON):
                if line.startswith(kept, start + len(answer)):
                    return len(answer) + len(kept)
        return 0

    def grown(self, shared: int, line: bytes, start: int, new: Sequence[_NewMessage]) -> "_History":
        """Return the history of a line that shares messages with this one and goes on with new ones."""
        messages = self.messages[:shared]
        source_end, stored_end, _ = messages[-1] if messages else _NOTHING
        if self.stored is None and all(message.text is None for message in new):
            for size, _, redactions in new:
                source_end += size + (1 if messages else 0)
                messages.append(_KnownMessage(source_end, source_end, redactions))
            return _History(line[start : start + source_end], None, messages)

        texts = [self.source[:source_end].decode() if self.stored is None else self.stored[:stored_end]]
        for size, text, redactions in new:
            comma = "," if messages else ""
            source_end += len(comma) + size
            if text is None:
                text = line[start + source_end - size : start + source_end].decode()
            texts += (comma, text)
            stored_end += len(comma) + len(text)
            messages.append(_KnownMessage(source_end, stored_end, redactions))
        return _History(line[start : start + source_end], "".join(texts), messages)


class CallLines:
    """Prepares the lines of one import's InferenceCalls, in any order."""

    def __init__(self) -> None:
        self._histories: Recent[tuple[object, object], _History] = Recent(HISTORY_BYTES, attrgetter("size"))

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
        before = self._histories.get(key) or _History()
        shared = before.shared_with(line, start)
        position = start + (before.messages[shared - 1].source_end if shared else 0)
        new = []
        if shared and shared == len(before.messages) and (size := before.answer_at(line, position)):
            new.append(_NewMessage(size - 1, None, NO_REDACTIONS))
            position += size
        tail = stored_tail(line, position, is_first=not shared)
        if tail is None:
            tail = decoded_tail(line[position:], is_first=not shared)
        prepared = prepare_rest(head, tail)
        for message in tail.messages:
            text, redacted = prepare_message(message)
            new.append(_NewMessage(message.size, None if message.text else text, redacted or NO_REDACTIONS))

        history = before.grown(shared, line, start, new)
        if history.stored is None:
            prepared.row["input_messages"] = str(memoryview(line)[start - 1 : start + len(history.source) + 1], "ascii")
        else:
            prepared.row["input_messages"] = f"[{history.stored}]"
            redactions = Counter(prepared.redactions)
            for known in history.messages:
                if known.redactions:
                    redactions.update(known.redactions)
            prepared = prepared._replace(redactions=redactions)
        if new:
            history.answer = answer_of(prepared, tail)
            self._histories.keep(key, history)
        elif shared:
            self._histories.keep(key, before)
        return prepared


def _head(line: bytes, field_start: int) -> JsonObject:
    """Decode what stands before the input messages. That it is an object proves that the field is the line's own."""
    if field_start < 1 or line[field_start - 1 : field_start] != b",":
        raise UnusualError
    source = line[: field_start - 1] + b"}"
    head: JsonObject = orjson.loads(source)
    if type(head) is not dict or not head.keys().isdisjoint(JSON_COLUMNS):
        head = read_object(source)  # orjson reads no integer beyond 64 bits, which only captured JSON may hold
    if not isinstance(head.get("org_id"), str) or not isinstance(head.get("session_id"), str):
        raise UnusualError
    return head
