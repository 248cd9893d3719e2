"""Translated Facts made ready to be stored or written: redacted and spelled, each message of a Session only once.

A translator hands on the very same ``Message`` objects while a conversation grows. What is known of such an object is
kept as long as memory allows; the result is the same as that of ``import_lines.prepare_fact``.
"""

from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from sediment_assets.adapters.fact_store.import_lines import LineError, PreparedLine, prepare_fact
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonError, encode_stored
from sediment_assets.facts.messages import Message
from sediment_assets.facts.model import Fact
from sediment_assets.facts.redaction import RedactionReason, known_credentials, redact
from sediment_assets.facts.vocabulary import GatewayProvider

REMEMBERED_BYTES: Final = 64 * 2**20
"""Most stored text of messages that is kept; the least recently used are forgotten first."""
_SURELY_FLAT: Final = 1000
"""Messages with more brackets may nest too deeply inside their call; ``prepare_fact`` judges them."""


class _UnusualError(Exception):
    """A call to be prepared the thorough way."""


@dataclass(frozen=True, slots=True)
class _KnownMessage:
    """A message, which its identity stands for while it is kept; its stored text; what was redacted in it."""

    message: Message
    text: str
    redactions: Counter[RedactionReason]


class PreparedFacts:
    """Prepares the Facts of one run, in any order."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, _KnownMessage] = OrderedDict()
        self._size = 0

    def prepare(self, fact: Fact) -> PreparedLine:
        """Redact and spell one Fact. Raises LineError for JSON beyond the contract's limits."""
        if isinstance(fact, InferenceCall):
            try:
                return self._prepare_call(fact)
            except (_UnusualError, LineError, JsonError):
                pass
        return prepare_fact(fact)

    def _prepare_call(self, call: InferenceCall) -> PreparedLine:
        rest = call.model_copy(update={"input_messages": (), "output_messages": ()})
        prepared = prepare_fact(rest)
        redactions = Counter(prepared.redactions)
        for name, messages in (("input_messages", call.input_messages), ("output_messages", call.output_messages)):
            prepared.row[name] = self._spelled(messages, redactions)
        aliases = tuple(sorted(call.call_aliases))
        prepared.row["call_alias_count"] = len(aliases)
        return PreparedLine(prepared.row, aliases, redactions)

    def _spelled(self, messages: Sequence[Message], redactions: Counter[RedactionReason]) -> str:
        texts = []
        for message in messages:
            known = self._known.get(id(message))
            if known is None:
                known = self._remember(message)
            else:
                self._known.move_to_end(id(message))
            texts.append(known.text)
            if known.redactions:
                redactions.update(known.redactions)
        return f"[{','.join(texts)}]"

    def _remember(self, message: Message) -> _KnownMessage:
        call = _CARRIER.model_copy(update={"input_messages": (message,)})
        if known_credentials(call):
            raise _UnusualError  # they are redacted in all other messages, too
        redacted = redact(call)
        text = encode_stored(redacted.fact.input_messages[0].model_dump())
        if text.count("[") + text.count("{") > _SURELY_FLAT:
            raise _UnusualError
        known = self._known[id(message)] = _KnownMessage(message, text, redacted.reasons)
        self._size += len(text)
        while self._size > REMEMBERED_BYTES:
            _, oldest = self._known.popitem(last=False)
            self._size -= len(oldest.text)
        return known


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
