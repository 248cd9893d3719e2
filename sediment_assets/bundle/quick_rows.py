"""Rows that a bundle has most of, read fast when they are as they should be (bundle.md §4.2).

Every bundle, be it of one day, carries a row for each call and repository-bearing Fact of its organization. The same
functions judge them as judge any other record; what they would refuse or change is None here, and read thoroughly.
Rows differ in their ids, instants and numbers; what else they say is the same for thousands, and parsed once.
"""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.shapes import parse_time
from sediment_assets.derive.fact_reader import CallIdentity
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.messages import is_stored_id
from sediment_assets.facts.scalars import MAX_NAT63, normal_org_id
from sediment_assets.repositories.evidence import RepositoryEvidence

_IDENTITY: Final = frozenset(CallIdentity.__slots__)
_EVIDENCE: Final = frozenset(RepositoryEvidence.__slots__)
_ANY_ID: Final = "-"
_ANY_TIME: Final = "1970-01-01T00:00:00+00:00"


def quick_identity(value: JsonObject) -> CallIdentity | None:
    """Read one InferenceCallIdentity."""
    if value.keys() != _IDENTITY or type(value["call_ids"]) is not list:
        return None
    call_id, session_id, call_ids = value["inference_call_id"], value["session_id"], tuple(value["call_ids"])
    org_id, observed_at = value["org_id"], _time(value["observed_at"])
    if observed_at is None or not (type(org_id) is str and _is_org(org_id)):
        return None
    if not all(map(is_stored_id, (call_id, session_id, *call_ids))):
        return None
    return CallIdentity(call_id, org_id, session_id, observed_at, call_ids)


def quick_evidence(value: JsonObject, parse: Callable[[JsonObject], RepositoryEvidence]) -> RepositoryEvidence | None:
    """Read one row of repository evidence; ``parse`` does so thoroughly."""
    if value.keys() != _EVIDENCE:
        return None
    fact_id, push_id, captured_at = value["source_fact_id"], value["source_push_id"], _time(value["captured_at"])
    rest = {key: value[key] for key in _SHARED}
    if captured_at is None or not is_stored_id(fact_id) or not (push_id is None or is_stored_id(push_id)):
        return None
    if not all(type(item) is str or item is None for item in rest.values()):
        return None
    like = _parsed_once(parse, tuple(rest.items()), push_id is not None)
    if like is None:
        return None
    return RepositoryEvidence(
        like.source_table,
        fact_id,
        like.role,
        like.org_id,
        like.repo,
        like.repository_provider,
        like.repository_host,
        like.repository_id,
        captured_at,
        push_id,
    )


_SHARED: Final = tuple(_EVIDENCE - {"source_fact_id", "source_push_id", "captured_at"})


@lru_cache(maxsize=1024)
def _parsed_once(
    parse: Callable[[JsonObject], RepositoryEvidence], rest: tuple[tuple[str, str | None], ...], has_push: bool
) -> RepositoryEvidence | None:
    ids = {"source_fact_id": _ANY_ID, "source_push_id": _ANY_ID if has_push else None, "captured_at": _ANY_TIME}
    try:
        return parse(dict(rest) | ids)
    except BundleError:
        return None


def quick_call(value: JsonObject, parse: Callable[[JsonObject], InferenceCall]) -> InferenceCall | None:
    """Read one complete InferenceCall, decoded from JSON, but for its messages; ``parse`` does so thoroughly."""
    if value.keys() != _CALL:
        return None
    observed_at, model_call_id = _time(value["observed_at"]), value["model_call_id"]
    alike = tuple((key, value[key]) for key in _ALIKE)
    if (
        observed_at is not None
        and is_stored_id(value["inference_call_id"])
        and is_stored_id(value["session_id"])
        and (model_call_id is None or is_stored_id(model_call_id))
        and type(value["raw"]) is dict
        and all(value[key] is None or _is_nat63(value[key]) for key in _COUNTS)
        and all(type(item) in _HASHABLE for _, item in alike)
        and (like := _call_parsed_once(parse, alike)) is not None
    ):
        return like.model_copy(update={key: value[key] for key in _OWN} | {"observed_at": observed_at})
    return None


_CALL: Final = frozenset(InferenceCall.model_fields) - {"input_messages", "output_messages"}
_COUNTS: Final = ("input_tokens", "output_tokens", "duration_ms")
_OWN: Final = ("inference_call_id", "session_id", "model_call_id", "raw", *_COUNTS)
_ALIKE: Final = tuple(sorted(_CALL - {*_OWN, "observed_at"}))
_HASHABLE: Final = frozenset({str, int, type(None)})
"""Not bool and float: they would be found as the integer they equal."""


def _is_nat63(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_NAT63


@lru_cache(maxsize=1024)
def _call_parsed_once(
    parse: Callable[[JsonObject], InferenceCall], alike: tuple[tuple[str, Any], ...]
) -> InferenceCall | None:
    ids = {"inference_call_id": _ANY_ID, "session_id": _ANY_ID, "observed_at": _ANY_TIME, "raw": {}}
    try:
        return parse(dict.fromkeys(_OWN) | ids | dict(alike))
    except BundleError:
        return None


@lru_cache(maxsize=16)
def _is_org(text: str) -> bool:
    try:
        return normal_org_id(text) == text
    except ValueError:
        return False


def _time(value: Any) -> datetime | None:
    try:
        return parse_time(value)
    except BundleError:
        return None
