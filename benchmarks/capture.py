"""How fast a gateway's log is captured: ``python -m benchmarks.capture --megabytes 1000 --turns 40``.

Writes a LiteLLM log (one StandardLoggingPayload a line; half of the Sessions in Anthropic's shape; growing histories,
tools, prices) and runs ``sediment capture`` over it: translating only, into files, into a store. The yardstick,
``orjson.loads`` over the same bytes, is measured around every run (the machine may be busy).
"""

import argparse
import json
import os
import shutil
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from benchmarks.measure import machine, run
from benchmarks.text import code, log, name, prose

OPEN_SESSIONS: Final = 12
BEGIN: Final = 1_790_000_000.0
LOG: Final = "litellm.jsonl"


def write_log(path: Path, size: int, turns: int) -> dict[str, int]:
    """Write a log of at least ``size`` bytes; the same size gives the same bytes."""
    rng = Random("capture")
    calls = written = sessions = 0
    open_sessions: list[Iterator[dict[str, Any]]] = []
    with path.open("wb") as file:
        while written < size:
            while len(open_sessions) < OPEN_SESSIONS:
                open_sessions.append(_session(sessions, turns, Random(f"session {sessions}")))
                sessions += 1
            index = rng.randrange(OPEN_SESSIONS)
            record = next(open_sessions[index], None)
            if record is None:
                del open_sessions[index]
                continue
            record["startTime"] = BEGIN + 3.5 * calls
            record["endTime"] = BEGIN + 3.5 * calls + 2.25
            line = json.dumps(record, ensure_ascii=False).encode() + b"\n"
            file.write(line)
            written += len(line)
            calls += 1
    return {"bytes": written, "calls": calls, "sessions": sessions}


def _session(number: int, turns: int, rng: Random) -> Iterator[dict[str, Any]]:
    """Yield the payloads of one Session; its clock is set when they are written."""
    is_anthropic = number % 2 == 1
    messages: list[Any] = [
        {"role": "system", "content": prose(rng, 60)},
        {"role": "user", "content": f"{prose(rng, 12)}\n\n{log(rng, 40)}\n"},
    ]
    for turn in range(turns):
        call_id = f"toolu_{rng.getrandbits(96):024x}"
        said = prose(rng, rng.randint(1, 6))
        arguments = {"path": f"src/{name(rng)}.py", "text": code(rng, rng.randint(10, 60)), "line": rng.randint(1, 900)}
        function = {"name": "edit", "arguments": json.dumps(arguments)}
        call = {"index": 0, "id": call_id, "type": "function", "function": function}
        answer = {"role": "assistant", "content": said, "tool_calls": [call], "function_call": None}
        yield _payload(number, turn, is_anthropic, list(messages), answer, rng)
        result = log(rng, rng.randint(20, 90))
        if is_anthropic:
            used = {"type": "tool_use", "id": call_id, "name": "edit", "input": arguments}
            messages.append({"role": "assistant", "content": [{"type": "text", "text": said}, used]})
            messages.append(
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result}]}
            )
        else:
            messages.append({key: answer[key] for key in ("role", "content", "tool_calls")})
            messages.append({"role": "tool", "tool_call_id": call_id, "content": result})


