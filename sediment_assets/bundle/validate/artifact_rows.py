"""Rules that Rollouts and Attributed completions share (bundle.md §8, rules 14–23)."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sediment_assets.bundle.errors import BundleError, within
from sediment_assets.bundle.manifest import Manifest
from sediment_assets.bundle.validate.index import Group, Known, RowIndex
from sediment_assets.ci.runs import CISkip, group_runs, run_key
from sediment_assets.derive.provenance import Provenance
from sediment_assets.derive.split import Split, split_of
from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import decode_strict, encode_canonical
from sediment_assets.facts.session_commit_observation import SessionCommitObservation
from sediment_assets.repositories.keys import CommitKey, RepositoryIdentity
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.repositories.resolver import RepositoryResolver


@dataclass(frozen=True, slots=True)
class ArtifactRules:
    """What every artifact row of one bundle has to satisfy; an error's path is relative to the row."""

    manifest: Manifest
    resolver: RepositoryResolver
    index: RowIndex

    def require_head(self, org_id: str, session_id: str, split: Split, provenance: Provenance, version: str) -> None:
        """Check organization, split and provenance (rule 14)."""
        _require_equal("org_id", self.manifest.org_id, org_id)
        _require_equal("split", split_of(session_id, self.manifest.policy.eval_fraction), split)
        self.require_provenance(provenance, version)

    def require_provenance(self, provenance: Provenance, version: str) -> None:
        """Check that a record was made by this version of the rules, in this bundle's run."""
        _require_equal("provenance.policy_version", version, provenance.policy_version)
        _require_equal(
            "provenance.quarantine_revision", self.manifest.quarantine_revision, provenance.quarantine_revision
        )
        _require_equal("provenance.policy_digest", self.manifest.policy.digest, provenance.policy_digest)

    def require_same_row(self, kind: Known, key: str, canonical: str) -> None:
        """Accept a second row of the same identity only when it is the same row (rule 15)."""
        if not self._agrees(kind, key, canonical):
            raise BundleError(f"expected rows of one {kind} to be equal, got two that differ for {shown(key)}")

    def require_call(self, inference_call_id: str, session_id: str) -> None:
        """Require a carried call of this Session; remember that a row names it (rule 16).

        A carried call has an identity that agrees with it (rule 12).
        """
        found = self.index.call_session(inference_call_id)
        if found is None:
            raise BundleError(
                f"expected a call of inference_calls.jsonl and inference_call_identities.jsonl, "
                f"got {shown(inference_call_id)}"
            )
        if found != session_id:
            raise BundleError(
                f"expected a call of Session {shown(session_id)}, got {shown(inference_call_id)} of {shown(found)}"
            )
        self.index.remember(Known.REFERENCE, inference_call_id, "")

    def require_decisions(
        self, decisions: Sequence[DeveloperDecision], org_id: str, session_id: str, view: Known
    ) -> None:
        """Require decisions of the row's Session, told alike everywhere (rules 17 and 21)."""
        for position, decision in enumerate(decisions):
            with within(position):
                _require_equal("org_id", org_id, decision.org_id)
                _require_equal("session_id", session_id, decision.session_id)
                self._require_same_decision(decision, view)

    def commit_key(self, repo: str, commit_sha: str, identity: RepositoryIdentity | None) -> CommitKey:
        """Resolve a commit of a row (rule 23)."""
        resolved = self.resolver.reference(repo, identity)
        if isinstance(resolved, RepositoryReason):
            raise BundleError(
                f"expected a repository that the bundle knows, got {shown(repo)} ({resolved})", path="repo"
            )
        return CommitKey(resolved.key, commit_sha)

    def require_outcomes(self, outcomes: Sequence[CIOutcome], commits: frozenset[CommitKey], org_id: str) -> None:
        """Require outcomes of the row's commits, told alike everywhere (rules 18 and 20); keep them for rule 22."""
        for position, outcome in enumerate(outcomes):
            with within(position):
                _require_equal("org_id", org_id, outcome.org_id)
                self._require_commit(outcome, commits)
                self._keep_outcome(outcome)

    def _keep_outcome(self, outcome: CIOutcome) -> None:
        digest = _digest(encode_canonical(outcome.model_dump()))
        known = self.index.remember(Known.OUTCOME, outcome.outcome_id, digest)
        if known is None:
            slim = outcome.model_copy(update={"raw": {}}).model_dump()
            self.index.gather(Group.CI_RUN, encode_canonical(run_key(outcome)), encode_canonical(slim))
        elif known != digest:
            raise _told_twice("outcome_id", outcome.outcome_id)

    def require_observations(
        self,
        observations: Sequence[SessionCommitObservation],
        commits: frozenset[CommitKey],
        org_id: str,
        session_id: str,
    ) -> None:
        """Require observations of the row's Session and commits, told alike everywhere (rules 19 and 20)."""
        for position, observation in enumerate(observations):
            with within(position):
                _require_equal("org_id", org_id, observation.org_id)
                _require_equal("session_id", session_id, observation.session_id)
                # An observation after the boundary is no evidence of the bundle, so it does not resolve either.
                self._require_commit(observation, commits)
                canonical = encode_canonical(observation.model_dump())
                if not self._agrees(Known.OBSERVATION, observation.observation_id, canonical):
                    raise _told_twice("observation_id", observation.observation_id)

    def _require_commit(self, fact: CIOutcome | SessionCommitObservation, commits: frozenset[CommitKey]) -> None:
        resolved = self.resolver.fact(fact)
        if isinstance(resolved, RepositoryReason):
            raise BundleError(f"expected a Fact that repository_identities.jsonl proves, got {resolved}")
        if CommitKey(resolved.key, fact.commit_sha) not in commits:
            raise BundleError(f"expected one of the row's commits, got {fact.commit_sha}", path="commit_sha")

    def _require_same_decision(self, decision: DeveloperDecision, view: Known) -> None:
        """Require a decision to be told alike within one kind of rows, and nearly alike across the two (rule 21).

        Only the retention score may differ: null in a Rollout, filled in in an Attributed completion.
        """
        plain = decision.model_dump()
        score = plain.pop("edit_retention_score")
        told = encode_canonical([_digest(encode_canonical(plain)), score])
        if (self.index.remember(view, decision.decision_id, told) or told) != told:
            raise _told_twice("decision_id", decision.decision_id)
        if view is Known.COMPLETION_DECISION:
            rollout = self.index.recall(Known.ROLLOUT_DECISION, decision.decision_id)
            if rollout is not None and not _same_across_views(decode_strict(rollout), decode_strict(told)):
                raise _told_twice("decision_id", decision.decision_id)

    def _agrees(self, kind: Known, key: str, canonical: str) -> bool:
        digest = _digest(canonical)
        return (self.index.remember(kind, key, digest) or digest) == digest

    def require_agreeing_runs(self) -> None:
        """Refuse CI runs whose outcomes, wherever the bundle carries them, contradict each other (rule 22)."""
        for _, slims in self.index.groups(Group.CI_RUN):
            if len(slims) == 1:
                continue
            outcomes = [CIOutcome.model_validate(decode_strict(slim)) for slim in slims]
            if group_runs(outcomes, self.resolver).skipped[CISkip.CONFLICTING_RUN_IDENTITY]:
                ids = ", ".join(shown(outcome.outcome_id) for outcome in outcomes[:5])
                raise BundleError(
                    f"CI run {shown(outcomes[0].run_id)}: expected outcomes that agree on commit, branch, workflow and "
                    f"the result of each attempt, got {ids} that do not"
                )


def _same_across_views(rollout: list[Any], completion: list[Any]) -> bool:
    return rollout[0] == completion[0] and rollout[1] in (None, completion[1])


def _told_twice(path: str, fact_id: str) -> BundleError:
    return BundleError(f"expected one content of {shown(fact_id)} in the whole bundle, got two", path=path)


def _require_equal(path: str, expected: object, got: object) -> None:
    if expected != got:
        raise BundleError(f"expected {shown(expected)}, got {shown(got)}", path=path)


def _digest(canonical: str) -> str:
    return sha256(canonical.encode()).hexdigest()
