"""Whether a call continues its predecessor's history (derivation.md §5, "Continuity").

Histories are compared as stored text first: a call repeats its Session's whole history, and equal text is equal value.
Only where texts differ are both sides decoded and compared as typed values.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sediment_assets.derive.fact_reader import StoredCall
from sediment_assets.derive.tally import FragmentReason
from sediment_assets.facts.json_values import equal
from sediment_assets.facts.messages import PlainMessage, decode_messages


@dataclass(frozen=True, slots=True)
class Continued:
    """The call continues; ``new_messages`` is its input without its predecessor's input, the echo included."""

    new_messages: list[PlainMessage]


def continuity(
    previous: StoredCall, previous_output: Sequence[PlainMessage], current: StoredCall
) -> Continued | FragmentReason:
    """Compare neighbours in call order; the first matching reason opens a new Segment."""
    if not has_content(previous_output):
        return FragmentReason.PRIOR_OUTPUT_ABSENT
    rest = _after_input(previous.input_text, current.input_text)
    if rest is None:
        return FragmentReason.INPUT_HISTORY_CHANGED
    if not _starts_with(rest, previous_output):
        return FragmentReason.PRIOR_OUTPUT_NOT_REPLAYED
    return Continued(rest)


def has_content(output: Sequence[PlainMessage]) -> bool:
    """Whether an output holds a tool part, or a text or reasoning part whose content is not empty."""
    return any(
        part["type"] in ("tool_call", "tool_call_response") or bool(part.get("content"))
        for message in output
        for part in message["parts"]
    )


def _after_input(prefix_text: str, text: str) -> list[PlainMessage] | None:
    """Return the messages of ``text`` after those of ``prefix_text``, or None when it does not start with them."""
    if prefix_text == "[]":
        return decode_messages(text)
    stem = len(prefix_text) - 1  # without the closing bracket
    if text.startswith(prefix_text[:stem]) and text[stem : stem + 1] in (",", "]"):
        return decode_messages("[" + text[stem:].removeprefix(","))
    prefix, messages = decode_messages(prefix_text), decode_messages(text)
    return messages[len(prefix) :] if _starts_with(messages, prefix) else None


def _starts_with(messages: Sequence[PlainMessage], prefix: Sequence[PlainMessage]) -> bool:
    return len(messages) >= len(prefix) and all(map(_same_message, messages, prefix))


def _same_message(left: PlainMessage, right: PlainMessage) -> bool:
    # finish_reason is how a call ended, not what was said: it is no part of the history.
    return left["role"] == right["role"] and equal(left["parts"], right["parts"])
