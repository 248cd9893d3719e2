"""Which mirror a Push may refresh, and from where (mirrors.md §8.6)."""

from sediment_assets.facts.vocabulary import ForgeProvider
from sediment_assets.mirrors.refresh import RefreshPlan, plan_refresh
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import IDENTITY, ORG, make_outcome, make_push, make_rename

I42 = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "42")
I43 = IdentifiedKey(ORG, ForgeProvider.GITHUB, "github.com", "43")
OTHER = {**IDENTITY, "repository_id": "43"}


def at(hour: int) -> str:
    return f"2026-03-02T{hour:02}:00:00Z"


def plan(*pushes, renames=(), others=()) -> RefreshPlan:
    resolver = RepositoryResolver.build(ORG, map(project_evidence, [*pushes, *others]), renames)
    return plan_refresh(sorted(pushes, key=lambda push: (push.captured_at, push.push_id)), resolver)


def test_the_newest_push_says_from_where():
    found = plan(
        make_push(push_id="p2", captured_at=at(2), clone_url="https://new.test/r", **IDENTITY),
        make_push(push_id="p1", captured_at=at(1), clone_url="https://old.test/r", ref="refs/heads/x", **IDENTITY),
    )
    target = found.targets[I42]
    assert (target.clone_url, target.label, target.declined) == ("https://new.test/r", "acme/widget", None)
    assert [push.push_id for push in target.pushes] == ["p1", "p2"]
    assert target.newest_push_id == "p2"
    assert "new.test" not in repr(target)


def test_a_push_without_a_url_does_not_hide_the_one_before():
    found = plan(
        make_push(push_id="p1", captured_at=at(1), clone_url="https://old.test/r"),
        make_push(push_id="p2", captured_at=at(2), clone_url="", ref="refs/heads/x"),
    )
    assert found.targets[LegacyKey(ORG, "acme/widget")].clone_url == "https://old.test/r"
    assert plan(make_push(clone_url="")).targets[LegacyKey(ORG, "acme/widget")].clone_url is None


def test_after_a_rename_both_names_find_the_repository():
    found = plan(
        make_push(push_id="p1", captured_at=at(1), **IDENTITY),
        make_push(push_id="p2", captured_at=at(3), repo="acme/gadget", ref="refs/heads/x", **IDENTITY),
        renames=[make_rename(captured_at=at(2))],
    )
    assert list(found.targets) == [I42]
    assert [target.key for target in found.find("acme/gadget")] == [I42]
    assert found.targets[I42].repo == "acme/gadget"


def test_two_identities_of_one_name_both_stop_refreshing():
    found = plan(
        make_push(push_id="p1", captured_at=at(1), **IDENTITY),
        make_push(push_id="p2", captured_at=at(2), **OTHER),
    )
    reason = RepositoryReason.MIRROR_IDENTITY_UNRESOLVED
    assert {key: target.declined for key, target in found.targets.items()} == {I42: reason, I43: reason}
    assert len(found.find("acme/widget")) == 2


def test_a_name_that_another_repository_took_over_is_not_fetched_under_the_old_one():
    found = plan(
        make_push(push_id="p1", captured_at=at(1), **IDENTITY),
        make_push(push_id="p2", captured_at=at(2), repo="acme/gadget", ref="refs/heads/x", **IDENTITY),
        make_push(push_id="p3", captured_at=at(3), **OTHER),
    )
    assert found.targets[I42].declined is None
    assert found.targets[I42].repo == "acme/gadget"
    assert found.targets[I43].declined is RepositoryReason.MIRROR_IDENTITY_UNRESOLVED


def test_pushes_that_name_no_repository_for_certain_are_counted():
    found = plan(
        make_push(push_id="p1"),
        make_push(push_id="p2", repo="", ref="refs/heads/x"),
        make_push(push_id="p3", repo="", ref="refs/heads/y"),
        others=[make_outcome(**IDENTITY)],
    )
    assert found.targets == {}
    assert found.unresolved == {
        ("", RepositoryReason.IDENTITY_ABSENT): 2,
        ("acme/widget", RepositoryReason.IDENTITY_UNRESOLVED): 1,
    }
