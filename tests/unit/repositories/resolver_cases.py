"""Facts with and without identities, and what a reference to them becomes."""

from datetime import UTC, datetime, timedelta

from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.keys import LegacyKey, RepositoryIdentity
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import ORG, make_observation, make_outcome, make_push, make_rename

ABSENT = RepositoryReason.IDENTITY_ABSENT
UNRESOLVED = RepositoryReason.IDENTITY_UNRESOLVED
CONFLICT = RepositoryReason.IDENTITY_CONFLICT
SOURCE_ABSENT = RepositoryReason.SOURCE_ABSENT
NOT_PROVEN = RepositoryReason.MIRROR_IDENTITY_UNRESOLVED
LATER = "2026-03-02T10:00:00Z"


def identity(repository_id):
    names = ("repository_provider", "repository_host", "repository_id")
    return dict(zip(names, ("github", "github.com", repository_id), strict=True))


def push(push_id, repo, repository_id=None, **values):
    triple = identity(repository_id) if repository_id else {}
    return make_push(push_id=push_id, repo=repo, **triple, **values)


def outcome(outcome_id, repo, repository_id=None, **values):
    triple = identity(repository_id) if repository_id else {}
    return make_outcome(outcome_id=outcome_id, repo=repo, run_id=outcome_id, **triple, **values)


def observation(observation_id, repo, push_id, repository_id=None, **values):
    triple = identity(repository_id) if repository_id else {}
    return make_observation(observation_id=observation_id, repo=repo, source_push_id=push_id, **triple, **values)


def rename(rename_id, repository_id, old, new, **values):
    names = {"rename_id": rename_id, "old_repo": old, "new_repo": new}
    return make_rename(**(names | identity(repository_id) | values))


def build(facts, renames=(), as_of=None):
    return RepositoryResolver.build(ORG, map(project_evidence, facts), renames, as_of)


def reference(resolver, repo, repository_id=None):
    known = RepositoryIdentity(provider=ForgeProvider.GITHUB, host="github.com", repository_id=repository_id or "1")
    return resolver.reference(repo, known if repository_id else None)


def spell(result):
    """A repository as ``<id or legacy>:<label>``, a failure as its reason."""
    if isinstance(result, RepositoryReason):
        return result
    key = result.key
    if isinstance(key, LegacyKey):
        assert (key.org_id, key.slug, result.identity) == (ORG, result.label, None)
        return f"legacy:{result.label}"
    assert (key.org_id, key.provider, key.host) == (ORG, "github", "github.com")
    assert result.identity == key.identity
    return f"{key.repository_id}:{result.label}"


def stamp(minutes):
    return datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=minutes)


RENAME = rename("n", "42", "o/a", "o/b", source_event_id="e")
