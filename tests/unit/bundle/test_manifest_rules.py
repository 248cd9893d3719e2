"""Rules of the manifest (bundle.md §8, rules 2, 3, 7): one change of a good bundle, and the refusal it must meet."""

from pathlib import Path

import pytest

from sediment_assets.bundle.encoding import Population
from tests.bundles import Change, Draft, all_of, put, refusal

ROLLOUTS = Population.ROLLOUTS
NEXT_DAY = "2026-03-03T00:00:00+00:00"


def manifest(draft: Draft) -> dict:
    return draft.manifest


CASES: list[tuple[str, Change, str]] = [
    ("old version", put("bundle_schema_version", 3, manifest), "bundle_schema_version: expected 4, got 3; derive the"),
    ("float version", put("bundle_schema_version", 4.0, manifest), "bundle_schema_version: expected 4, got 4.0"),
    ("no version", lambda d: d.manifest.pop("bundle_schema_version"), "bundle_schema_version: expected 4, got null"),
    (
        "version before unknown keys",
        all_of(put("bundle_schema_version", 5, manifest), put("x", 1, manifest)),
        "bundle_schema_version: ",
    ),
    ("unknown key", put("x", 1, manifest), "expected no key besides"),
    ("missing key", lambda d: d.manifest.pop("scope"), "scope: expected a value, got no such key"),
    ("encoding", put("record_encoding", "x", manifest), "record_encoding: expected 'sediment-record-json-v1', got 'x'"),
    ("population", put("identity_population", None, manifest), "identity_population: expected 'organization-through"),
    ("repositories", put("repository_population", "", manifest), "repository_population: expected"),
    ("upper-case org", put("org_id", "Acme", manifest), "org_id: expected 'acme', got 'Acme'"),
    ("policy key", lambda d: d.manifest["policy"].pop("split"), "policy.split: expected a value, got no such key"),
    (
        "policy sub-key",
        lambda d: d.manifest["policy"]["attribution"]["jaccard"].pop("min_similarity"),
        "policy.attribution.jaccard.min_similarity: expected a value, got no such key",
    ),
    (
        "unknown policy key",
        lambda d: d.manifest["policy"]["split"].update(x=1),
        "policy.split: expected no key besides eval_fraction, got 'x'",
    ),
    (
        "policy range",
        lambda d: d.manifest["policy"]["split"].update(eval_fraction=0.6),
        "policy: split.eval_fraction: expected a number from 0 to 0.5, got 0.6",
    ),
    (
        "policy type",
        lambda d: d.manifest["policy"]["attribution"].update(max_commits_per_push=True),
        "policy: attribution.max_commits_per_push: expected an integer",
    ),
    (
        "number spelling belongs to the digest",
        lambda d: d.manifest["policy"]["attribution"]["git_notes"].update(min_similarity=0),
        "policy_digest: expected ",
    ),
    ("digest", put("policy_digest", "0" * 64, manifest), "policy_digest: expected dd6ddc485bcd"),
    (
        "implementation",
        lambda d: d.manifest["implementation_versions"].update(rollout="3"),
        "implementation_versions.rollout: expected '4', got '3'; derive the bundle again",
    ),
    (
        "implementation key",
        lambda d: d.manifest["implementation_versions"].pop("rollout"),
        "implementation_versions.rollout: expected a value",
    ),
    (
        "scope key",
        lambda d: d.manifest["scope"].pop("users"),
        "scope.users: expected a value, got no such key",
    ),
    (
        "empty scope",
        lambda d: d.manifest["scope"].update(since=NEXT_DAY, until=NEXT_DAY),
        "scope.since: expected an instant before until",
    ),
    ("no users", lambda d: d.manifest["scope"].update(users=[]), "scope.users: expected null or at least one user"),
    ("user order", lambda d: d.manifest["scope"].update(users=["b", "a"]), "scope.users: expected null or at"),
    ("users twice", lambda d: d.manifest["scope"].update(users=["a", "a"]), "scope.users: expected null or at"),
    ("padded user", lambda d: d.manifest["scope"].update(users=["a", " b"]), "scope.users[1]: expected a trimmed"),
    ("numeric user", lambda d: d.manifest["scope"].update(users=[1]), "scope.users[0]: expected a trimmed"),
    ("revision", put("quarantine_revision", True, manifest), "quarantine_revision: expected an integer of at least 0"),
    ("negative revision", put("quarantine_revision", -1, manifest), "quarantine_revision: expected an integer"),
    ("blank in time", put("as_of", "2026-03-02 09:08:00Z", manifest), "as_of: expected a timestamp like"),
    ("no offset", put("as_of", "2026-03-02T09:08:00", manifest), "as_of: expected a timestamp like"),
    ("no seconds", put("as_of", "2026-03-02T09:08Z", manifest), "as_of: expected a timestamp like"),
    ("epoch", put("as_of", 1772442480, manifest), "as_of: expected a timestamp like"),
    ("no such day", put("as_of", "2026-02-30T09:08:00Z", manifest), "as_of: expected a timestamp like"),
    ("revisions", put("mirror_revisions", [], manifest), "mirror_revisions: expected an object, got []"),
    ("refs", put("mirror_revisions", {"a": None}, manifest), "mirror_revisions.a: expected an object, got null"),
    ("object", put("mirror_revisions", {"a": {"r": 1}}, manifest), "mirror_revisions.a.r: expected a string, got 1"),
    (
        "odd key",
        put("excluded", {"a\nb": -1}, manifest),
        "excluded['a\\nb']: expected an integer of at least 0",
    ),
    ("counter", put("skipped", {"x": -1}, manifest), "skipped.x: expected an integer of at least 0, got -1"),
    ("boolean counter", put("excluded", {"x": True}, manifest), "excluded.x: expected an integer of at least 0"),
    ("counters", put("skipped", None, manifest), "skipped: expected an object, got null"),
    ("fragment reason", put("fragmented", {"x": 1}, manifest), "fragmented: expected no key besides prior_output_abs"),
    ("no member", lambda d: d.manifest["files"].pop(ROLLOUTS), "files.rollouts: expected a value, got no such key"),
    ("member more", lambda d: d.manifest["files"].update(x={}), "files: expected no key besides"),
    (
        "path",
        lambda d: d.manifest["files"][ROLLOUTS].update(path="./rollouts.jsonl"),
        "files.rollouts.path: expected 'rollouts.jsonl', got './rollouts.jsonl'",
    ),
    ("metadata", lambda d: d.manifest["files"][ROLLOUTS].update(x=1), "files.rollouts: expected no key besides"),
    ("counts", lambda d: d.manifest["counts"].pop(ROLLOUTS), "counts.rollouts: expected a value, got no such key"),
]


@pytest.mark.parametrize(("change", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_manifests_that_are_refused(draft: Draft, tmp_path: Path, change: Change, message: str):
    change(draft)
    assert refusal(draft.write(tmp_path / "b")).startswith(f"manifest.json: {message}")
