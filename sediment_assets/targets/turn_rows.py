"""Turns as rows carry them (targets.md §6.1): plain captured messages become row models, key by key.

Messages were validated when they were captured and again when a bundle was read, and they are most of every row: they
are put into their models as they are (``model_construct``) instead of being checked a third time.
"""

from typing import Final

from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.messages import (
    PlainMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolCallResponsePart,
)
from sediment_assets.rollouts.models import Segment, Turn
from sediment_assets.targets.rows.shared import DecisionRow, MessageRow, TurnRow


def turn_rows(segment: Segment) -> tuple[TurnRow, ...]:
    """Return a Segment's Turns as rows, in order."""
    return tuple(_turn_row(turn) for turn in segment)


def _turn_row(turn: Turn) -> TurnRow:
    return TurnRow(
        inference_call_id=turn.inference_call_id,
        new_messages=tuple(_message_row(message) for message in turn.new_messages),
        completion=turn.completion,
        tool_calls=tuple(ToolCallPart.model_construct(**call) for call in turn.tool_calls),
        decisions=tuple(_decision_row(decision) for decision in turn.decisions),
    )


def _message_row(message: PlainMessage) -> MessageRow:
    parts = tuple(_PARTS[part["type"]].model_construct(**part) for part in message["parts"])
    finish_reason = message["finish_reason"]
    if finish_reason is None:
        return MessageRow.model_construct(role=message["role"], parts=parts)  # null is left out of a row
    return MessageRow.model_construct(role=message["role"], parts=parts, finish_reason=finish_reason)


_PARTS: Final[dict[str, type[TextPart | ReasoningPart | ToolCallPart | ToolCallResponsePart]]] = {
    "text": TextPart,
    "reasoning": ReasoningPart,
    "tool_call": ToolCallPart,
    "tool_call_response": ToolCallResponsePart,
}


def _decision_row(decision: DeveloperDecision) -> DecisionRow:
    return DecisionRow(
        accepted=decision.accepted,
        explicit=decision.explicit,
        agent_harness=decision.agent_harness,
        interaction_mode=decision.interaction_mode,
        file_path=decision.file_path,
    )
