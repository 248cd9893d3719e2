"""Which token counts of a Codex rollout belong to which response.

Counts are events of their own: after a response's items, or, in older rollouts, which write items late, before them.
Totals that did not change are the same count told again.
"""

from sediment_assets.capture.transcripts.calls import Response
from sediment_assets.facts.json_values import JsonObject, JsonValue


class Usage:
    """The counts of one thread."""

    def __init__(self) -> None:
        self._total: JsonValue = None
        self._waiting: JsonObject | None = None
        self._come_first: bool | None = None
        self._is_new = False

    def count(self, info: JsonValue, response: Response | None) -> bool:
        """Read a ``token_count``; whether it says something that no count before it said."""
        if not isinstance(info, dict) or not isinstance(info.get("last_token_usage"), dict):
            return False
        total = info.get("total_token_usage")
        if total == self._total:
            return False
        self._total, last = total, info["last_token_usage"]
        self._is_new = True
        if self._come_first is None:
            self._come_first = response is None
        if self._come_first:
            self._waiting = last
            return True
        if response is None or response.output_tokens is not None:
            return False
        _set(response, last)
        return True

    def is_new_response(self, *, is_open: bool) -> bool:
        """Whether a count since the last item says that the next item is another response's."""
        is_new, self._is_new = self._is_new, False
        return is_open and is_new

    def begin(self, response: Response) -> None:
        """Give a response the count that came before it, where counts come first."""
        if self._come_first and self._waiting is not None:
            _set(response, self._waiting)
            self._waiting = None


def _set(response: Response, usage: JsonObject) -> None:
    response.input_tokens, response.output_tokens = usage.get("input_tokens"), usage.get("output_tokens")
