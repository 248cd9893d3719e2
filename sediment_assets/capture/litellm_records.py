"""Which shape of LiteLLM's logs a record has, and where its request and response are in it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sediment_assets.capture.contract import Record, Remainder
from sediment_assets.capture.model_responses import envelope, is_answer
from sediment_assets.capture.record_fields import RefusedError, unknown_shape
from sediment_assets.facts.json_values import JsonObject, JsonValue

_INSIDE: Final = ("standard_logging_object", "standard_logging_payload")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record. ``log`` is the payload, the row or the plain call; ``outer`` are callback kwargs around it."""

    log: JsonObject
    outer: JsonObject | None = None
    is_row: bool = False
    """Whether it is a spend-log row, whose request and response may be JSON in text."""
    is_plain: bool = False
    """Whether it is a request and its response without the gateway's own fields."""

    @property
    def has_failed(self) -> bool:
        """Whether the gateway says that the call failed."""
        return self.log.get("status") == "failure"

    @property
    def has_raw_messages(self) -> bool:
        """Whether the agent's own messages stand beside those on the wire, in which tool calls are written as text."""
        return self.is_plain and isinstance(self.log.get("raw_messages"), list)

    @property
    def place(self) -> str:
        """The path of the log in the record, for messages."""
        return "standard_logging_object." if self.outer is not None else ""

    @property
    def request_place(self) -> str:
        """The path of the request."""
        return f"{self.place}request"

    @property
    def response_place(self) -> str:
        """The path of the response."""
        return f"{self.place}response"

    def rest(self) -> JsonObject:
        """Return what the record says beside the messages, which the Fact has itself."""
        told = _MESSAGES - {"messages", "raw_response"} if self.has_raw_messages else _MESSAGES
        rest = {key: value for key, value in self.log.items() if key not in told}
        if "response" in self.log and not self.is_row:
            rest["response"] = envelope(self.log["response"])
        return rest


_MESSAGES: Final = frozenset({"messages", "response", "raw_messages", "raw_response", "proxy_server_request"})
"""Keys of messages. What the wire had is kept where the Fact has the agent's own."""


def listed_rows(record: Record) -> Iterator[Record]:
    """Yield the rows of a page of the gateway's own list (``data``), each as a record; another record as it is."""
    rows = record.value.get("data") if isinstance(record.value, dict) and "total" in record.value else None
    if not isinstance(rows, list) or not rows:
        yield record
        return
    for index, row in enumerate(rows):
        yield Record(f"{record.place}.data[{index}]", row)


def find_record(value: JsonValue) -> LogRecord:
    """Find out what a record is.

    :raises RefusedError: no record of LiteLLM's, or one that belongs to another exporter; the error says which.
    """
    if not isinstance(value, dict):
        raise unknown_shape("expected an object")
    outer = value.get("kwargs") if isinstance(value.get("kwargs"), dict) else value
    for key in _INSIDE:
        if isinstance(outer, dict) and isinstance(outer.get(key), dict):
            return LogRecord(outer[key], outer)
    if "request_id" in value and ("spend" in value or "call_type" in value or "startTime" in value):
        return LogRecord(value, is_row=True)
    if "call_type" in value or "litellm_call_id" in value or ("startTime" in value and "messages" in value):
        return LogRecord(value)
    if "messages" in value and "response" in value:
        return LogRecord(value, is_plain=True)
    raise _refused(value)


def _refused(value: JsonObject) -> RefusedError:
    if isinstance(value.get("batch"), list):
        return unknown_shape("a batch of Langfuse's ingestion API, not a StandardLoggingPayload")
    if is_answer(value):
        return RefusedError(Remainder.NO_CONTENT, "a response without its request")
    return unknown_shape("no StandardLoggingPayload, callback kwargs or spend-log row")
