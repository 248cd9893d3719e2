"""Rules of the manifest by itself (bundle.md §8, rules 2, 3 and 7)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from sediment_assets.bundle.encoding import RECORD_ENCODING, Population
from sediment_assets.bundle.errors import BundleError
from sediment_assets.bundle.manifest import (
    BUNDLE_VERSION,
    IMPLEMENTATION_VERSIONS,
    POPULATION_RULE,
    Manifest,
    MemberFile,
)
from sediment_assets.bundle.shapes import parse_field, parse_list, parse_normal, parse_time, require_keys
from sediment_assets.derive.policy import DerivationPolicy, PolicyError, policy_from_plain
from sediment_assets.derive.tally import FragmentReason
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import JsonObject
from sediment_assets.facts.scalars import normal_org_id
from sediment_assets.facts.text import strip
from sediment_assets.rollouts.scope import CohortScope

_IMPLIED: Final = (
    "bundle_schema_version",
    "record_encoding",
    "identity_population",
    "repository_population",
    "policy_digest",
    "implementation_versions",
    "counts",
)
_MANIFEST: Final = frozenset(_IMPLIED) | {field.name for field in fields(Manifest)}


def parse_manifest(value: JsonObject) -> Manifest:
    """Check a decoded manifest by itself . ``counts`` must equal the ``rows`` of ``files``.

    :raises BundleError: for the first value that breaks a rule, the version before anything else.
    """
    version = value.get("bundle_schema_version")
    if type(version) is not int or version != BUNDLE_VERSION:
        raise BundleError(
            f"expected {BUNDLE_VERSION}, got {shown(version)}; derive the bundle again from its Facts",
            path="bundle_schema_version",
        )
    require_keys(value, _MANIFEST)
    for key, literal in (
        ("record_encoding", RECORD_ENCODING),
        ("identity_population", POPULATION_RULE),
        ("repository_population", POPULATION_RULE),
    ):
        if value[key] != literal:
            raise BundleError(f"expected {shown(literal)}, got {shown(value[key])}", path=key)
    policy = parse_field(value, "policy", _policy)
    if value["policy_digest"] != policy.digest:
        raise BundleError(f"expected {policy.digest}, got {shown(value['policy_digest'])}", path="policy_digest")
    parse_field(value, "implementation_versions", _require_versions)
    scope = parse_field(value, "scope", _scope)
    files = parse_field(value, "files", _files)
    _require_counts(value["counts"], files)
    return Manifest(
        org_id=parse_field(value, "org_id", lambda item: parse_normal(item, normal_org_id)),
        policy=policy,
        scope=scope,
        quarantine_revision=parse_field(value, "quarantine_revision", _count),
        as_of=parse_field(value, "as_of", _optional_time),
        mirror_revisions=parse_field(value, "mirror_revisions", _mirror_revisions),
        skipped=parse_field(value, "skipped", _counters),
        excluded=parse_field(value, "excluded", _counters),
        fragmented=parse_field(value, "fragmented", _fragmented),
        files=files,
    )


_POLICY: Final = {
    "": {"schema_version", "attribution", "split"},
    "attribution": {"post_push_grace_period_minutes", "max_commits_per_push", "git_notes", "jaccard"},
    "attribution.git_notes": {"min_similarity", "lookback_window_minutes"},
    "attribution.jaccard": {"min_similarity", "lookback_window_minutes"},
    "split": {"eval_fraction"},
}


def _policy(value: Any) -> DerivationPolicy:
    """Read the resolved policy: unlike in a policy file every key is there (bundle.md §5)."""
    for path, keys in _POLICY.items():
        table = value
        for step in path.split(".") if path else ():
            table = table[step]
        try:
            require_keys(table, keys)
        except BundleError as error:
            raise (error.under(path) if path else error) from None
    try:
        return policy_from_plain(value, place="policy")
    except PolicyError as error:
        raise BundleError(str(error).removeprefix("policy: ")) from None


def _require_versions(value: Any) -> None:
    require_keys(value, IMPLEMENTATION_VERSIONS.keys())
    for key, version in IMPLEMENTATION_VERSIONS.items():
        if value[key] != version:
            raise BundleError(
                f"expected {shown(version)}, got {shown(value[key])}; derive the bundle again from its Facts", path=key
            )


def _scope(value: Any) -> CohortScope:
    require_keys(value, {"since", "until", "users"})
    since, until = (parse_field(value, key, _optional_time) for key in ("since", "until"))
    if since is not None and until is not None and since >= until:
        raise BundleError(f"expected an instant before until ({until}), got {since}", path="since")
    return CohortScope(since, until, parse_field(value, "users", _users))


def _users(value: Any) -> tuple[str, ...] | None:
    if value is None:
        return None
    users = tuple(parse_list(value, _user))
    if not users or list(users) != sorted(set(users)):
        raise BundleError("expected null or at least one user, ascending and distinct")
    return users


def _user(value: Any) -> str:
    if not isinstance(value, str) or not value or strip(value) != value:
        raise BundleError(f"expected a trimmed, non-blank string, got {shown(value)}")
    return value


def _files(value: Any) -> dict[Population, MemberFile]:
    require_keys(value, set(Population))
    return {name: parse_field(value, name, _member_parser(name)) for name in Population}


def _member_parser(name: Population) -> Callable[[Any], MemberFile]:
    def parse(value: Any) -> MemberFile:
        require_keys(value, {"path", "rows", "bytes", "sha256"})
        if value["path"] != name.file:
            raise BundleError(f"expected {shown(name.file)}, got {shown(value['path'])}", path="path")
        return MemberFile(
            rows=parse_field(value, "rows", _count),
            bytes=parse_field(value, "bytes", _count),
            sha256=parse_field(value, "sha256", _digest),
        )

    return parse


_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def _digest(value: Any) -> str:
    if not isinstance(value, str) or _DIGEST.fullmatch(value) is None:
        raise BundleError(f"expected 64 lower-case hexadecimal digits, got {shown(value)}")
    return value


def _require_counts(value: Any, files: Mapping[Population, MemberFile]) -> None:
    try:
        counts = _counters(value)
        require_keys(counts, set(Population))
    except BundleError as error:
        raise error.under("counts") from None
    for name, file in files.items():
        if counts[name] != file.rows:
            raise BundleError(f"expected files.{name}.rows ({file.rows}), got {counts[name]}", path=f"counts.{name}")


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise BundleError(f"expected an integer of at least 0, got {shown(value)}")
    return value


def _optional_time(value: Any) -> datetime | None:
    return None if value is None else parse_time(value)


def _counters(value: Any) -> dict[str, int]:
    return {key: parse_field(value, key, _count) for key in _object(value)}


def _fragmented(value: Any) -> dict[str, int]:
    counters = _counters(value)
    unknown = sorted(counters.keys() - set(FragmentReason))
    if unknown:
        raise BundleError(f"expected no key besides {', '.join(FragmentReason)}, got {shown(unknown[0])}")
    return counters


def _mirror_revisions(value: Any) -> dict[str, dict[str, str]]:
    return {key: parse_field(value, key, _refs) for key in _object(value)}


def _refs(value: Any) -> dict[str, str]:
    return {key: parse_field(value, key, _object_name) for key in _object(value)}


def _object_name(value: Any) -> str:
    if not isinstance(value, str):
        raise BundleError(f"expected a string, got {shown(value)}")
    return value


def _object(value: Any) -> JsonObject:
    if not isinstance(value, dict):
        raise BundleError(f"expected an object, got {shown(value)}")
    return value
