"""The contract's rules once more, as plainly as they are written, to compare the real code with.

Quadratic, without windows that slide, without text shortcuts. Covers derivation.md §5 (continuity, scoring text,
subsumption) and §9 (the Jaccard fallback).
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.push import Push
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.histories import BINARY
from tests.property.strategies import Population

# --- §5


def same(left: Any, right: Any) -> bool:
    """Equality of values in a history."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return exact(left) == exact(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return set(left) == set(right) and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and bool(left == right)


def exact(number: float) -> Fraction | str:
    return Fraction(number) if math.isfinite(number) else str(number)


def history(messages: Iterable[Any]) -> list[Any]:
    """Roles and parts; a part's fields as declared."""
    return [[message["role"], message["parts"]] for message in messages]


def starts_with(text: list[Any], beginning: list[Any]) -> bool:
    return same(text[: len(beginning)], beginning)


def continuity(previous_input: str, previous_output: str, current_input: str) -> str | None:
    """Why a call does not continue the one before it, or None; from stored JSON texts."""
    before, said, after = (json.loads(text) for text in (previous_input, previous_output, current_input))
    content = [part for message in said for part in message["parts"] if part["type"].startswith("tool_call")]
    content += [part for message in said for part in message["parts"] if part.get("content", "") != ""]
    if not content:
        return "prior_output_absent"
    if not starts_with(history(after), history(before)):
        return "input_history_changed"
    if not starts_with(history(after), history(before) + history(said)):
        return "prior_output_not_replayed"
    return None


def scoring_text(output: Iterable[Any]) -> str:
    found: list[str] = []

    def leaves(value: Any) -> None:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            for item in value:
                leaves(item)
        elif isinstance(value, dict):
            for key in sorted(value):
                leaves(value[key])

    for message in output:
        for part in message["parts"]:
            leaves(part.get("content") if part["type"] == "text" else part.get("arguments"))
    return "\n".join(text for text in found if text)


def is_subsumed(decision: DeveloperDecision, others: Iterable[DeveloperDecision]) -> bool:
    """Whether a Codex decision without a path repeats one with a path."""
    if decision.agent_harness != "codex" or decision.file_path != "" or decision.call_id is None:
        return False
    compared = ("session_id", "accepted", "explicit", "interaction_mode", "occurred_at", "call_id")
    return any(
        other.agent_harness == "codex"
        and other.file_path != ""
        and all(getattr(other, name) == getattr(decision, name) for name in compared)
        for other in others
    )


# --- §9

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
DIGITS = "0123456789"


def tokens(text: str) -> set[str]:
    found, position = set(), 0
    while position < len(text):
        allowed = LETTERS + DIGITS if text[position] in LETTERS else DIGITS
        end = position
        while end < len(text) and text[end] in allowed:
            end += 1
        if end > position:
            found.add(text[position:end].lower())
        position = max(end, position + 1)
    return found


def best(file: str, calls: Iterable[InferenceCall], floor: float) -> InferenceCall | None:
    ranked = []
    for call in calls:
        said = scoring_text(call.model_dump()["output_messages"])
        union = tokens(file) | tokens(said)
        score = len(tokens(file) & tokens(said)) / len(union) if union else 0.0
        if score > 0 and score >= floor:
            ranked.append((-score, call.observed_at, call.inference_call_id, call))
    return min(ranked, default=[None])[-1]


def reachable(sha: str, parents: Mapping[str, Sequence[str]]) -> set[str]:
    return {sha}.union(*(reachable(parent, parents) for parent in parents[sha]))


def pushed_commits(push: Push, parents: Mapping[str, Sequence[str]], most: int) -> list[str]:
    """Commit ids order as their times do."""
    if push.forced or set(push.before_sha) == {"0"} or push.before_sha not in parents or push.after_sha not in parents:
        return [push.after_sha]
    brought = reachable(push.after_sha, parents) - reachable(push.before_sha, parents)
    return sorted(brought, reverse=True)[:most] or [push.after_sha]


def attribute(
    population: Population,
    pushes: Iterable[Push],
    calls: Sequence[InferenceCall],
    resolver: RepositoryResolver,
    noted: Mapping[CommitKey, Iterable[str]],
) -> tuple[set[tuple[str, CommitKey]], Counter[str]]:
    """Return (session_id, commit) of every file won, and the counters."""
    policy, skipped, won = population.policy, Counter[str](), set[tuple[str, CommitKey]]()
    resolved = []
    for push in sorted(pushes, key=lambda push: (push.captured_at, push.push_id)):
        found = resolver.fact(push)
        if isinstance(found, RepositoryReason):
            skipped[found] += 1
        else:
            resolved.append((push, found.key))
    if not resolved:
        return won, skipped
    grace = timedelta(minutes=policy.post_push_grace_period_minutes)
    wide = timedelta(minutes=policy.jaccard.lookback_window_minutes)
    note = timedelta(minutes=policy.git_notes.lookback_window_minutes)
    first, last = resolved[0][0].captured_at, resolved[-1][0].captured_at
    if not [call for call in calls if first - max(wide, note) <= call.observed_at <= last + grace]:
        skipped["no_inference_call_candidates"] += len(resolved)
        return won, skipped
    done = set()
    for push, repository in resolved:
        if repository not in population.mirrored:
            skipped["mirror_absent"] += 1
            continue
        near = [c for c in calls if push.captured_at - wide <= c.observed_at <= push.captured_at + grace]
        noted_near = [c for c in calls if push.captured_at - note <= c.observed_at <= push.captured_at + grace]
        for sha in pushed_commits(push, population.parents, policy.max_commits_per_push):
            commit = CommitKey(repository, sha)
            if commit in done:
                continue
            done.add(commit)
            if sha not in population.parents:
                skipped["commit_diff_unavailable"] += 1
                continue
            content = population.contents[int(sha, 16) - 1]
            broken = [file for file in content if isinstance(file, str)]
            for file in broken:
                skipped["unsupported_diff_section" if file == BINARY else "malformed_diff_section"] += 1
            written = [file for file in content if not isinstance(file, str)]
            texts = [text for path, text in written if path.endswith((".py", ".ts", ".go")) and text.strip()]
            if not texts and not broken:
                skipped["no_code_diff"] += 1
            for text in texts:
                theirs = [c for c in noted_near if c.session_id in noted.get(commit, ())]
                winner = best(text, theirs, policy.git_notes.min_similarity)
                if winner is None:
                    winner = best(text, near, policy.jaccard.min_similarity)
                if winner is None:
                    skipped["no_match"] += 1
                else:
                    won.add((winner.session_id, commit))
    return won, skipped
