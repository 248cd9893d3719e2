"""CI outcomes to verdicts: the tables of derivation.md §11 and targets.md §2."""

from collections import Counter
from datetime import timedelta

import pytest

from sediment_assets.ci.policy import CI_POLICY, CIResolutionPolicy
from sediment_assets.ci.resolution import CIResolution, CIWorkflowResolution, Verdict, resolve_outcomes
from sediment_assets.ci.runs import CISkip, run_key
from sediment_assets.facts.vocabulary import CIResult
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.keys import CommitKey, LegacyKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import IDENTITY, ORG, OTHER_SHA, REPO, SHA, make_rename
from tests.unit.ci.cases import outcome, resolve

COMMIT = CommitKey(LegacyKey(ORG, REPO), SHA)
CONFLICTING = CISkip.CONFLICTING_RUN_IDENTITY
AMBIGUOUS = CISkip.AMBIGUOUS_WORKFLOW_VERDICTS
OTHER_ID = {"repository_id": "43"}
OTHER_HOST = {"repository_host": "ghe.example"}


@pytest.mark.parametrize(
    ("spelled", "verdict", "reliability", "flake", "skipped"),
    [
        (["r1:1 passed"], "passed", 1.0, False, {}),
        (["r1:1 failed", "r1:2 passed"], "passed", 0.0, True, {}),
        (["r1:1 passed", "r1:2 failed"], "failed", 0.0, True, {}),
        (["r1:1 failed", "r1:2 failed"], "failed", 1.0, False, {}),
        (["r1:1 error", "r1:2 passed"], "passed", 1.0, False, {}),
        (["r1:1 passed", "r1:2 cancelled"], "passed", 1.0, False, {}),
        (["r1 failed", "r1:1 passed"], "passed", 0.0, True, {}),
        (["r1 cancelled", "r1:2 skipped"], None, None, False, {}),
        (["r1 passed", "r2 failed"], None, None, False, {AMBIGUOUS: 1}),
        (["r1 passed", "r2 passed"], "passed", 1.0, False, {}),
        (["r1 passed", "r2:1 failed", "r2:2 passed"], "passed", 0.0, True, {}),
        (["r1 passed", "r2 cancelled"], "passed", 1.0, False, {}),
        (["r1:9 failed", "r1:10 passed"], "passed", 0.0, True, {}),
    ],
)
def test_verdict_of_one_commit(spelled, verdict, reliability, flake, skipped):
    outcomes = [outcome(text) for text in spelled]
    resolved = resolve(outcomes)
    resolution = resolved.by_commit[COMMIT]
    assert (resolution.verdict, resolution.reliability) == (verdict, reliability)
    assert resolution.suspected_flake is flake
    assert resolved.skipped == Counter(skipped)
    assert resolved.kept == {COMMIT: tuple(sorted(fact.outcome_id for fact in outcomes))}
    assert resolution.source_outcome_ids == resolved.kept[COMMIT]
    non_verdicts = sorted(fact.outcome_id for fact in outcomes if fact.result not in ("passed", "failed"))
    assert list(resolution.non_verdict_outcome_ids) == non_verdicts


@pytest.mark.parametrize(
    "outcomes",
    [
        [outcome("r1:1 passed"), outcome("r1:1 failed", outcome_id="x")],
        [outcome("r1:1 passed"), outcome("r1:1 skipped", outcome_id="x")],
        [outcome("r1 passed"), outcome("r1 failed", outcome_id="x")],
        [outcome("r1:1 passed"), outcome("r1:2 passed", commit_sha=OTHER_SHA)],
        [outcome("r1:1 passed"), outcome("r1:2 passed", repo="acme/other")],
        [outcome("r1:1 passed", **IDENTITY), outcome("r1:2 passed", **IDENTITY | OTHER_ID)],
        [outcome("r1:1 passed"), outcome("r1:2 passed", branch="dev")],
        [outcome("r1:1 passed"), outcome("r1:2 passed", branch="")],
        [outcome("r1:1 passed"), outcome("r1:2 passed", workflow_id="w2")],
        [outcome("r1:1 passed"), outcome("r1:2 passed", workflow_name="Other")],
        [outcome("r1:1 passed"), outcome("r1:2 passed", workflow_path="other.yml")],
    ],
    ids=[
        "passed and failed",
        "passed and skipped",
        "no attempt number",
        "sha",
        "slug",
        "repository id",
        "branch",
        "empty branch",
        "workflow id",
        "workflow name",
        "workflow path",
    ],
)
def test_run_that_contradicts_itself_is_dropped_whole(outcomes):
    resolved = resolve(outcomes)
    assert resolved.resolutions == ()
    assert resolved.kept == {}
    assert resolved.skipped == {CONFLICTING: 1}