def _payload(
    number: int, turn: int, is_anthropic: bool, messages: list[Any], answer: dict[str, Any], rng: Random
) -> dict[str, Any]:
    tokens = sum(len(str(message)) for message in messages) // 4
    usage = {"completion_tokens": 300, "prompt_tokens": tokens, "total_tokens": tokens + 300}
    model = "claude-sonnet" if is_anthropic else "gpt-large"
    return {
        "id": f"chatcmpl-{number:08}-{turn:06}",
        "litellm_call_id": f"{rng.getrandbits(128):032x}",
        "trace_id": f"session-{number}",
        "session_id": "",
        "call_type": "anthropic_messages" if is_anthropic else "acompletion",
        "stream": True,
        "status": "success",
        "custom_llm_provider": "anthropic" if is_anthropic else "openai",
        "model": model,
        "metadata": _METADATA | {"usage_object": usage, "user_api_key_user_id": f"dev-{number % 40}"},
        "prompt_tokens": tokens,
        "completion_tokens": 300,
        "total_tokens": tokens + 300,
        "messages": messages,
        "response": {
            "id": f"chatcmpl-{number:08}-{turn:06}",
            "created": int(BEGIN),
            "model": model,
            "object": "chat.completion",
            "choices": [{"finish_reason": "tool_calls", "index": 0, "message": answer}],
            "usage": usage,
        },
        "model_parameters": {"stream": True, "max_tokens": 32_000, "tools": _TOOLS},
        "model_map_information": {"model_map_key": model, "model_map_value": _PRICES},
        "error_str": None,
        "error_information": {"error_code": "", "error_class": "", "llm_provider": ""},
    }


def _parameters(rng: Random) -> dict[str, Any]:
    properties = {name(rng): {"type": "string", "description": prose(rng, 1)} for _ in range(4)}
    return {"type": "object", "properties": properties}


_RNG: Final = Random("tools")
_TOOLS: Final = [
    {
        "type": "function",
        "function": {"name": name(_RNG), "description": prose(_RNG, 8), "parameters": _parameters(_RNG)},
    }
    for _ in range(8)
]
_METADATA: Final = {f"user_api_key_{word}": None for word in ("hash", "alias", "team_id", "org_id", "team_alias")}
_PRICES: Final = {f"{name(_RNG)}_per_token": None if _RNG.random() < 0.6 else 1.5e-06 for _ in range(90)}


def main() -> None:
    """Measure and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=40, help="calls of a Session (default: 40)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command; the median counts (default: 3)")
    parser.add_argument("--only", nargs="+", metavar="WORD", default=[], help="only commands whose name holds a word")
    parser.add_argument("--work", type=Path, default=Path(".bench"), help="where the log and outputs go")
    args = parser.parse_args()
    work = (args.work / f"capture-{args.megabytes}-{args.turns}").absolute()
    work.mkdir(parents=True, exist_ok=True)
    written = work / "counts.json"
    if not written.exists():
        written.write_text(json.dumps(write_log(work / LOG, args.megabytes * 10**6, args.turns)))
    counts = json.loads(written.read_text())
    root = str(Path(__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": root, "SEDIMENT_ORG_ID": "bench", "SEDIMENT_DATABASE_URL": "sqlite:///facts.db"}
    yardstick = (sys.executable, "-m", "benchmarks.baseline", ".")
    capture = (sys.executable, "-m", "sediment_assets.cli.main", "capture", "litellm", LOG)
    commands = {
        "--dry-run": ((*capture, "--dry-run"), ()),
        "--emit": ((*capture, "--emit", "facts"), ("facts",)),
        "into SQLite": (capture, ("facts.db", "facts.db-wal", "facts.db-shm")),
    }
    print(f"{counts}\n{machine()}")
    for label, (command, leaves) in commands.items():
        if not args.only or any(word in label for word in args.only):
            ratios, costs = [], []
            for _ in range(args.runs):
                for leaf in leaves:
                    path = work / leaf
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
                before, cost, after = run(yardstick, env, work), run(command, env, work), run(yardstick, env, work)
                ratios.append((before.cpu + after.cpu) / 2 / cost.cpu)
                costs.append(cost)
            cost = sorted(costs, key=lambda cost: cost.cpu)[len(costs) // 2]
            rate = counts["bytes"] / 10**6 / cost.cpu
            print(
                f"{label:12} {cost.wall:7.2f} s wall {cost.cpu:7.2f} s CPU {rate:6.0f} MB/s "
                f"{statistics.median(ratios):5.2f} x orjson {cost.peak:5.0f} MB peak",
                flush=True,
            )


if __name__ == "__main__":
    main()
