"""What an InferenceCall's line says behind the messages that are known already: new messages, then the other fields.

Most lines are spelled as Facts are stored. Such a tail is decoded at once, and a message that also has the shape in
which it would be stored keeps its text; every other tail is decoded message by message.
"""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import orjson

from sediment_assets.adapters.fact_store.import_lines import PreparedLine, prepare_fact, validate
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonObject, decode, encode_stored
from sediment_assets.facts.messages import Message, call_aliases, is_stored_message
from sediment_assets.facts.redaction import RedactionReason, known_credentials, redact
from sediment_assets.facts.redaction_scans import may_hold_credential
from sediment_assets.facts.vocabulary import FactTable, GatewayProvider

_MAX_BRACKETS: Final = 1000
"""Messages with more brackets may nest too deeply; ``import_lines`` judges them."""
_DECODER: Final = json.JSONDecoder()
NO_REDACTIONS: Final[Counter[RedactionReason]] = Counter()
"""Shared by all messages in which nothing was redacted; never changed."""


class UnusualError(Exception):
    """A line to be read the thorough way."""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message as a line spells it, and its value. ``is_clean``: the source is its stored text, nothing to redact."""

    source: bytes
    value: Any
    is_clean: bool = False


@dataclass(frozen=True, slots=True)
class Tail:
    """The new messages and the other fields. ``is_clean``: exactly decoded by orjson, and nothing to redact."""

    messages: list[NewMessage]
    rest: JsonObject
    is_clean: bool = False


def stored_tail(source: bytes, *, is_first: bool) -> Tail | None:
    """Read a tail that is spelled as Facts are stored; None for any other.

    That spelling its values again gives the same text proves that orjson read every number exactly.
    """
    text = source.removesuffix(b"\n")
    if not (is_first or text.startswith((b",", b"]"))) or not text.isascii():
        return None
    try:
        values = orjson.loads(b'{"input_messages":[' + text.removeprefix(b"" if is_first else b","))
    except orjson.JSONDecodeError:
        return None
    messages = values.pop("input_messages")
    if type(messages) is not list:
        return None
    spelled = [encode_stored(message) for message in messages]
    comma = "" if is_first or not spelled else ","
    fields = f",{encode_stored(values)[1:]}" if values else "}"
    if f"{comma}{','.join(spelled)}]{fields}".encode() != text:
        return None
    is_clean = not may_hold_credential(text)
    new = [
        NewMessage(spelling.encode(), value, is_clean and is_stored_message(value))
        for spelling, value in zip(spelled, messages, strict=True)
    ]
    return Tail(new, values, is_clean)


def decoded_tail(source: bytes, *, is_first: bool) -> Tail:
    """Read any other tail. Raises UnusualError, IndexError and decoding errors when it is no JSON or nests deeply."""
    tail = source.decode("utf-8")
    new: list[NewMessage] = []
    position = 0
    if tail[0] != "]":
        if not is_first:
            position = _after_comma(tail, 0)
        while True:
            value, end = _DECODER.raw_decode(tail, position)
            if tail.count("[", position, end) + tail.count("{", position, end) > _MAX_BRACKETS:
                raise UnusualError
            new.append(NewMessage(tail[position:end].encode(), value))
            position = end
            if tail[position] == "]":
                break
            position = _after_comma(tail, position)
    if tail[position + 1] == "}":
        return Tail(new, decode("{" + tail[position + 1 :]))
    rest = decode("{" + tail[_after_comma(tail, position + 1) :])
    if not rest:  # a comma without a field behind it
        raise UnusualError
    return Tail(new, rest)


def _after_comma(text: str, position: int) -> int:
    if text[position] != ",":
        raise UnusualError
    return position + 1


def prepare_rest(head: JsonObject, tail: Tail) -> PreparedLine:
    """Prepare a call without its input messages; ``head`` is what stands before them."""
    values = head | tail.rest
    if "input_messages" in values:
        raise UnusualError
    output, raw = tail.rest.get("output_messages"), tail.rest.get("raw")
    if (
        not tail.is_clean
        or type(raw) is not dict
        or type(output) is not list
        or not all(map(is_stored_message, output))
    ):
        return _prepare_rest_thoroughly(values)
    call = validate(FactTable.INFERENCE_CALLS, values | {"input_messages": [], "output_messages": [], "raw": {}})
    assert isinstance(call, InferenceCall)
    row = call.model_dump()
    row["output_messages"], row["raw"] = encode_stored(output), encode_stored(raw)
    aliases = tuple(sorted(call_aliases(output, call.model_call_id)))
    row["call_alias_count"] = len(aliases)
    return PreparedLine(row, aliases)


def _prepare_rest_thoroughly(values: JsonObject) -> PreparedLine:
    call = validate(FactTable.INFERENCE_CALLS, values | {"input_messages": []})
    assert isinstance(call, InferenceCall)
    if known_credentials(call):
        raise UnusualError
    return prepare_fact(call)


def prepare_message(message: NewMessage) -> tuple[str, Counter[RedactionReason]]:
    """Validate and redact one message: its stored text, and what was redacted in it."""
    if message.is_clean:
        return message.source.decode(), NO_REDACTIONS
    call = _CARRIER.model_copy(update={"input_messages": (Message.model_validate(message.value),)})
    if known_credentials(call):
        raise UnusualError
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