def test_commit_keeps_its_other_runs_when_one_conflicts():
    resolved = resolve([outcome("r1 passed"), outcome("r1 failed", outcome_id="x"), outcome("r2 failed")])
    assert resolved.kept == {COMMIT: ("r2",)}
    assert resolved.by_commit[COMMIT].verdict is Verdict.FAILED
    assert resolved.skipped == {CONFLICTING: 1}


def test_equal_duplicates_agree_and_the_largest_id_gives_the_verdict():
    resolved = resolve([outcome("r1:1 passed", outcome_id=outcome_id) for outcome_id in ("b", "c", "a")])
    assert resolved.by_commit[COMMIT].verdict_outcome_ids == ("c",)
    assert resolved.kept == {COMMIT: ("a", "b", "c")}


def test_unknown_workflow_fields_agree_with_anything():
    unknown = {"workflow_id": None, "workflow_name": "", "workflow_path": ""}
    for outcomes in (
        [outcome("r1:1 passed", **unknown), outcome("r1:2 passed")],
        [outcome("r1:1 passed"), outcome("r1:2 passed", **unknown)],
    ):
        (workflow,) = resolve(outcomes).by_commit[COMMIT].workflow_resolutions
        known = (workflow.workflow_id, workflow.workflow_name, workflow.workflow_path)
        assert known == ("w1", "CI", ".github/workflows/ci.yml")


def test_unknown_workflow_is_null_but_its_name_empty():
    resolved = resolve([outcome("r1 passed", workflow_id=None, workflow_name="", workflow_path="")])
    (workflow,) = resolved.by_commit[COMMIT].workflow_resolutions
    assert (workflow.workflow_id, workflow.workflow_name, workflow.workflow_path) == (None, "", None)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ({}, {"provider": "jenkins"}, False),
        ({}, {"repo": "acme/other"}, True),
        ({}, {"commit_sha": OTHER_SHA}, True),
        (IDENTITY, IDENTITY | OTHER_ID, True),
        (IDENTITY, IDENTITY | OTHER_HOST, False),
        ({}, IDENTITY, False),
    ],
    ids=["CI provider", "slug", "commit", "repository id", "host", "legacy and identified"],
)
def test_what_names_a_run(first, second, same):
    keys = {run_key(outcome("r1 passed", **values)) for values in (first, second)}
    assert (len(keys) == 1) is same


def test_one_run_id_of_two_ci_systems_is_two_runs():
    resolved = resolve([outcome("r1 passed"), outcome("r1 failed", outcome_id="j", provider="jenkins")])
    assert resolved.skipped == {AMBIGUOUS: 1}
    assert len(resolved.by_commit[COMMIT].workflow_resolutions) == 2


def test_one_run_id_on_two_hosts_is_two_runs():
    outcomes = [
        outcome("r1 passed", **IDENTITY),
        outcome("r1 failed", outcome_id="h", **IDENTITY | OTHER_HOST),
    ]
    resolved = resolve(outcomes)
    assert resolved.skipped == {}
    assert [resolution.verdict for resolution in resolved.resolutions] == ["failed", "passed"]


def test_unresolvable_outcome_takes_its_run_along_uncounted():
    resolved = resolve([outcome("r1:1 passed", repo=""), outcome("r1:2 passed")])
    assert resolved.kept == {}
    assert resolved.skipped == {RepositoryReason.IDENTITY_ABSENT: 1}


def test_run_lost_to_an_unresolvable_outcome_is_not_counted_as_conflicting():
    outcomes = [outcome("r1:1 passed", repo=""), outcome("r1:2 passed"), outcome("r1:3 passed", branch="x")]
    for order in (outcomes, outcomes[::-1]):
        assert resolve(order).skipped == {RepositoryReason.IDENTITY_ABSENT: 1}


