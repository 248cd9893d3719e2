"""Rules of Attributed completions (bundle.md §8, rules 14–23 and 27–29)."""

from dataclasses import dataclass

from sediment_assets.bundle.completion_record import AttributedCompletion, SessionAbandonment, completion_plain
from sediment_assets.bundle.errors import BundleError, within
from sediment_assets.bundle.manifest import ABANDONMENT_VERSION, COMPLETION_VERSION
from sediment_assets.bundle.validate.artifact_rows import ArtifactRules
from sediment_assets.bundle.validate.index import Group, Known
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.expected import shown
from sediment_assets.facts.json_values import decode_strict, encode_canonical
from sediment_assets.repositories.evidence import EvidenceTable
from sediment_assets.repositories.keys import CommitKey
from sediment_assets.repositories.reasons import RepositoryReason
from sediment_assets.rollouts.decisions import without_subsumed

_ATTRIBUTION = ("repo", "commit_sha", "file_path", "similarity_score", "attribution_source")
_IDENTITY = ("org_id", "session_id", "inference_call_id", "repository_identity", "repo", "commit_sha", "file_path")


@dataclass(frozen=True, slots=True)
class CompletionRules:
    """The rules of one bundle's Attributed completions; populations and Rollouts must have been checked before.

    ``check`` every row first, then ``check_decisions`` of every row: a decision is judged among all of them.
    """

    rules: ArtifactRules

    def check(self, row: AttributedCompletion) -> None:
        """Check one row by everything but rule 29.

        :raises BundleError: for the first broken rule, with the path inside the record.
        """
        self.rules.require_head(row.org_id, row.session_id, row.split, row.provenance, COMPLETION_VERSION)
        plain = completion_plain(row)
        key = encode_canonical([plain[name] for name in _IDENTITY])
        self.rules.require_same_row(Known.COMPLETION, key, encode_canonical(plain))
        with within("inference_call_id"):
            self.rules.require_call(row.inference_call_id, row.session_id)
        with within("decisions"):
            self.rules.require_decisions(row.decisions, row.org_id, row.session_id, Known.COMPLETION_DECISION)
        commits = frozenset(self._commits(row))
        with within("ci_outcomes"):
            self.rules.require_outcomes(row.ci_outcomes, commits, row.org_id)
        with within("session_commit_observations"):
            self.rules.require_observations(row.session_commit_observations, commits, row.org_id, row.session_id)
        if row.abandonment is not None:
            self._require_abandonment(row, row.abandonment)
        self._keep_decisions(row)

    def _commits(self, row: AttributedCompletion) -> list[CommitKey]:
        """Give the one commit of an attribution, none of an abandonment (rules 27 and 28)."""
        absent = [name for name in _ATTRIBUTION if getattr(row, name) is None]
        if row.abandonment is not None:
            for name in (*_ATTRIBUTION, "repository_identity", "source_push_id"):
                if getattr(row, name) is not None:
                    raise BundleError("expected null beside an abandonment, got a value", path=name)
            return []
        if absent:
            raise BundleError("expected a value, as there is no abandonment, got null", path=absent[0])
        assert row.repo is not None
        assert row.commit_sha is not None
        commit = self.rules.commit_key(row.repo, row.commit_sha, row.repository_identity)
        if row.repository_identity is not None or row.source_push_id is not None:
            self._require_push(row, commit)
        return [commit]

    def _require_push(self, row: AttributedCompletion, commit: CommitKey) -> None:
        with within("source_push_id"):
            if row.source_push_id is None:
                raise BundleError("expected the Push that proves repository_identity, got null")
            resolved = self.rules.resolver.source(EvidenceTable.PUSHES, row.source_push_id)
            if isinstance(resolved, RepositoryReason) or resolved.key != commit.repository:
                got = resolved if isinstance(resolved, RepositoryReason) else "a Push of another repository"
                raise BundleError(f"expected a Push of the row's repository, got {shown(row.source_push_id)} ({got})")

    def _require_abandonment(self, row: AttributedCompletion, abandonment: SessionAbandonment) -> None:
        """Check the rest of the abandonment variant (rule 27)."""
        if row.ci_outcomes:
            raise BundleError("expected [] beside an abandonment, got an array", path="ci_outcomes")
        if not any(decision.accepted and decision.explicit for decision in row.decisions):
            raise BundleError("expected an explicitly accepted decision, got none", path="decisions")
        with within("abandonment"):
            if abandonment.explicit_accepted_decisions < 1:
                raise BundleError("expected at least 1, got 0", path="explicit_accepted_decisions")
            for name in ("org_id", "session_id"):
                if getattr(abandonment, name) != getattr(row, name):
                    raise BundleError(
                        f"expected the row's {shown(getattr(row, name))}, got {shown(getattr(abandonment, name))}",
                        path=name,
                    )
            self.rules.require_provenance(abandonment.provenance, ABANDONMENT_VERSION)

    def _keep_decisions(self, row: AttributedCompletion) -> None:
        for decision in row.decisions:
            if decision.call_id is not None:
                slim = encode_canonical(decision.model_copy(update={"raw": {}}).model_dump())
                self.rules.index.gather(Group.DECISION, decision.call_id, slim)

    def check_decisions(self, row: AttributedCompletion) -> None:
        """Require each decision to attach to the row's call among all calls of the organization (rule 29).

        :raises BundleError: for the first decision that does not.
        """
        for position, decision in enumerate(row.decisions):
            with within("decisions", position):
                self._require_attached(decision, row.inference_call_id)

    def _require_attached(self, decision: DeveloperDecision, inference_call_id: str) -> None:
        if decision.call_id is None:
            raise BundleError(f"expected an alias of {shown(inference_call_id)}, got null", path="call_id")
        calls = self.rules.index.group(Group.ALIAS, decision.call_id)
        if list(calls) != [inference_call_id]:
            got = f"{shown(decision.call_id)}, an alias of {len(calls)} calls"
            if len(calls) == 1:
                got = f"{shown(decision.call_id)}, an alias of {shown(calls[0])}"
            raise BundleError(f"expected an alias of {shown(inference_call_id)} alone, got {got}", path="call_id")
        slims = self.rules.index.group(Group.DECISION, decision.call_id)
        others = [DeveloperDecision.model_validate(decode_strict(slim)) for slim in slims]
        if decision not in without_subsumed([decision, *others]):
            raise BundleError("expected a decision with a path in place of its copy without one, got both")
