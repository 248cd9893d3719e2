"""Basic redaction: every example of facts.md §9, and each scan and pass rule by rule."""

from collections import Counter

import pytest

from sediment_assets.facts.redaction import MARKER, RedactionReason, redact
from sediment_assets.facts.redaction_scans import is_credential_key, redact_text
from tests.builders import (
    make_call,
    make_decision,
    make_observation,
    make_outcome,
    make_push,
    make_rename,
    plain_message,
    reasoning_part,
    tool_call,
    tool_response,
)

A = "A" * 16
STRUCTURED = RedactionReason.STRUCTURED_CREDENTIAL
HEADER = RedactionReason.AUTHORIZATION_HEADER
ASSIGNMENT = RedactionReason.API_KEY_ASSIGNMENT
BEARER = RedactionReason.BEARER_TOKEN
PROVIDER = RedactionReason.PROVIDER_KEY


@pytest.mark.parametrize(
    ("text", "redacted", "reasons"),
    [
        # The examples of facts.md §9.
        (f"Authorization: Bearer {A}", f"Authorization: Bearer {MARKER}", [HEADER]),
        ('OPENAI_API_KEY="1234567"', 'OPENAI_API_KEY="1234567"', []),
        ('OPENAI_API_KEY="12345678"', f'OPENAI_API_KEY="{MARKER}"', [ASSIGNMENT]),
        (f"xapi_key={A}", f"xapi_key={A}", []),
        ('"token": "abc"', '"token": "abc"', []),
        ('"api_key": "short"', f'"api_key": "{MARKER}"', [STRUCTURED]),
        (f"sk-{A}.", f"{MARKER}.", [PROVIDER]),
        (f"ask-{A}", f"ask-{A}", []),
        (r"{\"api_key\": \"short\"}", r"{\"api_key\": \"short\"}", []),
        # Scan 1.
        (f"authorization = BEARER\t{A}==", f"authorization = BEARER\t{MARKER}", [HEADER]),
        ("Authorization: Bearer " + "A" * 15, "Authorization: Bearer " + "A" * 15, []),
        (f"Authorization: Basic {A}", f"Authorization: Basic {A}", []),
        (f"xAuthorization: Bearer {A}", f"xAuthorization: Bearer {MARKER}", [BEARER]),
        # Scan 2.
        ("'X-Api-Key' : 'a b'", f"'X-Api-Key' : '{MARKER}'", [STRUCTURED]),
        (r'"my_api_key": "a\"b" c', f'"my_api_key": "{MARKER}" c', [STRUCTURED]),
        ('"api_key": "cut off', f'"api_key": "{MARKER}', [STRUCTURED]),
        ('"api_key": "cut off\\', f'"api_key": "{MARKER}', [STRUCTURED]),
        ('"api_key": "two\nlines"', '"api_key": "two\nlines"', []),
        ('"api_key": ""', '"api_key": ""', []),
        ('"api_key" = "short"', '"api_key" = "short"', []),
        ('"api_key\': "short"', '"api_key\': "short"', []),
        (f'"api_key": "{MARKER}"', f'"api_key": "{MARKER}"', []),
        ('"Authorization": "Bearer x"', f'"Authorization": "{MARKER}"', [STRUCTURED]),
        # Scan 3.
        (f"api key : {A}", f"api key : {MARKER}", [ASSIGNMENT]),
        (f"--api-key={A}", f"--api-key={MARKER}", [ASSIGNMENT]),
        (f"a1-b2_APIKEY\n=\n{A}=", f"a1-b2_APIKEY\n=\n{MARKER}", [ASSIGNMENT]),
        ('"x_api_key" = "12345678"', f'"x_api_key" = "{MARKER}"', [ASSIGNMENT]),
        ('api_key="12345678', f'api_key="{MARKER}', [ASSIGNMENT]),
        ('api_key="1234 5678"', 'api_key="1234 5678"', []),
        ('api_key" = "12345678"', 'api_key" = "12345678"', []),
        (f"__api_key={A}", f"__api_key={A}", []),
        (f"api_keys={A}", f"api_keys={A}", []),
        (f"xapi_key=api_key={A}", f"xapi_key=api_key={MARKER}", [ASSIGNMENT]),
        # Scan 4.
        (f"bearer {A}/+~=", f"bearer {MARKER}", [BEARER]),
        (f"Bearer\n{A}", f"Bearer\n{A}", []),
        (f"forbearer {A}", f"forbearer {A}", []),
        # Scan 5.
        (f"SK-{A}", f"SK-{A}", []),
        ("sk-" + "A" * 15, "sk-" + "A" * 15, []),
        (f"-sk-{A}", f"-sk-{A}", []),
        (f"sk-proj-{A}_x", MARKER, [PROVIDER]),
        # Several at once, and every occurrence counts.
        (f"sk-{A} sk-{A}\nBearer {A}", f"{MARKER} {MARKER}\nBearer {MARKER}", [PROVIDER, PROVIDER, BEARER]),
    ],
)
def test_text_pass(text, redacted, reasons):
    counted = Counter()
    assert redact_text(text, counted) == redacted
    assert counted == Counter(reasons)


