"""A small language to script one Session: what user, model and tools say, call by call, against a real checkout.

A script reads and changes files of the checkout, so a tool result shows what the file held, and a commit holds what the
edits wrote. Every method that speaks for the model is one Inference call; its input is the whole history before it.
Not here: the scripts themselves (``stories``).
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from sediment_assets.demo.commits import MAIN, Commit, on, replaced
from sediment_assets.demo.evidence import Evidence
from sediment_assets.demo.harnesses import Call, Harness
from sediment_assets.demo.repositories import Repository
from sediment_assets.facts.developer_decision import DeveloperDecision
from sediment_assets.facts.inference_call import InferenceCall

Json = dict[str, Any]

ACCEPT: Final = "accept"
"""The developer pressed accept."""
AUTO: Final = "auto"
"""The settings accepted the edit; nobody was asked."""
REJECT: Final = "reject"
"""The developer pressed reject; the file stays as it was."""


class Session:
    """One Session being scripted. Times go forward by themselves; ``wait`` adds a pause."""

    def __init__(
        self,
        evidence: Evidence,
        session_id: str,
        moment: str,
        repo: Repository,
        harness: Harness,
        *,
        user: str = "dev-1",
        branch: str = MAIN,
    ) -> None:
        self.session_id = session_id
        self.now: datetime = on(moment)
        self.repo = repo
        self.harness = harness
        self.branch = branch
        self.calls: list[InferenceCall] = []
        self._evidence = evidence
        self._user = user
        self._tool_calls = 0
        self.history: list[Json] = [_message("system", _text(harness.system.format(repo=repo.slug)))]
        self.check_out(branch)

    def check_out(self, branch: str, start: Commit | None = None) -> None:
        """Switch to a branch, made at ``start`` if given; a branch that does not exist has no files yet."""
        if start is not None:
            self.repo.history.branches[branch] = start
        self.branch = branch
        head = self.repo.history.branches.get(branch)
        self.files: dict[str, bytes] = dict(head.files) if head else {}

    def wait(self, minutes: float) -> None:
        """Let time pass."""
        self.now += timedelta(minutes=minutes)

    def user(self, text: str) -> None:
        """Let the user say something."""
        self.history.append(_message("user", _text(text)))

    def read(self, *paths: str, say: str = "", think: str = "") -> InferenceCall:
        """Let the model read files, each by its own tool call."""
        results = [self.files[path].decode("utf-8", "replace") for path in paths]
        return self.tools([self.harness.read(path) for path in paths], results, say=say, think=think)

    def edit(
        self, path: str, old: str, new: str, *, decision: str = ACCEPT, say: str = "", think: str = ""
    ) -> InferenceCall:
        """Let the model replace the one place where ``old`` stands; the developer decides about it."""
        after = replaced(path, self.files[path], old, new)
        return self._change(path, after, self.harness.edit(path, old, new), decision, say, think)

    def write(
        self, path: str, content: str, *, decision: str = ACCEPT, say: str = "", think: str = ""
    ) -> InferenceCall:
        """Let the model write a whole file."""
        return self._change(path, content.encode(), self.harness.write(path, content), decision, say, think)

    def _change(self, path: str, after: bytes, tool: Call, decision: str, say: str, think: str) -> InferenceCall:
        if decision == REJECT:
            result = "The user rejected this change. Nothing was written."
        else:
            result = f"{path} has been updated."
            self.files[path] = after
        call = self.tools([tool], [result], say=say, think=think)
        self.decide(path, decision, _tool_call_id(self.session_id, self._tool_calls, self.harness))
        return call

    def decide(self, path: str, decision: str, call_id: str | None, **values: Any) -> DeveloperDecision:
        """Record what the developer decided about an edit."""
        number = sum(
            1 for f in self._evidence.facts if isinstance(f, DeveloperDecision) and f.session_id == self.session_id
        )
        return self._evidence.add(
            DeveloperDecision,
            **{
                "decision_id": f"{self.session_id}-decision-{number + 1:02d}",
                "session_id": self.session_id,
                "user_id": self._user,
                "agent_harness": self.harness.name.value,
                "file_path": path,
                "accepted": decision != REJECT,
                "explicit": decision != AUTO,
                "interaction_mode": "agent",
                "call_id": call_id,
                "occurred_at": self.now - timedelta(seconds=8),
                "captured_at": self.now - timedelta(seconds=7),
                **values,
            },
        )

    def run(self, command: str, output: str, *, status: int = 0, say: str = "", think: str = "") -> InferenceCall:
        """Let the model run a command."""
        return self.tools([self.harness.run(command)], [output], status=status, say=say, think=think)

    def answer(self, text: str, *, think: str = "") -> InferenceCall:
        """Let the model end its turn with words."""
        output = _message("assistant", *_reasoning(think), _text(text), finish_reason="stop")
        call = self.capture(output)
        self.history.append(_replayed(output))
        return call

    def tools(
        self, tools: Sequence[Call], outputs: Sequence[str], *, status: int = 0, say: str = "", think: str = ""
    ) -> InferenceCall:
        """Let the model call any tools at once, which then answer."""
        parts: list[Json] = []
        answers: list[Json] = []
        for (name, arguments), output in zip(tools, outputs, strict=True):
            self._tool_calls += 1
            call_id = _tool_call_id(self.session_id, self._tool_calls, self.harness)
            parts.append({"type": "tool_call", "id": call_id, "name": name, "arguments": arguments})
            result = self.harness.result(output, status)
            answers.append(_message("tool", {"type": "tool_call_response", "id": call_id, "result": result}))
        said = [_text(say)] if say else []
        output_message = _message("assistant", *_reasoning(think), *said, *parts, finish_reason="tool_calls")
        call = self.capture(output_message)
        self.history += [_replayed(output_message), *answers]
        self.wait(0.4)
        return call

    def capture(self, *output: Json) -> InferenceCall:
        """Record a call with the history so far as its input. The history itself stays as it is."""
        size = sum(len(str(message)) for message in output)
        duration = timedelta(milliseconds=900 + 11 * size)
        self.now += duration
        number = len(self.calls) + 1
        digest = _digest(self.session_id, "call", number)
        call = self._evidence.add(
            InferenceCall,
            inference_call_id=f"{self.session_id}-call-{number:02d}",
            session_id=self.session_id,
            user_id=self._user,
            gateway_provider="litellm",
            model_provider=self.harness.provider,
            model=self.harness.model,
            input_messages=self.history,
            output_messages=list(output),
            input_tokens=sum(len(str(message)) for message in self.history) // 4,
            output_tokens=size // 4,
            duration_ms=int(duration.total_seconds() * 1000),
            model_call_id=f"chatcmpl-{digest[:24]}",
            observed_at=self.now.replace(microsecond=self.now.microsecond // 1000 * 1000),
            raw={"litellm_call_id": digest[24:40], "cache_hit": False, "response_cost": round(size * 4e-6, 6)},
        )
        self.calls.append(call)
        return call

    def commit(self, message: str, *, stamp: bool = True, push: bool = True) -> Commit:
        """Let the model commit the checkout and, unless told otherwise, push the branch.

        ``stamp`` is the hook that notes the Session on the commit; without it only its content can tell whose it is.
        """
        parent = self.repo.history.branches.get(self.branch)
        before = parent.files if parent else {}
        count = sum(1 for path in {*before, *self.files} if before.get(path) != self.files.get(path))
        at = (self.now + timedelta(seconds=12)).replace(microsecond=0)
        commit = self.repo.history.commit(at, self._user, message, self.files, branch=self.branch)
        kind = "(root-commit) " if parent is None else ""
        summary = f"[{self.branch} {kind}{commit.sha[:7]}] {message}\n {count} file{'s' * (count != 1)} changed"
        self.run(f'git add -A && git commit -m "{message}"', summary)
        if stamp:
            self.repo.stamp(commit, self.session_id, self.harness.name.value)
        if push:
            self.push()
        return commit

    def push(self, *, forced: bool = False) -> None:
        """Push the branch a little later."""
        self.repo.push((self.now + timedelta(seconds=40)).replace(microsecond=0), branch=self.branch, forced=forced)

    def rename_file(self, old: str, new: str) -> None:
        """Move a file by ``git mv``."""
        self.run(f"git mv {old} {new}", "")
        self.files[new] = self.files.pop(old)


def _message(role: str, *parts: Json, finish_reason: str | None = None) -> Json:
    return {"role": role, "parts": list(parts), "finish_reason": finish_reason}


def _replayed(output: Json) -> Json:
    """The message as a client sends it back: the same content, no finish reason (derivation.md §5 ignores that)."""
    return {**output, "finish_reason": None}


def _text(content: str) -> Json:
    return {"type": "text", "content": content}


def _reasoning(content: str) -> list[Json]:
    return [{"type": "reasoning", "content": content}] if content else []


def _digest(*parts: object) -> str:
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()


def _tool_call_id(session_id: str, number: int, harness: Harness) -> str:
    prefix = "toolu_01" if harness.provider == "anthropic" else "call_"
    return prefix + _digest(session_id, "tool", number)[:22]
