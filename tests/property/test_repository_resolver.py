"""Properties of the repository identity resolver (mirrors.md §8): order, copies, boundary."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.keys import LegacyKey, RepositoryIdentity
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver, Resolved
from tests.builders import ORG, make_observation, make_outcome, make_push, make_rename

SLUGS = ("", "a/a", "b/b", "c/c")
IDS = (None, "7", "42")
TIMES = ("2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z")

slugs = st.sampled_from(SLUGS)
named = st.sampled_from(SLUGS[1:])
times = st.sampled_from(TIMES)
small = st.integers(0, 3).map(str)
triples = st.sampled_from(IDS).map(
    lambda value: {
        "repository_provider": value and "github",
        "repository_host": value and "github.com",
        "repository_id": value,
    }
)
pushes = st.builds(
    lambda **values: make_push(**values.pop("triple"), **values), push_id=small, repo=slugs, triple=triples
)
outcomes = st.builds(
    lambda **values: make_outcome(**values.pop("triple"), **values),
    outcome_id=small,
    repo=slugs,
    triple=triples,
    captured_at=times,
)
observations = st.builds(
    lambda **values: make_observation(**values.pop("triple"), **values),
    observation_id=small,
    repo=named,
    triple=triples,
    source_push_id=small,
)
renames = st.builds(
    lambda names, **values: make_rename(old_repo=names[0], new_repo=names[1], **values),
    names=st.permutations(SLUGS[1:]),
    rename_id=small,
    repository_id=st.sampled_from(IDS[1:]),
    source_event_id=st.sampled_from((None, "e1", "e2")),
    captured_at=times,
)
fact_lists = st.lists(pushes | outcomes | observations, max_size=10)
rename_lists = st.lists(renames, max_size=4)
properties = settings(deadline=None)


def build(facts, renamed, as_of=None):
    return RepositoryResolver.build(ORG, map(project_evidence, facts), renamed, as_of)


def answers(resolver, facts):
    """Everything a resolver can be asked about these Facts and the known slugs and identities."""
    identities = [
        value and RepositoryIdentity(provider="github", host="github.com", repository_id=value) for value in IDS
    ]
    references = [resolver.reference(slug, identity) for slug in SLUGS for identity in identities]
    return (
        [resolver.fact(fact) for fact in facts],
        references,
        resolver.skipped,
        resolver.rename_skipped,
        resolver.as_of,
    )


@properties
@given(data=st.data(), facts=fact_lists, renamed=rename_lists)
def test_order_of_facts_does_not_matter(data, facts, renamed):
    shuffled = build(data.draw(st.permutations(facts)), data.draw(st.permutations(renamed)))
    assert answers(shuffled, facts) == answers(build(facts, renamed), facts)


@properties
@given(facts=fact_lists, renamed=rename_lists)
def test_identical_copies_do_not_matter(facts, renamed):
    assert answers(build(facts * 2, renamed * 2), facts) == answers(build(facts, renamed), facts)


@properties
@given(facts=fact_lists, renamed=rename_lists)
def test_what_comes_after_the_boundary_does_not_exist(facts, renamed):
    as_of = make_push(captured_at=TIMES[0]).captured_at
    cut = build(facts, renamed, as_of)
    early = build(
        [fact for fact in facts if fact.captured_at <= as_of],
        [rename for rename in renamed if rename.captured_at <= as_of],
        as_of,
    )
    assert answers(cut, facts) == answers(early, facts)


@properties
@given(facts=fact_lists, renamed=rename_lists)
def test_label_and_identity_name_the_repository_again(facts, renamed):
    """Derived rows carry label and identity only; a reader must get back to the same repository."""
    resolver = build(facts, renamed)
    for fact in facts:
        resolved = resolver.fact(fact)
        if isinstance(resolved, Resolved):
            assert resolver.reference(resolved.label, resolved.identity) == resolved
            assert resolver.label(resolved.key) == resolved.label


@properties
@given(facts=fact_lists, renamed=rename_lists)
def test_a_slug_alone_never_joins_an_identified_repository(facts, renamed):
    resolver = build(facts, renamed)
    identified = {fact.repo for fact in facts if fact.is_identified}
    renames_of = {slug for rename in renamed for slug in (rename.old_repo, rename.new_repo)}
    for slug in SLUGS[1:]:
        resolved = resolver.reference(slug)
        if slug in identified | renames_of:
            assert resolved is RepositoryReason.IDENTITY_UNRESOLVED
        elif isinstance(resolved, Resolved):
            assert resolved.key == LegacyKey(ORG, slug)
