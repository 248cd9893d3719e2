"""Translated Facts made ready to be stored or written: redacted and spelled, each message of a Session only once.

A translator hands on the very same ``Message`` objects while a conversation grows, and payloads repeat themselves (tool
definitions, prices). What is known of such an object, or of an equal member of ``raw``, is kept as long as memory
allows, and a history is put together only for those who want the row. The row is that of ``import_lines.prepare_fact``.
"""

import marshal
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from operator import is_
from typing import TYPE_CHECKING, Any, Final

from sediment_assets.adapters.fact_store.import_lines import LineError, PreparedLine, prepare_fact
from sediment_assets.adapters.fact_store.stored_rows import JSON_COLUMNS, MESSAGE_COLUMNS
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonError, JsonObject, encode_stored
from sediment_assets.facts.messages import Message
from sediment_assets.facts.model import Fact
from sediment_assets.facts.redaction import RedactionReason, redact_message, redact_raw
from sediment_assets.facts.redaction_scans import may_hold_credential

if TYPE_CHECKING:
    from hashlib import _Hash

REMEMBERED_BYTES: Final = 24 * 2**20
"""Most stored text of messages that is kept; the least recently used are forgotten first."""
_SURELY_FLAT: Final = 1000
"""Values with more brackets may nest too deeply inside their call; ``prepare_fact`` judges them."""
_WORTH_KEEPING: Final = 512
"""Smaller members of ``raw`` are spelled anew each time."""
_RECENT: Final = 16
"""Members of ``raw`` that are recognized without looking into them."""
_RECENT_BYTES: Final = 256 * 2**10
"""Larger ones are looked into each time."""


class _UnusualError(Exception):
    """A call to be prepared the thorough way."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A Fact ready to be stored: what was redacted in it, a digest of what a call says, and its row on demand."""

    redactions: Mapping[RedactionReason, int]
    messages: bytes
    """Equal for calls whose messages of both sides are stored alike; empty for other Facts."""
    line: Callable[[], PreparedLine]


@dataclass(frozen=True, slots=True)
class _KnownText:
    """The stored text of a message or of a member of ``raw``, and what was redacted in it."""

    value: Any
    """The message, whose identity stands for it while it is kept."""
    text: str
    redactions: Counter[RedactionReason]


@dataclass(slots=True)
class _KnownList:
    """A list of messages: their stored texts, the SHA-256 of the array up to its last bracket, and all redactions."""

    messages: tuple[Message, ...] = ()
    texts: list[str] = field(default_factory=list)
    """Only ever appended to: rows that were not put together yet begin with them."""
    made: "_Hash" = field(default_factory=lambda: sha256(b"["))
    redactions: Counter[RedactionReason] = field(default_factory=Counter)
    size: int = 0

    def add(self, known: _KnownText) -> None:
        """Append a message."""
        if self.texts:
            self.made.update(b",")
        self.made.update(known.text.encode("ascii"))
        self.texts.append(known.text)
        self.size += len(known.text)
        if known.redactions:
            self.redactions.update(known.redactions)


