"""Webhook deliveries as teams record them: a body alone, or a body with the headers and the time of its delivery.

Recognised envelopes: ``{headers, body|payload}``; a hooks API delivery (``request.headers``, ``request.payload``,
``guid``, ``delivered_at``); ``{event|name, payload|body}``; the context of a GitHub Actions run (``event_name``,
``event``); a relay's flat form (``x-github-event`` beside ``body``); and ``{payload|body}`` alone. A body may be JSON
text, a form's ``payload=…`` or its fields, or base64 of either. Credentials in headers are never kept: only the names
of the event and of the delivery are read.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from urllib.parse import parse_qs

from sediment_assets.capture.contract import Remainder
from sediment_assets.capture.record_fields import Fields, RefusedError, invalid, unknown_shape
from sediment_assets.facts.json_values import JsonError, JsonObject, JsonValue, decode


class Sender(StrEnum):
    """Whose headers a delivery has."""

    GITHUB = "github"
    FORGEJO = "forgejo"
    GITLAB = "gitlab"
    BITBUCKET = "bitbucket"
    BUILDKITE = "buildkite"
    CIRCLECI = "circleci"


@dataclass(frozen=True, slots=True)
class Delivery:
    """One delivery. Without headers only ``payload`` is known. ``event`` and ``id`` are as the sender spells them."""

    payload: JsonObject
    sender: Sender | None = None
    event: str | None = None
    id: str | None = None
    delivered_at: datetime | None = None


_SENDERS: Final[tuple[tuple[Sender, str, str], ...]] = (
    # Forgejo and Gitea also send X-GitHub-Event, for receivers that know nothing else: they come first.
    (Sender.FORGEJO, "x-forgejo-event", "x-forgejo-delivery"),
    (Sender.FORGEJO, "x-gitea-event", "x-gitea-delivery"),
    (Sender.FORGEJO, "x-gogs-event", "x-gogs-delivery"),
    (Sender.GITHUB, "x-github-event", "x-github-delivery"),
    (Sender.GITLAB, "x-gitlab-event", "x-gitlab-event-uuid"),
    (Sender.BITBUCKET, "x-event-key", "x-request-uuid"),
    (Sender.BUILDKITE, "x-buildkite-event", "x-buildkite-request"),
    (Sender.CIRCLECI, "circleci-event-type", "circleci-event-id"),
)
_BODIES: Final = ("payload", "body", "rawBody", "raw_body")
_FORM: Final = "payload"
"""The one field of a form's body."""
_OWN_KEYS: Final = frozenset(
    {"action", "sender", "repository", "object_kind", "eventType", "eventKey", "type", "context"}
)
"""Keys of webhook bodies: an object with one of them is no envelope, whatever else it holds."""
_EVENT_NAMES: Final = ("event", "event_name", "name")
_IDS: Final = ("delivery", "delivery_id", "guid", "id")


def open_delivery(value: JsonValue) -> Delivery:
    """Return the delivery that a record is; a record that is no envelope is the body alone.

    :raises RefusedError: the record is no object, or its envelope holds no readable body.
    """
    if not isinstance(value, dict):
        raise unknown_shape("expected an object")
    record = Fields(value)
    request = record.value.get("request")
    if isinstance(request, dict) and ("payload" in request or "headers" in request):
        return _with_headers(Fields(request, "request"), _headers(request.get("headers")), record)
    if "guid" in value and "status_code" in value:
        raise RefusedError(Remainder.NO_CONTENT, "a hooks API delivery in short form, without its request")
    flat = _headers(value)
    if any(name in flat for _, name, _ in _SENDERS):
        return _with_headers(record, flat, record)
    if isinstance(value.get("headers"), dict | list) and _body_key(value):
        return _with_headers(record, _headers(value["headers"]), record)
    if isinstance(value.get("event_name"), str) and isinstance(value.get("event"), dict):
        return Delivery(value["event"], None, value["event_name"])
    if _is_named(value):
        return _named(record)
    if _body_key(value) and _OWN_KEYS.isdisjoint(value):
        return Delivery(_payload(record, ""), None, None, None, _delivered_at(record))
    return Delivery(value)


