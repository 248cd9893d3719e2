"""One small file of every format with all that may stand in it, to be changed at will."""

from typing import Any

from tests.transcripts import ClaudeFile, text, tool_result, tool_use

CHAT = [
    {"role": "system", "content": [{"type": "text", "text": "You fix."}], "agent": "main"},
    {"role": "user", "content": "Issue: x", "agent": "main", "timestamp": 1767225600},
    {
        "role": "assistant",
        "content": "look",
        "agent": "main",
        "thinking_blocks": [{"type": "thinking", "thinking": "hm"}],
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}],
        "extra": {"timestamp": 1767225601.5, "response": {"id": "r", "model": "m", "usage": {"prompt_tokens": 1}}},
    },
    {"role": "tool", "content": "a.py", "agent": "main", "tool_call_ids": ["c1"], "tool_call_id": "c1"},
    {"role": "assistant", "content": "done", "agent": "main", "is_demo": False},
]
STEPS = [{"action": "ls", "observation": "a", "response": "look", "thought": "look", "query": CHAT[:2]}]
CONFIG = {"problem_statement": {"id": "x"}, "agent": {"model": {"name": "m"}}}
SWE = {"history": CHAT, "trajectory": STEPS, "replay_config": CONFIG, "info": {}}
MINI = {"messages": [*CHAT, {"role": "exit", "content": ""}], "info": {"config": {"model": {"model_name": "m"}}}}
ITEMS: list[dict[str, Any]] = [
    {"object": "response", "id": "r", "output": [{"type": "reasoning", "summary": [{"type": "summary_text"}]}]},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "x"}]},
]
COMPLETION = {"id": "chatcmpl-1", "created": 1767225600, "model": "m", "choices": [{"message": CHAT[2]}], "usage": {}}
CALLED = {"tool_call_metadata": {"tool_call_id": "c1", "model_response": COMPLETION}}
FORGET = {"forgotten_event_ids": [2], "summary": "s", "summary_offset": 1, "forgotten_events_start_id": 2}


def _numbered(*events: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"id": number, "source": "agent", "timestamp": f"2026-01-01T00:00:{number:02}", **event}
        for number, event in enumerate(events)
    ]


EVENTS = _numbered(
    {"action": "system", "args": {"content": "You fix."}},
    {"source": "user", "action": "message", "args": {"content": "Issue: x", "image_urls": ["u"]}},
    {"action": "run", "args": {"command": "ls"}, **CALLED},
    {"observation": "run", "cause": 2, "content": "a.py", **CALLED},
    {"action": "condensation", "args": FORGET},
    {"action": "run", "args": {"command": "ls", "thought": "x"}},
    {"observation": "run", "cause": 5, "content": "a.py"},
    {"action": "message", "args": {"content": "done"}},
)
SDK = _numbered(
    {"kind": "ConversationStateUpdateEvent", "key": "full_state", "value": {"id": "c", "stats": {}}},
    {"kind": "SystemPromptEvent", "system_prompt": {"type": "text", "text": "You fix."}, "dynamic_context": None},
    {"kind": "MessageEvent", "source": "user", "llm_message": CHAT[1], "extended_content": [text("skill")]},
    {
        "kind": "ActionEvent",
        "thought": [text("look")],
        "responses_reasoning_item": {"summary": ["hm"]},
        "tool_call": {"id": "c1", "name": "terminal", "arguments": "{}"},
        "llm_response_id": "r1",
    },
    {"kind": "ObservationEvent", "tool_call_id": "c1", "observation": {"content": [text("a.py")]}},
    {"kind": "Condensation", **FORGET},
    {"kind": "AgentErrorEvent", "tool_call_id": "c1", "error": "no"},
    {"kind": "MessageEvent", "llm_message": CHAT[4], "llm_response_id": "r2"},
)


