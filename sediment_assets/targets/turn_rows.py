"""Turns as rows carry them (targets.md §6.1): plain JSON in the key order of ``TurnRow``, without the model.

Messages were validated when they were captured and again when a bundle was read, and they are most of every row: they
go into rows as they are. ``Spelled.row`` reads the published line back as the model, and tests do.
"""

from collections.abc import Iterator
from typing import Any

from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.messages import PlainMessage, PlainPart
from sediment_assets.rollouts.models import Segment, Turn


def plain_turns(segment: Segment) -> list[JsonObject]:
    """Return a Segment's Turns as rows, in order."""
    return [_plain_turn(turn) for turn in segment]


def captured_values(segment: Segment) -> Iterator[Any]:
    """Yield what in these Turns may be any JSON: arguments and results. Everything else is text."""
    for turn in segment:
        for call in turn.tool_calls:
            yield call["arguments"]
        for message in turn.new_messages:
            for part in message["parts"]:
                if part["type"] == "tool_call":
                    yield part["arguments"]
                elif part["type"] == "tool_call_response":
                    yield part["result"]


def _plain_turn(turn: Turn) -> JsonObject:
    return {
        "inference_call_id": turn.inference_call_id,
        "new_messages": [_plain_message(message) for message in turn.new_messages],
        "completion": turn.completion,
        "tool_calls": [_plain_part(call) for call in turn.tool_calls],
        "decisions": [
            {
                "accepted": decision.accepted,
                "explicit": decision.explicit,
                "agent_harness": decision.agent_harness,
                "interaction_mode": decision.interaction_mode,
                "file_path": decision.file_path,
            }
            for decision in turn.decisions
        ],
    }


def _plain_message(message: PlainMessage) -> JsonObject:
    plain: JsonObject = {"role": message["role"], "parts": [_plain_part(part) for part in message["parts"]]}
    if message["finish_reason"] is not None:  # null is left out of a row
        plain["finish_reason"] = message["finish_reason"]
    return plain


def _plain_part(part: PlainPart) -> JsonObject:
    # A new object each time, because the key order of a row is the declared one whatever the part's is.
    if part["type"] == "tool_call":
        return {"type": "tool_call", "id": part["id"], "name": part["name"], "arguments": part["arguments"]}
    if part["type"] == "tool_call_response":
        return {"type": "tool_call_response", "id": part["id"], "result": part["result"]}
    return {"type": part["type"], "content": part["content"]}
