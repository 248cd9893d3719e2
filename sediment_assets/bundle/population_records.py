"""Records of the populations behind the artifacts: evidence, renames, identities, complete calls (bundle.md §4.2)."""

from dataclasses import dataclass
from typing import Any, Final

from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.messages import parse_messages
from sediment_assets.bundle.quick_rows import quick_call, quick_evidence, quick_identity
from sediment_assets.bundle.shapes import parse_field, parse_record, require_keys
from sediment_assets.derive.fact_reader import CallIdentity, StoredCall
from sediment_assets.facts.expected import shown
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.instants import Instant
from sediment_assets.facts.json_values import JsonError, JsonObject, encode_stored
from sediment_assets.facts.messages import call_aliases
from sediment_assets.facts.model import FrozenModel
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.scalars import Id, OrgId
from sediment_assets.repositories.evidence import EvidenceRole, EvidenceTable, RepositoryEvidence


def population_plain(row: RepositoryEvidence | CallIdentity) -> JsonObject:
    """Return a row as a plain record, for ``encode_line``."""
    return {name: getattr(row, name) for name in row.__slots__}


_PULL_REQUESTS: Final = (EvidenceTable.PULL_REQUEST_MERGES, EvidenceTable.PULL_REQUEST_REVISIONS)


def parse_evidence(value: JsonObject) -> RepositoryEvidence:
    """Read one row of repository evidence (bundle.md §4.2)."""
    return quick_evidence(value, _parse_evidence) or _parse_evidence(value)


def _parse_evidence(value: JsonObject) -> RepositoryEvidence:
    row = parse_record(RepositoryEvidence, value)
    if row.role is EvidenceRole.HEAD_REPO and row.source_table not in _PULL_REQUESTS:
        raise BundleError(f"expected repo for {row.source_table}, got head_repo", path="role")
    triple = (row.repository_provider, row.repository_host, row.repository_id)
    if triple.count(None) not in (0, 3):
        raise BundleError(
            "expected repository_provider, repository_host and repository_id all set or all null",
            path="repository_id",
        )
    is_observation = row.source_table is EvidenceTable.SESSION_COMMIT_OBSERVATIONS
    if is_observation != (row.source_push_id is not None):
        wanted = "an id" if is_observation else "null"
        raise BundleError(
            f"expected {wanted} for {row.source_table}, got {shown(row.source_push_id)}", path="source_push_id"
        )
    return row


def parse_rename(value: JsonObject) -> RepositoryRename:
    """Read one RepositoryRename (bundle.md §4.2)."""
    return parse_record(RepositoryRename, value)


class _IdentityRow(FrozenModel):
    inference_call_id: Id
    org_id: OrgId
    session_id: Id
    observed_at: Instant
    call_ids: tuple[Id, ...]


def parse_identity_row(value: JsonObject) -> CallIdentity:
    """Read one InferenceCallIdentity (bundle.md §4.2)."""
    return quick_identity(value) or CallIdentity(**dict(parse_record(_IdentityRow, value)))


@dataclass(frozen=True, slots=True)
class CarriedCall:
    """What the rules need of one complete InferenceCall; its messages in the spelling of the Fact store."""

    org_id: str
    call: StoredCall
    call_ids: tuple[str, ...]


_CALL: Final = frozenset(InferenceCall.model_fields)


def parse_call(value: JsonObject) -> CarriedCall:
    """Read one complete InferenceCall (rule 11)."""
    require_keys(value, _CALL)
    messages = parse_field(value, "input_messages", parse_messages)
    parse_field(value, "output_messages", parse_messages)  # before anything is spelled: the first wrong value counts
    rest = {key: item for key, item in value.items() if key != "input_messages"}
    return carried_call(rest, parse_field({"input_messages": messages}, "input_messages", _stored_text))


def carried_call(rest: JsonObject, input_text: str) -> CarriedCall:
    """Read a call from its fields besides the input messages, and these as the Fact store spells them."""
    require_keys(rest, _CALL - {"input_messages"})
    output = parse_field(rest, "output_messages", parse_messages)
    output_text = parse_field({"output_messages": output}, "output_messages", _stored_text)
    head = {key: item for key, item in rest.items() if key != "output_messages"}
    fact = quick_call(head, _parse_head) or _parse_head(head)
    call = StoredCall(
        inference_call_id=fact.inference_call_id,
        session_id=fact.session_id,
        user_id=fact.user_id,
        model_call_id=fact.model_call_id,
        observed_at=fact.observed_at,
        input_text=input_text,
        output_text=output_text,
    )
    aliases = call_aliases(output, fact.model_call_id)
    return CarriedCall(fact.org_id, call, tuple(sorted(aliases)))


def _parse_head(value: JsonObject) -> InferenceCall:
    """Read a call without its messages."""
    return parse_record(InferenceCall, value | {"input_messages": [], "output_messages": []})


def _stored_text(messages: Any) -> str:
    try:
        return encode_stored(messages)
    except JsonError as error:
        raise BundleError(str(error)) from None
