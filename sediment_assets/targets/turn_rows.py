"""Turns as rows carry them (targets.md §6.1): plain captured messages become row models, key by key."""

from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.messages import PlainMessage, ToolCallPart
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
        tool_calls=tuple(ToolCallPart.model_validate(call) for call in turn.tool_calls),
        decisions=tuple(_decision_row(decision) for decision in turn.decisions),
    )


def _message_row(message: PlainMessage) -> MessageRow:
    # A null finish_reason is left out of the row, so its key must not reach the model.
    plain = {key: value for key, value in message.items() if key != "finish_reason" or value is not None}
    return MessageRow.model_validate(plain)


def _decision_row(decision: DeveloperDecision) -> DecisionRow:
    return DecisionRow(
        accepted=decision.accepted,
        explicit=decision.explicit,
        agent_harness=decision.agent_harness,
        interaction_mode=decision.interaction_mode,
        file_path=decision.file_path,
    )
