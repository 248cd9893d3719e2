"""The ten Rollouts of targets.md §15: one mirror with a root commit R, then C1, C2, and a side branch S of C1."""

from sediment_assets.repositories.keys import IdentifiedKey, LegacyKey, RepositoryIdentity
from tests.builders import IDENTITY, ORG, REPO, make_outcome, make_push, make_rename
from tests.memory_mirrors import MemoryCommit, MemoryMirror, MemoryMirrors
from tests.rollout_builders import make_commit, make_resolver, make_rollout, make_turn

R, C1, C2, S, UNKNOWN = ("0a" * 20, "1a" * 20, "2a" * 20, "5a" * 20, "99" * 20)
IDENTITY_42 = RepositoryIdentity(provider="github", host="github.com", repository_id="42")
COMMITS = (MemoryCommit(R), MemoryCommit(C1, (R,)), MemoryCommit(C2, (C1,)), MemoryCommit(S, (C1,)))


def outcome(session, sha, result="passed", run="", **values):
    name = f"{session}{run}-{sha[:2]}"
    return make_outcome(outcome_id=f"o-{name}", run_id=f"r-{name}", commit_sha=sha, result=result, **values)


def rollout(session, commits, outcomes, segments=1):
    turns = tuple((make_turn(inference_call_id=f"{session}-{index}"),) for index in range(segments))
    return make_rollout(
        session_id=session,
        segments=turns,
        commits=tuple(commits),
        terminal_outcomes=tuple(outcomes),
    )


def on(*shas):
    return [make_commit(sha) for sha in shas]


ROLLOUTS = (
    rollout("pass", on(C1, C2), [outcome("pass", C1, "failed"), outcome("pass", C2)], segments=2),
    rollout("fail", on(C1), [outcome("fail", C1, "failed")]),
    rollout("nocommit", [], []),
    rollout("noci", on(C1), []),
    rollout("rootc", on(R), [outcome("rootc", R)]),
    rollout("degen", on(C2, S), [outcome("degen", S)]),
    rollout("nomirror", [make_commit(C1, "acme/other")], [outcome("nomirror", C1, repo="acme/other")]),
    rollout("absent", on(UNKNOWN), [outcome("absent", UNKNOWN)]),
    rollout(
        "ambig",
        on(C1, C2),
        [outcome("ambig", C1), outcome("ambig", C2, run="-a"), outcome("ambig", C2, "failed", run="-b")],
    ),
    rollout(
        "ident",
        [make_commit(C2, "acme/alpha", IDENTITY_42)],
        [outcome("ident", C2, repo="acme/zeta", **IDENTITY)],
    ),
)

RENAME = make_rename(old_repo="acme/alpha", new_repo="acme/zeta")
PUSH = make_push(push_id="p42", repo="acme/alpha", **IDENTITY)


def resolver():
    return make_resolver([PUSH, RENAME], ROLLOUTS)


def mirrors():
    widget = MemoryMirror(COMMITS)
    return MemoryMirrors({LegacyKey(ORG, REPO): widget, IdentifiedKey(ORG, "github", "github.com", "42"): widget})
