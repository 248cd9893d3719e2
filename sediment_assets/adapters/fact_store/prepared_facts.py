"""Translated Facts made ready to be stored or written: redacted and spelled, each message of a Session only once.

A translator hands on the very same ``Message`` objects while a conversation grows, and payloads repeat themselves (tool
definitions, prices). What is known of such an object, or of an equal member of ``raw``, is kept as long as memory
allows; the result is the same as that of ``import_lines.prepare_fact``.
"""

import marshal
from collections import Counter, OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from operator import is_
from typing import Any, Final

from sediment_assets.adapters.fact_store.import_lines import LineError, PreparedLine, prepare_fact
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonError, JsonObject, encode_stored
from sediment_assets.facts.messages import Message
from sediment_assets.facts.model import Fact
from sediment_assets.facts.redaction import RedactionReason, redact_message, redact_raw
from sediment_assets.facts.redaction_scans import may_hold_credential

REMEMBERED_BYTES: Final = 24 * 2**20
"""Most stored text of messages that is kept; the least recently used are forgotten first."""
_SURELY_FLAT: Final = 1000
"""Values with more brackets may nest too deeply inside their call; ``prepare_fact`` judges them."""
_WORTH_KEEPING: Final = 512
"""Smaller members of ``raw`` are spelled anew each time."""


class _UnusualError(Exception):
    """A call to be prepared the thorough way."""


@dataclass(frozen=True, slots=True)
class _KnownMessage:
    """A message, which its identity stands for while it is kept; its stored text; what was redacted in it."""

    message: Message
    text: str
    redactions: Counter[RedactionReason]


@dataclass(frozen=True, slots=True)
class _KnownList:
    """A list of messages, its stored text without brackets, and what was redacted in it."""

    messages: tuple[Message, ...]
    text: str
    redactions: Counter[RedactionReason]


@dataclass(frozen=True, slots=True)
class _KnownMember:
    """The stored text of a member of ``raw``, and what was redacted in it."""

    text: str
    redactions: Counter[RedactionReason]


class PreparedFacts:
    """Prepares the Facts of one run, in any order."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _KnownMessage] = OrderedDict()
        self._lists: OrderedDict[int, _KnownList] = OrderedDict()
        self._members: OrderedDict[bytes, _KnownMember] = OrderedDict()
        self._size = 0

    def prepare(self, fact: Fact) -> PreparedLine:
        """Redact and spell one Fact. Raises LineError for JSON beyond the contract's limits."""
        if isinstance(fact, InferenceCall):
            try:
                return self._prepare_call(fact)
            except (_UnusualError, LineError, JsonError, ValueError):
                pass
        return prepare_fact(fact)

    def _prepare_call(self, call: InferenceCall) -> PreparedLine:
        redactions: Counter[RedactionReason] = Counter()
        row = {name: getattr(call, name) for name in _PLAIN_FIELDS}
        row["input_messages"] = self._spelled(call.input_messages, redactions)
        row["output_messages"] = self._spelled(call.output_messages, redactions)
        row["raw"] = self._spelled_raw(call.raw, redactions)
        aliases = tuple(sorted(call.call_aliases))
        row["call_alias_count"] = len(aliases)
        return PreparedLine(row, aliases, redactions)

    def _spelled(self, messages: tuple[Message, ...], redactions: Counter[RedactionReason]) -> str:
        """Spell a list of messages; one that goes on from another is spelled from there."""
        if len(messages) < 2:  # an answer, mostly, from which no list goes on
            known = [self._known.get(id(message)) or self._remember(message) for message in messages]
            for one in known:
                redactions.update(one.redactions)
            return f"[{''.join(one.text for one in known)}]"
        begun = self._lists.pop(id(messages[0]), None)
        if begun is None or len(begun.messages) > len(messages) or not all(map(is_, begun.messages, messages)):
            new, text, reasons = messages, "", Counter[RedactionReason]()
        else:
            new, text, reasons = messages[len(begun.messages) :], begun.text, Counter(begun.redactions)
        self._size -= len(begun.text) if begun else 0
        texts = [text] if text else []
        for message in new:
            one = self._known.get(id(message)) or self._remember(message)
            texts.append(one.text)
            reasons.update(one.redactions)
        kept = self._lists[id(messages[0])] = _KnownList(messages, ",".join(texts), reasons)
        self._size += len(kept.text)
        self._forget()
        redactions.update(reasons)
        return f"[{kept.text}]"

    def _remember(self, message: Message) -> _KnownMessage:
        text = encode_stored(message.model_dump())
        reasons: Counter[RedactionReason] = Counter()
        if may_hold_credential(text.encode("ascii")):
            redacted = redact_message(message, reasons)
            if redacted is None:
                raise _UnusualError  # its credentials are redacted in all other messages, too
            text = encode_stored(redacted.model_dump())
        known = self._known[id(message)] = _KnownMessage(message, _flat(text), reasons)
        self._size += len(text)
        self._forget()
        return known

    def _spelled_raw(self, raw: JsonObject, redactions: Counter[RedactionReason]) -> str:
        texts = []
        small: JsonObject = {}
        for key, value in raw.items():
            # Equal bytes are equal values, to the kind of each number; version 2 knows no references.
            spelled = marshal.dumps(value, 2) if type(value) is dict or type(value) is list else b""
            if len(spelled) < _WORTH_KEEPING:
                small[key] = value
                continue
            if small:
                texts.append(_redacted_text(small, redactions)[1:-1])
                small = {}
            texts.append(f"{_spelled_key(key)}:{self._spelled_member(spelled, value, redactions)}")
        if small:
            texts.append(_redacted_text(small, redactions)[1:-1])
        return f"{{{','.join(texts)}}}"

    def _spelled_member(self, spelled: bytes, value: Any, redactions: Counter[RedactionReason]) -> str:
        known = self._members.get(spelled)
        if known is None:
            reasons: Counter[RedactionReason] = Counter()
            known = self._members[spelled] = _KnownMember(_flat(_redacted_text(value, reasons)), reasons)
            self._size += len(spelled) + len(known.text)
            self._forget()
        else:
            self._members.move_to_end(spelled)
        redactions.update(known.redactions)
        return known.text

    def _forget(self) -> None:
        """Forget what was used or made longest ago; the newest of each kind stays."""
        for kept in (self._known, self._lists, self._members):
            while self._size > REMEMBERED_BYTES and len(kept) > 1:
                key, oldest = kept.popitem(last=False)
                self._size -= len(oldest.text) + (len(key) if isinstance(key, bytes) else 0)


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


_JSON_FIELDS: Final = ("input_messages", "output_messages", "raw")
_PLAIN_FIELDS: Final = tuple(name for name in InferenceCall.model_fields if name not in _JSON_FIELDS)
"""Fields that are stored as they are in memory."""
