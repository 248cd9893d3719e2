"""From payloads to verdicts: captured outcomes and Pushes resolve as they should (derivation.md §11)."""

from collections import Counter
from typing import Any

import pytest

from sediment_assets.capture.sources.ci import SOURCE as CI
from sediment_assets.capture.sources.github import SOURCE as GITHUB
from sediment_assets.ci.resolution import CIResolutions, resolve_outcomes
from sediment_assets.ci.runs import CISkip
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver
from tests.builders import ORG
from tests.captured import facts, translate
from tests.ci_payloads import buildkite, gitlab
from tests.github_payloads import SHA, push, renamed, repository, run, workflow_run


def resolve(captured: list[Any]) -> CIResolutions:
    renames = [fact for fact in captured if isinstance(fact, RepositoryRename)]
    evidence = [project_evidence(fact) for fact in captured if not isinstance(fact, RepositoryRename)]
    resolver = RepositoryResolver.build(ORG, evidence, renames)
    return resolve_outcomes([fact for fact in captured if isinstance(fact, CIOutcome)], resolver, 0)


def test_attempts_from_webhook_and_rest_are_one_run_whose_flake_shows() -> None:
    captured = facts(translate(GITHUB, push(), workflow_run(conclusion="failure"), run(run_attempt=2)))
    (resolution,) = resolve(captured).resolutions
    assert (resolution.verdict, resolution.reliability, resolution.suspected_flake) == ("passed", 0.0, True)
    assert (resolution.repo, resolution.commit_sha) == ("octo/web", SHA)
    assert resolution.repository_identity is not None


def test_run_that_waits_for_approval_does_not_spoil_its_attempt() -> None:
    told = translate(GITHUB, workflow_run(conclusion="action_required"), workflow_run(conclusion="success"))
    (resolution,) = resolve(facts(told[1:])).resolutions
    assert (resolution.verdict, resolution.reliability) == ("passed", 1.0)


def test_renamed_repository_keeps_its_outcomes() -> None:
    before = repository(full_name="octo/site", name="site")
    captured = facts(translate(GITHUB, push(repository=before), run(repository=before), renamed(), run(id=9002)))
    (resolution,) = resolve(captured).resolutions
    assert (resolution.verdict, len(resolution.source_outcome_ids)) == ("passed", 2)


@pytest.mark.parametrize(
    ("settings", "verdicts", "skipped"),
    [
        ({}, [], {RepositoryReason.IDENTITY_UNRESOLVED: 1}),
        ({"repository_id:octo/web": "70112"}, ["failed"], {}),
    ],
)
def test_other_systems_join_a_pushed_repository_by_its_id_only(
    settings: dict[str, str], verdicts: list[str], skipped: dict[Any, int]
) -> None:
    captured = [
        *facts(translate(GITHUB, push())),
        *facts(translate(CI, buildkite("failed"), settings=settings)),
    ]
    resolved = resolve(captured)
    assert [resolution.verdict for resolution in resolved.resolutions] == verdicts
    assert resolved.skipped == Counter(skipped)


def test_repository_without_pushes_from_github_is_known_by_its_name() -> None:
    (resolution,) = resolve(facts(translate(CI, gitlab("failed")))).resolutions
    assert (resolution.verdict, resolution.repository_identity) == ("failed", None)


def test_two_systems_that_disagree_leave_no_verdict() -> None:
    resolved = resolve(facts(translate(CI, gitlab("failed"), buildkite("passed"))))
    assert [resolution.verdict for resolution in resolved.resolutions] == [None]
    assert resolved.skipped == Counter({CISkip.AMBIGUOUS_WORKFLOW_VERDICTS: 1})
