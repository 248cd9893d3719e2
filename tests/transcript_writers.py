"""One conversation, as each tool would write it down: what a property compares translations of."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.transcripts import ClaudeFile, text, tool_result, tool_use


@dataclass(frozen=True)
class Step:
    """What the model was told, and what it answered: words, reasoning and tool calls; words are never alike."""

    heard: str
    said: str
    thought: str
    tools: int
    number: int = 0

    @property
    def call_ids(self) -> list[str]:
        return [f"call_{self.number}_{index}" for index in range(self.tools)]

    @property
    def parts(self) -> int:
        """How many parts its response has."""
        return bool(self.thought) + bool(self.said) + self.tools


def claude_code(steps: Sequence[Step]) -> list[Any]:
    file = ClaudeFile()
    for step in steps:
        if step.heard:
            file.user(step.heard)
        message_id = f"msg_{step.number:016}"
        lines = [file.assistant(message_id, block) for block in _blocks(step)]
        # Parallel answers hang on the line of their own call, so that one path of parents misses the others.
        parents = lines[len(lines) - step.tools :]
        for call_id, parent in zip(step.call_ids, parents, strict=True):
            file.user([tool_result(call_id, f"result of {call_id}")], parentUuid=parent)
        file.line("progress", data={"type": "hook_progress"})
    return list(file)


def _blocks(step: Step) -> list[dict[str, Any]]:
    blocks = [{"type": "thinking", "thinking": step.thought, "signature": "s"}] if step.thought else []
    blocks += [text(step.said)] if step.said else []
    return blocks + [tool_use(call_id, command="ls") for call_id in step.call_ids]


def codex(steps: Sequence[Step]) -> list[Any]:
    lines: list[Any] = []

    def line(kind: str, **payload: Any) -> None:
        stamp = f"2026-02-03T04:{len(lines) // 60:02}:{len(lines) % 60:02}Z"
        lines.append({"timestamp": stamp, "type": kind, "payload": payload})

    def item(kind: str, **payload: Any) -> None:
        line("response_item", type=kind, **payload)

    line("session_meta", id="019c4b43-1451-7af3-be4c-000000000001")
    for step in steps:
        if step.heard:
            item("message", role="user", content=[{"type": "input_text", "text": step.heard}])
            line("event_msg", type="user_message", message=step.heard)
        if step.thought:
            item("reasoning", summary=[{"type": "summary_text", "text": step.thought}])
        if step.said:
            item("message", role="assistant", content=[{"type": "output_text", "text": step.said}])
        for call_id in step.call_ids:
            item("function_call", name="Bash", arguments='{"command": "ls"}', call_id=call_id)
        total = {"total_tokens": step.number + 1}
        line("event_msg", type="token_count", info={"total_token_usage": total, "last_token_usage": {}})
        for call_id in step.call_ids:
            item("function_call_output", call_id=call_id, output=f"result of {call_id}")
    return lines


def swe_agent(steps: Sequence[Step]) -> list[Any]:
    return [{"history": _chat(steps, tool_call_ids=True), "trajectory": [], "instance_id": "i-1"}]


def mini_swe_agent(steps: Sequence[Step]) -> list[Any]:
    return [{"messages": _chat(steps), "info": {}, "trajectory_format": "mini-swe-agent-1.1", "instance_id": "i-1"}]


def openhands(steps: Sequence[Step]) -> list[Any]:
    events: list[Any] = []

    def event(source: str, **values: Any) -> None:
        events.append({"id": len(events), "source": source, "timestamp": "2026-01-01T00:00:00", **values})

    for step in steps:
        if step.heard:
            event("user", action="message", args={"content": step.heard})
        answer = {"id": f"chatcmpl-{step.number:016}", "choices": [{"message": _answer(step)}]}
        for call_id in step.call_ids:
            named = {"tool_call_id": call_id, "model_response": answer}
            event("agent", action="run", args={"command": "ls"}, tool_call_metadata=named)
            event("agent", observation="run", content=f"result of {call_id}", tool_call_metadata=named)
        if not step.tools:
            event("agent", action="message", args={}, tool_call_metadata={"model_response": answer})
    return [{"instance_id": "i-1", "history": events, "test_result": {}}]


def openhands_sdk(steps: Sequence[Step]) -> list[Any]:
    events: list[Any] = [_sdk("ConversationStateUpdateEvent", key="full_state", value={"id": "conv-1"})]
    for step in steps:
        response_id = f"resp-{step.number:016}"
        if step.heard:
            events.append(_sdk("MessageEvent", "user", llm_message={"role": "user", "content": step.heard}))
        for index, call_id in enumerate(step.call_ids):
            events.append(
                _sdk(
                    "ActionEvent",
                    "agent",
                    thought=[text(step.said)] if step.said and not index else [],
                    reasoning_content=step.thought if not index else None,
                    tool_call={"id": call_id, "name": "Bash", "arguments": '{"command": "ls"}'},
                    llm_response_id=response_id,
                )
            )
        for call_id in step.call_ids:
            content = [text(f"result of {call_id}")]
            events.append(_sdk("ObservationEvent", tool_call_id=call_id, observation={"content": content}))
        if not step.tools:
            events.append(_sdk("MessageEvent", "agent", llm_message=_answer(step), llm_response_id=response_id))
    return events


def _sdk(kind: str, source: str = "environment", **values: Any) -> dict[str, Any]:
    return {"id": kind, "timestamp": "2026-01-01T00:00:00", "source": source, "kind": kind, **values}


def _chat(steps: Sequence[Step], *, tool_call_ids: bool = False) -> list[Any]:
    messages: list[Any] = []
    for step in steps:
        if step.heard:
            messages.append({"role": "user", "content": step.heard})
        messages.append(_answer(step))
        for call_id in step.call_ids:
            named = {"tool_call_ids": [call_id]} if tool_call_ids else {"tool_call_id": call_id}
            messages.append({"role": "tool", "content": f"result of {call_id}", **named})
    return messages


def _answer(step: Step) -> dict[str, Any]:
    arguments = json.dumps({"command": "ls"})
    return {
        "role": "assistant",
        "content": step.said,
        "reasoning_content": step.thought,
        "tool_calls": [
            {"id": call_id, "type": "function", "function": {"name": "Bash", "arguments": arguments}}
            for call_id in step.call_ids
        ],
    }


WRITERS = (claude_code, codex, swe_agent, mini_swe_agent, openhands, openhands_sdk)