def _rollout() -> list[dict[str, Any]]:
    lines = [
        ("session_meta", {"id": "s", "base_instructions": {"text": "x"}, "model_provider": "openai"}),
        ("turn_context", {"model": "m"}),
        ("response_item", {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}),
        ("event_msg", {"type": "user_message", "message": "go"}),
        ("response_item", {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        ("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"}),
        ("response_item", {"type": "custom_tool_call", "name": "patch", "input": "x", "call_id": "c2"}),
        ("response_item", {"type": "local_shell_call", "call_id": "c3", "action": {"command": ["ls"]}}),
        ("event_msg", {"type": "token_count", "info": {"total_token_usage": {}, "last_token_usage": {}}}),
        ("response_item", {"type": "function_call_output", "call_id": "c1", "output": "ok"}),
        ("response_item", {"type": "tool_search_output", "call_id": "c2", "tools": []}),
        ("response_item", {"type": "agent_message", "content": [{"type": "input_text", "text": "x"}]}),
        ("response_item", {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "d"}]}),
        ("event_msg", {"type": "item_completed", "item": {"type": "AgentMessage", "content": [{"text": "d"}]}}),
        ("event_msg", {"type": "thread_rolled_back", "num_turns": 1}),
        ("compacted", {"message": "m", "replacement_history": [{"type": "message", "role": "user", "content": "q"}]}),
        ("response_item", {"type": "message", "id": "msg_1", "role": "assistant", "content": []}),
    ]
    return [
        {"timestamp": f"2026-01-01T00:00:{number:02}Z", "type": kind, "payload": payload}
        for number, (kind, payload) in enumerate(lines)
    ]


def _claude() -> list[dict[str, Any]]:
    file = ClaudeFile()
    file.user("go")
    file.assistant("msg_000000000000a001", {"type": "thinking", "thinking": "hm"}, usage={"output_tokens": 2})
    file.assistant("msg_000000000000a001", tool_use("t1"), stop_reason="tool_use")
    file.user([tool_result("t1", [text("ok")]), text("more")])
    file.line("progress", data={"type": "agent_progress", "agentId": "a", "message": {**file[0], "uuid": "p"}})
    file.user("search", isSidechain=True, parentUuid=None)
    file.assistant("msg_000000000000a002", text("here"), isSidechain=True)
    file.assistant(None, {"type": "tool_use", "name": "B", "input": {}}, requestId="r")
    file.user([{"type": "tool_result", "content": "x"}])
    file.line("attachment", attachment={"type": "queued_command", "prompt": [text("x")]})
    file.line("system", subtype="compact_boundary", parentUuid=None)
    file.user("summary", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    file.assistant("q", text("a"), isApiErrorMessage=True)
    file.assistant("q", text("a"), model="<synthetic>")
    file.assistant("msg_000000000000a003", text("done"))
    return list(file)


_ROLLOUT = _rollout()
_STREAM = [
    {"type": "user", "message": {"role": "user", "content": "go"}, "session_id": "default"},
    {"type": "assistant", "message": {"id": "m", "content": [text("x")]}, "session_id": "s"},
]
SAMPLES: dict[str, list[Any]] = {
    "claude-code": _claude(),
    "web-export": [{"loglines": _claude()[:3]}],
    "agent-sdk": [{"messages": [{"direction": "recv", "message": record} for record in _STREAM]}],
    "codex": _ROLLOUT,
    "codex-bare": [{"id": "s", "timestamp": "2025-07-01T00:00:00Z", "git": {}}, *(x["payload"] for x in _ROLLOUT[2:8])],
    "codex-object": [{"session": {"id": "s", "timestamp": "t"}, "items": [x["payload"] for x in _ROLLOUT[2:6]]}],
    "swe-agent": [SWE],
    "swe-agent-attempts": [{"instance_id": "i", "attempts": [SWE], "history": CHAT}],
    "mini-swe-agent": [MINI, {**MINI, "messages": [CHAT[0], *ITEMS]}],
    "openhands": EVENTS,
    "openhands-row": [{"instance_id": "i", "history": EVENTS, "metadata": {"llm_config": {"model": "m"}}}],
    "openhands-sdk": SDK,
}
