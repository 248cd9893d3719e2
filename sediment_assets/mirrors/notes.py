"""The body of one attribution note: which Sessions it names, and one more (derivation.md §6, mirrors.md §7.1).

A note is all or nothing: one payload that breaks a rule makes the whole note unreadable.
"""

import json
from typing import Any, NamedTuple

from sediment_assets.errors import SedimentError
from sediment_assets.mirrors.git_text import decode_git_text

NOTES_REF = "refs/notes/sediment"
"""The ref whose notes name Sessions; every other notes ref belongs to somebody else."""

MAX_NOTE_BYTES = 65_536
"""Largest body, in bytes of UTF-8 after decoding."""
MAX_RAW_NOTE_BYTES = 2 * MAX_NOTE_BYTES
"""Largest blob that could still decode to a legal body: decoding at most halves it (CRLF becomes LF)."""

_DECODER = json.JSONDecoder()


class NoteError(SedimentError):
    """A note that cannot be added to without losing what it says."""


class NoteSession(NamedTuple):
    """One entry of a note; all three as written, never trimmed or checked."""

    tool: str
    session_id: str
    stamped_at: str


def note_sessions(body: bytes) -> list[NoteSession] | None:
    """Return the Sessions a note names, first entry per (tool, session_id); None for an unreadable note."""
    text = decode_git_text(body)
    if len(text.encode()) > MAX_NOTE_BYTES:
        return None
    found: dict[tuple[str, str], NoteSession] = {}
    try:
        for payload in _json_values(text):
            for session in _payload_sessions(payload):
                found.setdefault((session.tool, session.session_id), session)
    except (ValueError, RecursionError):
        return None
    return list(found.values())


def with_session(body: bytes | None, session: NoteSession) -> bytes:
    """Return a note that names one Session more; the same bytes when it names it already, whenever it was stamped.

    What is there is kept byte for byte and followed by one line, so that notes of two clones can be merged by lines
    (git's ``cat_sort_uniq`` and ``union``) and stay readable.

    :raises NoteError: when the note is not readable, which is somebody's text to look at, or would grow too large.
    """
    there = b"" if body is None or not body.strip() else body
    found = note_sessions(there) if there else []
    if found is None:
        raise NoteError(
            "expected a note that names Sessions, got another text; look at it, and remove it or move it away"
        )
    if any((known.tool, known.session_id) == session[:2] for known in found):
        return there
    line = json.dumps({"v": 1, "sessions": [session._asdict()]}, separators=(",", ":")).encode() + b"\n"
    grown = there + (b"\n" if there and not there.endswith(b"\n") else b"") + line
    if len(grown) > MAX_NOTE_BYTES:
        raise NoteError(f"expected a note of at most {MAX_NOTE_BYTES} bytes, got one that would have {len(grown)}")
    return grown


def _json_values(text: str) -> list[Any]:
    """Split a body into its JSON values; any Unicode whitespace may surround them, nothing else may."""
    values = []
    position = _skip_whitespace(text, 0)
    while position < len(text):
        value, position = _DECODER.raw_decode(text, position)
        values.append(value)
        position = _skip_whitespace(text, position)
    if not values:
        raise ValueError("expected a payload, got nothing")
    return values


def _skip_whitespace(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():  # str.isspace is the set W of facts.md §1
        position += 1
    return position


def _payload_sessions(payload: Any) -> list[NoteSession]:
    if not isinstance(payload, dict) or payload.keys() != {"v", "sessions"}:
        raise ValueError("expected exactly the keys v and sessions")
    version, sessions = payload["v"], payload["sessions"]
    if type(version) is not int or version != 1:  # a bool is an int, and 1.0 equals 1
        raise ValueError("expected v to be the integer 1")
    if not isinstance(sessions, list):
        raise ValueError("expected sessions to be an array")
    return [_session(entry) for entry in sessions]


def _session(entry: Any) -> NoteSession:
    if not isinstance(entry, dict) or entry.keys() != set(NoteSession._fields):
        raise ValueError("expected exactly the keys tool, session_id and stamped_at")
    session = NoteSession(**entry)
    if not all(isinstance(value, str) for value in session):
        raise ValueError("expected strings")
    return session
