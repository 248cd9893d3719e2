"""The Rollout record: a Rollout as bundle.md §4.2 spells it, and back."""

from dataclasses import fields
from typing import Any, Final, TypeVar

from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.messages import parse_messages, parse_tool_calls
from sediment_assets.bundle.shapes import parse_field, parse_list, parse_normal, parse_record, require_keys
from sediment_assets.derive.provenance import Provenance
from sediment_assets.derive.split import Split
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.scalars import Id, OrgId, normal_commit_sha, normal_id
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.facts.text import strip
from sediment_assets.repositories.keys import RepositoryIdentity
from sediment_assets.rollouts.models import AttributionSource, CommitRef, Rollout, Segment, Turn

M = TypeVar("M", bound=FrozenModel)


def rollout_plain(rollout: Rollout) -> JsonObject:
    """Return a Rollout as a plain record, for ``encode_line``."""
    return {
        "org_id": rollout.org_id,
        "session_id": rollout.session_id,
        "segments": segments_plain(rollout.segments),
        "commits": [_commit_plain(commit) for commit in rollout.commits],
        "attribution_source": rollout.attribution_source,
        "terminal_outcomes": _dumped(rollout.terminal_outcomes),
        "provenance": rollout.provenance.model_dump(),
        "split": rollout.split,
        "session_commit_observations": _dumped(rollout.session_commit_observations),
    }


def segments_plain(segments: tuple[Segment, ...]) -> list[list[JsonObject]]:
    """Return the Segments as plain records: what a re-projection is compared in (bundle.md §8, rule 26)."""
    return [[_turn_plain(turn) for turn in segment] for segment in segments]


def _turn_plain(turn: Turn) -> JsonObject:
    return {
        "new_messages": turn.new_messages,
        "completion": turn.completion,
        "decisions": _dumped(turn.decisions),
        "inference_call_id": turn.inference_call_id,
        "tool_calls": turn.tool_calls,
    }


def _commit_plain(commit: CommitRef) -> JsonObject:
    identity = commit.repository_identity
    return {
        "repo": commit.repo,
        "commit_sha": commit.commit_sha,
        "repository_identity": None if identity is None else identity.model_dump(),
    }


def _dumped(records: tuple[M, ...]) -> list[JsonObject]:
    return [record.model_dump() for record in records]


def parse_rollout(value: JsonObject, segments: tuple[Segment, ...] | None = None) -> Rollout:
    """Read a plain record as a Rollout; only its shape is judged here (bundle.md §8, rule 14).

    :param segments: the record's own, where they have been read already.
    :raises BundleError: with the path of the first value that has another shape.
    """
    require_keys(value, _ROLLOUT)
    head = parse_record(_RolloutHead, {key: value[key] for key in _RolloutHead.model_fields})
    if segments is None:
        segments = tuple(parse_field(value, "segments", lambda part: parse_list(part, _segment)))
    return Rollout(
        org_id=head.org_id,
        session_id=head.session_id,
        segments=segments,
        commits=tuple(parse_field(value, "commits", lambda part: parse_list(part, _commit))),
        attribution_source=head.attribution_source,
        terminal_outcomes=parse_records(CIOutcome, value, "terminal_outcomes"),
        provenance=head.provenance,
        split=head.split,
        session_commit_observations=parse_records(SessionCommitObservation, value, "session_commit_observations"),
    )


class _RolloutHead(FrozenModel):
    """The fields of a Rollout besides the arrays."""

    org_id: OrgId
    session_id: Id
    attribution_source: AttributionSource
    provenance: Provenance
    split: Split


_ROLLOUT: Final = frozenset(field.name for field in fields(Rollout))
_TURN: Final = frozenset(field.name for field in fields(Turn))
_COMMIT: Final = frozenset(field.name for field in fields(CommitRef))


def parse_records(kind: type[M], value: JsonObject, key: str) -> tuple[M, ...]:
    """Read the array of Facts under a key."""
    return tuple(parse_field(value, key, lambda part: parse_list(part, lambda item: parse_record(kind, item))))


def parse_label(value: object) -> str:
    """Read a repository label: any string that is not blank."""
    if not isinstance(value, str) or not strip(value):
        raise BundleError(f"expected a non-blank string, got {shown(value)}")
    return value


def parse_id(value: object) -> str:
    """Read an Id."""
    return parse_normal(value, normal_id)


def parse_sha(value: object) -> str:
    """Read a Sha."""
    return parse_normal(value, normal_commit_sha)


def parse_identity(value: object) -> RepositoryIdentity | None:
    """Read a repository identity, or null for a legacy repository."""
    return None if value is None else parse_record(RepositoryIdentity, value)


def _segment(value: Any) -> Segment:
    return tuple(parse_list(value, _turn))


def _turn(value: Any) -> Turn:
    turn = require_keys(value, _TURN)
    completion = turn["completion"]
    if not isinstance(completion, str):
        raise BundleError(f"expected a string, got {shown(completion)}", path="completion")
    return Turn(
        new_messages=tuple(parse_field(turn, "new_messages", parse_messages)),
        completion=completion,
        decisions=parse_records(DeveloperDecision, turn, "decisions"),
        inference_call_id=parse_field(turn, "inference_call_id", parse_id),
        tool_calls=tuple(parse_field(turn, "tool_calls", parse_tool_calls)),
    )


def _commit(value: Any) -> CommitRef:
    commit = require_keys(value, _COMMIT)
    return CommitRef(
        repo=parse_field(commit, "repo", parse_label),
        commit_sha=parse_field(commit, "commit_sha", parse_sha),
        repository_identity=parse_field(commit, "repository_identity", parse_identity),
    )
