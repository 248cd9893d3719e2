"""``sediment notes stamp``: says in a Git note which Session made a commit; parsing and printing only.

Runs in hooks, so it imports little and never asks.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sediment_assets.cli.output import say
from sediment_assets.errors import SedimentError

if TYPE_CHECKING:
    from sediment_assets.adapters.note_stamp import WorkingRepository
    from sediment_assets.mirrors.notes import NoteSession

SESSION_VARIABLE = "SEDIMENT_SESSION_ID"
HARNESS_VARIABLE = "SEDIMENT_HARNESS"
_UNKNOWN = "unknown"

DESCRIPTION = """
Write into the note of a commit (refs/notes/sediment) which Session made it, so that the Session's Rollout binds to the
commit. Sessions that are there already stay; stamping again changes nothing; notes of other tools are never read or
touched. The session id must be the one under which the gateway captures the model's calls.
"""
EPILOG = """
settings (environment):
  SEDIMENT_SESSION_ID  the Session, when --session is not given
  SEDIMENT_HARNESS     the harness, when --harness is not given

examples:
  sediment notes stamp --session 0b6c… --harness codex
  sediment notes stamp                 in .git/hooks/post-commit
  sediment notes stamp --hook          in Claude Code, before and after Bash

where to go next:
  docs/capture/notes.md   hooks for Claude Code, Codex and plain git; pushing
  git push origin refs/notes/sediment
"""


class NotesCommandError(SedimentError):
    """A stamp that was asked for in a way that cannot work."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``notes`` and its subcommand; the parsed arguments carry the function to call as ``run``."""
    notes = subparsers.add_parser(
        "notes", help="say in Git notes which Session made a commit", description="Attribution notes of commits."
    )
    commands = notes.add_subparsers(title="commands", metavar="COMMAND", required=True)
    stamp = commands.add_parser("stamp", help="stamp a commit", description=DESCRIPTION, epilog=EPILOG)
    stamp.add_argument("--session", metavar="ID", help="the Session")
    stamp.add_argument("--harness", metavar="NAME", help="the coding agent, such as claude-code or codex")
    stamp.add_argument("--commit", metavar="REV", default="HEAD", help="the commit (default: HEAD)")
    stamp.add_argument(
        "-C", dest="directory", metavar="DIR", type=Path, default=Path(), help="a directory of the repository"
    )
    stamp.add_argument(
        "--hook", action="store_true", help="read a Claude Code hook's JSON: stamp what its tool call committed"
    )
    stamp.set_defaults(run=run_stamp)


def run_stamp(args: argparse.Namespace) -> int:
    """Stamp, and say what was done; raises SedimentError."""
    from sediment_assets.adapters.note_stamp import WorkingRepository
    from sediment_assets.facts.defaults import now

    if args.hook:
        return _run_hook(args, _hook_input(sys.stdin.buffer.read()), now())
    session_id = args.session if args.session is not None else os.environ.get(SESSION_VARIABLE, "")
    moment = now()
    session = _session(args.harness or os.environ.get(HARNESS_VARIABLE) or _UNKNOWN, session_id, moment)
    repository = WorkingRepository(args.directory)
    _stamp(repository, repository.commit(args.commit), session, moment)
    return 0


def _stamp(repository: WorkingRepository, sha: str, session: NoteSession, moment: datetime) -> None:
    is_new = repository.stamp(sha, session, moment)
    say(f"{'stamped' if is_new else 'already stamped'} {sha[:12]} with Session {session.session_id}")


def _session(tool: str, session_id: str, moment: datetime) -> NoteSession:
    from sediment_assets.facts.text import is_scalar_text, strip
    from sediment_assets.mirrors.notes import NoteSession

    session_id = strip(session_id)
    if not session_id or not is_scalar_text(session_id):
        raise NotesCommandError(
            f"--session: expected the Session's id, got {'other text' if session_id else 'nothing'}; "
            f"give it, or set {SESSION_VARIABLE}"
        )
    if not is_scalar_text(tool):
        raise NotesCommandError("--harness: expected the name of a coding agent, got other text")
    return NoteSession(tool, session_id, moment.strftime("%Y-%m-%dT%H:%M:%SZ"))


def _hook_input(data: bytes) -> Mapping[str, Any]:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or not isinstance(values.get("session_id"), str):
        raise NotesCommandError("standard input: expected a hook's JSON object with a session_id, got something else")
    return values


def _run_hook(args: argparse.Namespace, values: Mapping[str, Any], moment: datetime) -> int:
    """Mark HEAD before a tool call, stamp the commits made since after it."""
    from sediment_assets.adapters.head_moves import commits_made, mark_head
    from sediment_assets.adapters.note_stamp import WorkingRepository

    cwd = values.get("cwd")
    repository = WorkingRepository(Path(cwd) if isinstance(cwd, str) and cwd else args.directory)
    session_id = args.session or os.environ.get(SESSION_VARIABLE) or values["session_id"]
    session = _session(args.harness or "claude-code", session_id, moment)
    call = f"{values['session_id']} {values.get('tool_use_id', '')}"
    if not repository.is_repository():
        return 0
    if values.get("hook_event_name") == "PreToolUse":
        mark_head(repository, call)
        return 0
    for sha in commits_made(repository, call):
        _stamp(repository, sha, session, moment)
    return 0
