"""How an explanation is spelled as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sediment_assets.facts.instants import format_z
from sediment_assets.lineage.missing import MISSING

if TYPE_CHECKING:
    from sediment_assets.adapters.explanation import Explanation
    from sediment_assets.lineage.answers import Answer
    from sediment_assets.lineage.chain import SessionChain


def plain(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as plain JSON."""
    chain = explanation.chain
    return {
        "org_id": explanation.org_id,
        "session_id": explanation.session_id,
        "partition": explanation.partition,
        "as_of": None if explanation.as_of is None else format_z(explanation.as_of),
        "quarantine_revision": explanation.quarantine_revision,
        "published": [
            {
                "kind": row.generation.kind,
                "generation": str(row.generation.path),
                "file": row.file,
                "line": row.line,
                "instance_id": row.instance_id,
                "bundle_digest": row.generation.bundle_digest,
                "bundle": None if row.bundle is None else str(row.bundle),
            }
            for row in explanation.published
        ],
        "facts": [
            {
                "table": fact.table,
                "id": fact.fact_id,
                "captured_at": format_z(fact.captured_at),
                "quarantined_because": None if fact.hidden_by is None else fact.hidden_by.reason,
            }
            for fact in explanation.stored
        ],
        "rollout": None if chain is None else _plain_rollout(chain),
        "targets": [] if chain is None else [_plain_answer(answer) for answer in chain.answers],
    }


def _plain_rollout(chain: SessionChain) -> dict[str, Any]:
    return {
        "split": chain.rollout.split.value,
        "attribution_source": chain.rollout.attribution_source.value,
        "calls": [
            {
                "inference_call_id": call.inference_call_id,
                "observed_at": format_z(call.observed_at),
                "segment": call.segment,
                "decision_ids": [decision.decision_id for decision in call.decisions],
            }
            for call in chain.calls
        ],
        "commits": [
            {
                "repo": commit.repo,
                "commit_sha": commit.key.commit_sha,
                "presence": commit.presence.value,
                "found_by": list(commit.found_by),
                "outcome_ids": [outcome.outcome_id for outcome in commit.outcomes],
                "unused_outcomes": {one.outcome.outcome_id: list(one.reasons) for one in commit.unused},
                "verdict": commit.resolution.verdict if commit.resolution is not None else None,
                "selected": commit.selected,
            }
            for commit in chain.commits
        ],
        "repositories_without_mirror": list(chain.without_mirror),
    }


def _plain_answer(answer: Answer) -> dict[str, Any]:
    return {
        "target": answer.target.value,
        "population": answer.population.value,
        "instance_ids": [row.instance_id for row in answer.rows],
        "declined": [
            {
                "reason": declined.reason.value,
                "meaning": declined.reason.meaning,
                "missing": MISSING[declined.reason],
                "count": declined.count,
                "detail": declined.detail,
            }
            for declined in answer.declined
        ],
        "noted": dict(answer.noted),
    }
