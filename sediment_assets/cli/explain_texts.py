"""How an explanation is spelled for a person; as JSON it is ``explain_json.py``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sediment_assets.cli.facts import aligned
from sediment_assets.facts.instants import format_z
from sediment_assets.facts.json_values import decode
from sediment_assets.lineage.chain import Presence
from sediment_assets.lineage.missing import MISSING
from sediment_assets.mirrors.layout import mirror_path
from sediment_assets.targets.skips import TaskSkip
from sediment_assets.words import quantity

if TYPE_CHECKING:
    from sediment_assets.adapters.explanation import DeclinedSession, Explanation, PublishedRow
    from sediment_assets.adapters.fact_store.session_trace import StoredFact
    from sediment_assets.facts.ci_outcome import CIOutcome
    from sediment_assets.lineage.answers import Answer, Declined
    from sediment_assets.lineage.chain import CommitLink, SessionChain

_SHA_CHARACTERS = 12


def describe(explanation: Explanation, instance_id: str | None = None) -> Iterator[str]:
    """Spell a whole explanation, rows first."""
    yield f"Session {explanation.session_id} of {explanation.org_id}"
    chain = explanation.chain
    if chain is None:
        yield from _without_rollout(explanation)
        return
    rollout = chain.rollout
    yield f"  partition {explanation.partition}, split {rollout.split}, attribution_source {rollout.attribution_source}"
    if instance_id is not None and instance_id not in _instance_ids(chain):
        yield f"  {instance_id}: the Facts give no such row now; these are what they give:"
    yield ""
    yield from _rows(explanation, chain)
    yield from _bundles(explanation)
    yield ""
    yield from _facts(explanation, chain)
    yield ""
    yield from _commits(chain)
    if any(answer.declined for answer in chain.answers):
        yield ""
        yield from _declined(chain)


def _without_rollout(explanation: Explanation) -> Iterator[str]:
    if not explanation.stored:
        yield "  no Fact names this Session: look for its id with the captured calls (sediment facts shows the counts)"
        return
    calls = [fact for fact in explanation.stored if fact.table == "inference_calls"]
    if calls:
        yield f"  no Rollout, so no row in any target: all of its InferenceCalls ({len(calls)}) are quarantined"
        yield "  missing: a visible InferenceCall; release one to get the Session back"
    else:
        yield "  no Rollout, so no row in any target: no InferenceCall of the Session was captured"
        yield "  missing: an InferenceCall; decisions and observations alone make no Rollout"
    yield ""
    yield "Facts"
    yield from _stored(explanation.stored)


def _instance_ids(chain: SessionChain) -> set[str]:
    return {row.instance_id for answer in chain.answers for row in answer.rows}


def _rows(explanation: Explanation, chain: SessionChain) -> Iterator[str]:
    yield "rows"
    left = list(explanation.published)
    for answer in chain.answers:
        place = f"{answer.target} {answer.population}"
        for row in answer.rows:
            yield f"  {place}: {row.instance_id}{_patch(row.line)}"
            for published in [one for one in left if _is_of(one, answer, row.instance_id)]:
                left.remove(published)
                yield from _place(published, row.line)
        for declined in answer.declined:
            yield f"  {place}: {_segments(declined, answer)}{declined.reason}"
    for published in left:
        yield f"  {published.generation.kind}: {published.instance_id}"
        yield from _place(published, None)


def _is_of(published: PublishedRow, answer: Answer, instance_id: str) -> bool:
    return (
        published.generation.kind == answer.target.value
        and published.file.startswith(f"{answer.population}.")
        and published.instance_id == instance_id
    )


def _bundles(explanation: Explanation) -> Iterator[str]:
    """Name what the published rows were made from."""
    if explanation.published:
        yield ""
        yield "bundles, frozen before the rows were made"
    for digest, bundle in {row.generation.bundle_digest: row.bundle for row in explanation.published}.items():
        yield f"  {digest or 'none: exported directly from the Facts'}"
        if digest is not None:
            yield f"    {bundle if bundle is not None else 'not kept in this export root'}"


def _patch(line: bytes) -> str:
    """Say what a task starts from; nothing of a row without a Reference patch."""
    row = decode(line)
    if "base_commit" not in row:
        return ""
    patch = row.get("reference_patch", row.get("patch", ""))
    return f", from {row['base_commit'][:_SHA_CHARACTERS]} by a patch of {quantity(patch.count(chr(10)), 'line')}"


def _segments(declined: Declined, answer: Answer) -> str:
    return f"{declined.count} of {declined.count + len(answer.rows)} Segments declined, " if answer.rows else "none, "


def _place(published: PublishedRow, line: bytes | None) -> Iterator[str]:
    """Say where a row is published, and whether the Facts still give it."""
    if line == published.content:
        now = "the Facts give the same row now"
    elif line is None:
        now = "the Facts do not give it any more: materialize the day again"
    else:
        now = "the Facts give another row now: materialize the day again, then sediment generations diff"
    yield f"    {published.generation.path}/{published.file}:{published.line}"
    yield f"      {now}"


def _facts(explanation: Explanation, chain: SessionChain) -> Iterator[str]:
    as_of = "none" if explanation.as_of is None else format_z(explanation.as_of)
    yield f"Facts (as of {as_of}, quarantine revision {explanation.quarantine_revision})"
    rows = [("  call", "observed", "Segment", "decisions")]
    for call in chain.calls:
        decided = ", ".join(
            f"{'accepted' if decision.accepted else 'rejected'} {decision.file_path or decision.call_id or ''}".strip()
            for decision in call.decisions
        )
        rows.append((f"  {call.inference_call_id}", format_z(call.observed_at), str(call.segment), decided or "-"))
    yield from aligned(rows, numbers=(2,))
    hidden = [fact for fact in explanation.stored if fact.hidden_by is not None]
    if hidden:
        yield "  quarantined, so not used:"
        yield from _stored(hidden)


def _stored(facts: list[StoredFact] | tuple[StoredFact, ...]) -> Iterator[str]:
    for fact in facts:
        hidden = fact.hidden_by
        why = "visible" if hidden is None else f"quarantined (revision {hidden.revision}): {hidden.reason}"
        yield f"    {fact.table} {fact.fact_id} {format_z(fact.captured_at)}: {why}"


def _commits(chain: SessionChain) -> Iterator[str]:
    yield "commits, the last one with a verdict counts" if chain.commits else "commits: none"
    for commit in chain.commits:
        when = format_z(datetime.fromtimestamp(commit.committed_at, UTC)) if commit.committed_at else "time unknown"
        yield f"  {commit.repo} {commit.key.commit_sha[:_SHA_CHARACTERS]}  {when}  {_presence(commit)}"
        yield f"    found by: {', '.join(commit.found_by) or 'unknown'}"
        yield from map(_outcome, commit.outcomes)
        for unused in commit.unused:
            yield f"{_outcome(unused.outcome)}; not used: {', '.join(unused.reasons)}"
        yield f"    CI: {_verdict(commit)}"
    if not chain.commits:
        yield "  no note and no SessionCommitObservation names the Session"
        near = ", ".join(f"{push.repo} {push.after_sha[:_SHA_CHARACTERS]}" for push in chain.pushes_near)
        yield f"  Pushes captured near its calls: {near or 'none'}" + ("; no commit holds similar text" if near else "")


def _presence(commit: CommitLink) -> str:
    if commit.presence is not Presence.NO_MIRROR:
        return commit.presence
    return f"no mirror (expected at {mirror_path(commit.key.repository)} under SEDIMENT_MIRROR_PATH)"


def _outcome(outcome: CIOutcome) -> str:
    attempt = "" if outcome.run_attempt is None else f" attempt {outcome.run_attempt}"
    workflow = f"{outcome.workflow_name} " if outcome.workflow_name else ""
    return (
        f"    {outcome.outcome_id}: {workflow}run {outcome.run_id}{attempt} {outcome.result}, "
        f"captured {format_z(outcome.captured_at)}"
    )


def _verdict(commit: CommitLink) -> str:
    resolution = commit.resolution
    if resolution is None:
        return "no CI outcome counts for it"
    if resolution.verdict is None:
        return "workflows disagree: no verdict" if resolution.is_ambiguous else "nothing passed or failed: no verdict"
    flake = ", a suspected flake" if resolution.suspected_flake else ""
    selected = "; this is the verdict that counts" if commit.selected else ""
    return f"{resolution.verdict}, reliability {resolution.reliability}{flake}{selected}"


def _declined(chain: SessionChain) -> Iterator[str]:
    yield "declined"
    places: dict[tuple[str, str | None], list[str]] = {}
    reasons = {}
    for answer in chain.answers:
        for declined in answer.declined:
            key = (declined.reason.value, declined.detail)
            places.setdefault(key, []).append(f"{answer.target} {answer.population}")
            reasons[key] = declined.reason
    for key, reason in reasons.items():
        yield f"  {reason}: {reason.meaning}"
        yield f"    by: {', '.join(places[key])}"
        if key[1] is not None:
            yield f"    git: {key[1]}"
        yield f"    missing: {MISSING[reason]}"
        if reason is TaskSkip.NO_ATTRIBUTED_COMMIT and chain.without_mirror:
            pushed = ", ".join(chain.without_mirror)
            yield f"    pushed, but without mirror, so that no note was seen: {pushed}; run sediment mirror sync"


def describe_declined(found: Sequence[DeclinedSession]) -> Iterator[str]:
    """Spell a list of declined Sessions: one line for each reason of each, its populations together."""
    places: dict[tuple[str, str], list[str]] = {}
    for one in found:
        places.setdefault((one.session_id, one.reason), []).append(f"{one.target} {one.population}")
    if places:
        yield from aligned(
            [
                ("Session", "reason", "by"),
                *((session_id, reason, ", ".join(by)) for (session_id, reason), by in places.items()),
            ],
            numbers=(),
        )
        yield ""
    sessions = {one.session_id for one in found}
    hint = "; sediment explain --session ID shows one with its evidence" if sessions else ""
    yield f"Sessions: {len(sessions)}{hint}"
