"""Writing the lines of complete calls: each repeats its Session's history, which is spelled once (bundle.md §2, §4.2).

Where a call's stored input continues the latest one of its Session character for character, the bytes of that line are
taken over, and only what follows is read, validated and encoded. Equal text is equal value, and gives equal bytes.
"""

from dataclasses import dataclass
from typing import Final

import orjson

from sediment_assets.bundle.encoding import encode_line, escaped
from sediment_assets.derive.fact_reader import FullCall
from sediment_assets.errors import SedimentError
from sediment_assets.facts.json_values import encode_canonical, respelled
from sediment_assets.facts.messages import is_stored_message
from sediment_assets.recent import Recent

HISTORY_SIZE: Final = 16 * 2**20
"""Most memory for remembered histories; the least recently used Sessions are forgotten first."""

_INPUT: Final = b',\\"input_messages\\":['


@dataclass(frozen=True, slots=True)
class _History:
    """Input messages without brackets: as they are stored, and as a line of the bundle spells them."""

    stored: str
    spelled: bytes

    def size(self) -> int:
        """Memory it takes."""
        return len(self.stored) + len(self.spelled)


_NOTHING: Final = _History("", b"")


class CallWriter:
    """Encodes the calls of one bundle, in any order."""

    def __init__(self) -> None:
        self._histories = Recent[str, _History](HISTORY_SIZE, _History.size)

    def line(self, call: FullCall) -> bytes:
        """Return ``encode_line`` of the whole Fact.

        Raises what reading the Fact raises, and JsonError as ``encode_line`` does.
        """
        known = self._histories.get(call.session_id) or _NOTHING
        rest = _after(known.stored, call.input_text)
        if rest is not None:
            try:
                return self._line(call, known, rest)
            except SedimentError:
                pass  # said again below, of the whole call
        return self._line(call, _NOTHING, call.input_text)

    def _line(self, call: FullCall, known: _History, rest: str) -> bytes:
        """Write a call whose input is what is known and then ``rest``."""
        messages = _canonical_messages(rest)
        record = call.fact(rest if messages is None else "[]").model_dump()
        new = escaped((messages or encode_canonical(record["input_messages"]))[1:-1])
        comma = b"," if known.spelled and new else b""
        spelled = b"".join((known.spelled, comma, new))
        line = encode_line(record | {"input_messages": []})
        # The first match is the record's own key: inside a string its quotes would be escaped twice, and what stands
        # before it holds no object.
        head, field, tail = line.partition(_INPUT)
        self._histories.keep(call.session_id, _History(call.input_text[1:-1], spelled))
        return b"".join((head, field, spelled, tail))


def _canonical_messages(text: str) -> str | None:
    """Return the canonical spelling of stored messages that reading as a Fact would not change; None for any other."""
    try:
        messages = orjson.loads(text)
        is_stored = type(messages) is list and all(map(is_stored_message, messages))
        if is_stored and respelled(messages, sort_keys=False) == text:
            return respelled(messages)
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        pass
    return None


def _after(known: str, text: str) -> str | None:
    """Return the array of the messages behind the known ones; None when ``text`` does not begin with these."""
    end = 1 + len(known)
    if not known or not text.startswith(known, 1):
        return None
    if text[end:] == "]":
        return "[]"
    rest = text[end + 1 :]
    return f"[{rest}" if text[end] == "," and not rest.lstrip().startswith("]") else None
