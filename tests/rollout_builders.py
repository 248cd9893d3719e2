"""Rollouts with sensible defaults, and the evidence and projection around them."""

from collections.abc import Iterable, Sequence
from typing import Any

from sediment_assets.derive.provenance import ROLLOUT_VERSION, Provenance
from sediment_assets.derive.split import Split
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.model import Fact
from sediment_assets.facts.push import Push
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.repositories.evidence import project_evidence
from sediment_assets.repositories.resolver import RepositoryResolver
from sediment_assets.rollouts.models import AttributionSource, CommitRef, Rollout, Segment, Turn
from sediment_assets.targets.rollout_evidence import RolloutEvidence, resolve_rollout
from tests.builders import ORG, REPO, SHA, plain_message

POLICY_DIGEST = "dd6ddc485bcd1dfcdc4e70edea79f71fc5413c984642b1188d3d9087b33fd2d0"


def make_turn(**values: Any) -> Turn:
    """Call ``c1``: the user says "Fix it", the model answers "ok"."""
    defaults = {
        "new_messages": (plain_message("user", "Fix it"),),
        "completion": "ok",
        "decisions": (),
        "inference_call_id": "c1",
        "tool_calls": (),
    }
    return Turn(**(defaults | values))


def make_commit(sha: str = SHA, repo: str = REPO, identity: Any = None) -> CommitRef:
    return CommitRef(repo, sha, identity)


def make_rollout(**values: Any) -> Rollout:
    """Session ``s1`` with one Turn, one commit in the legacy repository ``acme/widget``, and no CI outcome."""
    defaults = {
        "org_id": ORG,
        "session_id": "s1",
        "segments": ((make_turn(),),),
        "commits": (make_commit(),),
        "attribution_source": AttributionSource.GIT_NOTES,
        "terminal_outcomes": (),
        "provenance": Provenance(policy_version=ROLLOUT_VERSION, quarantine_revision=0, policy_digest=POLICY_DIGEST),
        "split": Split.TRAIN,
        "session_commit_observations": (),
    }
    return Rollout(**(defaults | values))


def say(*messages: Any) -> Segment:
    """A Segment of one Turn with these plain messages."""
    return (make_turn(new_messages=tuple(messages)),)


def make_resolver(facts: Iterable[Fact] = (), rollouts: Sequence[Rollout] = ()) -> RepositoryResolver:
    """A resolver of the given Facts and of everything that the Rollouts carry."""
    carried = [
        fact for rollout in rollouts for fact in (*rollout.terminal_outcomes, *rollout.session_commit_observations)
    ]
    population = [*facts, *carried]
    evidence = [
        project_evidence(fact) for fact in population if isinstance(fact, Push | CIOutcome | SessionCommitObservation)
    ]
    return RepositoryResolver.build(ORG, evidence, [fact for fact in population if isinstance(fact, RepositoryRename)])


def make_evidence(rollout: Rollout, resolver: RepositoryResolver | None = None) -> RolloutEvidence:
    """The evidence of a Rollout, its CI resolved from what it carries."""
    if resolver is None:
        resolver = make_resolver(rollouts=[rollout])
    return RolloutEvidence(rollout, resolve_rollout(rollout, resolver), resolver)
