"""Basic redaction of Facts before they are stored: which fields, and the passes over JSON (facts.md §9).

Not reversible, and pure: a new Fact and counts by reason. Push, SessionCommitObservation and RepositoryRename are
stored as they are; ids, roles, tool names, URLs and JSON keys are never touched.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from operator import is_
from typing import Any, Final, Generic, TypeVar

from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.messages import (
    Message,
    Part,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolCallResponsePart,
)
from sediment_assets.facts.model import Fact
from sediment_assets.facts.redaction_scans import MARKER, TOKEN, RedactionReason, is_credential_key, redact_text
from sediment_assets.facts.scalars import MAX_CI_REASON

__all__ = ["MARKER", "Redacted", "RedactionReason", "redact"]

FactT = TypeVar("FactT", bound=Fact)

_CUT_CI_REASON: Final = 4074
"""Code points of a CI outcome's reason that stay before the marker when redaction made it too long (facts.md §9)."""


@dataclass(frozen=True, slots=True)
class Redacted(Generic[FactT]):
    """A redacted Fact and how many replacements each reason made."""

    fact: FactT
    reasons: Counter[RedactionReason]


def redact(fact: FactT) -> Redacted[FactT]:
    """Apply Basic redaction to a Fact; kinds that are stored as they are come back unchanged (facts.md §9)."""
    reasons: Counter[RedactionReason] = Counter()
    match fact:
        case InferenceCall():
            update = _redact_call(fact, reasons)
        case CIOutcome():
            update = _redact_outcome(fact, reasons)
        case DeveloperDecision():
            update = {"raw": _redact_json(fact.raw, reasons)}
        case _:
            update = {}
    return Redacted(fact.model_copy(update=update) if reasons else fact, reasons)


def _redact_call(call: InferenceCall, reasons: Counter[RedactionReason]) -> dict[str, Any]:
    redaction = _Redaction(known_credentials(call), reasons)
    return {
        "input_messages": tuple(redaction.message(message) for message in call.input_messages),
        "output_messages": tuple(redaction.message(message) for message in call.output_messages),
        "raw": redaction.json(call.raw),
    }


def known_credentials(call: InferenceCall) -> frozenset[str]:
    """Return the credentials of a call's tool arguments and results, which are redacted wherever else they are a line.

    Without any, each message of a call is redacted independently of the others.
    """
    return frozenset(_known_credentials(_tool_values(call)))


def redact_message(message: Message, reasons: Counter[RedactionReason]) -> Message | None:
    """Redact a message as in a call without known credentials; None when the message holds some itself.

    The result is that of ``redact`` for every call that holds the message and whose others hold none either.
    """
    if any(True for _ in _known_credentials(_tool_values_of([message]))):
        return None
    return _Redaction(frozenset(), reasons).message(message)


def redact_raw(value: Any, reasons: Counter[RedactionReason]) -> Any:
    """Redact ``raw``, or one of its members that is an object or array, of a Fact without known credentials."""
    return _redact_json(value, reasons)


def _redact_outcome(outcome: CIOutcome, reasons: Counter[RedactionReason]) -> dict[str, Any]:
    update: dict[str, Any] = {"raw": _redact_json(outcome.raw, reasons)}
    if outcome.reason is not None:
        redaction = _Redaction(frozenset(_known_credentials([outcome.raw])), reasons)
        reason = redaction.text(outcome.reason)
        if len(reason) > MAX_CI_REASON:
            reason = reason[:_CUT_CI_REASON] + MARKER
        update["reason"] = reason
    return update


