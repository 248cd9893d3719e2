"""Note bodies: the tables of derivation.md §6 and mirrors.md §7.1."""

import json

import pytest

from sediment_assets.mirrors.notes import MAX_NOTE_BYTES, NoteSession, note_sessions


def entry(session_id: str = "s1", tool: str = "claude-code", stamped_at: str = "2026-01-02T03:04:05+00:00"):
    return {"tool": tool, "session_id": session_id, "stamped_at": stamped_at}


def payload(*session_ids: str) -> str:
    return json.dumps({"v": 1, "sessions": [entry(session_id) for session_id in session_ids]})


def ids(body: str | bytes) -> list[str] | None:
    sessions = note_sessions(body if isinstance(body, bytes) else body.encode())
    return None if sessions is None else [session.session_id for session in sessions]


def test_writers_own_body_is_read():
    body = (
        '{"v": 1, "sessions": [{"tool": "claude-code", "session_id": "s1",'
        ' "stamped_at": "2026-01-02T03:04:05+00:00"}]}\n'
    )
    assert note_sessions(body.encode()) == [NoteSession("claude-code", "s1", "2026-01-02T03:04:05+00:00")]


@pytest.mark.parametrize(
    ("body", "session_ids"),
    [
        ('{"v":1,"sessions":[]}', []),
        (payload("a") + "\n\n" + payload("b"), ["a", "b"]),
        (payload("a") + payload("b"), ["a", "b"]),
        (payload("b") + payload("a") + payload("b"), ["b", "a"]),
        (payload(" a "), [" a "]),
        (payload(""), [""]),
        ("\u00a0\x1c\x1f\u2028" + payload("a") + "\u3000\u0085", ["a"]),
        ('{"v":2,"v":1,"sessions":null,"sessions":[]}', []),
        (payload("\\ud800").replace("\\\\", "\\"), ["\ud800"]),
        (payload("\\u0000").replace("\\\\", "\\"), ["\0"]),
        (payload("x").encode().replace(b'"x"', b'"\xe9"'), ["\ufffd"]),
        ('{"v":1,\r\n"sessions":[]}\r', []),
    ],
)
def test_readable_body(body, session_ids):
    assert ids(body) == session_ids


@pytest.mark.parametrize("tool", ["", "unknown", "\ufffd"])
@pytest.mark.parametrize("stamped_at", ["", "yesterday"])
def test_tool_and_time_are_not_judged(tool, stamped_at):
    body = json.dumps({"v": 1, "sessions": [entry("s", tool, stamped_at)]})
    assert note_sessions(body.encode()) == [NoteSession(tool, "s", stamped_at)]


@pytest.mark.parametrize(
    "body",
    [
        "",
        " \n",
        payload("a") + "," + payload("b"),
        payload("a") + "trailing",
        "\ufeff" + payload("a"),
        "{'v':1}",
        '{"v":1,"sessions":[],}',
        "[]",
        '"text"',
        "1",
        "NaN",
        '{"v":1,"sessions":' + "[" * 30_000 + "]" * 30_000 + "}",
        '{"v":2,"sessions":[]}',
        '{"v":true,"sessions":[]}',
        '{"v":1.0,"sessions":[]}',
        '{"v":1e0,"sessions":[]}',
        '{"v":"1","sessions":[]}',
        '{"sessions":[]}',
        '{"v":1}',
        '{"v":1,"sessions":[],"extra":0}',
        '{"v":1,"sessions":null}',
        '{"v":1,"sessions":{}}',
        '{"v":1,"sessions":["s1"]}',
        '{"v":1,"sessions":[{"tool":"t","session_id":1,"stamped_at":""}]}',
        '{"v":1,"sessions":[{"tool":null,"session_id":"s","stamped_at":""}]}',
        '{"v":1,"sessions":[{"tool":"t","session_id":"s"}]}',
        '{"v":1,"sessions":[{"tool":"t","session_id":"s","stamped_at":"","extra":1}]}',
        payload("a") + '{"v":2,"sessions":[]}',
        '{"v":1,"sessions":[{"tool":"t","session_id":"a\tb","stamped_at":""}]}',
        '\u00a0{"v":1,\u00a0"sessions":[]}',
    ],
)
def test_unreadable_body(body):
    assert ids(body) is None


def test_first_entry_per_tool_and_session_is_kept():
    first, other_tool, late = entry("s", "a", "1"), entry("s", "b", "2"), entry("s", "a", "3")
    body = json.dumps({"v": 1, "sessions": [first, other_tool]}) + json.dumps({"v": 1, "sessions": [late]})
    assert note_sessions(body.encode()) == [NoteSession("a", "s", "1"), NoteSession("b", "s", "2")]


@pytest.mark.parametrize(("extra", "readable"), [(0, True), (1, False)])
def test_limit_is_65536_bytes(extra, readable):
    body = payload("a").encode()
    assert (ids(body.ljust(MAX_NOTE_BYTES + extra)) is not None) is readable


def test_limit_counts_bytes_after_decoding():
    crlf = payload("a").encode() + b"\r\n" * (MAX_NOTE_BYTES // 2)
    assert len(crlf) > MAX_NOTE_BYTES
    assert ids(crlf) == ["a"]
    replaced = payload("x").encode().replace(b'"x"', b'"' + b"\xff" * (MAX_NOTE_BYTES // 3) + b'"')
    assert len(replaced) < MAX_NOTE_BYTES
    assert ids(replaced) is None