def test_repository_failures_count_outcomes():
    legacy = [outcome("r1:1 passed"), outcome("r1:2 passed"), outcome("r2 passed")]
    claimed = resolve([*legacy, outcome("r3 passed", **IDENTITY)])
    assert claimed.skipped == {RepositoryReason.IDENTITY_UNRESOLVED: 3}


def test_outcomes_outside_the_population_are_absent():
    resolver = RepositoryResolver.build(ORG, [project_evidence(outcome("r1 passed"))], ())
    resolved = resolve_outcomes([outcome("r2 passed")], resolver, 0)
    assert resolved.skipped == {RepositoryReason.SOURCE_ABSENT: 1}


def test_outcomes_after_the_boundary_are_ignored_uncounted():
    early = outcome("r1:1 passed")
    late = outcome("r1:2 failed", captured_at=early.captured_at + timedelta(microseconds=1))
    resolver = RepositoryResolver.build(ORG, map(project_evidence, [early, late]), (), early.captured_at)
    resolved = resolve_outcomes([early, late], resolver, 0)
    assert resolved.by_commit[COMMIT].verdict is Verdict.PASSED
    assert resolved.skipped == {}


NON_VERDICTS = sorted(set(CIResult) - {CIResult.PASSED, CIResult.FAILED})


@pytest.mark.parametrize("result", NON_VERDICTS)
def test_other_results_are_no_verdict(result):
    resolution = resolve([outcome(f"r1 {result.value}")]).by_commit[COMMIT]
    (workflow,) = resolution.workflow_resolutions
    assert (resolution.verdict, resolution.reliability) == (None, None)
    assert (workflow.verdict, workflow.reliability, workflow.verdict_outcome_id) == (None, 1.0, None)
    assert resolution.non_verdict_outcome_ids == workflow.non_verdict_outcome_ids == ("r1",)


@pytest.mark.parametrize("result", NON_VERDICTS)
def test_later_attempt_without_verdict_keeps_the_verdict(result):
    resolution = resolve([outcome("r1:1 failed"), outcome(f"r1:2 {result.value}")]).by_commit[COMMIT]
    assert resolution.verdict is Verdict.FAILED
    assert resolution.verdict_outcome_ids == ("r1:1",)
    assert resolution.non_verdict_outcome_ids == ("r1:2",)


def test_verdict_follows_attempts_not_capture_time():
    outcomes = [
        outcome("r1:1 failed", captured_at="2026-03-02T12:00:00Z"),
        outcome("r1:2 passed", captured_at="2026-03-02T08:00:00Z"),
    ]
    assert resolve(outcomes).by_commit[COMMIT].verdict is Verdict.PASSED


@pytest.mark.parametrize(
    ("spelled", "of_runs", "of_commit"),
    [
        (["r1 passed"], [0.9], 0.9),
        (["r1:1 passed", "r1:2 error"], [0.5], 0.5),
        (["r1:1 passed", "r1:2 failed"], [0.2], 0.2),
        (["r1:1 passed", "r1:2 failed", "r1:3 error"], [0.2], 0.2),
        (["r1 error"], [0.5], None),
        (["r1 passed", "r2 error"], [0.9, 0.5], 0.5),
        (["r1 passed", "r2 failed"], [0.9, 0.9], None),
    ],
    ids=["clean", "other results", "flake", "flake, other results", "no verdict", "run without verdict", "ambiguous"],
)
def test_reliability_is_the_least_of_all_evidence(spelled, of_runs, of_commit):
    policy = CIResolutionPolicy(0.9, 0.2, 0.5)
    outcomes = [outcome(text) for text in spelled]
    resolver = RepositoryResolver.build(ORG, map(project_evidence, outcomes), ())
    (resolution,) = resolve_outcomes(outcomes, resolver, 0, policy).resolutions
    assert [workflow.reliability for workflow in resolution.workflow_resolutions] == of_runs
    assert resolution.reliability == of_commit


def test_ambiguous_commit_keeps_outcomes_and_verdict_ids():
    resolved = resolve([outcome("r1 passed"), outcome("r2 failed"), outcome("r3 error")])
    resolution = resolved.by_commit[COMMIT]
    assert resolution.is_ambiguous
    assert resolution.verdict_outcome_ids == ("r1", "r2")
    assert resolution.non_verdict_outcome_ids == ("r3",)
    assert resolved.kept == {COMMIT: ("r1", "r2", "r3")}


