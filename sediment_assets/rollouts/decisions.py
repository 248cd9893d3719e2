"""Which Turn a Developer decision sits on (derivation.md §5.1)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sediment_assets.derive.tally import DecisionSkip
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.vocabulary import AgentHarness


@dataclass(frozen=True, slots=True)
class AttachedDecisions:
    """Decisions by inference_call_id, each list by (occurred_at, decision_id), and the rest counted."""

    by_call: Mapping[str, tuple[DeveloperDecision, ...]]
    skipped: Counter[DecisionSkip] = field(default_factory=Counter)


def attach_decisions(decisions: Iterable[DeveloperDecision], aliases: Mapping[str, Iterable[str]]) -> AttachedDecisions:
    """Attach one Session's decisions to its calls.

    :param aliases: inference_call_id to the call's distinct aliases (output tool_call ids and ``model_call_id``).
    """
    calls_of_alias: defaultdict[str, list[str]] = defaultdict(list)
    for call_id, names in aliases.items():
        for name in names:
            calls_of_alias[name].append(call_id)
    attached: defaultdict[str, list[DeveloperDecision]] = defaultdict(list)
    skipped: Counter[DecisionSkip] = Counter()
    for decision in without_subsumed(decisions):
        place = _place(decision, calls_of_alias)
        if isinstance(place, DecisionSkip):
            skipped[place] += 1
        else:
            attached[place].append(decision)
    ordered = {
        call_id: tuple(sorted(found, key=lambda d: (d.occurred_at, d.decision_id)))
        for call_id, found in attached.items()
    }
    return AttachedDecisions(ordered, skipped)


def without_subsumed(decisions: Iterable[DeveloperDecision]) -> list[DeveloperDecision]:
    """Drop each Codex decision without a path that a Codex decision with a path repeats (§5.1.1); never counted."""
    kept = list(decisions)
    with_path = {
        _codex_key(decision) for decision in kept if decision.agent_harness == AgentHarness.CODEX and decision.file_path
    }
    return [
        decision
        for decision in kept
        if not (
            decision.agent_harness == AgentHarness.CODEX
            and not decision.file_path
            and decision.call_id is not None
            and _codex_key(decision) in with_path
        )
    ]


def _codex_key(decision: DeveloperDecision) -> tuple[object, ...]:
    return (
        decision.org_id,
        decision.session_id,
        decision.accepted,
        decision.explicit,
        decision.interaction_mode,
        decision.occurred_at,
        decision.call_id,
    )


def _place(decision: DeveloperDecision, calls_of_alias: Mapping[str, list[str]]) -> str | DecisionSkip:
    if decision.call_id is None:
        return DecisionSkip.MISSING_CALL_ID
    calls = calls_of_alias.get(decision.call_id, [])
    if not calls:
        return DecisionSkip.UNMATCHED_CALL_ID
    return calls[0] if len(calls) == 1 else DecisionSkip.AMBIGUOUS_CALL_ID
