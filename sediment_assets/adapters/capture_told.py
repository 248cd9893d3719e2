"""What one capture run has told: Facts told again, and calls that share an id and are not the same (facts.md §6).

A store keeps the first of two Facts with one id and never compares what calls say. Two calls that a provider gave one
id would thus become one, silently; here the second is found out and can be listed. A call repeats its history: what was
digested of it with the call before is not digested again.
"""

from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from sediment_assets.adapters.fact_store.import_lines import PreparedLine
from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.model import Fact

if TYPE_CHECKING:
    from hashlib import _Hash

_DIGEST_BYTES: Final = 16
_HISTORIES: Final = 16 * 2**20
"""Most characters of histories that are kept; the Sessions not seen for longest are forgotten first."""


class ToldFacts:
    """The Facts of one run: a digest of each id, and of each call's Session and messages, with its place.

    About 150 bytes for a Fact and 250 for a call, whatever their size.
    """

    def __init__(self) -> None:
        self._told: dict[bytes, bytes] = {}
        self._histories = _Histories()

    def is_new(self, fact: Fact, place: str, line: PreparedLine) -> bool | Untranslated:
        """Whether no Fact before has this id; for another call than the first with this id, its listing."""
        key = _digest(fact.TABLE, fact.fact_id)
        content = b""
        if isinstance(fact, InferenceCall):
            sent = self._histories.digest(fact.session_id, line.row["input_messages"])
            content = _digest(fact.session_id, sent.hex(), line.row["output_messages"])
        first = self._told.get(key)
        if first is None:
            self._told[key] = content + place.encode("utf-8", "surrogatepass") if content else content
            return True
        if first[: len(content)] == content:
            return False
        other = first[_DIGEST_BYTES:].decode("utf-8", "surrogatepass")
        return Untranslated(place, Remainder.INVALID_VALUE, f"id: contradicts {other}: another call with this id")


def _digest(*texts: str) -> bytes:
    made = sha256()  # processors have it built in
    for text in texts:
        spelled = text.encode("utf-8", "surrogatepass")
        made.update(b"%d:" % len(spelled))
        made.update(spelled)
    return made.digest()[:_DIGEST_BYTES]


class _Histories:
    """Digests of growing texts: each goes on, as far as it can, from the one before of its Session."""

    def __init__(self) -> None:
        self._latest: OrderedDict[str, tuple[str, _Hash]] = OrderedDict()
        self._size = 0

    def digest(self, session_id: str, text: str) -> bytes:
        """Return the SHA-256 of a text in ASCII: stored messages, an array of JSON."""
        begun, made = self._latest.pop(session_id, ("", sha256()))
        self._size -= len(begun)
        if not text.startswith(begun):
            begun, made = "", sha256()
        history = text[:-1]  # without the closing bracket, which the next one has elsewhere
        made.update(history[len(begun) :].encode("ascii"))
        self._latest[session_id] = history, made
        self._size += len(history)
        while self._size > _HISTORIES and len(self._latest) > 1:
            self._size -= len(self._latest.popitem(last=False)[1][0])
        return made.digest()
