"""Properties of Basic redaction: its shortcuts change nothing."""

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.facts import redaction_scans
from sediment_assets.facts.redaction_scans import MARKER, TOKEN, RedactionReason, redact_text, scan_all

PIECES = [
    "Authorization",
    "authorizatıon",
    "Bearer",
    "bearer",
    "api",
    "API",
    "key",
    "\u212aey",
    "sk-",
    "\u017fk-",
    "x",
    "_",
    "-",
    " ",
    "\t",
    "\n",
    ":",
    "=",
    '"',
    "'",
    "\\",
    "]",
    "A" * 16,
    "short",
    "12345678",
    "é",
    "\ud800",
    MARKER,
]
texts = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)

# Scan 3 as facts.md §9 words it, trying every start.
ASSIGNMENT = re.compile(
    rf"""(?<![A-Za-z0-9_]) (?P<kq>["']?) (?:[A-Za-z0-9]+[_-])* api[_\ -]?key (?P=kq) \s*[:=]\s*
    (?: (?P<vq>["']) (?P<quoted>[^"'\s]{{8,}}) (?: (?P=vq) | \Z ) | (?P<bare>{TOKEN}) )""",
    re.VERBOSE | re.IGNORECASE,
)


def scan_assignments_naively(text):
    def replace(match):
        group = "bare" if match["quoted"] is None else "quoted"
        start, end = match.span(group)
        return match[0][: start - match.start()] + MARKER + match[0][end - match.start() :]

    return ASSIGNMENT.sub(replace, text)


@given(texts)
def test_skipping_the_scans_changes_nothing(text):
    fast, slow = Counter(), Counter()
    assert redact_text(text, fast) == scan_all(text, slow)
    assert fast == slow


LINES = [
    f"Authorization: Bearer {'A' * 16}",
    f"OPENAI_API_KEY='{'k' * 20}'",
    '{"api_key": "short", "x-api-key": "Bearer"}',
    f"curl -H 'x-api-key: {'b' * 30}' sk-{'c' * 20}",
    "plain words",
]


# Not of every text: the marker's bracket may end a word that kept an ``api_key`` behind it from being one.
@given(st.lists(st.sampled_from(LINES)).map("\n".join))
def test_redacting_twice_is_redacting_once(text):
    once = redact_text(text, Counter())
    again = Counter()
    assert redact_text(once, again) == once
    assert not again


@given(texts)
def test_judging_keys_backwards_equals_trying_every_start(text):
    counted: Counter[RedactionReason] = Counter()
    assert redaction_scans._scan_api_key_assignments(text, counted) == scan_assignments_naively(text)
