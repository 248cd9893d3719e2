"""The last-commit rule and the reward (targets.md §2)."""

from collections import Counter

import pytest

from sediment_assets.ci.runs import CISkip
from sediment_assets.ci.selection import (
    RewardSource,
    resolution_counters,
    reward_source,
    reward_value,
    select_resolution,
)
from sediment_assets.repositories.keys import CommitKey, LegacyKey
from tests.builders import ORG, REPO
from tests.unit.ci.cases import outcome, resolve

C1, C2, C3 = (CommitKey(LegacyKey(ORG, REPO), digit * 40) for digit in "123")


def on(commit, spelled):
    return outcome(spelled, commit_sha=commit.commit_sha)


PASSED_1, FAILED_2 = on(C1, "r1 passed"), on(C2, "r2 failed")
AMBIGUOUS_3 = [on(C3, "r3 passed"), on(C3, "r4 failed")]
CANCELLED_3 = [on(C3, "r3 cancelled")]


@pytest.mark.parametrize(
    ("commits", "outcomes", "selected"),
    [
        ([C1, C2], [PASSED_1, FAILED_2], C2),
        ([C2, C1], [PASSED_1, FAILED_2], C1),
        ([C1, C2, C1], [PASSED_1, FAILED_2], C1),
        ([C1, C3], [PASSED_1, *AMBIGUOUS_3], C1),
        ([C1, C3], [PASSED_1, *CANCELLED_3], C1),
        ([C1, C2], [PASSED_1], C1),
        ([C1], [PASSED_1, FAILED_2], C1),
        ([C3], AMBIGUOUS_3, None),
        ([C3], CANCELLED_3, None),
        ([C1], [FAILED_2], None),
        ([], [PASSED_1], None),
    ],
    ids=[
        "later commit wins",
        "position, not sha",
        "last position when repeated",
        "ambiguous later commit is passed over",
        "later commit without verdict is passed over",
        "later commit without evidence is passed over",
        "commits of others do not count",
        "only ambiguous",
        "only non-verdicts",
        "no evidence",
        "no commits",
    ],
)
def test_last_commit_with_a_verdict_is_selected(commits, outcomes, selected):
    resolution = select_resolution(commits, resolve(outcomes).by_commit)
    assert (resolution and resolution.commit_key) == selected


def test_same_sha_in_another_repository_is_another_commit():
    elsewhere = CommitKey(LegacyKey(ORG, "acme/fork"), C1.commit_sha)
    assert select_resolution([elsewhere], resolve([PASSED_1]).by_commit) is None


@pytest.mark.parametrize(
    ("spelled", "source", "reward"),
    [
        (["r1 passed"], RewardSource.RESOLVED_CI_PASS, 1.0),
        (["r1 failed"], RewardSource.RESOLVED_CI_FAIL, 0.0),
        (["r1:1 failed", "r1:2 passed"], RewardSource.RESOLVED_CI_PASS, 1.0),
        (["r1 error"], None, None),
        (["r1 passed", "r2 failed"], None, None),
    ],
    ids=["passed", "failed", "flake that passed last", "no verdict", "ambiguous"],
)
def test_reward_is_for_a_resolved_verdict_only(spelled, source, reward):
    (resolution,) = resolve([outcome(text) for text in spelled]).resolutions
    assert reward_source(resolution) == source
    assert reward_value(resolution) == reward
    assert reward is None or type(reward_value(resolution)) is float


def test_reward_sources_are_the_closed_vocabulary():
    assert set(RewardSource) == {"resolved_ci_pass", "resolved_ci_fail"}


def test_counters_can_be_counted_again_from_stored_resolutions():
    resolved = resolve([PASSED_1, FAILED_2, *AMBIGUOUS_3])
    assert resolution_counters(resolved.resolutions) == resolved.skipped
    assert resolution_counters(resolved.resolutions) == {CISkip.AMBIGUOUS_WORKFLOW_VERDICTS: 1}
    assert resolution_counters(resolve([PASSED_1, *CANCELLED_3]).resolutions) == Counter()
