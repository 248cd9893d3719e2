"""Properties of CI resolution (derivation.md §11): order, capture time, whole runs, per-Rollout resolution."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sediment_assets.ci.resolution import resolve_outcomes
from sediment_assets.ci.runs import CISkip, run_key
from sediment_assets.ci.selection import resolution_counters
from sediment_assets.facts.vocabulary import CIProvider, CIResult
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import ORG, OTHER_SHA, SHA, make_outcome

TIMES = tuple(f"2026-03-02T0{hour}:00:00Z" for hour in range(4))

outcome_values = st.fixed_dictionaries(
    {
        "provider": st.sampled_from((CIProvider.GITHUB_ACTIONS, CIProvider.JENKINS)),
        "run_id": st.sampled_from(("1", "2", "10")),
        "run_attempt": st.sampled_from((None, 1, 2, 10)),
        "repository_id": st.sampled_from((None, None, "7", "42")),
        "commit_sha": st.sampled_from((SHA, SHA, OTHER_SHA)),
        "branch": st.sampled_from(("main", "main", "main", "")),
        "workflow_name": st.sampled_from(("", "CI", "CI", "Other")),
        "result": st.sampled_from(CIResult),
        "captured_at": st.sampled_from(TIMES),
    }
)


def make_outcomes(rows):
    """CI outcomes with distinct ids; identified and legacy repositories have names of their own."""
    return [
        make_outcome(
            outcome_id=f"o{position}",
            repo=f"acme/r{row['repository_id'] or ''}",
            repository_provider=row["repository_id"] and "github",
            repository_host=row["repository_id"] and "github.com",
            **row,
        )
        for position, row in enumerate(rows)
    ]


outcome_lists = st.lists(outcome_values, max_size=8).map(make_outcomes)
properties = settings(deadline=None)


def resolve(outcomes, population=None):
    resolver = RepositoryResolver.build(ORG, map(project_evidence, population or outcomes), ())
    return resolve_outcomes(outcomes, resolver, 0)


def everything(resolved):
    return resolved.resolutions, list(resolved.by_commit), resolved.kept, resolved.skipped


@properties
@given(data=st.data(), outcomes=outcome_lists)
def test_order_of_outcomes_does_not_matter(data, outcomes):
    assert everything(resolve(data.draw(st.permutations(outcomes)))) == everything(resolve(outcomes))


@properties
@given(outcomes=outcome_lists, times=st.lists(st.sampled_from(TIMES), min_size=8, max_size=8))
def test_verdict_ignores_capture_time(outcomes, times):
    plain = [fact.model_dump() for fact in outcomes]
    retimed = [make_outcome(**row | {"captured_at": at}) for row, at in zip(plain, times, strict=False)]
    assert everything(resolve(retimed)) == everything(resolve(outcomes))


@properties
@given(outcomes=outcome_lists)
def test_a_run_is_kept_whole_on_one_commit_or_dropped_whole(outcomes):
    resolved = resolve(outcomes)
    kept = {outcome_id: commit for commit, ids in resolved.kept.items() for outcome_id in ids}
    dropped = set()
    for key in {run_key(fact) for fact in outcomes}:
        commits = {kept.get(fact.outcome_id) for fact in outcomes if run_key(fact) == key}
        assert len(commits) == 1
        if commits == {None}:
            dropped.add(key)
    # Every outcome here resolves to a repository, so only a conflict drops a run.
    assert resolved.skipped[CISkip.CONFLICTING_RUN_IDENTITY] == len(dropped)


@properties
@given(outcomes=outcome_lists)
def test_records_list_exactly_the_kept_outcomes(outcomes):
    resolved = resolve(outcomes)
    results = {fact.outcome_id: fact.result for fact in outcomes}
    assert set(resolved.by_commit) == set(resolved.kept)
    for commit, resolution in resolved.by_commit.items():
        assert resolution.commit_key == commit
        assert resolution.source_outcome_ids == resolved.kept[commit]
        decided = {CIResult.PASSED, CIResult.FAILED}
        non_verdicts = [outcome_id for outcome_id in resolved.kept[commit] if results[outcome_id] not in decided]
        assert list(resolution.non_verdict_outcome_ids) == non_verdicts
        assert {results[outcome_id] for outcome_id in resolution.verdict_outcome_ids} <= decided
        assert (resolution.reliability is None) == (resolution.verdict is None)


@properties
@given(outcomes=outcome_lists)
def test_kept_outcomes_alone_resolve_to_the_same_records(outcomes):
    """A Rollout carries only what was kept; exporting it must reach the same verdicts without any conflict."""
    whole = resolve(outcomes)
    for commit, ids in whole.kept.items():
        alone = resolve([fact for fact in outcomes if fact.outcome_id in ids], population=outcomes)
        assert alone.resolutions == (whole.by_commit[commit],)
        assert alone.skipped == resolution_counters(alone.resolutions)
