"""The conversations of the benchmark: InferenceCalls with growing histories, and the decisions on their edits.

Every call repeats what came before it byte for byte; only what is new is made and encoded, once.
"""

import heapq
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random
from typing import Any, Final

from benchmarks.histories import Record, new_id, spelled
from benchmarks.plans import BASE_MODULES, ORG, Change, SessionPlan, Size, base_path, plans, repository_slug
from benchmarks.text import code, log, name, prose
from sediment_assets.demo.harnesses import CLAUDE_CODE, CURSOR, Call

Line = tuple[str, str]
"""Table and encoded record."""

_ECHOES_REASON: Final = (CLAUDE_CODE.name, CURSOR.name)
"""Harnesses that send an answer back with its finish_reason; the others leave it out."""


def write_conversations(size: Size) -> Iterator[Line]:
    """Yield all calls and decisions, in the order in which they were observed. Only open Sessions are in memory."""
    waiting: list[tuple[datetime, int, Line, Iterator[tuple[datetime, Line]]]] = []
    for plan in plans(size):
        while waiting and waiting[0][0] < plan.turn_times[0]:
            yield _next_line(waiting)
        rest = _conversation(plan)
        at, line = next(rest)
        heapq.heappush(waiting, (at, plan.index, line, rest))
    while waiting:
        yield _next_line(waiting)


def _next_line(waiting: list[tuple[datetime, int, Line, Iterator[tuple[datetime, Line]]]]) -> Line:
    _, index, line, rest = waiting[0]
    following = next(rest, None)
    if following is None:
        heapq.heappop(waiting)
    else:
        heapq.heapreplace(waiting, (following[0], index, following[1], rest))
    return line


def _conversation(plan: SessionPlan) -> Iterator[tuple[datetime, Line]]:
    rng = Random(f"conversation {plan.index}")
    system = encode(_text("system", plan.harness.system.format(repo=repository_slug(plan.repository)) + prose(rng, 30)))
    history = ",".join([system, encode(_text("user", f"{prose(rng, 12)}\n\n{log(rng, 40)}\n"))])
    for turn, (at, step) in enumerate(zip(plan.turn_times, plan.steps, strict=True)):
        if turn == plan.compacted_at:
            history = ",".join([system, encode(_text("user", f"Summary so far: {prose(rng, 40)}"))])
        call_id = f"toolu_{rng.getrandbits(96):024x}"
        output = _output(rng, plan, step, call_id)
        yield at, ("inference_calls", _call_line(rng, plan, at, history, encode(output)))
        if isinstance(step, Change):
            decided = at + timedelta(seconds=rng.randint(2, 50))
            yield decided, ("developer_decisions", encode(_decision(rng, plan, decided, call_id, step.path)))
        if plan.harness.name not in _ECHOES_REASON:
            output["finish_reason"] = None
        history = f"{history},{encode(output)}"
        if step != "answer":
            history = f"{history},{encode(_answer(rng, plan, step, call_id))}"
        if rng.random() < 0.15:
            history = f"{history},{encode(_text('user', prose(rng, rng.randint(2, 24))))}"


def encode(value: Any) -> str:
    """Spell a record or message as Facts are stored: ASCII, compact."""
    return json.dumps(value, separators=(",", ":"))


def _text(role: str, content: str) -> Record:
    return {"role": role, "parts": [{"type": "text", "content": content}], "finish_reason": None}


def _output(rng: Random, plan: SessionPlan, step: str | Change, call_id: str) -> Record:
    parts: list[Record] = []
    if rng.random() < 0.3:
        parts.append({"type": "reasoning", "content": prose(rng, rng.randint(6, 20))})
    # Little is said beside an edit, so that the output is mostly the code that gets committed.
    parts.append({"type": "text", "content": prose(rng, 1 if isinstance(step, Change) else rng.randint(10, 40))})
    if step != "answer":
        tool, arguments = _tool_call(rng, plan, step)
        parts.append({"type": "tool_call", "id": call_id, "name": tool, "arguments": arguments})
    return {"role": "assistant", "parts": parts, "finish_reason": "stop" if step == "answer" else "tool_calls"}


def _tool_call(rng: Random, plan: SessionPlan, step: str | Change) -> Call:
    harness = plan.harness
    if isinstance(step, Change):
        if step.block is None:
            return harness.write(step.path, step.text)
        return harness.edit(step.path, f"def {name(rng)}():\n    pass\n", step.text)
    if step == "read":
        return harness.read(base_path(plan.repository, rng.randrange(BASE_MODULES)))
    return harness.run(f"python -m pytest -q tests/test_{name(rng)}.py")


def _answer(rng: Random, plan: SessionPlan, step: str | Change, call_id: str) -> Record:
    if isinstance(step, Change):
        content, status = f"The file {step.path} has been updated:\n{code(rng, rng.randint(30, 90))}", 0
    elif step == "read":
        content, status = "\n\n".join(code(rng, 30) for _ in range(rng.randint(2, 6))), 0
    else:
        content, status = log(rng, rng.randint(40, 140)), rng.choice((0, 0, 1))
    result = plan.harness.result(content, status)
    if isinstance(result, dict) and rng.random() < 0.05:
        result["metadata"]["finished_ns"] = 1_780_000_000_000_000_000 + rng.randrange(10**15)
    part = {"type": "tool_call_response", "id": call_id, "result": result}
    return {"role": "tool", "parts": [part], "finish_reason": None}


def _call_line(rng: Random, plan: SessionPlan, at: datetime, history: str, output: str) -> str:
    head = {
        "schema_version": 1, "inference_call_id": new_id(rng), "org_id": ORG, "session_id": plan.session_id,
        "user_id": plan.user_id, "gateway_provider": "litellm", "model_provider": plan.harness.provider,
        "model": plan.harness.model,
    }  # fmt: skip
    tokens = len(history) // 4
    raw = {
        "request": {"stream": True, "temperature": 1.0, "max_tokens": 32_000, "tool_choice": "auto"},
        "response": {"id": f"msg_{rng.getrandbits(96):024x}", "service_tier": "standard",
                     "usage": {"input_tokens": tokens, "cache_read_input_tokens": tokens * 9 // 10}},
        "metadata": {"route": "/v1/messages", "attempts": 1, "time_to_first_token": round(rng.uniform(0.3, 4.0), 3)},
    }  # fmt: skip
    tail = {
        "input_tokens": tokens, "output_tokens": len(output) // 4, "duration_ms": rng.randint(900, 60_000),
        "model_call_id": None, "observed_at": spelled(at), "raw": raw,
    }  # fmt: skip
    messages = f'"input_messages":[{history}],"output_messages":[{output}]'
    return f"{encode(head)[:-1]},{messages},{encode(tail)[1:]}"


def _decision(rng: Random, plan: SessionPlan, at: datetime, call_id: str, path: str) -> Record:
    return {
        "decision_id": new_id(rng), "org_id": ORG, "session_id": plan.session_id, "user_id": plan.user_id,
        "agent_harness": plan.harness.name.value, "file_path": path, "accepted": rng.random() < 0.9,
        "explicit": rng.random() < 0.5, "interaction_mode": "agent", "commit_sha": None, "call_id": call_id,
        "edit_retention_score": round(rng.random(), 2) if rng.random() < 0.3 else None, "observation_delay_ms": None,
        "occurred_at": spelled(at), "captured_at": spelled(at + timedelta(seconds=2)),
        "raw": {"event": "edit_decision", "tool_use_id": call_id, "client": "2.1.0", "language": "python"},
    }  # fmt: skip
