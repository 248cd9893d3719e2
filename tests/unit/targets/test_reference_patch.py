"""The Reference patch of a task (targets.md §3)."""

import pytest

from sediment_assets.repositories.keys import LegacyKey
from sediment_assets.targets.reference_patch import ReferencePatch, reference_patch
from sediment_assets.targets.skips import TaskSkip
from tests.builders import IDENTITY, ORG, REPO, make_push
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors
from tests.rollout_builders import make_commit, make_evidence, make_resolver, make_rollout
from tests.unit.targets.worked_tally import C1, C2, COMMITS, UNKNOWN, R, S, on, outcome

KEY = LegacyKey(ORG, REPO)
C3 = "3a" * 20


def patch(commits, outcomes, mirror=None, resolver=None):
    rollout = make_rollout(commits=tuple(commits), terminal_outcomes=tuple(outcomes))
    evidence = make_evidence(rollout)
    if resolver is not None:
        evidence.resolver = resolver
    store = MemoryMirrors({} if mirror is None else {KEY: mirror})
    return reference_patch(evidence, evidence.selected, store)


def test_the_patch_goes_from_the_first_commits_parent_to_the_verified_commit():
    mirror = MemoryMirror(COMMITS, range_patches={(R, C2): "patch\r\n"})
    made = patch(on(C1, C2), [outcome("s", C2)], mirror)
    assert made == ReferencePatch(first_commit=C1, base_commit=R, verified_commit=C2, text="patch\r\n")


def test_commits_after_the_verified_one_are_not_part_of_the_patch():
    made = patch(on(C1, C2), [outcome("s", C1)], MemoryMirror(COMMITS))
    assert (made.base_commit, made.verified_commit) == (R, C1)


def test_a_commit_missing_from_the_mirror_moves_the_first_one():
    made = patch(on(UNKNOWN, C2), [outcome("s", C2)], MemoryMirror(COMMITS))
    assert (made.first_commit, made.base_commit) == (C2, C1)


def test_commits_of_other_repositories_are_not_looked_up():
    mirror = MemoryMirror(COMMITS)
    made = patch([make_commit(R, "acme/other"), *on(C2)], [outcome("s", C2)], mirror)
    assert made.first_commit == C2
    assert ("commit_exists", R) not in mirror.calls


def test_an_empty_patch_is_legal():
    mirror = MemoryMirror(COMMITS, range_patches={(R, C1): ""})
    assert patch(on(C1), [outcome("s", C1)], mirror).text == ""


def test_a_merge_is_measured_from_its_first_parent():
    merge = MemoryCommit(C3, (C2, S))
    assert patch(on(C3), [outcome("s", C3)], MemoryMirror((*COMMITS, merge))).base_commit == C2


@pytest.mark.parametrize(
    ("commits", "outcomes", "mirror", "reason"),
    [
        (on(C1), [outcome("s", C1)], None, TaskSkip.MIRROR_ABSENT),
        (on(UNKNOWN), [outcome("s", UNKNOWN)], MemoryMirror(COMMITS), TaskSkip.NO_COMMIT_IN_VERIFIER_REPO),
        (on(C1, UNKNOWN), [outcome("s", UNKNOWN)], MemoryMirror(COMMITS), TaskSkip.NO_COMMIT_IN_VERIFIER_REPO),
        (on(C2, S), [outcome("s", S)], MemoryMirror(COMMITS), TaskSkip.DEGENERATE_COMMIT_RANGE),
        (on(C2, C1), [outcome("s", C1)], MemoryMirror(COMMITS), TaskSkip.DEGENERATE_COMMIT_RANGE),
        (on(R), [outcome("s", R)], MemoryMirror(COMMITS), TaskSkip.ROOT_COMMIT_NO_BASE),
        (on(R, C1), [outcome("s", C1)], MemoryMirror(COMMITS), TaskSkip.ROOT_COMMIT_NO_BASE),
    ],
)
def test_why_there_is_no_patch(commits, outcomes, mirror, reason):
    skipped = patch(commits, outcomes, mirror)
    assert (skipped.reason, skipped.detail) == (reason, None)


@pytest.mark.parametrize("question", ["is_ancestor", "first_parent", "reference_patch"])
def test_a_mirror_that_cannot_answer_withholds_the_patch_and_says_why(question):
    skipped = patch(on(C1), [outcome("s", C1)], MemoryMirror(COMMITS, failing={question}))
    assert skipped.reason is TaskSkip.REFERENCE_PATCH_UNAVAILABLE
    assert skipped.detail == f"{question}: git could not answer"


def test_a_resolution_that_no_longer_names_its_repository_gives_no_patch():
    claimed = make_resolver([make_push(**IDENTITY)])  # an identified repository claims the slug
    skipped = patch(on(C1), [outcome("s", C1)], MemoryMirror(COMMITS), resolver=claimed)
    assert skipped.reason is TaskSkip.NO_COMMIT_IN_VERIFIER_REPO
