"""An in-memory AttributionMemo, which counts what it is asked."""

from typing import Any

from sediment_assets.facts.json_values import JsonObject, decode, encode_canonical


class MemoryMemo:
    """A memo over a dict of JSON texts; ``hits`` counts what it knew."""

    def __init__(self, program: str = "1.0") -> None:
        self.program = program
        self.kept: dict[str, str] = {}
        self.hits = 0

    def recall(self, key: str) -> Any:
        if key not in self.kept:
            return None
        self.hits += 1
        return decode(self.kept[key])

    def keep(self, key: str, plain: JsonObject) -> None:
        self.kept[key] = encode_canonical(plain)