def test_runs_of_a_commit_are_ordered_as_text():
    unnamed = {"workflow_id": None, "workflow_path": None, "workflow_name": ""}
    outcomes = [
        outcome("2 passed", **unnamed),
        outcome("10 passed", **unnamed),
        outcome("a passed", **unnamed | {"workflow_name": "B"}),
        outcome("b passed", **unnamed | {"workflow_path": "p.yml"}),
        outcome("c passed", **unnamed | {"workflow_id": "w"}),
        outcome("z passed", **unnamed, provider="circleci"),
    ]
    workflows = resolve(outcomes).by_commit[COMMIT].workflow_resolutions
    assert [workflow.run_id for workflow in workflows] == ["z", "10", "2", "a", "b", "c"]


def test_resolutions_are_ordered_by_commit_sort_key():
    outcomes = [
        outcome("r1 passed", repo="a/a"),
        outcome("r2 passed", repo="z/z", **IDENTITY | {"repository_id": "9"}),
        outcome("r3 passed", repo="z/z", **IDENTITY | {"repository_id": "10"}),
        outcome("r4 passed", repo="a/a", commit_sha=OTHER_SHA),
    ]
    resolved = resolve(outcomes)
    runs = [resolution.workflow_resolutions[0].run_id for resolution in resolved.resolutions]
    assert runs == ["r3", "r2", "r1", "r4"]
    assert [resolution.commit_key for resolution in resolved.resolutions] == list(resolved.by_commit)


def test_identified_resolution_carries_label_and_identity():
    fact = outcome("r1 passed", **IDENTITY)
    resolver = RepositoryResolver.build(ORG, [project_evidence(fact)], [make_rename()])
    (resolution,) = resolve_outcomes([fact], resolver, 0).resolutions
    assert resolution.repo == "acme/gadget"
    assert resolution.repository_identity == resolution.commit_key.repository.identity
    assert resolution.commit_key.sort_key == (ORG, "identified", "github", "github.com", "42", SHA)


def test_provenance_names_rules_revision_and_policy():
    (resolution,) = resolve([outcome("r1 passed")], revision=7).resolutions
    assert resolution.provenance.model_dump() == {
        "policy_version": "2",
        "quarantine_revision": 7,
        "policy_digest": CI_POLICY.digest,
    }


def test_example_resolution():
    """The CI resolution of the example task row (targets.md §7), key order included."""
    fact = outcome("r2 passed", outcome_id="o2", workflow_id=None)
    (resolution,) = resolve([fact]).resolutions
    workflow = {
        "provider": "github_actions",
        "run_id": "r2",
        "workflow_id": None,
        "workflow_name": "CI",
        "workflow_path": ".github/workflows/ci.yml",
        "branch": "main",
        "verdict": "passed",
        "reliability": 1.0,
        "suspected_flake": False,
        "source_outcome_ids": ("o2",),
        "verdict_outcome_id": "o2",
        "non_verdict_outcome_ids": (),
    }
    expected = {
        "org_id": ORG,
        "repo": REPO,
        "commit_sha": SHA,
        "verdict": "passed",
        "reliability": 1.0,
        "suspected_flake": False,
        "workflow_resolutions": (workflow,),
        "source_outcome_ids": ("o2",),
        "verdict_outcome_ids": ("o2",),
        "non_verdict_outcome_ids": (),
        "provenance": {
            "policy_version": "2",
            "quarantine_revision": 0,
            "policy_digest": CI_POLICY.digest,
        },
        "repository_identity": None,
    }
    dumped = resolution.model_dump()
    assert dumped == expected
    assert list(dumped) == list(expected)
    assert list(dumped["workflow_resolutions"][0]) == list(workflow)


@pytest.mark.parametrize("model", [CIResolution, CIWorkflowResolution])
def test_every_field_is_required_and_described(model):
    assert len(model.model_fields) == 12
    for field in model.model_fields.values():
        assert field.is_required()
        assert field.description


def test_stored_resolution_reads_back():
    (resolution,) = resolve([outcome("r1:1 failed"), outcome("r1:2 passed")]).resolutions
    assert CIResolution.model_validate(resolution.model_dump(mode="json")) == resolution


def test_no_outcomes_give_nothing():
    resolved = resolve([])
    assert (resolved.resolutions, resolved.by_commit, resolved.kept) == ((), {}, {})
    assert resolved.skipped == {}
