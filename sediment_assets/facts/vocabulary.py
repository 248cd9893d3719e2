"""The closed vocabularies of Facts (facts.md §2). Only the exact spelling is a member; none is ever guessed."""

from enum import StrEnum


class GatewayProvider(StrEnum):
    """The model gateway that captured an InferenceCall (facts.md §2)."""

    LITELLM = "litellm"
    PORTKEY = "portkey"
    HELICONE = "helicone"
    UNKNOWN = "unknown"


class CIProvider(StrEnum):
    """The CI system that ran a CI run (facts.md §2)."""

    GITHUB_ACTIONS = "github_actions"
    JENKINS = "jenkins"
    GITLAB_CI = "gitlab_ci"
    CIRCLECI = "circleci"
    BUILDKITE = "buildkite"
    OTHER = "other"


class CIResult(StrEnum):
    """Terminal result of one CI run attempt (facts.md §2; which are verdicts: derivation.md §11)."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"
    NEUTRAL = "neutral"
    UNKNOWN = "unknown"


class ForgeProvider(StrEnum):
    """The forge that hosts a repository (facts.md §2)."""

    GITHUB = "github"


class AgentHarness(StrEnum):
    """The coding agent in which a developer decided (facts.md §2)."""

    CLAUDE_CODE = "claude-code"
    COPILOT = "copilot"
    CODEX = "codex"
    CURSOR = "cursor"
    PI = "pi"


class InteractionMode(StrEnum):
    """How an edit was offered: by an agent, or inline in the editor (facts.md §2)."""

    AGENT = "agent"
    INLINE = "inline"


class FactTable(StrEnum):
    """Every kind of Fact that can be quarantined, by the name of its table (facts.md §2)."""

    INFERENCE_CALLS = "inference_calls"
    DEVELOPER_DECISIONS = "developer_decisions"
    CI_OUTCOMES = "ci_outcomes"
    PUSHES = "pushes"
    PULL_REQUEST_MERGES = "pull_request_merges"
    PULL_REQUEST_REVISIONS = "pull_request_revisions"
    EDIT_OBSERVATIONS = "edit_observations"
    REJECTED_EDITS = "rejected_edits"
    RETRY_LINKAGES = "retry_linkages"
    SESSION_COMMIT_OBSERVATIONS = "session_commit_observations"
    REPOSITORY_RENAMES = "repository_renames"


class QuarantineAction(StrEnum):
    """What a quarantine record does to its Fact: hide it, or show it again (facts.md §8)."""

    QUARANTINE = "quarantine"
    RELEASE = "release"