class PreparedFacts:
    """Prepares the Facts of one run, in any order."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _KnownText] = OrderedDict()
        self._lists: OrderedDict[int, _KnownList] = OrderedDict()
        self._members: OrderedDict[bytes, _KnownText] = OrderedDict()
        self._recent: OrderedDict[int, tuple[Any, _KnownText]] = OrderedDict()
        self._size = 0

    def prepare(self, fact: Fact) -> Prepared:
        """Redact and spell one Fact. Raises LineError for JSON beyond the contract's limits."""
        if isinstance(fact, InferenceCall):
            try:
                return self._prepare_call(fact)
            except (_UnusualError, LineError, JsonError, ValueError):
                pass
        line = prepare_fact(fact)
        texts = [line.row[name] for name in MESSAGE_COLUMNS] if isinstance(fact, InferenceCall) else []
        digests = [sha256(text[:-1].encode("ascii")).digest() for text in texts]
        return Prepared(line.redactions, b"".join(digests), lambda: line)

    def _prepare_call(self, call: InferenceCall) -> Prepared:
        sent, answered = self._spelled(call.input_messages), self._spelled(call.output_messages)
        redactions: Counter[RedactionReason] = Counter()
        raw = self._spelled_raw(call.raw, redactions)
        for one in (sent, answered):
            if one.redactions:
                redactions.update(one.redactions)
        return Prepared(
            redactions,
            sent.made.digest() + answered.made.digest(),
            partial(_line, call, sent.texts, len(sent.texts), answered.texts.copy(), raw, redactions),
        )

    def _spelled(self, messages: tuple[Message, ...]) -> _KnownList:
        """Spell a list of messages; one that goes on from another is spelled from there."""
        goes_on = len(messages) > 1  # from an answer, mostly, no list goes on
        known = self._lists.pop(id(messages[0]), None) if goes_on else None
        if known is not None:
            self._size -= known.size
        if known is None or len(known.messages) > len(messages) or not all(map(is_, known.messages, messages)):
            known = _KnownList()
        for message in messages[len(known.messages) :]:
            known.add(self._known.get(id(message)) or self._remember(message))
        known.messages = messages
        if goes_on:
            self._lists[id(messages[0])] = known
            self._size += known.size
            self._forget()
        return known

    def _remember(self, message: Message) -> _KnownText:
        text = encode_stored(_plain(message))
        reasons: Counter[RedactionReason] = Counter()
        if may_hold_credential(text.encode("ascii")):
            redacted = redact_message(message, reasons)
            if redacted is None:
                raise _UnusualError  # its credentials are redacted in all other messages, too
            text = encode_stored(_plain(redacted))
        known = self._known[id(message)] = _KnownText(message, _flat(text), reasons)
        self._size += len(text)
        self._forget()
        return known

    def _spelled_raw(self, raw: JsonObject, redactions: Counter[RedactionReason]) -> list[str]:
        """Spell members; what is returned is to be joined by commas."""
        texts = []
        small: JsonObject = {}
        for key, value in raw.items():
            known = self._known_member(value) if type(value) is dict or type(value) is list else None
            if known is None:
                small[key] = value
                continue
            if small:
                texts.append(_redacted_text(small, redactions)[1:-1])
                small = {}
            texts.append(f"{_spelled_key(key)}:{known.text}")
            if known.redactions:
                redactions.update(known.redactions)
        if small:
            texts.append(_redacted_text(small, redactions)[1:-1])
        return texts

    def _known_member(self, value: Any) -> _KnownText | None:
        """Return what is known of a member of ``raw``; None when it is small."""
        key = id(value)
        if key in self._recent:  # and its value, which is kept, is this one
            self._recent.move_to_end(key)
            return self._recent[key][1]
        # Equal bytes are equal values, to the kind of each number; version 2 knows no references.
        spelled = marshal.dumps(value, 2)
        if len(spelled) < _WORTH_KEEPING:
            return None
        known = self._members.get(spelled)
        if known is None:
            reasons: Counter[RedactionReason] = Counter()
            known = self._members[spelled] = _KnownText(None, _flat(_redacted_text(value, reasons)), reasons)
            self._size += len(spelled) + len(known.text)
            self._forget()
        else:
            self._members.move_to_end(spelled)
        if len(spelled) <= _RECENT_BYTES:
            self._recent[key] = value, known
            if len(self._recent) > _RECENT:
                self._recent.popitem(last=False)
        return known

    def _forget(self) -> None:
        """Forget what was used or made longest ago; the newest of each kind stays."""
        while self._size > REMEMBERED_BYTES and len(self._known) > 1:
            self._size -= len(self._known.popitem(last=False)[1].text)
        while self._size > REMEMBERED_BYTES and len(self._lists) > 1:
            self._size -= self._lists.popitem(last=False)[1].size
        while self._size > REMEMBERED_BYTES and len(self._members) > 1:
            spelled, oldest = self._members.popitem(last=False)
            self._size -= len(spelled) + len(oldest.text)


def _line(
    call: InferenceCall,
    sent: list[str],
    count: int,
    answered: list[str],
    raw: list[str],
    redactions: Counter[RedactionReason],
) -> PreparedLine:
    """Put a call's row together; ``count`` texts of its history are its own."""
    row = {name: getattr(call, name) for name in _PLAIN_FIELDS}
    row["input_messages"] = f"[{','.join(sent[:count])}]"
    row["output_messages"] = f"[{','.join(answered)}]"
    row["raw"] = f"{{{','.join(raw)}}}"
    aliases = tuple(sorted(call.call_aliases))
    row["call_alias_count"] = len(aliases)
    return PreparedLine(row, aliases, redactions)


def _plain(message: Message) -> JsonObject:
    """Return what ``model_dump`` does, but for the tuple of parts: nothing that a part holds is a model."""
    return {**vars(message), "parts": [vars(part) for part in message.parts]}


def _redacted_text(value: Any, redactions: Counter[RedactionReason]) -> str:
    """Spell an object or array, redacted if there is anything to redact."""
    text = encode_stored(value)
    if not may_hold_credential(text.encode("ascii")):
        return text
    before = redactions.total()
    redacted = redact_raw(value, redactions)
    return text if redactions.total() == before else encode_stored(redacted)


def _flat(text: str) -> str:
    if text.count("[") + text.count("{") > _SURELY_FLAT:
        raise _UnusualError
    return text


@lru_cache(maxsize=1024)
def _spelled_key(key: str) -> str:
    return encode_stored(key)


_PLAIN_FIELDS: Final = tuple(name for name in InferenceCall.model_fields if name not in JSON_COLUMNS)
"""Fields that are stored as they are in memory."""
