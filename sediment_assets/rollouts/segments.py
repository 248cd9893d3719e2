"""One Session's calls as Segments of Turns (derivation.md §5)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sediment_assets.derive.fact_reader import StoredCall
from sediment_assets.derive.scoring_text import scoring_text
from sediment_assets.derive.tally import DecisionSkip, FragmentReason
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.messages import PlainMessage, call_aliases, decode_messages
from sediment_assets.rollouts.decisions import attach_decisions
from sediment_assets.rollouts.history import Continued, continuity
from sediment_assets.rollouts.models import Segment, Turn


@dataclass(frozen=True, slots=True)
class ProjectedSession:
    """A Session's Segments with what fragmented them and which of its decisions found no Turn."""

    segments: tuple[Segment, ...]
    fragmented: Counter[FragmentReason] = field(default_factory=Counter)
    skipped: Counter[DecisionSkip] = field(default_factory=Counter)


def project_session(calls: Sequence[StoredCall], decisions: Sequence[DeveloperDecision]) -> ProjectedSession:
    """Cut a Session's calls, given by (observed_at, inference_call_id), into Segments and attach its decisions."""
    outputs = [decode_messages(call.output_text) for call in calls]
    attached = attach_decisions(
        decisions,
        {
            call.inference_call_id: call_aliases(output, call.model_call_id)
            for call, output in zip(calls, outputs, strict=True)
        },
    )
    segments: list[list[Turn]] = []
    fragmented: Counter[FragmentReason] = Counter()
    for position, (call, output) in enumerate(zip(calls, outputs, strict=True)):
        step = continuity(calls[position - 1], outputs[position - 1], call) if position else None
        if isinstance(step, Continued):
            segments[-1].append(_turn(call, output, step.new_messages, attached.by_call))
            continue
        if step is not None:
            fragmented[step] += 1
        segments.append([_turn(call, output, decode_messages(call.input_text), attached.by_call)])
    return ProjectedSession(tuple(map(tuple, segments)), fragmented, attached.skipped)


def _turn(
    call: StoredCall,
    output: Sequence[PlainMessage],
    new_messages: Sequence[PlainMessage],
    decisions: Mapping[str, tuple[DeveloperDecision, ...]],
) -> Turn:
    return Turn(
        new_messages=tuple(new_messages),
        completion=scoring_text(output),
        decisions=decisions.get(call.inference_call_id, ()),
        inference_call_id=call.inference_call_id,
        tool_calls=tuple(part for message in output for part in message["parts"] if part["type"] == "tool_call"),
    )
