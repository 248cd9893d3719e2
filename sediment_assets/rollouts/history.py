"""Whether a call continues its predecessor's history (derivation.md §5, "Continuity").

Histories are compared as stored text first: a call repeats its Session's whole history, and equal text is equal value.
Only where texts differ are both sides decoded and compared as typed values.
"""

import re
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
    text = _text_after(previous.input_text, current.input_text)
    if text is not None:
        replayed = _after_echo(text, previous.output_text, previous_output)
        if replayed is not None:
            return Continued(replayed)
        rest = decode_messages(text)
    else:
        before, now = decode_messages(previous.input_text), decode_messages(current.input_text)
        if not _starts_with(now, before):
            return FragmentReason.INPUT_HISTORY_CHANGED
        rest = now[len(before) :]
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


def _text_after(prefix_text: str, text: str) -> str | None:
    """Return the array of what follows in ``text``; None when it does not begin with the very text of the prefix."""
    if prefix_text == "[]":
        return text
    stem = len(prefix_text) - 1  # without the closing bracket
    if text.startswith(prefix_text[:stem]) and text[stem : stem + 1] in (",", "]"):
        return "[" + text[stem:].removeprefix(",")
    return None


def _after_echo(text: str, output_text: str, output: Sequence[PlainMessage]) -> list[PlainMessage] | None:
    """Return the messages of ``text`` when it begins with an output's very text; None when that cannot be told so.

    Many harnesses send an answer back without its ``finish_reason``, the last field of its text, so that may differ.
    """
    rest = _text_after(output_text, text)
    if rest is not None:
        return [*output, *decode_messages(rest)]
    said, _, reason = output_text.rpartition(_FINISH_REASON)
    if not said or _LAST_REASON.fullmatch(reason) is None or not text.startswith(said):
        return None
    echoed = _ECHOED_REASON.match(text, len(said))
    if echoed is None:
        return None
    last: PlainMessage = {**output[-1], "finish_reason": echoed[1]}
    return [*output[:-1], last, *decode_messages("[" + text[echoed.end() :].removeprefix(","))]


# Inside a JSON string the quotes would be escaped, and what ends in }] here closes a message and the list of them: so
# this is the field of the last message, and not some captured object's.
_FINISH_REASON = ',"finish_reason":'
_LAST_REASON = re.compile(r'(?:null|"[^"\\]*")\}\]')
_ECHOED_REASON = re.compile(r',"finish_reason":(?:null|"([^"\\]*)")\}(?=[,\]])')


def _starts_with(messages: Sequence[PlainMessage], prefix: Sequence[PlainMessage]) -> bool:
    return len(messages) >= len(prefix) and all(map(_same_message, messages, prefix))


def _same_message(left: PlainMessage, right: PlainMessage) -> bool:
    # finish_reason is how a call ended, not what was said: it is no part of the history.
    return left["role"] == right["role"] and equal(left["parts"], right["parts"])
