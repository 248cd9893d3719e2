"""Properties of Basic redaction: its shortcuts change nothing."""

import json
import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from sediment_assets.facts import redaction_scans
from sediment_assets.facts.redaction import known_credentials, redact
from sediment_assets.facts.redaction_scans import (
    MARKER,
    TOKEN,
    RedactionReason,
    is_credential_key,
    may_hold_credential,
    redact_text,
    scan_all,
)
from tests.builders import make_call, plain_message, tool_call, tool_response

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


@given(texts | st.just("authorization"), texts, st.data())
def test_json_that_may_hold_no_credential_is_redacted_nowhere(key, text, data):
    call = make_call(
        input_messages=[plain_message("user", text, tool_call(arguments={key: text}), tool_response(result=[text]))],
        raw={key: text, "deep": [{key: key}]},
    )
    plain = call.model_dump(include={"input_messages", "raw"})
    source = json.dumps(plain, ensure_ascii=data.draw(st.booleans())).encode("utf-8", "surrogatepass")
    escaped = data.draw(st.sampled_from(["", *"abekiprsy-_ "]))
    if escaped:  # a legal spelling of the same text
        source = source.replace(escaped.encode(), b"\\u%04X" % ord(escaped))
    assert may_hold_credential(source) or (not redact(call).reasons and not known_credentials(call))


TRIGGER = re.compile(r"(?i:bearer|authorization|api[_ -]?key|\\u(?:00[2-7]|0130|0131|017f|212a))|sk-")
JSON_PIECES = ["\\u00", "\\u", "41", "212A", "0131", "\0", "\n", "SK-", "BEAR", "er", "ApI", "KeY"]


@given(st.lists(st.sampled_from(PIECES + JSON_PIECES), max_size=14).map("".join).map(ascii))
def test_pydantics_regular_expressions_find_what_pythons_do(text):
    assert may_hold_credential(text.encode()) == bool(TRIGGER.search(text))


def test_only_known_letters_fold_into_a_credential_key():
    names = ["authorization", "api_key", "apikey", "x_api_key"]
    for char in map(chr, range(0x80, 0x110000)):
        folded = char.casefold()
        for name in names:
            position = name.find(folded)
            if position >= 0:
                key = name.replace(folded, char)
                assert is_credential_key(key)
                assert may_hold_credential(json.dumps({key: "x"}).encode())


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
