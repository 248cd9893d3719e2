"""How each coding agent spells the tools that every agent has: read a file, change one, write one, run a command.

A Session's script says what is done (``sessions.py``); here it gets the tool name and arguments a reader would find
in that agent's captured calls. The spellings are typical, not a specification.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sediment_assets.facts.vocabulary import AgentHarness

Call = tuple[str, dict[str, Any]]
"""Name and arguments of a tool call."""


@dataclass(frozen=True)
class Harness:
    """One agent: its name, who serves its model, and its tools."""

    name: AgentHarness
    provider: str
    model: str
    system: str
    read: Callable[[str], Call]
    edit: Callable[[str, str, str], Call]
    write: Callable[[str, str], Call]
    run: Callable[[str], Call]
    result: Callable[[str, int], Any]
    """What the tool answers, from its output and exit status."""


def _text_result(output: str, status: int) -> Any:
    return output if status == 0 else f"Exit code {status}\n{output}"


def _object_result(output: str, status: int) -> Any:
    return {"output": output, "metadata": {"exit_code": status, "duration_seconds": round(0.4 + len(output) / 500, 1)}}


def _patch_of_edit(path: str, old: str, new: str) -> str:
    removed = "".join(f"-{line}\n" for line in old.splitlines())
    added = "".join(f"+{line}\n" for line in new.splitlines())
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{removed}{added}*** End Patch"


def _patch_of_file(path: str, content: str) -> str:
    added = "".join(f"+{line}\n" for line in content.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch"


_SYSTEM: Final = (
    "You are a coding agent in the user's checkout of {repo}. Read before you edit, keep changes small, run the tests."
)

CLAUDE_CODE: Final = Harness(
    AgentHarness.CLAUDE_CODE,
    "anthropic",
    "claude-sonnet-4-5",
    _SYSTEM,
    read=lambda path: ("Read", {"file_path": path}),
    edit=lambda path, old, new: ("Edit", {"file_path": path, "old_string": old, "new_string": new}),
    write=lambda path, content: ("Write", {"file_path": path, "content": content}),
    run=lambda command: ("Bash", {"command": command}),
    result=_text_result,
)
CODEX: Final = Harness(
    AgentHarness.CODEX,
    "openai",
    "gpt-5-codex",
    _SYSTEM,
    read=lambda path: ("shell", {"command": ["bash", "-lc", f"cat {path}"], "timeout_ms": 10_000}),
    edit=lambda path, old, new: ("apply_patch", {"input": _patch_of_edit(path, old, new)}),
    write=lambda path, content: ("apply_patch", {"input": _patch_of_file(path, content)}),
    run=lambda command: ("shell", {"command": ["bash", "-lc", command], "timeout_ms": 120_000}),
    result=_object_result,
)
CURSOR: Final = Harness(
    AgentHarness.CURSOR,
    "anthropic",
    "claude-opus-4-1",
    _SYSTEM,
    read=lambda path: ("read_file", {"target_file": path, "should_read_entire_file": True}),
    edit=lambda path, old, new: ("search_replace", {"file_path": path, "old_string": old, "new_string": new}),
    write=lambda path, content: ("edit_file", {"target_file": path, "code_edit": content}),
    run=lambda command: ("run_terminal_cmd", {"command": command, "is_background": False}),
    result=_text_result,
)
COPILOT: Final = Harness(
    AgentHarness.COPILOT,
    "openai",
    "gpt-5",
    _SYSTEM,
    read=lambda path: ("read_file", {"filePath": path, "startLine": 1, "endLine": 200}),
    edit=lambda path, old, new: (
        "replace_string_in_file",
        {"filePath": path, "oldString": old, "newString": new},
    ),
    write=lambda path, content: ("create_file", {"filePath": path, "content": content}),
    run=lambda command: ("run_in_terminal", {"command": command, "explanation": "Check the change"}),
    result=_text_result,
)
PI: Final = Harness(
    AgentHarness.PI,
    "deepseek",
    "deepseek-chat",
    _SYSTEM,
    read=lambda path: ("read", {"path": path}),
    edit=lambda path, old, new: ("edit", {"path": path, "oldText": old, "newText": new}),
    write=lambda path, content: ("write", {"path": path, "content": content}),
    run=lambda command: ("bash", {"command": command}),
    result=_text_result,
)
