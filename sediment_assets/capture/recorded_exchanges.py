"""Recorded HTTP exchanges: pairs, cassettes (VCR), HAR files; what was sent and answered in each.

Bodies may be JSON values, text, text in an object, or compressed bytes in base64.
"""

import base64
import binascii
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

from sediment_assets.capture.contract import BINARY, Remainder
from sediment_assets.capture.event_streams import assemble, is_event_stream, read_events
from sediment_assets.capture.json_text import parse_json
from sediment_assets.capture.record_fields import RefusedError, invalid
from sediment_assets.facts.instants import parse_instant
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue

_MAX_BODY: Final = 256 * 2**20
"""Largest body after decompression."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its response, as they were recorded. ``record`` is what held them, with whatever else it says."""

    place: str
    record: JsonObject
    request: JsonValue
    response: JsonValue

    @property
    def url(self) -> str:
        """Where the request went; empty when that was not recorded."""
        request = self.request if isinstance(self.request, dict) else {}
        url = request.get("uri", request.get("url"))
        return url if isinstance(url, str) else ""

    @property
    def status(self) -> int | None:
        """The response's status; None when that was not recorded."""
        response = self.response if isinstance(self.response, dict) else {}
        status = response.get("status", response.get("status_code"))
        code = status.get("code") if isinstance(status, dict) else status
        return code if type(code) is int else None

    @property
    def date(self) -> datetime | None:
        """When the server says it answered, to the second."""
        text = header(self.response, "date")
        try:
            return parse_instant(parsedate_to_datetime(text)) if text else None
        except ValueError:
            return None


def find_exchanges(place: str, value: JsonObject) -> Iterator[Exchange] | None:
    """Return the exchanges of a record; None when it holds none."""
    for key in ("interactions", "http_interactions"):
        if isinstance(value.get(key), list):
            return _pairs(f"{place}.{key}", value[key])
    log = value.get("log")
    if isinstance(log, dict) and isinstance(log.get("entries"), list):
        return _pairs(f"{place}.log.entries", log["entries"])
    if "request" in value and "response" in value:
        return iter([Exchange(place, value, value["request"], value["response"])])
    return None


def _pairs(place: str, values: list[JsonValue]) -> Iterator[Exchange]:
    for index, value in enumerate(values):
        pair = value if isinstance(value, dict) else {}
        yield Exchange(f"{place}[{index}]", pair, pair.get("request"), pair.get("response"))


def header(message: JsonValue, name: str) -> str | None:
    """Return a header of a request or response: of an object, or of HAR's list; the first of several."""
    headers = message.get("headers") if isinstance(message, dict) else None
    pairs: list[tuple[JsonValue, JsonValue]] = []
    if isinstance(headers, dict):
        pairs = list(headers.items())
    elif isinstance(headers, list):
        pairs = [(item.get("name"), item.get("value")) for item in headers if isinstance(item, dict)]
    for key, value in pairs:
        if isinstance(key, str) and key.lower() == name:
            first = value[0] if isinstance(value, list) and value else value
            return first if isinstance(first, str) else None
    return None


def body_of(message: JsonValue, where: str) -> JsonValue:
    """Return a request's or response's body as JSON; a stream of events is put together. None when there is none.

    :raises RefusedError: a body that cannot be read.
    """
    if not isinstance(message, dict):
        return _read(message, where)
    if message.get("parsed_body") is not None:
        return _read(message["parsed_body"], f"{where}.parsed_body")
    for key in ("body", "postData", "content"):
        if key in message and ("headers" in message or key == "body") and not _is_model_body(message):
            return _read(message[key], f"{where}.{key}", header(message, "content-encoding"))
    return None if _is_frame(message) and not _is_model_body(message) else message


def _read(value: JsonValue, where: str, encoding: str | None = None) -> JsonValue:
    value = _text_or_value(value, where)
    if isinstance(value, list) and value and all(isinstance(event, dict) for event in value):
        return assemble([event for event in value if isinstance(event, dict)], where)
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    if is_event_stream(value):
        return assemble(read_events(value, where), where)
    try:
        parsed: JsonValue = parse_json(value)
    except JsonError:
        got = f"text compressed as {encoding}" if encoding in ("br", "zstd") else "text"
        raise RefusedError(Remainder.INVALID_VALUE, f"{where}: expected JSON or events, got {got}") from None
    return parsed


def _text_or_value(value: JsonValue, where: str) -> JsonValue:
    """Take a body out of the object that a recorder put around it."""
    if not isinstance(value, dict) or _is_model_body(value):
        return value
    if BINARY in value:
        return _unpacked(value[BINARY], where)
    if isinstance(value.get("base64_string"), str):
        return _unpacked(value["base64_string"], where)
    for key in ("string", "text"):
        if key in value:
            if value.get("encoding") == "base64":
                return _unpacked(value[key], where)
            return _text_or_value(value[key], where)
    return value


def _unpacked(text: JsonValue, where: str) -> str:
    """Decode bytes that were recorded in base64, compressed by gzip or deflate or not at all."""
    if not isinstance(text, str):
        raise invalid(where, "base64", text)
    try:
        data = base64.b64decode(text, validate=False)
    except (binascii.Error, ValueError):
        raise invalid(where, "base64", text) from None
    if data[:2] == b"\x1f\x8b" or data[:1] == b"\x78":
        inflater = zlib.decompressobj(zlib.MAX_WBITS | 32)
        try:
            data = inflater.decompress(data, _MAX_BODY)
        except zlib.error:
            raise invalid(where, "a gzip stream", text) from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise invalid(where, "UTF-8 text, plain or compressed by gzip", text) from None


def _is_model_body(value: Mapping[str, JsonValue]) -> bool:
    """Whether an object is itself a body, although it has keys that a frame around one has, too."""
    return any(key in value for key in ("choices", "messages", "input", "output", "model", "role"))


def _is_frame(value: Mapping[str, JsonValue]) -> bool:
    return any(key in value for key in ("headers", "method", "uri", "url", "status"))
