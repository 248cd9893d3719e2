"""What one capture run has told: Facts told again, and calls that share an id and are not the same (facts.md §6).

A store keeps the first of two Facts with one id and never compares what calls say. Two calls that a provider gave one
id would thus become one, silently; here the second is found out and can be listed.
"""

from hashlib import sha256
from typing import Final

from sediment_assets.adapters.fact_store.prepared_facts import Prepared
from sediment_assets.capture.contract import Remainder, Untranslated
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.model import Fact

_DIGEST_BYTES: Final = 16


class ToldFacts:
    """The Facts of one run: a digest of each id, and of each call's Session and messages, with its place.

    About 150 bytes for a Fact and 250 for a call, whatever their size.
    """

    def __init__(self) -> None:
        self._told: dict[bytes, bytes] = {}

    def is_new(self, fact: Fact, place: str, prepared: Prepared) -> bool | Untranslated:
        """Whether no Fact before has this id; for another call than the first with this id, its listing.

        A call's own id is its provider's, where it has one: what a store takes calls to be one by (facts.md §6).
        """
        own_id, content = fact.fact_id, b""
        if isinstance(fact, InferenceCall):
            own_id = fact.model_call_id or own_id
            content = _digest(_spelled(fact.session_id), prepared.messages)
        key = _digest(_spelled(fact.TABLE), _spelled(own_id))
        first = self._told.get(key)
        if first is None:
            self._told[key] = content + _spelled(place) if content else content
            return True
        if first[: len(content)] == content:
            return False
        other = first[_DIGEST_BYTES:].decode("utf-8", "surrogatepass")
        return Untranslated(place, Remainder.INVALID_VALUE, f"id: contradicts {other}: another call with this id")


def _spelled(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _digest(first: bytes, second: bytes) -> bytes:
    return sha256(b"%d:%b%b" % (len(first), first, second)).digest()[:_DIGEST_BYTES]