@pytest.mark.parametrize(
    ("key", "is_credential"),
    [
        ("authorization", True),
        ("Proxy-Authorization", True),
        ("X-API-Key", True),
        ("api-key", True),
        ("apiKey", True),
        ("OPENAI_API_KEY", True),
        ("open-ai-api-key", True),
        ("_api_key", True),
        ("openaiapikey", False),
        ("api key", False),
        ("token", False),
        ("api_key_id", False),
    ],
)
def test_credential_keys(key, is_credential):
    assert is_credential_key(key) is is_credential


@pytest.mark.parametrize(
    ("raw", "redacted"),
    [
        ({"api_key": ""}, {"api_key": MARKER}),
        ({"api_key": f"Bearer  {A}"}, {"api_key": f"Bearer  {MARKER}"}),
        ({"api_key": "Bearer short"}, {"api_key": MARKER}),
        ({"api_key": MARKER}, {"api_key": MARKER}),
        ({"authorization": f"Bearer {MARKER}"}, {"authorization": f"Bearer {MARKER}"}),
        ({"api_key": ["x", f"sk-{A}"]}, {"api_key": ["x", MARKER]}),
        ({"api_key": None, "b": {"apikey": "x"}}, {"api_key": None, "b": {"apikey": MARKER}}),
        ({f"sk-{A}": [1, 1.5, True, f"sk-{A}"]}, {f"sk-{A}": [1, 1.5, True, MARKER]}),
    ],
)
def test_json_pass(raw, redacted):
    assert redact(make_decision(raw=raw)).fact.raw == redacted


def test_known_credential_replaces_whole_lines_only():
    call = make_call(
        input_messages=[
            plain_message("tool", tool_response(result={"api_key": "hunter2"})),
            plain_message("user", "key is hunter2\nhunter2", reasoning_part("hunter2\r\n hunter2")),
        ],
        output_messages=[plain_message("assistant", tool_call(arguments={"note": "hunter2", "deep": [["hunter2"]]}))],
        raw={"line": "hunter2"},
    )
    redacted = redact(call)
    answer, request = redacted.fact.input_messages
    assert answer.parts[0].result == {"api_key": MARKER}
    assert request.parts[0].content == f"key is hunter2\n{MARKER}"
    assert request.parts[1].content == f"{MARKER}\r\n hunter2"
    assert redacted.fact.output_messages[0].parts[0].arguments == {"note": MARKER, "deep": [[MARKER]]}
    assert redacted.fact.raw == {"line": MARKER}
    assert redacted.reasons == {STRUCTURED: 6}


def test_known_credential_is_collected_without_bearer_prefix():
    call = make_call(
        output_messages=[
            plain_message("assistant", "hunter2", tool_call(arguments={"authorization": "Bearer hunter2"}))
        ]
    )
    assert redact(call).fact.output_messages[0].parts[0].content == MARKER


def test_credentials_of_raw_are_not_known_in_messages():
    call = make_call(input_messages=[plain_message("user", "hunter2")], raw={"api_key": "hunter2"})
    assert redact(call).fact.input_messages[0].parts[0].content == "hunter2"


def test_ids_roles_and_tool_names_stay():
    secret = f"sk-{A}"
    message = plain_message(secret, tool_call(id=secret, name=secret), finish_reason=secret)
    call = make_call(session_id=secret, model=secret, input_messages=[message], model_call_id=secret)
    assert redact(call).fact == call


def test_outcome_reason_knows_credentials_of_raw():
    outcome = make_outcome(reason=f"hunter2\nsk-{A}\nhunter2 x", raw={"api_key": "hunter2"}, run_url=f"sk-{A}")
    redacted = redact(outcome)
    assert redacted.fact.reason == f"{MARKER}\n{MARKER}\nhunter2 x"
    assert redacted.fact.raw == {"api_key": MARKER}
    assert redacted.fact.run_url == f"sk-{A}"


def test_outcome_reason_that_grew_beyond_4096_is_cut_to_4074_and_the_marker():
    long = "x" * 4076 + " sk-" + A
    assert len(long) == 4096
    reason = redact(make_outcome(reason=long)).fact.reason
    assert reason == "x" * 4074 + MARKER


@pytest.mark.parametrize("fact", [make_push(clone_url=f"sk-{A}"), make_observation(), make_rename()])
def test_other_kinds_are_stored_as_they_are(fact):
    redacted = redact(fact)
    assert redacted.fact is fact
    assert not redacted.reasons


def test_untouched_fact_comes_back_itself():
    call = make_call()
    assert redact(call).fact is call
    assert redact(make_outcome(reason=None)).reasons == {}


@pytest.mark.parametrize("unit", ["a-", "a_", "'a':\"", "api_key ", "Bearer ", '"', "authorization:", "sk-"])
def test_hostile_text_takes_linear_time(unit):
    text = unit * (400_000 // len(unit)) + " key api bearer"
    assert redact_text(text, Counter()) in (text, MARKER + " key api bearer")