def _with_headers(holder: Fields, headers: Mapping[str, str], record: Fields) -> Delivery:
    payload = _payload(holder, headers.get("content-type", ""))
    delivered_at = _delivered_at(record) or _relayed_at(record)
    for sender, event, delivery in _SENDERS:
        if event in headers:
            return Delivery(payload, sender, headers[event], headers.get(delivery), delivered_at)
    event_name = record.word("event") if "delivered_at" in record else None
    sender_of_api = Sender.GITHUB if event_name else None
    return Delivery(payload, sender_of_api, event_name, record.word("guid"), delivered_at)


def _delivered_at(record: Fields) -> datetime | None:
    """Read when a delivery was sent, else when a receiver noted it; a note without an offset says nothing."""
    if (sent := record.instant("delivered_at")) is not None:
        return sent
    try:
        return record.instant("received_at")
    except RefusedError:
        return None


def _relayed_at(record: Fields) -> datetime | None:
    """Read a relay's receipt time: milliseconds, so never mistaken for a time inside the body."""
    return record.instant("timestamp") if type(record.raw("timestamp")) is int else None


def _is_named(value: JsonObject) -> bool:
    """Whether an event's name stands beside its body (and it is not an event of GitHub's Events API)."""
    key = _body_key(value)
    return (
        key is not None
        and isinstance(value[key], dict | str)
        and any(isinstance(value.get(name), str) for name in _EVENT_NAMES)
        and "headers" not in value
    )


def _named(record: Fields) -> Delivery:
    event = next(filter(None, (record.word(name) for name in _EVENT_NAMES)), None)
    delivery_id = next(filter(None, (record.identifier(name) for name in _IDS)), None)
    return Delivery(_payload(record, ""), None, event, delivery_id, _delivered_at(record))


def _body_key(value: JsonObject) -> str | None:
    return next((key for key in _BODIES if value.get(key) is not None), None)


def _payload(holder: Fields, content_type: str) -> JsonObject:
    key = _body_key(holder.value)
    if key is None:
        raise RefusedError(Remainder.NO_CONTENT, "a delivery without its body")
    body: JsonValue = holder.value[key]
    if isinstance(body, dict) and set(body) == {_FORM} and isinstance(body[_FORM], str):
        body, content_type = body[_FORM], ""
    if isinstance(body, str):
        body = _parsed(holder, key, body, content_type)
    if not isinstance(body, dict):
        raise invalid(holder.named(key), "an object", body)
    return body


def _parsed(holder: Fields, key: str, text: str, content_type: str) -> JsonValue:
    try:
        if holder.raw("isBase64Encoded") is True:
            text = base64.b64decode(text, validate=True).decode()
        if "x-www-form-urlencoded" in content_type or text.startswith("payload="):
            text = parse_qs(text).get("payload", [""])[0]
        parsed: JsonValue = decode(text)
    except (JsonError, binascii.Error, ValueError):
        raise RefusedError(
            Remainder.INVALID_VALUE, f"{holder.named(key)}: expected JSON in text, got other text"
        ) from None
    return parsed


def _headers(value: JsonValue) -> dict[str, str]:
    """Return headers by lower-case name: an object (values text or lists of text), or a list of name and value."""
    pairs: list[tuple[JsonValue, JsonValue]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        for item in value:
            if isinstance(item, dict):
                pairs.append((item.get("name", item.get("key")), item.get("value")))
            elif isinstance(item, list) and len(item) == 2:
                pairs.append((item[0], item[1]))
    headers: dict[str, str] = {}
    for name, held in pairs:
        first = held[0] if isinstance(held, list) and held else held
        if isinstance(name, str) and isinstance(first, str) and first:
            headers[name.lower()] = first
    return headers
