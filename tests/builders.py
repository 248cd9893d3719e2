"""Facts with sensible defaults for every test: ``make_call(session_id="s2")`` overrides by keyword.

Values go through the models' validation, so a builder accepts what a canonical JSONL line may hold.
"""

from typing import Any

from sediment_assets.facts.ci_outcome import CIOutcome
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall
from sediment_assets.facts.messages import Message
from sediment_assets.facts.push import Push
from sediment_assets.facts.quarantine import QuarantineRecord
from sediment_assets.facts.repository_rename import RepositoryRename
from sediment_assets.facts.session_commit_observation import SessionCommitObservation

ORG = "acme"
REPO = "acme/widget"
SHA = "a" * 40
OTHER_SHA = "b" * 40
ZERO_SHA = "0" * 40
AT = "2026-03-02T09:00:00Z"
IDENTITY = {"repository_provider": "github", "repository_host": "github.com", "repository_id": "42"}


def text_part(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


def reasoning_part(content: str) -> dict[str, Any]:
    return {"type": "reasoning", "content": content}


def tool_call(id: str = "t1", name: str = "Edit", arguments: dict[str, Any] | None = None) -> dict[str, Any]:  # noqa: A002
    return {"type": "tool_call", "id": id, "name": name, "arguments": {} if arguments is None else arguments}


def tool_response(id: str = "t1", result: Any = None) -> dict[str, Any]:  # noqa: A002
    return {"type": "tool_call_response", "id": id, "result": result}


def plain_message(role: str, *parts: str | dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
    """A message as plain JSON; a bare string is a text part."""
    plain = [text_part(part) if isinstance(part, str) else part for part in parts]
    return {"role": role, "parts": plain, "finish_reason": finish_reason}


def make_message(role: str = "user", *parts: str | dict[str, Any], finish_reason: str | None = None) -> Message:
    return Message.model_validate(plain_message(role, *(parts or ("Hello.",)), finish_reason=finish_reason))


def make_call(**values: Any) -> InferenceCall:
    """A call of Session ``s1`` that answers "Go." with "Done."; messages may be models or plain JSON."""
    defaults = {
        "inference_call_id": "c1",
        "org_id": ORG,
        "session_id": "s1",
        "user_id": "dev-1",
        "gateway_provider": "litellm",
        "model_provider": "sim",
        "model": "sim-1",
        "input_messages": [plain_message("user", "Go.")],
        "output_messages": [plain_message("assistant", "Done.", finish_reason="stop")],
        "observed_at": AT,
    }
    return InferenceCall.model_validate(defaults | values)


def make_decision(**values: Any) -> DeveloperDecision:
    """An explicitly accepted edit of Session ``s1``."""
    defaults = {
        "decision_id": "d1",
        "org_id": ORG,
        "session_id": "s1",
        "agent_harness": "claude-code",
        "file_path": "src/app.py",
        "accepted": True,
        "explicit": True,
        "interaction_mode": "agent",
        "call_id": "t1",
        "occurred_at": AT,
        "captured_at": AT,
    }
    return DeveloperDecision.model_validate(defaults | values)


def make_outcome(**values: Any) -> CIOutcome:
    """A passed first attempt on the legacy repository ``acme/widget``; add ``**IDENTITY`` for an identified one."""
    defaults = {
        "outcome_id": "o1",
        "org_id": ORG,
        "provider": "github_actions",
        "run_id": "r1",
        "run_attempt": 1,
        "repo": REPO,
        "commit_sha": SHA,
        "branch": "main",
        "result": "passed",
        "workflow_name": "CI",
        "workflow_id": "w1",
        "workflow_path": ".github/workflows/ci.yml",
        "captured_at": AT,
    }
    return CIOutcome.model_validate(defaults | values)


def make_push(**values: Any) -> Push:
    """A push of ``main`` in the legacy repository ``acme/widget``."""
    defaults = {
        "push_id": "p1",
        "org_id": ORG,
        "provider": "github",
        "repo": REPO,
        "clone_url": "https://github.example/acme/widget.git",
        "ref": "refs/heads/main",
        "before_sha": ZERO_SHA,
        "after_sha": SHA,
        "captured_at": AT,
    }
    return Push.model_validate(defaults | values)


def make_observation(**values: Any) -> SessionCommitObservation:
    """The sighting of Session ``s1`` on the commit of ``make_push()``."""
    defaults = {
        "observation_id": "ob1",
        "org_id": ORG,
        "repo": REPO,
        "commit_sha": SHA,
        "session_id": "s1",
        "source_push_id": "p1",
        "captured_at": AT,
    }
    return SessionCommitObservation.model_validate(defaults | values)


def make_rename(**values: Any) -> RepositoryRename:
    """The rename of repository 42 from ``acme/widget`` to ``acme/gadget``."""
    defaults = {
        "rename_id": "n1",
        "org_id": ORG,
        **IDENTITY,
        "old_repo": REPO,
        "new_repo": "acme/gadget",
        "occurred_at": AT,
        "captured_at": AT,
    }
    return RepositoryRename.model_validate(defaults | values)


def make_quarantine(**values: Any) -> QuarantineRecord:
    """A record hiding the call of ``make_call()``."""
    defaults = {
        "quarantine_id": "q1",
        "org_id": ORG,
        "fact_table": "inference_calls",
        "fact_id": "c1",
        "action": "quarantine",
        "reason": "captured by mistake",
        "recorded_at": AT,
    }
    return QuarantineRecord.model_validate(defaults | values)
