"""The Attributed completion record (bundle.md §4.2). Never derived here: read from bundles of other programs."""

from dataclasses import dataclass, fields
from typing import Any, Final

from pydantic import Field

from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.rollout_record import parse_identity, parse_label, parse_records, parse_sha
from sediment_assets.bundle.shapes import parse_field, parse_normal, parse_record, require_keys
from sediment_assets.derive.provenance import Provenance
from sediment_assets.derive.split import Split
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.scalars import Id, OrgId, Score, normal_identity
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.repositories.keys import RepositoryIdentity
from sediment_assets.rollouts.models import AttributionSource


class SessionAbandonment(FrozenModel):
    """The finding that a Session's accepted edits were never committed."""

    org_id: OrgId
    session_id: Id
    accepted_decisions: int = Field(ge=1)
    explicit_accepted_decisions: int = Field(ge=0)
    last_decision_at: Instant
    as_of: Instant
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class AttributedCompletion:
    """One model call as attributed to one file of a commit, or as abandoned; which of the two is rule 27's business."""

    org_id: str
    session_id: str
    inference_call_id: str
    repo: str | None
    commit_sha: str | None
    file_path: str | None
    similarity_score: float | None
    attribution_source: AttributionSource | None
    decisions: tuple[DeveloperDecision, ...]
    ci_outcomes: tuple[CIOutcome, ...]
    provenance: Provenance
    split: Split
    abandonment: SessionAbandonment | None
    session_commit_observations: tuple[SessionCommitObservation, ...]
    repository_identity: RepositoryIdentity | None
    source_push_id: str | None


_COMPLETION: Final = frozenset(field.name for field in fields(AttributedCompletion))


class _CompletionHead(FrozenModel):
    """The fields besides the arrays that have a normal form."""

    org_id: OrgId
    session_id: Id
    inference_call_id: Id
    similarity_score: Score | None
    attribution_source: AttributionSource | None
    provenance: Provenance
    split: Split
    source_push_id: Id | None


def parse_completion(value: JsonObject) -> AttributedCompletion:
    """Read a plain record; only its shape is judged here (bundle.md §8, rule 14).

    :raises BundleError: with the path of the first value that has another shape.
    """
    require_keys(value, _COMPLETION)
    head = parse_record(_CompletionHead, {key: value[key] for key in _CompletionHead.model_fields})
    return AttributedCompletion(
        **dict(head),
        repo=parse_field(value, "repo", lambda item: None if item is None else parse_label(item)),
        commit_sha=parse_field(value, "commit_sha", lambda item: None if item is None else parse_sha(item)),
        file_path=parse_field(value, "file_path", _path),
        decisions=parse_records(DeveloperDecision, value, "decisions"),
        ci_outcomes=parse_records(CIOutcome, value, "ci_outcomes"),
        abandonment=parse_field(value, "abandonment", _abandonment),
        session_commit_observations=parse_records(SessionCommitObservation, value, "session_commit_observations"),
        repository_identity=parse_field(value, "repository_identity", parse_identity),
    )


def _path(value: Any) -> str | None:
    return None if value is None else parse_normal(value, normal_identity)


def _abandonment(value: Any) -> SessionAbandonment | None:
    if value is None:
        return None
    abandonment = parse_record(SessionAbandonment, value)
    if abandonment.explicit_accepted_decisions > abandonment.accepted_decisions:
        raise BundleError(
            f"expected at most {abandonment.accepted_decisions}, got {abandonment.explicit_accepted_decisions}",
            path="explicit_accepted_decisions",
        )
    if abandonment.as_of < abandonment.last_decision_at:
        raise BundleError(
            f"expected an instant not before {abandonment.last_decision_at}, got {abandonment.as_of}", path="as_of"
        )
    return abandonment


def completion_plain(completion: AttributedCompletion) -> JsonObject:
    """Return an Attributed completion as a plain record, for ``encode_line``."""
    return {name: _plain(getattr(completion, name)) for name in sorted(_COMPLETION)}


def _plain(value: Any) -> Any:
    if isinstance(value, FrozenModel):
        return value.model_dump()
    return [record.model_dump() for record in value] if isinstance(value, tuple) else value