@dataclass(frozen=True, slots=True)
class _Redaction:
    """The passes over one Fact whose known credentials have been collected."""

    known: frozenset[str]
    reasons: Counter[RedactionReason]

    def message(self, message: Message) -> Message:
        """Redact every part; role and finish reason stay."""
        parts = tuple(self.part(part) for part in message.parts)
        unchanged = all(map(is_, parts, message.parts))
        return message if unchanged else message.model_copy(update={"parts": parts})

    def part(self, part: Part) -> Part:
        """Redact contents, arguments and results; ids and tool names stay."""
        before = self.reasons.total()
        match part:
            case TextPart() | ReasoningPart():
                update = {"content": self.text(part.content)}
            case ToolCallPart():
                update = {"arguments": self.json(part.arguments)}
            case ToolCallResponsePart():
                update = {"result": self.json(part.result)}
        return part if self.reasons.total() == before else part.model_copy(update=update)

    def text(self, text: str) -> str:
        """Apply the text pass, then the known-credential pass."""
        return self._known_lines(redact_text(text, self.reasons))

    def json(self, value: Any) -> Any:
        """Apply the JSON pass, then the known-credential pass to every string leaf."""
        redacted = _redact_json(value, self.reasons)
        return _map_strings(redacted, self._known_lines) if self.known else redacted

    def _known_lines(self, text: str) -> str:
        """Replace each whole line that is a known credential."""
        if not self.known or self.known.isdisjoint(_LINE.findall(text)):
            return text
        return _LINE.sub(self._known_line, text)

    def _known_line(self, line: re.Match[str]) -> str:
        if line[0] not in self.known:
            return line[0]
        self.reasons[RedactionReason.STRUCTURED_CREDENTIAL] += 1
        return MARKER


_LINE: Final = re.compile(r"[^\r\n]+")
_BEARER_PREFIX: Final = re.compile(r"Bearer\s+", re.IGNORECASE)
_BEARER_VALUE: Final = re.compile(rf"(Bearer\s+){TOKEN}", re.IGNORECASE)
_REDACTED_VALUE: Final = re.compile(rf"(?:Bearer\s+)?{re.escape(MARKER)}", re.IGNORECASE)


def _redact_json(value: Any, reasons: Counter[RedactionReason]) -> Any:
    """Apply the JSON pass: strings under a credential key become the marker, all others get the text pass."""
    if type(value) is dict:
        return {
            key: _redact_credential(item, reasons)
            if type(item) is str and is_credential_key(key)
            else _redact_json(item, reasons)
            for key, item in value.items()
        }
    if type(value) is list:
        return [_redact_json(item, reasons) for item in value]
    return redact_text(value, reasons) if type(value) is str else value


def _redact_credential(value: str, reasons: Counter[RedactionReason]) -> str:
    """Replace a string under a credential key, even an empty one; a ``Bearer`` before a token stays."""
    if _REDACTED_VALUE.fullmatch(value):
        return value
    reasons[RedactionReason.STRUCTURED_CREDENTIAL] += 1
    bearer = _BEARER_VALUE.fullmatch(value)
    return (bearer[1] if bearer else "") + MARKER


def _map_strings(value: Any, change: Callable[[str], str]) -> Any:
    if type(value) is dict:
        return {key: _map_strings(item, change) for key, item in value.items()}
    if type(value) is list:
        return [_map_strings(item, change) for item in value]
    return change(value) if type(value) is str else value


def _tool_values(call: InferenceCall) -> Iterator[Any]:
    """Yield every tool argument object and tool result of both sides: the source of known credentials, not ``raw``."""
    return _tool_values_of((*call.input_messages, *call.output_messages))


def _tool_values_of(messages: Iterable[Message]) -> Iterator[Any]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                yield part.arguments
            elif isinstance(part, ToolCallResponsePart):
                yield part.result


def _known_credentials(values: Iterable[Any]) -> Iterator[str]:
    """Yield every non-empty string under a credential key, without a ``Bearer`` prefix."""
    stack = list(values)
    while stack:
        item = stack.pop()
        if type(item) is dict:
            for key, child in item.items():
                if type(child) is not str:
                    stack.append(child)
                elif is_credential_key(key):
                    credential = _BEARER_PREFIX.sub("", child, count=1) if _BEARER_PREFIX.match(child) else child
                    if credential and credential != MARKER:
                        yield credential
        elif type(item) is list:
            stack.extend(item)
