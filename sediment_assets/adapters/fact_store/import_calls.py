"""InferenceCall lines, read fast: a call repeats its Session's history, and what was read once is not read again.

Where a line's input messages begin with the very bytes of an earlier call's, their stored text is taken from there, and
only the messages behind them are decoded, validated, redacted and encoded. The result is the same as that of
``import_lines``; whatever is unusual about a line (spelling, errors, known credentials) is left to it.
"""

import json
from bisect import bisect_left
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from sediment_assets.adapters.fact_store.import_lines import (
    LineError,
    PreparedLine,
    prepare_fact,
    prepare_line,
    read_object,
    validate,
)
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonError, JsonObject, decode, encode_stored
from sediment_assets.facts.messages import Message
from sediment_assets.facts.redaction import RedactionReason, known_credentials, redact
from sediment_assets.facts.vocabulary import FactTable, GatewayProvider

HISTORY_BYTES: Final = 64 * 2**20
"""Most memory for remembered messages; the least recently used Sessions are forgotten first."""

_FIELD: Final = b'"input_messages":['
_MAX_BRACKETS: Final = 1000
"""Messages with more brackets may nest too deeply; ``import_lines`` judges them."""
_DECODER: Final = json.JSONDecoder()


class _UnusualError(Exception):
    """A line to be read the thorough way."""


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
        except (_UnusualError, LineError, ValidationError, JsonError, ValueError, IndexError, RecursionError):
            return prepare_line(FactTable.INFERENCE_CALLS, line)

    def _prepare_after_history(self, line: bytes) -> PreparedLine:
        field_start = line.find(_FIELD)
        head = _head(line, field_start)
        key = (head.get("org_id"), head.get("session_id"))
        start = field_start + len(_FIELD)
        history = self._histories.get(key, _History())
        known = history.messages[: history.shared_with(line, start)]
        source_end, stored_end = (known[-1].source_end, known[-1].stored_end) if known else (0, 0)
        tail = line[start + source_end :].decode("utf-8")
        spans, rest = _split_tail(tail, is_first=not known)
        prepared = _prepare_rest(head, rest)

        source, stored = history.source[:source_end], history.stored[:stored_end]
        for begin, end, value in spans:
            text, redactions = _prepare_message(value)
            comma = "," if known else ""
            source += (comma + tail[begin:end]).encode()
            stored += comma + text
            known.append(_KnownMessage(len(source), len(stored), redactions))
        if spans:
            self._remember(key, _History(source, stored, known))
        elif known:
            self._histories.move_to_end(key)
        prepared.row["input_messages"] = f"[{stored}]"
        redactions = Counter(prepared.redactions)
        for message in known:
            if message.redactions:
                redactions.update(message.redactions)
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
        raise _UnusualError
    head = read_object(line[: field_start - 1] + b"}")
    if not isinstance(head.get("org_id"), str) or not isinstance(head.get("session_id"), str):
        raise _UnusualError
    return head


def _split_tail(tail: str, *, is_first: bool) -> tuple[list[tuple[int, int, Any]], JsonObject]:
    """Split what follows the known messages: (begin, end, value) of each new message, and the line's other fields."""
    spans: list[tuple[int, int, Any]] = []
    position = 0
    if tail[0] != "]":
        if not is_first:
            position = _after_comma(tail, 0)
        while True:
            value, end = _DECODER.raw_decode(tail, position)
            if tail.count("[", position, end) + tail.count("{", position, end) > _MAX_BRACKETS:
                raise _UnusualError
            spans.append((position, end, value))
            position = end
            if tail[position] == "]":
                break
            position = _after_comma(tail, position)
    if tail[position + 1] == "}":
        return spans, decode("{" + tail[position + 1 :])
    rest = decode("{" + tail[_after_comma(tail, position + 1) :])
    if not rest:  # a comma without a field behind it
        raise _UnusualError
    return spans, rest


def _after_comma(text: str, position: int) -> int:
    if text[position] != ",":
        raise _UnusualError
    return position + 1


def _prepare_rest(head: JsonObject, rest: JsonObject) -> PreparedLine:
    """Prepare a call without its input messages."""
    values = head | rest
    if "input_messages" in values:
        raise _UnusualError
    call = validate(FactTable.INFERENCE_CALLS, values | {"input_messages": []})
    assert isinstance(call, InferenceCall)
    if known_credentials(call):
        raise _UnusualError
    return prepare_fact(call)


def _prepare_message(value: Any) -> tuple[str, Counter[RedactionReason]]:
    """Validate and redact one message: its stored text, and what was redacted in it."""
    call = _CARRIER.model_copy(update={"input_messages": (Message.model_validate(value),)})
    if known_credentials(call):
        raise _UnusualError
    redacted = redact(call)
    return encode_stored(redacted.fact.input_messages[0].model_dump()), redacted.reasons


_CARRIER: Final = InferenceCall(
    inference_call_id="-",
    org_id="0",
    session_id="-",
    gateway_provider=GatewayProvider.UNKNOWN,
    input_messages=(),
    output_messages=(),
    observed_at=datetime(1970, 1, 1, tzinfo=UTC),
)
"""A call to carry one message through redaction."""
