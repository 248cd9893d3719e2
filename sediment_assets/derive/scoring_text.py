"""The scoring text of a model output: what is compared with commits, and a Turn's ``completion`` (derivation.md §5)."""

from collections.abc import Iterator, Sequence

from sediment_assets.facts.json_values import JsonValue
from sediment_assets.facts.messages import PlainMessage


def scoring_text(output: Sequence[PlainMessage]) -> str:
    """Join an output's scoring strings with LF: text contents and the string leaves of tool arguments, in order.

    Reasoning, tool results, ids, names, keys and empty strings do not count.
    """
    return "\n".join(text for text in _scoring_strings(output) if text)


def _scoring_strings(output: Sequence[PlainMessage]) -> Iterator[str]:
    for message in output:
        for part in message["parts"]:
            if part["type"] == "text":
                yield part["content"]
            elif part["type"] == "tool_call":
                yield from string_leaves(part["arguments"])


def string_leaves(value: JsonValue) -> Iterator[str]:
    """Yield the strings of a JSON value: objects by ascending key, arrays in order."""
    pending: list[JsonValue] = [value]
    while pending:  # a stack, not recursion: captured JSON may be deeper than Python's call stack
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            pending.extend(item[key] for key in sorted(item, reverse=True))
        elif isinstance(item, list):
            pending.extend(reversed(item))
