"""What an InferenceCall's line says behind the messages that are known already: new messages, then the other fields.

Most lines are spelled as Facts are stored. Such a tail is decoded at once, and a message that also has the shape in
which it would be stored keeps its text; every other tail is decoded message by message.
"""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson

from sediment_assets.adapters.fact_store.import_fields import read_fields
from sediment_assets.adapters.fact_store.import_lines import NO_REDACTIONS, PreparedLine, prepare_fact, validate
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonObject, decode, encode_stored, is_spelled_alike, respelled
from sediment_assets.facts.messages import Message, call_aliases, is_stored_message
from sediment_assets.facts.redaction import RedactionReason, known_credentials, redact
from sediment_assets.facts.redaction_scans import may_hold_credential
from sediment_assets.facts.vocabulary import FactTable, GatewayProvider

_MAX_BRACKETS: Final = 1000
"""Messages with more brackets may nest too deeply; ``import_lines`` judges them."""
_DECODER: Final = json.JSONDecoder()
_CAPTURED: Final = ("output_messages", "raw")


class UnusualError(Exception):
    """A line to be read the thorough way."""


class NewMessage(NamedTuple):
    """A message: how many bytes a line spells it with, its value, and its stored text if the line spells just that.

    With a text nothing is to be redacted in it.
    """

    size: int
    value: Any
    text: str | None = None


class Tail(NamedTuple):
    """The new messages and the other fields.

    ``texts``: what is stored of fields that hold JSON, if the line spells them so and nothing is to be redacted.
    """

    messages: list[NewMessage]
    rest: JsonObject
    texts: Mapping[str, str] = MappingProxyType({})


def stored_tail(line: bytes, start: int, *, is_first: bool) -> Tail | None:
    """Read a tail that is spelled as Facts are stored; None for any other.

    That spelling its values again gives the same text proves that orjson read every number exactly.
    """
    comma = "" if is_first or line.startswith(b"]", start) else ","
    rest = line[start + len(comma) :]
    if not rest.isascii():
        return None
    try:
        values = orjson.loads(b'{"input_messages":[' + rest)
    except orjson.JSONDecodeError:
        return None
    messages = values.pop("input_messages")
    if type(messages) is not list:
        return None
    spell = _respelled if is_spelled_alike((messages, values)) else encode_stored
    try:
        spelled = [spell(message) for message in messages]
        texts = {name: spell(values[name]) for name in _CAPTURED if name in values}
    except orjson.JSONEncodeError:  # too deep
        return None
    fields = _spelled_members(values, texts)
    source = f"{comma if spelled else ''}{','.join(spelled)}]{',' if fields else ''}{fields}}}".encode()
    if not line.startswith(source, start) or line[start + len(source) :] not in (b"\n", b""):
        return None
    if may_hold_credential(source):
        return Tail([NewMessage(len(text), value) for text, value in zip(spelled, messages, strict=True)], values)
    new = [
        NewMessage(len(text), value, text if is_stored_message(value) else None)
        for text, value in zip(spelled, messages, strict=True)
    ]
    return Tail(new, values, texts)


_respelled = partial(respelled, sort_keys=False)
"""``encode_stored`` of values that are spelled alike: of several at once that is quicker to know."""


def _spelled_members(values: JsonObject, texts: Mapping[str, str]) -> str:
    """Spell the members of an object, those of ``texts`` with the text that is there."""
    members = []
    others: JsonObject = {}
    for name, value in values.items():
        if name not in texts:
            others[name] = value
            continue
        if others:
            members.append(encode_stored(others)[1:-1])
            others = {}
        members.append(f'"{name}":{texts[name]}')
    if others:
        members.append(encode_stored(others)[1:-1])
    return ",".join(members)


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
            new.append(NewMessage(len(tail[position:end].encode()), value))
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
    output: Any = tail.rest.get("output_messages")
    raw = tail.rest.get("raw")
    row = None
    if tail.texts and type(raw) is dict and type(output) is list and all(map(is_stored_message, output)):
        row = read_fields(InferenceCall, values)
    if row is None:
        return _prepare_rest_thoroughly(values)
    row |= tail.texts
    aliases = tuple(sorted(call_aliases(output, row["model_call_id"])))
    row["call_alias_count"] = len(aliases)
    return PreparedLine(row, aliases)


def answer_of(prepared: PreparedLine, tail: Tail) -> tuple[bytes, bytes]:
    """Return how another call would go on that repeats a call's only answer: all but the finish reason, and that.

    Nothing unless the answer is spelled as it is stored: what was judged once needs no judging there.
    """
    text = tail.texts.get("output_messages")
    output: Any = tail.rest.get("output_messages")
    if text is None or text is not prepared.row["output_messages"] or len(output) != 1:
        return b"", b""
    reason = encode_stored(output[0]["finish_reason"]) + "}"
    return f",{text[1 : -len(reason) - 1]}".encode(), reason.encode()


def _prepare_rest_thoroughly(values: JsonObject) -> PreparedLine:
    call = validate(FactTable.INFERENCE_CALLS, values | {"input_messages": []})
    assert isinstance(call, InferenceCall)
    if known_credentials(call):
        raise UnusualError
    return prepare_fact(call)


def prepare_message(message: NewMessage) -> tuple[str, Counter[RedactionReason]]:
    """Validate and redact one message: its stored text, and what was redacted in it."""
    if message.text is not None:
        return message.text, NO_REDACTIONS
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
